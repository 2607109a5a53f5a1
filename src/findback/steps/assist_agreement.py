"""How far a model's drafts agree with what people answered who had not seen them."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from findback.measure.intervals import estimate_mean
from findback.measure.rater_agreement import rate_agreement
from findback.measure.sufficiency import count_labels_wanted
from findback.model.assisted import Agreed, ModelAgreement, Suggestion
from findback.model.review import Review
from findback.steps.assist_classify import estimate_kappa
from findback.workbench.doubles import Opinions
from findback.workbench.reviews import answer_of


class Compared(NamedTuple):
    """One candidate with both answers."""

    candidate: str
    model: dict[str, int]
    """Grade of each document it was shown."""
    human: dict[str, int]
    """Grade of each document they graded, the highest of its parts."""
    answer: str
    """What the person's review comes to."""

    @property
    def shared(self) -> list[tuple[int, int]]:
        """Return both grades of every document that both graded, the model's first."""
        return [(self.model[one], self.human[one]) for one in sorted(self.model.keys() & self.human.keys())]

    @property
    def could_see(self) -> bool:
        """Return whether the model was shown a document that the person calls the best, where there is one."""
        best = _top(self.human)
        return not best or bool(best & self.model.keys())


def measure_models(suggestions: Mapping[str, Suggestion], opinions: Sequence[Opinions]) -> tuple[ModelAgreement, ...]:
    """Return for each model how far its drafts agree with people's first answers."""
    found = []
    for model in sorted({one.model for one in suggestions.values()}):
        pairs = pair_answers({key: one for key, one in suggestions.items() if one.model == model}, opinions)
        found.append(ModelAgreement(model=model, compared=len(pairs), figures=measure_suggestions(pairs)))
    return tuple(found)


def pair_answers(suggestions: Mapping[str, Suggestion], opinions: Sequence[Opinions]) -> list[Compared]:
    """Return the candidates that have a draft and a first answer; those nobody could judge are left out."""
    pairs = []
    for one in opinions:
        suggestion = suggestions.get(one.candidate)
        review = one.reviews[0]
        if suggestion is not None and answer_of(review) in ("one", "cross-doc", "no-answer"):
            model = {graded.document: graded.grade for graded in suggestion.grades}
            pairs.append(Compared(one.candidate, model, _grades(review), answer_of(review) or ""))
    return pairs


def measure_suggestions(pairs: Sequence[Compared]) -> tuple[Agreed, ...]:
    """Return how far drafts and first answers agree, on each thing they say.

    Documents count by their candidate. Where the model was not shown what a person calls the best document, it
    could not have found it: such candidates are left out of what a document is needed for, and counted.
    """
    grades = [(one.candidate, *both) for one in pairs for both in one.shared]
    names = [name for name, _, _ in grades]
    exact = [float(a == b) for _, a, b in grades]
    near = [float(abs(a - b) <= 1) for _, a, b in grades]
    kappa = rate_agreement([a for _, a, _ in grades], [b for _, _, b in grades], names, weights="linear")
    seen = [one for one in pairs if one.could_see]
    blind = len(pairs) - len(seen)
    said = [(_says(max(one.model.values(), default=0) >= 1), _says(one.answer != "no-answer")) for one in seen]
    both = [one for one in seen if _top(one.model) and _top(one.human)]
    tops = [float(bool(_top(one.model) & _top(one.human))) for one in both]
    answerable = rate_agreement([a for a, _ in said], [b for _, b in said])
    return (
        _agreed("the same grade", exact, names).model_copy(update={"kappa": estimate_kappa(kappa)}),
        _agreed("a grade within one", near, names),
        _agreed("whether a document answers", [float(a == b) for a, b in said], None, blind).model_copy(
            update={"kappa": estimate_kappa(answerable)}
        ),
        _agreed("which document answers best", tops, None, blind),
    )


def _agreed(what: str, values: Sequence[float], clusters: Sequence[Hashable] | None, blind: int = 0) -> Agreed:
    share = estimate_mean(values, clusters)
    return Agreed(
        what=what,
        share=share.model_copy(update={"left_out": share.left_out + blind}),
        wanted=count_labels_wanted(values, clusters),
    )


def _grades(review: Review) -> dict[str, int]:
    best: dict[str, int] = {}
    for one in [*((one.document, 0) for one in review.dropped), *((one.doc, one.grade) for one in review.judged)]:
        best[one[0]] = max(one[1], best.get(one[0], 0))
    return best


def _top(grades: Mapping[str, int]) -> frozenset[str]:
    best = max(grades.values(), default=0)
    return frozenset(one for one, grade in grades.items() if grade == best and best >= 1)


def _says(answers: bool) -> str:
    return "yes" if answers else "no"
