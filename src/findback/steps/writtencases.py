"""What of a case follows from how a model wrote it: its filter, its tags, and what a paraphrase takes over."""

from collections.abc import Iterable

from findback.model.case import Case, FilterNote
from findback.model.written import Written

NOT_FOR_DECISIONS = "not-for-decisions"
"""On a case that a model wrote which is fit for trying things out only."""
UNMEASURED = "leak unmeasured"
"""What stands for the measure where nothing could be measured with it."""
TAKEN_OVER = (
    "judged",
    "no_answer_reason",
    "context",
    "wording",
    "stratum",
    "selected_on",
    "cluster",
    "split",
    "labelled_by",
    "confirmations",
    "seen_on",
)
"""What a paraphrase has from the case it was made from: who judged what, how it was chosen, when it was asked."""


def filter_of(written: Written) -> FilterNote:
    """Return with which leak a generated text passed."""
    return FilterNote(leak=written.leak, measure=written.leak_measure or UNMEASURED, matched=written.matched)


def tags_of(tags: Iterable[str], written: Written | None) -> tuple[str, ...]:
    """Return a case's tags; what only a reviewer's word would say otherwise is taken from how it was written."""
    own = tuple(tag for tag in dict.fromkeys(tags) if tag != NOT_FOR_DECISIONS)
    return own if written is None or written.for_decisions else (*own, NOT_FOR_DECISIONS)


def follow_root(case: Case, root: Case) -> Case:
    """Return a paraphrase with the label of the case it was made from, and marked where that one is."""
    taken = {name: getattr(root, name) for name in TAKEN_OVER}
    tags = tuple(dict.fromkeys((*root.tags, *case.tags)))
    return case.model_copy(update={**taken, "origin": "paraphrase", "root": root.id, "tags": tags})
