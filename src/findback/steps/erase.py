"""Erase what people asked to have erased, and keep out those who objected."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from findback.errors import UsageError
from findback.model.protocols import SILENT, Progress
from findback.model.record import Record, Request
from findback.privacy.aliases import digest_value
from findback.privacy.key import Key
from findback.sources.searchlog.events import digest_of
from findback.steps.agentlog import forget_calls
from findback.steps.answers import forget_answers
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.kept import now
from findback.steps.ledger import record_erasures
from findback.workbench.aliases import Called, Identity
from findback.workbench.store import Workbench
from findback.workspace import Workspace

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PurgeRequest(Request):
    """Erase every text of a person or channel from the workbench, for good."""

    person: tuple[str, ...] = ()
    """What the person is known by: the id the source gives them (in Slack U…), an address, a phone number, or a name
    that nobody else bears. Each finds what they wrote and where they are named; a shared name needs an id or address
    beside it."""
    channel: tuple[str, ...] = ()
    """Channels or queues, as `source:id`, such as slack:C0123."""
    rejected: bool = False
    """Everything that was rejected."""


class ExcludeRequest(Request):
    """Keep people and channels that objected out of the workbench from now on."""

    person: tuple[str, ...] = ()
    """What the person is known by: the source's id, an address, a phone number, or a name that nobody else bears."""
    channel: tuple[str, ...] = ()
    """Channels or queues, as `source:id`."""


class Erasure(Record):
    """What was erased."""

    counts: dict[str, int]
    published: tuple[str, ...] = ()
    """Ids of the cases that erased candidates had become; the set and its releases hold their texts still."""
    withdrawing: str | None = None
    """The command that erases those too; None where there are none."""


class ErasureOrder(Request):
    """What is to be erased or kept out, in digests alone: without the workbench's key they name nobody."""

    ids: tuple[Digest, ...] = ()
    """Of people's ids in every source."""
    values: tuple[Digest, ...] = ()
    """Of all that stands for these people, and nobody else, in texts."""
    lasting: tuple[Digest, ...] = ()
    """Of what besides their ids tells them from everybody else in an export that is yet to come."""
    channels: tuple[Digest, ...] = ()
    rejected: bool = False
    """Everything that was rejected."""
    keep_out: bool = False
    """Whether they are kept out from now on; else what is stored of them goes, for good."""


def purge(workspace: Workspace, request: PurgeRequest) -> Erasure:
    """Erase texts; nothing of them remains in the database's bytes, and mining does not bring them back.

    Raises:
        UsageError: If nothing is named, or a name means several people.
        StorageError: If the database refuses.
    """
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        return erase(workspace, bench, order_purge(bench, key, request), moment=now())


def exclude(workspace: Workspace, request: ExcludeRequest) -> Erasure:
    """Keep people and channels out from now on, and take out what is stored of them.

    Raises:
        UsageError: If nobody is named, or a name means several people.
        StorageError: If the database refuses.
    """
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        return erase(workspace, bench, order_exclusion(bench, key, request), moment=now())


def order_purge(bench: Workbench, key: Key, request: PurgeRequest) -> ErasureOrder:
    """Return what a purge is to erase, without the words that name it.

    Raises:
        UsageError: If nothing is named, or a name means several people.
    """
    if not (request.person or request.channel or request.rejected):
        raise UsageError("say what to erase", hint="--person, --channel or --rejected")
    return _order(bench, key, request.person, request.channel, rejected=request.rejected)


def order_exclusion(bench: Workbench, key: Key, request: ExcludeRequest) -> ErasureOrder:
    """Return who and what is to be kept out, without the words that name it.

    Raises:
        UsageError: If nobody is named, or a name means several people.
    """
    if not (request.person or request.channel):
        raise UsageError("say who or what to keep out: --person or --channel")
    return _order(bench, key, request.person, request.channel, keep_out=True)


def _order(bench: Workbench, key: Key, person: Sequence[str], channel: Sequence[str], **more: bool) -> ErasureOrder:
    channels = channel_digests(key, channel)
    who = identify_people(bench, key, person)
    named = {name: tuple(sorted(getattr(who, name))) for name in ("ids", "values", "lasting")}
    return ErasureOrder.model_validate({**named, "channels": tuple(channels), **more})


def erase(
    workspace: Workspace, bench: Workbench, order: ErasureOrder, *, moment: datetime, progress: Progress = SILENT
) -> Erasure:
    """Carry an order out; doing it again changes nothing, and finishes what was interrupted.

    What language models answered goes whole: nobody can tell whose question stands in it in other words. Of the log of
    agents' searches the lines go that name these people, or are of these channels.

    Raises:
        StorageError: If the database refuses, or erased bytes cannot be overwritten yet.
    """
    forgotten = forget_answers(workspace)
    people = {*order.ids, *order.values, *order.lasting}
    searches = forget_calls(
        workspace, people, order.channels, hmac=lambda text: open_workspace_key(workspace).hmac(text)
    )
    before = bench.released_cases()
    who = Identity(frozenset(order.ids), frozenset(order.values), frozenset(order.lasting))
    done: list[dict[str, int]] = []
    progress.start("Erasing", 1)
    try:
        if not order.keep_out:
            erased = bench.purge(now=moment, person_hmac=who, container_hmac=order.channels, rejected=order.rejected)
            done.append(erased._asdict())
        else:
            if who.values:
                done.append(bench.exclude("person", who, now=moment)._asdict())
            if order.channels:
                done.append(bench.exclude("container", order.channels, now=moment)._asdict())
    finally:
        # Erased texts whose bytes cannot be overwritten yet are erased all the same.
        record_erasures(workspace, bench)
    progress.advance()
    progress.finish()
    counts = {name: sum(one[name] for one in done) for name in done[0]} if done else {}
    counts |= {"answers of models": forgotten} if forgotten else {}
    counts |= {"searches of agents": searches} if searches else {}
    return _erasure(counts, before - bench.released_cases())


def _erasure(counts: dict[str, int], cases: Iterable[str]) -> Erasure:
    published = tuple(sorted(cases))
    command = f"findback withdraw {' '.join(published)} --reason 'erased on request'" if published else None
    return Erasure(counts=counts, published=published, withdrawing=command)


def identify_people(bench: Workbench, key: Key, known_by: Sequence[str]) -> Identity:
    """Return who is meant, as digests.

    Raises:
        UsageError: If a name means several people, or is empty.
    """
    if not all(value.strip() for value in known_by):
        raise UsageError("an empty name means nobody", hint="--person U023, or an address or name")
    who = bench.identify([_called(key, value.strip()) for value in known_by])
    if who.doubtful:
        names = ", ".join(repr(known_by[at]) for at in who.doubtful)
        raise UsageError(
            f"several people are called {names}, and nothing was changed",
            hint="name the id the source gives the person (in Slack U…, in users.json), or an e-mail address",
        )
    return who


def _called(key: Key, value: str) -> Called:
    """Return the digests of a value; search logs name people by a digest already."""
    names = {value, value.removeprefix("@")}
    logged = {digest for name in names if (digest := digest_of(name)) is not None}
    return Called(frozenset(key.hmac(name) for name in names | logged), digest_value(value, key.hmac))


def channel_digests(key: Key, channels: Iterable[str]) -> list[str]:
    """Return the digests of channels.

    Raises:
        UsageError: If one does not name its source.
    """
    digests = []
    for channel in channels:
        source, colon, name = channel.partition(":")
        if not colon or not name:
            raise UsageError(f"{channel!r} does not say which source it belongs to", hint="write it as slack:C0123")
        digests.append(key.hmac(f"container\0{source}\0{name}"))
    return digests
