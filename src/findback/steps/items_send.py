"""Send the suspicious cases to be looked at again, mixed with as many random ones, without saying which is which."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from pydantic import PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.model.case import Case
from findback.model.items import ItemAnalysis, SentItems
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.steps.bench import open_bench
from findback.steps.caselist import list_questioned, open_head
from findback.steps.items import look_at_items
from findback.steps.items_scores import ItemScores, ItemsRequest, score_items
from findback.steps.kept import keep, now
from findback.steps.localreviewer import local_name
from findback.steps.lookagain import Pool, ask_for_look, list_pools
from findback.workbench.store import Workbench
from findback.workspace import Workspace

MOST = 25
"""Suspicious cases that are sent at once unless another number is asked for."""
WANTED = 3
"""Documents to grade that each case is sent with at least, so that no case shows by having none."""
DEEPEST = 10
"""Ranks that are looked through for them."""


class SendRequest(ItemsRequest):
    """Send the suspicious cases to be looked at again."""

    most: PositiveInt = MOST
    """Suspicious cases to send at most; as many random ones go with them."""


def send_items(
    workspace: Workspace,
    request: SendRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
    by: str | None = None,
    moment: datetime | None = None,
) -> SentItems:
    """Have suspicious cases looked at again, mixed with as many that look right.

    Suspicious are cases that go against the others, have an unjudged document that several systems rank first, are
    solved by nobody, or are answered by a document that answers suspiciously many; in this order. Every case goes
    with the unjudged documents that systems rank highest. One that was looked at before goes again only where several
    systems rank a document first that it was not sent with.

    Args:
        workspace: Where set, workbench and runs are.
        request: What to look at, and how much to send.
        systems: As for `score_items`.
        questions: As for `score_items`.
        documents: As for `score_items`.
        progress: Shows how far it has come.
        ask: As for `score_items`.
        by: Who sends them; whoever is logged in to this machine when left out.
        moment: When; now when left out.

    Raises:
        UsageError: If none of the questions is a case of the set as it stands.
        FindbackError: As `score_items`.
    """
    items = score_items(
        workspace, request, systems=systems, questions=questions, documents=documents, progress=progress, ask=ask
    )
    found = look_at_items(items)
    if workspace.file is not None:
        keep(workspace, found)
    pools = _Pools(items, _list_cases(workspace, items))
    with open_bench(workspace) as bench:
        suspicious, others = _sort_out(bench, found, pools)
        drawn = sorted(others, key=lambda id_: _mix(items.seed, id_))
        count = min(len(suspicious), len(drawn), request.most)
        for id_ in sorted([*suspicious[:count], *drawn[:count]], key=lambda id_: _mix(items.seed + 1, id_)):
            ask_for_look(bench, id_, pools.pool(id_), by=by or local_name(), now=moment or now())
    return SentItems(
        cases=2 * count, random=count, waiting=len(suspicious) - count, notes=_note(suspicious, drawn, found)
    )


class _Pools:
    """Documents to grade with each case that can be sent."""

    def __init__(self, items: ItemScores, asked: Mapping[str, tuple[Case, Sequence[str]]]) -> None:
        self.cases = {id_: case for id_, (case, _) in asked.items()}
        self._owner = {question: id_ for id_, (_, questions) in asked.items() for question in questions}
        self._asked = {id_: questions for id_, (_, questions) in asked.items()}
        self._runs = [(one.run, {query: at for at, query in enumerate(one.run.queries)}) for one in items.entrants]

    def find(self, question: str) -> Iterator[str]:
        """Yield the case that a question belongs to, where it can be sent."""
        if question in self._owner:
            yield self._owner[question]

    def pool(self, case_id: str) -> Pool:
        """Return the unjudged documents that systems rank highest, rank by rank until there are enough."""
        judged = {one.doc for one in self.cases[case_id].judged}
        ranked = list(self._rank(case_id))
        found: dict[str, dict[str, None]] = {}
        for rank in range(DEEPEST):
            for name, documents in ranked:
                if rank < len(documents) and documents[rank] not in judged:
                    found.setdefault(documents[rank], {})[name] = None
            if len(found) >= WANTED:
                break
        return {document: tuple(names) for document, names in found.items()}

    def _rank(self, case_id: str) -> Iterator[tuple[str, list[str]]]:
        for run, places in self._runs:
            for question in self._asked[case_id]:
                hits = run.hits(places[question]) if question in places else ()
                yield run.name, list(dict.fromkeys(hit.document for hit in hits))[:DEEPEST]


def _list_cases(workspace: Workspace, items: ItemScores) -> dict[str, tuple[Case, list[str]]]:
    """Return the cases of the head that can be sent, each with the questions that were asked of it.

    Raises:
        UsageError: If there is none.
    """
    active = {case.id: case for case in open_head(workspace).cases if case.status == "active"}
    asked: dict[str, tuple[Case, list[str]]] = {}
    for question in items.paired.questions:
        case = active.get(question.id)
        # A paraphrase takes its label from its root: there it can be looked at.
        owner = None if case is None else case.root or case.id
        if owner in active:
            asked.setdefault(owner, (active[owner], []))[1].append(question.id)
    if not asked:
        raise UsageError(
            f"none of the questions of {items.asking.asked.name} is a case of the set",
            hint="only cases of the set can be looked at again: leave --set out, or name a release",
        )
    return asked


def _sort_out(bench: Workbench, found: ItemAnalysis, pools: _Pools) -> tuple[list[str], list[str]]:
    """Return the suspicious cases in their order, and those that look right."""
    waiting, seen = list_questioned(bench), list_pools(bench)
    doubtful, suspicious = set(), dict[str, None]()
    for case, document in _suspect(found, pools):
        doubtful.add(case)
        if case not in waiting and (case not in seen or (document is not None and document not in seen[case])):
            suspicious[case] = None
    others = [case for case in pools.cases if case not in doubtful and case not in waiting and case not in seen]
    return list(suspicious), others


def _suspect(found: ItemAnalysis, pools: _Pools) -> Iterator[tuple[str, str | None]]:
    """Yield the cases whose label may be wrong, the most suspicious first, with the document that may be gold."""
    for against in found.against:
        yield from ((case, None) for case in pools.find(against.case.question))
    for second in found.second:
        for case in pools.find(second.question):
            if all(one.doc != second.document for one in pools.cases[case].judged):
                yield case, second.document
    for nobody in found.nobody:
        yield from ((case, None) for case in pools.find(nobody.question))
    for heavy in found.heavy:
        for question in heavy.questions:
            yield from ((case, None) for case in pools.find(question))


def _mix(seed: int, case_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{case_id}".encode()).digest()


def _note(suspicious: Sequence[str], drawn: Sequence[str], found: ItemAnalysis) -> tuple[str, ...]:
    notes = list(found.notes)
    if not suspicious:
        notes.append("nothing new looks wrong")
    elif not drawn:
        notes.append("no further case looks right: suspicious ones alone would show for what they are, so none is sent")
    return tuple(notes)
