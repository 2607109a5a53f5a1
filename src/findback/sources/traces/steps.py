"""Spans of a trace, whatever convention wrote them, put together into the turns of a person."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from findback.model.thread import Place
from findback.model.turn import RetrievalCall
from findback.sources.traces.drafts import Draft, make_calls
from findback.sources.traces.feedback import as_score
from findback.sources.traces.messages import Said, ToolUse, calls_of, last_answer, last_wording, settle_uses
from findback.sources.traces.payloads import documents_in, queries_in, results_in
from findback.sources.traces.tools import RetrievalTools, ToolMark

StepKind = Literal["turn", "call", "model", "other"]

_DEEPEST = 256
"""Most ancestors of a span that are followed."""

_LATE = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Step:
    """One span, reduced to what turns are made of."""

    id: str
    trace: str
    parent: str | None = None
    kind: StepKind = "other"
    """An agent at work for a person, a tool or retriever, a model, or anything else."""
    started: datetime | None = None
    ended: datetime | None = None
    tool: str | None = None
    mark: ToolMark = "none"
    queries: tuple[str, ...] | None = None
    arguments: Any = None
    answered: Any = None
    """What the tool gave back; None where it was not captured."""
    results: int | None = None
    documents: tuple[str, ...] = ()
    failed: bool = False
    asked: str | None = None
    """What the person said last, as far as this span knows."""
    earlier: frozenset[int] = frozenset()
    """Hashes of what the person said before that."""
    said_answer: str | None = None
    implied: tuple[ToolUse, ...] = ()
    """Calls of tools that this span's messages tell of."""
    conversation: str | None = None
    user: str | None = None
    project: str | None = None
    system: str | None = None
    score: float | None = None
    outcome: bool | None = None
    marked: bool = False
    place: Place | None = None

    def rate(self, *values: Any) -> None:
        """Take a person's score: the first of the values that is one; of several scores the lowest counts."""
        score = next((score for value in values if (score := as_score(value)) is not None), None)
        if score is not None:
            self.score = score if self.score is None else min(self.score, score)


@dataclass(slots=True)
class _Group:
    """The spans of one turn."""

    text: str | None = None
    steps: list[Step] = field(default_factory=list)
    started: datetime | None = None


def see_call(step: Step, tool: str, given: Any, gave: Any, *, retriever: bool) -> None:
    """Note on a step which tool was called, with what, and what a retriever found: nothing is known where it failed."""
    step.tool, step.arguments, step.answered = tool, given, gave
    if retriever:
        step.mark, step.queries = "retriever", queries_in(given)
        if gave is not None and not step.failed:
            step.results, step.documents = results_in(gave), documents_in(gave)


def hear(step: Step, messages: list[Said], *, output: list[Said] | None = None) -> None:
    """Note on a step what its messages say about the person's wording, the answer and calls of tools."""
    if not step.asked:
        step.asked = last_wording(messages)
    wordings = [said.text for said in messages if said.role == "user" and said.text]
    step.earlier = frozenset(hash(text) for text in wordings[:-1])
    settle_uses(messages)
    last = max((at for at, said in enumerate(messages) if said.role == "user" and said.text), default=-1)
    step.implied = tuple(use.without_answer() for said in messages[last + 1 :] for use in said.uses)
    if output is not None and not step.said_answer:
        step.said_answer = last_answer(output)


def drafts_of(steps: Iterable[Step], tools: RetrievalTools) -> list[Draft]:
    """Return the turns of all traces, in order of each trace's first span."""
    traces: dict[str, list[Step]] = {}
    for step in steps:
        traces.setdefault(step.trace, []).append(step)
    return [draft for members in traces.values() for draft in _drafts_of_trace(members, tools)]


def _drafts_of_trace(steps: list[Step], tools: RetrievalTools) -> list[Draft]:
    by_id = {step.id: step for step in steps}
    paths = {step.id: _ancestors(step, by_id) for step in steps}
    ordered = sorted(steps, key=lambda step: (step.started or _LATE, len(paths[step.id])))
    groups = _group(ordered, paths)
    drafts = []
    for number, group in enumerate(groups):
        draft = _draft(group, paths, tools)
        if number:
            draft.id = f"{draft.id}#{number}"
        drafts.append(draft)
    _share(drafts)
    return drafts


def _ancestors(step: Step, by_id: dict[str, Step]) -> list[Step]:
    """Return a span's known ancestors, nearest first; a circle of parents is cut where it closes."""
    path: list[Step] = []
    seen = {step.id}
    parent = step.parent
    while parent not in seen and len(path) < _DEEPEST:
        found = by_id.get(parent) if parent is not None else None
        if found is None or parent is None:
            break
        seen.add(parent)
        path.append(found)
        parent = found.parent
    return path


