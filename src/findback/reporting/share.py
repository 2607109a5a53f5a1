"""Records without texts and ids, to be shown outside the team."""

from findback.model.audit import Audit, Side
from findback.model.evaluation import ErrorKind, Evaluation, RetrieverScores, SetMakeUp, SubjectMix

LEFT_OUT = "left out"


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


def _makeup(makeup: SetMakeUp) -> SetMakeUp:
    return makeup.model_copy(update={"name": "set", "place": None, "notes": ()})


def _subjects(subjects: SubjectMix) -> SubjectMix:
    named = tuple(f"subject {at}" for at in range(1, len(subjects.subjects) + 1))
    return subjects.model_copy(update={"subjects": named})


def _retriever(retriever: RetrieverScores) -> RetrieverScores:
    errors = tuple(ErrorKind(kind=error.kind, count=error.count, first="") for error in retriever.errors)
    return retriever.model_copy(update={"run": None, "miss_examples": (), "errors": errors, "notes": ()})


def _side(side: Side) -> Side:
    hints = tuple(hint.model_copy(update={"evidence": ""}) for hint in side.hints)
    return side.model_copy(update={"set": _makeup(side.set), "hints": hints})
