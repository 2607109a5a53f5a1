"""Records without texts and ids, to be shown outside the team."""

from collections.abc import Container

from findback.model.audit import Audit, Side
from findback.model.case import WORDINGS
from findback.model.evaluation import (
    Count,
    ErrorKind,
    Evaluation,
    RetrieverScores,
    ScoreGroup,
    SetMakeUp,
    SubjectMix,
)
from findback.model.generated import Generated
from findback.model.incoming import Incoming, IncomingFacet
from findback.model.week import Keeping

LEFT_OUT = "left out"
SET_NAME = "set"
"""What every set is called."""
SAMPLE_NAME = "sample"
OWN_WORDINGS = frozenset({*WORDINGS, "unknown"})


def shareable_evaluation(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation without queries, ids, titles, messages, notes and place names.

    Retriever names, figures and what findback itself says stay.
    """
    return evaluation.model_copy(
        update={
            "workspace": LEFT_OUT,
            "corpus": None if evaluation.corpus is None else LEFT_OUT,
            "set": _makeup(evaluation.set),
            "subjects": None if evaluation.subjects is None else _subjects(evaluation.subjects),
            "retrievers": tuple(_retriever(retriever) for retriever in evaluation.retrievers),
        }
    )


def shareable_audit(audit: Audit) -> Audit:
    """Return an audit without queries, ids, titles, extracts and evidence that may quote them."""
    return audit.model_copy(
        update={
            "corpus": None if audit.corpus is None else LEFT_OUT,
            "set": _side(audit.set),
            "sample": None if audit.sample is None else _side(audit.sample),
            "worst": (),
        }
    )


def shareable_keeping(keeping: Keeping) -> Keeping:
    """Return how a set is kept without the owner's name, an id, a word, a subject's name or a note."""
    upkeep = keeping.upkeep.model_copy(update={"owner": keeping.upkeep.owner and LEFT_OUT})
    week = keeping.week
    if week is None:
        return Keeping(upkeep=upkeep, week=None)
    tracker = None if week.tracker is None else week.tracker.model_copy(update={"notes": ()})
    changes = {"workspace": LEFT_OUT, "upkeep": upkeep, "parts": (), "notes": (), "tracker": tracker}
    incoming = None if week.incoming is None else _incoming(week.incoming)
    return Keeping(upkeep=upkeep, week=week.model_copy(update={**changes, "incoming": incoming}))


def _incoming(incoming: Incoming) -> Incoming:
    months = tuple(one.model_copy(update={"subject": None}) for one in incoming.months)
    return incoming.model_copy(update={"facets": tuple(map(_facet, incoming.facets)), "months": months, "notes": ()})


def _facet(facet: IncomingFacet) -> IncomingFacet:
    if facet.facet == "words":
        return facet.model_copy(update={"kinds": ()})
    own = OWN_WORDINGS if facet.facet == "wording" else () if facet.facet == "subject" else None
    kinds = tuple(
        one if own is None or one.name in own else one.model_copy(update={"name": f"{facet.facet} {at}"})
        for at, one in enumerate(facet.kinds, 1)
    )
    return facet.model_copy(update={"kinds": kinds})


def shareable_generated(result: Generated) -> Generated:
    """Return what a model wrote without a text, an id, a subject's name or a note."""
    mix = tuple(row.model_copy(update={"subject": f"subject {at}"}) for at, row in enumerate(result.mix, 1))
    matching = result.matching
    return result.model_copy(
        update={
            "workspace": LEFT_OUT,
            "corpus": LEFT_OUT,
            "described": (),
            "looks": (),
            "notes": (),
            "stopped": None if result.stopped is None else LEFT_OUT,
            "mix": mix,
            "kinds": tuple(row for row in result.kinds if row.axis != "wording" or row.value in OWN_WORDINGS),
            "matching": None if matching is None else matching.model_copy(update={"sample": SAMPLE_NAME}),
            "ended": tuple(one.model_copy(update={"reasons": ()}) for one in result.ended),
        }
    )


def _makeup(makeup: SetMakeUp) -> SetMakeUp:
    by = {
        axis: _own_names(counts, OWN_WORDINGS if axis == "wording" else {"unknown"})
        if axis in ("wording", "selected_on")
        else counts
        for axis, counts in makeup.by.items()
    }
    return makeup.model_copy(update={"name": SET_NAME, "place": None, "notes": (), "by": by})


def _own_names(counts: tuple[Count, ...], known: Container[str]) -> tuple[Count, ...]:
    """Return counts with names that are not findback's own replaced: imported ones may say anything."""
    return tuple(
        count if count.name in known else count.model_copy(update={"name": f"other {at}"})
        for at, count in enumerate(counts, 1)
    )


def _group(group: ScoreGroup, at: int) -> ScoreGroup:
    known = group.axis != "wording" or group.value in OWN_WORDINGS
    return group if known else group.model_copy(update={"value": f"other {at}"})


def _subjects(subjects: SubjectMix) -> SubjectMix:
    named = tuple(f"subject {at}" for at in range(1, len(subjects.subjects) + 1))
    return subjects.model_copy(update={"subjects": named})


def _retriever(retriever: RetrieverScores) -> RetrieverScores:
    errors = tuple(ErrorKind(kind=error.kind, count=error.count, first="") for error in retriever.errors)
    groups = tuple(_group(group, at) for at, group in enumerate(retriever.groups, 1))
    return retriever.model_copy(
        update={"groups": groups, "run": None, "miss_examples": (), "errors": errors, "notes": ()}
    )


def _side(side: Side) -> Side:
    hints = tuple(hint.model_copy(update={"evidence": ""}) for hint in side.hints)
    return side.model_copy(update={"set": _makeup(side.set), "hints": hints})
