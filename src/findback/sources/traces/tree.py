"""Conversations that fork: messages as a tree, and the turns of it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from findback.model.thread import Place
from findback.sources.traces.drafts import Draft
from findback.sources.traces.messages import Said, calls_of, settle_uses
from findback.sources.traces.tools import RetrievalTools

_EARLY = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Node:
    """One entry of a conversation's tree."""

    id: str
    conversation: str
    parent: str | None = None
    said: Said | None = None
    """None for entries that only hold the tree together."""
    aside: bool = False
    """True for a sub-agent's own conversation: nobody's turn, charged to the turn it served."""
    project: str | None = None
    user: str | None = None
    marked: bool = False
    place: Place | None = None


def turns_of_tree(nodes: Sequence[Node], tools: RetrievalTools) -> list[Draft]:
    """Return a turn for each message of a person, with what was done between it and the next one on any branch.

    The same entry met twice, as in a resumed session, counts once.
    """
    by_id: dict[str, Node] = {}
    for node in nodes:
        by_id.setdefault(node.id, node)
    kept = list(by_id.values())
    settle_uses([node.said for node in kept if node.said is not None])
    owners = _owners(kept, by_id)
    drafts = {
        node.id: Draft(
            id=node.id,
            conversation=node.conversation,
            user=node.user,
            text=node.said.text,
            at=node.said.at,
            project=node.project,
            marked=node.marked,
            place=node.place,
        )
        for node in kept
        if _opens(node) and node.said is not None
    }
    for node in kept:
        if node.said is None or (node.said.role != "assistant" and not node.said.uses):
            continue
        owner = owners.get(node.id)
        draft = drafts.get(owner) if owner is not None else None
        if draft is None:
            draft = drafts.setdefault(
                f"{node.conversation}#",
                Draft(id=f"{node.conversation}#", conversation=node.conversation, at=node.said.at, place=node.place),
            )
        draft.marked = draft.marked or node.marked
        if node.said.text and not node.aside:
            draft.answer = node.said.text
        for use in node.said.uses:
            draft.calls += calls_of(use, tools, started=node.said.at)
    _follow(kept, by_id, owners, drafts)
    return list(drafts.values())


def _opens(node: Node) -> bool:
    return node.said is not None and node.said.role == "user" and bool(node.said.text) and not node.aside


def _owners(nodes: Sequence[Node], by_id: dict[str, Node]) -> dict[str, str | None]:
    """Return the turn of each entry: the nearest message of a person above it, itself included."""
    owners: dict[str, str | None] = {}
    latest: dict[str, str] = {}
    spoken = _spoken(nodes)
    for node in nodes:
        if _opens(node):
            latest[node.conversation] = node.id
        path: set[str] = set()
        at: Node | None = node
        found: str | None = None
        while at is not None and at.id not in path:
            if at.id in owners:
                found = owners[at.id]
                break
            path.add(at.id)
            if _opens(at):
                found = at.id
                break
            above = by_id.get(at.parent) if at.parent is not None else None
            if above is None and (at.aside or at.parent is not None):
                # A sub-agent's own root, or a parent that was not exported: whoever spoke last before it.
                found = _before(at, spoken.get(at.conversation, [])) or latest.get(at.conversation)
            at = above
        owners.update(dict.fromkeys(path, found))
    return owners


def _spoken(nodes: Sequence[Node]) -> dict[str, list[tuple[datetime, str]]]:
    """Return when persons spoke, by conversation, oldest first."""
    spoken: dict[str, list[tuple[datetime, str]]] = {}
    for node in nodes:
        if _opens(node) and node.said is not None and node.said.at is not None:
            spoken.setdefault(node.conversation, []).append((node.said.at, node.id))
    for moments in spoken.values():
        moments.sort()
    return spoken


def _before(node: Node, spoken: list[tuple[datetime, str]]) -> str | None:
    at = node.said.at if node.said else None
    if at is None:
        return None
    place = bisect_right(spoken, at, key=lambda moment: moment[0])
    return spoken[place - 1][1] if place else None


def _follow(
    nodes: Sequence[Node], by_id: dict[str, Node], owners: dict[str, str | None], drafts: dict[str, Draft]
) -> None:
    """Give each turn the newest message of the person that follows it on any branch."""
    newest: dict[str, tuple[datetime, int, str]] = {}
    for position, node in enumerate(nodes):
        if not _opens(node) or node.said is None or node.said.text is None:
            continue
        above = by_id.get(node.parent) if node.parent is not None else None
        owner = owners.get(above.id) if above is not None else None
        if owner is None:
            continue
        found = (node.said.at or _EARLY, position, node.said.text)
        if owner not in newest or newest[owner][:2] < found[:2]:
            newest[owner] = found
    for owner, (_, _, text) in newest.items():
        drafts[owner].next_text = text
