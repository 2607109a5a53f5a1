"""Say what is there and which step is next."""

from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.model.record import Record
from findback.steps.kept import newest
from findback.steps.opening import newest_release
from findback.workspace import Workspace


class StatusItem(Record):
    """One thing a workspace has or lacks."""

    what: str
    state: str


class Status(Record):
    """What a workspace has, and which step is next."""

    items: tuple[StatusItem, ...]
    next: str


def status(workspace: Workspace) -> Status:
    """Return what is there; reads no corpus, asks no engine."""
    settings = workspace.settings
    corpus = settings.corpus
    corpus_there = corpus is not None and workspace.path(corpus.path).exists()
    release = newest_release(workspace)
    evaluation, no_evaluation = newest(workspace, Evaluation)
    audited, no_audit = newest(workspace, Audit)
    items = [
        StatusItem(what="findback.toml", state=str(workspace.file or "none")),
        StatusItem(what="corpus", state=_corpus_state(corpus.path if corpus else None, there=corpus_there)),
        StatusItem(what="retrievers", state=", ".join(settings.retrievers) or "none"),
        StatusItem(what="newest release", state=f"{release}" if release else "none"),
        StatusItem(
            what="newest audit",
            state=f"{audited.made:%Y-%m-%d %H:%M} of {audited.set.set.name}" if audited else "none",
        ),
        StatusItem(
            what="newest evaluation",
            state=f"{evaluation.made:%Y-%m-%d %H:%M} on {evaluation.set.name}" if evaluation else "none",
        ),
        *(StatusItem(what="cannot be read", state=line) for line in (*no_evaluation, *no_audit)),
        StatusItem(what="private folder", state=str(workspace.private)),
    ]
    return Status(items=tuple(items), next=_next_step(workspace, corpus_there, audited, evaluation))


def _corpus_state(path: str | None, *, there: bool) -> str:
    if path is None:
        return "none named"
    return path if there else f"{path} is not there"


def _next_step(workspace: Workspace, corpus_there: bool, audited: Audit | None, evaluation: Evaluation | None) -> str:
    stale = evaluation is not None and audited is not None and evaluation.made < audited.made
    steps = (
        (workspace.file is None, "findback init"),
        (not corpus_there, "name the documents in [corpus] path of findback.toml"),
        (audited is None, "findback audit YOUR_SET --real QUERIES_PEOPLE_TYPED"),
        (
            audited is not None and audited.sample is None,
            "findback label quick QUERIES_PEOPLE_TYPED, then findback audit YOUR_SET --real with what you labelled",
        ),
        (evaluation is None, "findback evaluate --set YOUR_SET"),
        (stale, "findback evaluate --set YOUR_SET, to have scores as new as the audit"),
    )
    return next((what for wanted, what in steps if wanted), "findback report")