def _group(ordered: list[Step], paths: dict[str, list[Step]]) -> list[_Group]:
    """Return the spans of each turn of one trace.

    A trace is one turn, unless an outermost agent was given a history that holds what the person asked the one
    before it: then the person has spoken again. An agent without that history is a sub-agent, whose "user" is
    another agent; its searches belong to the turn above.
    """
    owners: dict[str, str] = {}
    for step in ordered:
        agents = [above for above in (step, *paths[step.id]) if above.kind == "turn"]
        owners[step.id] = agents[-1].id if agents else ""
    inner: dict[str, list[Step]] = {}
    for step in ordered:
        inner.setdefault(owners[step.id], []).append(step)
    groups: list[_Group] = []
    place: dict[str, _Group] = {}
    for step in ordered:
        if owners[step.id] != step.id:
            continue
        text, earlier = _wording(inner[step.id], paths)
        if groups and not (groups[-1].text is not None and hash(groups[-1].text) in earlier):
            groups[-1].text = groups[-1].text or text
        else:
            groups.append(_Group(text=text, started=step.started))
        place[step.id] = groups[-1]
    if not groups:
        return [_Group(text=_wording(ordered, paths)[0], steps=ordered)]
    for step in ordered:
        owner = owners[step.id]
        group = place[owner] if owner else _latest(groups, step)
        group.steps.append(step)
    # What stands above the agents, such as a chain with the input as given, is nearer to the person.
    outer = _wording([step for step in inner.get("", []) if step.kind == "other"], paths)[0]
    if len(groups) == 1 and outer:
        groups[0].text = outer
    return groups


def _latest(groups: list[_Group], step: Step) -> _Group:
    at = step.started or _LATE
    earlier = [group for group in groups if group.started is not None and group.started <= at]
    return earlier[-1] if earlier and step.kind in ("call", "model") else groups[0]


def _wording(steps: list[Step], paths: dict[str, list[Step]]) -> tuple[str | None, frozenset[int]]:
    """Return what the person asked, from the outermost span that knows it, and what came before."""
    # What a chain inside was given may be another program's words; an agent's and a model's "user" is the person.
    knowing = [
        step
        for step in steps
        if step.asked and (step.kind in ("turn", "model") or (step.kind == "other" and not paths[step.id]))
    ]
    if not knowing:
        return None, frozenset()
    step = min(knowing, key=lambda step: len(paths[step.id]))
    earlier = step.earlier or next((other.earlier for other in knowing if other.asked == step.asked), frozenset())
    return step.asked, earlier


def _draft(group: _Group, paths: dict[str, list[Step]], tools: RetrievalTools) -> Draft:
    steps = group.steps
    top = min(steps, key=lambda step: len(paths[step.id]))
    scores = [step.score for step in steps if step.score is not None]
    calls = _calls(steps, paths, tools)
    answering = [step for step in steps if step.said_answer and step.kind != "call"]
    outermost = min((len(paths[step.id]) for step in answering), default=0)
    answers = [step.said_answer for step in answering if len(paths[step.id]) == outermost]
    return Draft(
        id=top.trace,
        conversation=_first(step.conversation for step in steps),
        user=_first(step.user for step in steps),
        text=group.text,
        at=top.started or _first(step.started for step in steps),
        calls=calls,
        answer=answers[-1] if answers else None,
        outcome=_first(step.outcome for step in steps),
        feedback=min(scores) if scores else None,
        system=_first(step.system for step in steps),
        project=_first(step.project for step in steps),
        marked=any(step.marked for step in steps),
        place=top.place,
    )


def _calls(steps: list[Step], paths: dict[str, list[Step]], tools: RetrievalTools) -> list[RetrievalCall]:
    """Return the searches of a turn; a search inside a search, such as a server's own span, is the same one."""
    made: dict[str, list[RetrievalCall]] = {}
    seen_call = False
    for step in sorted(steps, key=lambda step: len(paths[step.id])):
        if step.kind != "call":
            continue
        seen_call = True
        outer = next((above.id for above in paths[step.id] if made.get(above.id)), None)
        calls = make_calls(
            tools,
            key=step.id,
            tool=step.tool or "retriever",
            mark=step.mark,
            arguments=step.arguments,
            queries=step.queries,
            answer=step.answered,
            results=step.results,
            documents=step.documents,
            started=step.started,
            ended=step.ended,
            failed=step.failed,
        )
        if outer is None:
            made[step.id] = calls
        elif len(calls) == 1 and len(made[outer]) == 1:
            made[outer] = [_merge(made[outer][0], calls[0])]
    if seen_call:
        return [call for calls in made.values() for call in calls]
    telling = max((step for step in steps if step.implied), key=lambda step: len(step.implied), default=None)
    if telling is None:
        return []
    return [call for use in telling.implied for call in calls_of(use, tools)]


def _merge(outer: RetrievalCall, inner: RetrievalCall) -> RetrievalCall:
    return replace(
        outer,
        query=outer.query or inner.query,
        results=inner.results if outer.results is None else outer.results,
        documents=outer.documents or inner.documents,
        offset=inner.offset if outer.offset is None else outer.offset,
        failed=outer.failed or inner.failed,
    )


def _share(drafts: list[Draft]) -> None:
    """Spread what only one turn of a trace knows over the others: conversation, user, project, marker."""
    for name in ("conversation", "user", "project"):
        known = _first(getattr(draft, name) for draft in drafts)
        for draft in drafts:
            if getattr(draft, name) is None:
                setattr(draft, name, known)
    if len(drafts) > 1 and drafts[0].conversation is None:
        for draft in drafts:
            draft.conversation = drafts[0].id
    if any(draft.marked for draft in drafts):
        for draft in drafts:
            draft.marked = True


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)
