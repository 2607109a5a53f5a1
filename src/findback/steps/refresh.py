"""Read the corpus again, and say which cases of the set it has made stale."""

from collections.abc import Iterable
from datetime import datetime
from importlib.metadata import version
from typing import Annotated

from pydantic import Field

from findback.corpus.corpus import Corpus
from findback.errors import MissingError
from findback.model.case import Name
from findback.model.protocols import SILENT, Progress
from findback.model.record import Request
from findback.model.reviewer import Reviewer
from findback.model.stale import KINDS, PROPOSALS, Refreshed, Staleness
from findback.steps.bench import has_bench, open_bench
from findback.steps.caselist import open_head
from findback.steps.kept import now
from findback.steps.localreviewer import local_reviewer
from findback.steps.opening import SetRequest, open_documents
from findback.steps.refresh_accept import accept_moves, list_settled, send_doubts
from findback.steps.refresh_golds import Sighted, sight_golds
from findback.steps.refresh_kept import keep_refreshed
from findback.steps.refresh_later import find_answers, find_later, find_superseded, find_vanished
from findback.steps.refresh_past import recall_past
from findback.steps.refresh_proposals import propose
from findback.steps.refresh_scope import read_scope
from findback.workspace import Workspace


class RefreshRequest(Request):
    """Read the corpus again, and say which cases it has made stale."""

    since: Annotated[str, Field(max_length=20)] | None = None
    """Look only at documents that changed since a release (3) or a date (2026-10-31)."""
    accept_moves: bool = False
    """Move the labels of all certain moves; the next release has them."""
    send: bool = False
    """Send everything else to review, where it waits for a lead."""
    by: Name | None = None
    """Who accepts and sends; whoever is logged in to this machine when left out."""


def refresh(
    workspace: Workspace,
    request: RefreshRequest,
    *,
    documents: Corpus | None = None,
    moment: datetime | None = None,
    progress: Progress = SILENT,
) -> Refreshed:
    """Return what became of the set's cases since their release, and carry out what the request asks for.

    Nothing is written but the record of the refresh, and, where asked for, moves and doubts. Passages play no part:
    cutting documents otherwise touches no label.

    Args:
        workspace: Where set, workbench and documents are.
        request: What to look at, and what to do about it.
        documents: The corpus; the workspace's own when None.
        moment: When it happens; now when None.
        progress: Shows how far it has come.

    Raises:
        MissingError: If nothing was released yet, or no corpus is named.
        UsageError: If `since` is neither a release nor a date.
        DataError: If head, release or corpus cannot be read; every fault with its line.
        StorageError: If the disk refuses.
    """
    made = moment or now()
    corpus = documents or open_documents(workspace, SetRequest(), progress=progress)
    if corpus is None:
        raise MissingError("no corpus is named", hint="name it under [corpus] in findback.toml")
    active = {case.id: case for case in open_head(workspace).cases if case.status == "active"}
    # A paraphrase has the label of its root, where it is looked at.
    cases = [case for case in active.values() if case.root not in active]
    past = recall_past(workspace, (one.doc for case in cases for one in case.gold), corpus, now=made)
    if past is None:
        raise MissingError("nothing has been released yet", hint="findback release makes the first version of the set")
    scope = read_scope(request.since, past, corpus)
    sighted, looked = sight_golds(cases, past, corpus, scope, progress=progress)
    found = [*propose(sighted), *find_later(cases, past, corpus)]
    moved = _list_moved(sighted)
    found += find_superseded(cases, past, corpus, moved, progress=progress)
    found += find_answers(workspace, cases, past, corpus, moved, progress=progress)
    notes = list(past.notes)
    if scope.said is None:
        found += find_vanished(cases, past, looked.words)
    else:
        notes.append(f"only documents since {scope.said} were looked through: lost words were not looked for")
    listed, settled = _without_settled(workspace, found)
    result = Refreshed(
        made=made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name,
        corpus_digest=corpus.digest,
        documents=len(corpus),
        release=past.newest.number,
        released=past.newest.date.isoformat(),
        age_days=(made.date() - past.newest.date).days,
        oldest_days=workspace.settings.refresh.oldest_days,
        since=scope.said,
        compared=tuple(past.remembered),
        cases=len(cases),
        golds=len(sighted),
        held=sum(one.fate.kind in ("exact", "edited") for one in sighted),
        found=tuple(sorted(listed, key=_rank)),
        settled=settled,
        notes=tuple(notes),
    )
    result = _act(workspace, request, result, corpus)
    if workspace.file is not None:
        keep_refreshed(workspace, result)
    return result


def _act(workspace: Workspace, request: RefreshRequest, result: Refreshed, corpus: Corpus) -> Refreshed:
    """Carry out what was asked for, and return the result without what is done."""
    if not (request.accept_moves or request.send):
        return result
    reviewer = local_reviewer() if request.by is None else _named(request.by)
    with open_bench(workspace) as bench:
        if request.accept_moves:
            accepted = accept_moves(workspace, bench, reviewer, result.stale, corpus, now=result.made)
            settled = accepted.done.union(accepted.moved)
            left = [one for one in result.found if not (one.certain and one.case in settled)]
            result = result.model_copy(
                update={"found": tuple(left), "moved": accepted.moved, "refused": accepted.refused}
            )
        if request.send:
            rest = [one for one in result.stale if not one.certain]
            sent = send_doubts(bench, rest, open_head(workspace).cases, by=reviewer.subject, now=result.made)
            waiting = len({one.case for one in rest}.difference(sent))
            result = result.model_copy(update={"sent": len(sent), "waiting": waiting})
    return result


def _named(name: str) -> Reviewer:
    return local_reviewer()._replace(subject=name, name=name)


def _list_moved(sighted: Iterable[Sighted]) -> set[str]:
    return {target for one in sighted if one.fate.kind in ("moved", "split", "merged") for target in one.fate.targets}


def _without_settled(workspace: Workspace, found: list[Staleness]) -> tuple[list[Staleness], int]:
    """Return what nobody has looked at and left as it is, and how much somebody has."""
    if not has_bench(workspace):
        return found, 0
    with open_bench(workspace) as bench:
        settled = list_settled(bench)
    left = [one for one in found if one.key not in settled.get(one.case, ())]
    return left, len(found) - len(left)


def _rank(one: Staleness) -> tuple[bool, int, int, str, str]:
    """Return what sorts certain moves first, then by what is to be done."""
    proposals, kinds = list(PROPOSALS), list(KINDS)
    return not one.certain, proposals.index(one.proposal), kinds.index(one.kind), one.case, one.document or ""
