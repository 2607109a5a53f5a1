"""What a release says about how far its labels agree; never about one person."""

from collections.abc import Sequence

from findback.evalset.manifest import Agreement
from findback.steps.reviewagreement import compare
from findback.workbench.doubles import Opinions


def describe_agreement(opinions: Sequence[Opinions]) -> Agreement | None:
    """Return the agreement of what was decided twice; None where nothing was.

    Figures are those of two people. Of second looks by one person only the number is published.
    """
    doubles = [one for one in opinions if len(one.reviews) > 1]
    people = [one for one in doubles if not one.same_person]
    if not doubles:
        return None
    found = compare(people)
    return Agreement(
        doubles=len(people),
        second_looks=len(doubles) - len(people),
        answerable=found.answerable,
        top_gold=found.top_gold,
        grades=found.grades,
    )
