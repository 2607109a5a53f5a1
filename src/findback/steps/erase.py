"""Erase what people asked to have erased, and keep out those who objected."""

from collections.abc import Iterable

from findback.errors import UsageError
from findback.model.record import Record, Request
from findback.privacy.key import Key, same_value
from findback.sources.searchlog.events import digest_of
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.kept import now
from findback.workspace import Workspace


class PurgeRequest(Request):
    """Erase every text of a person or channel from the workbench, for good."""

    person: tuple[str, ...] = ()
    """What the person is known by: the id the source gives them (in Slack U…), which finds what they wrote; addresses,
    names and phone numbers, which find where others wrote them. Several name one person."""
    channel: tuple[str, ...] = ()
    """Channels or queues, as `source:id`, such as slack:C0123."""
    rejected: bool = False
    """Everything that was rejected."""


class ExcludeRequest(Request):
    """Keep people and channels that objected out of the workbench from now on."""

    person: tuple[str, ...] = ()
    """What the person is known by: the source's id, e-mail addresses, names, phone numbers."""
    channel: tuple[str, ...] = ()
    """Channels or queues, as `source:id`."""


class Erasure(Record):
    """What was erased."""

    counts: dict[str, int]


def purge(workspace: Workspace, request: PurgeRequest) -> Erasure:
    """Erase texts; nothing of them remains in the database's bytes, and mining does not bring them back.

    Raises:
        UsageError: If nothing is named.
        StorageError: If the database refuses.
    """
    if not (request.person or request.channel or request.rejected):
        raise UsageError("say what to erase", hint="--person, --channel or --rejected")
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        erased = bench.purge(
            now=now(),
            person_hmac=person_digests(key, request.person),
            container_hmac=channel_digests(key, request.channel),
            rejected=request.rejected,
        )
    return Erasure(counts=erased._asdict())


def exclude(workspace: Workspace, request: ExcludeRequest) -> Erasure:
    """Keep people and channels out from now on, and take out what is stored of them.

    Raises:
        UsageError: If nobody is named.
        StorageError: If the database refuses.
    """
    if not (request.person or request.channel):
        raise UsageError("say who or what to keep out: --person or --channel")
    key = open_workspace_key(workspace)
    counts: dict[str, int] = {}
    with open_bench(workspace, key) as bench:
        for kind, digests in (
            ("person", person_digests(key, request.person)),
            ("container", channel_digests(key, request.channel)),
        ):
            if digests:
                done = bench.exclude("person" if kind == "person" else "container", digests, now=now())._asdict()
                counts = {name: counts.get(name, 0) + value for name, value in done.items()}
    return Erasure(counts=counts)


def person_digests(key: Key, known_by: Iterable[str]) -> list[str]:
    """Return every digest under which the workbench may know a person; search logs name people by a digest already."""
    found: dict[str, None] = {}
    for value in known_by:
        found[key.hmac(value)] = None
        found[key.hmac(digest_of(value) or "")] = None
        for kind in ("PERSON", "EMAIL", "PHONE"):
            found[key.hmac(same_value(kind, value))] = None
    return list(found)


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
