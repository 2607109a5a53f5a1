"""Slack messages and conversations as records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from findback.model.thread import ActorKind, Audience, Link, Message, Reaction, Skipped, ThreadKind
from findback.sources.chat.gaps import split_at_gaps, uses_threads
from findback.sources.chat.slack_blocks import list_addresses, list_texts, write_blocks
from findback.sources.chat.slack_entries import MOST_CHARACTERS, REST, TS, USER, Entries, Entry, locate
from findback.sources.chat.slack_record import NOTHING, Record
from findback.sources.chat.slack_text import read_slack_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOT_SUBTYPES = frozenset(("bot_message", "slackbot_response", "assistant_app_thread"))


class Conversation(NamedTuple):
    """Messages that belong together, not yet built."""

    key: str
    """The ts of the first message, whether or not it is there."""
    kind: ThreadKind
    entries: list[Entry]


def join_conversations(
    held: Entries, refuse: Callable[[list[Entry]], str | None], skipped: Skipped
) -> Iterator[Conversation]:
    """Return the conversations of a channel that are wanted, oldest first, each let go of when it is taken.

    Where people answer in threads, a message without answers stands alone; elsewhere such messages are joined
    by time.

    Args:
        held: The channel's messages; empty afterwards.
        refuse: Says why messages that belong together are not wanted all the same, or None if they are.
        skipped: Where those not wanted are counted.
    """
    gaps = {} if held.alone < 2 or uses_threads(held.answered, held.alone) else _join_by_time(held.threads)
    threads: dict[str, list[Entry]] = held.threads
    wanted = held.wanted
    if wanted is not None:
        count = len(threads) + len(gaps)
        threads = {key: threads[key] for key in wanted if key in threads}
        gaps = {key: run for key, run in gaps.items() if any(entry[TS] in wanted for entry in run)}
        held.threads.clear()
        if count > len(threads) + len(gaps):
            skipped.add("threads with neither a link nor a cue", count - len(threads) - len(gaps))
    return _settle(threads, gaps, refuse, skipped)


def _settle(
    threads: dict[str, list[Entry]],
    gaps: dict[str, list[Entry]],
    refuse: Callable[[list[Entry]], str | None],
    skipped: Skipped,
) -> Iterator[Conversation]:
    for key in sorted({*threads, *gaps}):
        for kind, group in (("thread", threads.pop(key, None)), ("gap", gaps.pop(key, None))):
            if group is None:
                continue
            reason = refuse(group)
            if reason is not None:
                skipped.add(reason)
                continue
            entries = _without_copies(group)
            yield Conversation(key, "gap" if kind == "gap" and len(entries) > 1 else "thread", entries)


def _join_by_time(threads: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    """Take out messages nobody answered in a thread, and join them by time."""
    alone = [key for key, group in threads.items() if len(group) == 1 or _is_copied(key, group)]
    singles = sorted((entry for key in alone for entry in threads.pop(key)), key=_by_time)
    return {run[0][TS]: run for run in split_at_gaps(singles, lambda entry: seconds(entry[TS]))}


def _is_copied(key: str, group: list[Entry]) -> bool:
    return all(entry[TS] == key for entry in group)


def _without_copies(entries: list[Entry]) -> list[Entry]:
    """Return messages by time, each once: exports overlap, and the newest wording counts."""
    if len(entries) == 1:
        return entries
    kept: dict[str, Entry] = {}
    for entry in entries:
        known = kept.get(entry[TS])
        if known is None or _edited_at(entry) > _edited_at(known):
            kept[entry[TS]] = entry
    return sorted(kept.values(), key=_by_time)


def _by_time(entry: Entry) -> tuple[float, str]:
    return seconds(entry[TS]), entry[TS]


def _edited_at(entry: Entry) -> float:
    edited: Any = (entry[REST] or NOTHING).edited
    ts = edited.get("ts") if isinstance(edited, dict) else None
    return seconds(str(ts)) if ts is not None else -1.0


def seconds(ts: str) -> float:
    """Return a time stamp as POSIX seconds; 0 for what is none. Good for comparing, too coarse to be an id.

    >>> seconds("1788247568.322499"), seconds("yesterday")
    (1788247568.322499, 0.0)
    """
    try:
        return float(ts)
    except ValueError:
        return 0.0


def read_time(ts: str) -> datetime | None:
    """Return a time stamp to the microsecond, in UTC, or None for what is none.

    >>> read_time("1788247568.322499").microsecond
    322499
    """
    whole, _, fraction = ts.partition(".")
    try:
        return _EPOCH + timedelta(seconds=int(whole), microseconds=int(fraction[:6].ljust(6, "0")))
    except (ValueError, OverflowError):
        return None


def is_by_bot(entry: Entry, bots: AbstractSet[str]) -> bool:
    """Return whether a program wrote a message; `bots` are the users known to be programs."""
    rest = entry[REST]
    if entry[USER] in bots:
        return True
    if rest is None:
        return False
    if rest.bot_id is not None or rest.subtype in _BOT_SUBTYPES:
        return True
    return entry[USER] is None and rest.username is not None


def build_message(entry: Entry, files: Sequence[str], bots: AbstractSet[str], audience: Audience) -> Message:
    """Return a message as a record."""
    ts, text, user, _, held = entry
    rest = held or NOTHING
    source = text or write_blocks(rest.blocks)
    marked = read_slack_text(source[:MOST_CHARACTERS])
    actor: ActorKind = "bot" if is_by_bot(entry, bots) else "unknown" if user is None else "human"
    return Message(
        id=ts,
        author=user or (rest.bot_id if isinstance(rest.bot_id, str) else None),
        actor=actor,
        at=read_time(ts),
        text=marked.text,
        marks=marked.marks,
        links=_join_links(marked.links, rest.attachments),
        extras=tuple(_bounded(_extra_texts(held))) if held is not None else (),
        reactions=tuple(_read_reactions(rest.reactions)),
        audience=audience,
        edited=rest.edited is not None,
        place=locate(entry, files),
    )


def _extra_texts(rest: Record) -> Iterator[str]:
    files = [*(rest.files if isinstance(rest.files, list) else ()), *(() if rest.file is None else (rest.file,))]
    for text in list_texts(files, rest.attachments):
        yield read_slack_text(text[:MOST_CHARACTERS]).text


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    left = MOST_CHARACTERS
    for text in texts:
        left -= len(text)
        if left < 0:
            return
        yield text


def _join_links(links: Sequence[Link], attachments: Any) -> tuple[Link, ...]:
    seen = {link.url for link in links}
    further = [Link(url) for url in dict.fromkeys(list_addresses(attachments)) if url not in seen]
    return (*links, *further)


def _read_reactions(reactions: Any) -> Iterator[Reaction]:
    for reaction in reactions if isinstance(reactions, list) else ():
        if isinstance(reaction, dict) and isinstance(reaction.get("name"), str):
            users = reaction.get("users")
            yield Reaction(
                reaction["name"],
                tuple(user for user in users if isinstance(user, str)) if isinstance(users, list) else (),
            )
