"""What a Slack export holds: its channels, who could read them, its days and its people."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from findback.errors import DataError
from findback.model.thread import Audience, Person
from findback.sources.archive import Archive
from findback.sources.faults import Faults

LISTS: dict[str, Audience] = {
    "channels.json": "public",
    "groups.json": "private",
    "mpims.json": "direct",
    "dms.json": "direct",
}
"""Lists of channels by file name, and who could read what is in them."""
PEOPLE = ("users.json", "org_users.json")
_BESIDE = frozenset((*LISTS, *PEOPLE, "integration_logs.json", "canvases.json", "content_flags.json", "lists.json"))
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_NAMES = (
    "real_name", "display_name", "first_name", "last_name", "name", "real_name_normalized", "display_name_normalized",
)  # fmt: skip
SLACKBOT = "USLACKBOT"


@dataclass(slots=True)
class Channel:
    """One channel, and the files its days lie in."""

    id: str
    name: str | None
    audience: Audience | None
    """None when the export does not say."""
    earlier: tuple[str, ...] = ()
    days: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Return everything it may be called."""
        return (self.id, *((self.name,) if self.name else ()), *self.earlier)


@dataclass(slots=True)
class Index:
    """What an export holds, before any day of it is read."""

    channels: list[Channel]
    """Those with days, by name."""
    people: dict[str, Person]
    people_listed: bool
    ignored: int
    """Files that are no day of a channel and no list of the export's."""

    @property
    def last_day(self) -> str | None:
        """Return the newest day that has a file, as YYYY-MM-DD."""
        return max((day.rpartition("/")[2][:10] for channel in self.channels for day in channel.days), default=None)


def find_days(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the day files of each folder that has any, in order."""
    days: dict[str, list[str]] = {}
    for name in names:
        folder, _, file = name.rpartition("/")
        if folder and _DAY.fullmatch(file):
            days.setdefault(folder, []).append(name)
    return days


def read_index(archive: Archive, faults: Faults) -> Index:
    """Read the lists of an export: channels with the folders that hold their days, and people.

    Several exports beside each other are read as one: channels meet by their id.

    Raises:
        RefusedError: If a list is larger than may be read.
    """
    days = find_days(archive.names)
    roots = sorted({folder.rpartition("/")[0] for folder in days})
    channels: dict[str, Channel] = {}
    people: dict[str, Person] = {}
    listed = False
    for root in roots:
        folders: dict[str, Channel] = {}
        for channel in _read_channels(archive, root, faults):
            known = channels.setdefault(channel.id, channel)
            if known is not channel:
                known.earlier = tuple(dict.fromkeys((*known.earlier, *channel.names)))
            for name in (*channel.earlier, channel.id, *((channel.name,) if channel.name else ())):
                folders[name] = known
        for folder in (folder for folder in days if folder.rpartition("/")[0] == root):
            name = folder.rpartition("/")[2]
            channel = folders.get(name) or channels.setdefault(name, Channel(name, name, None))
            channel.days += days[folder]
        for file in PEOPLE:
            for entry in _read_list(archive, _join(root, file), faults):
                listed = True
                person = read_person(entry)
                if person is not None:
                    people[person.id] = person
    used = sum(map(len, days.values())) + sum(name.rpartition("/")[2] in _BESIDE for name in archive.names)
    for channel in channels.values():
        # Snapshots lie in folders of their own, so that names alone would not bring days into order.
        channel.days.sort(key=lambda day: (day.rpartition("/")[2], day))
    held = sorted((channel for channel in channels.values() if channel.days), key=lambda channel: channel.name or "")
    return Index(held, people, listed, len(archive.names) - used)


def _read_channels(archive: Archive, root: str, faults: Faults) -> Iterator[Channel]:
    for file, audience in LISTS.items():
        for entry in _read_list(archive, _join(root, file), faults):
            name, earlier = entry.get("name"), entry.get("previous_names")
            identity = entry.get("id") or name
            if not isinstance(identity, str):
                faults.add(archive.where(_join(root, file)), None, "a channel has neither id nor name")
                continue
            closed = entry.get("is_private") is True and audience == "public"
            yield Channel(
                identity,
                name if isinstance(name, str) else None,
                "private" if closed else audience,
                tuple(name for name in earlier if isinstance(name, str)) if isinstance(earlier, list) else (),
            )


def _read_list(archive: Archive, name: str, faults: Faults) -> Iterator[Mapping[str, Any]]:
    if name not in archive:
        return
    try:
        listed = archive.read_json(name)
    except DataError as error:
        faults.add(archive.where(name), error.faults[0].line, error.faults[0].message)
        return
    if not isinstance(listed, list):
        faults.add(archive.where(name), None, "a list is expected in it")
        return
    for position, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield entry
        else:
            faults.add(archive.where(name), None, f"entry {position + 1} is no object")


def read_person(entry: Mapping[str, Any]) -> Person | None:
    """Return a user of Slack's list as a person of the roster; None without an id."""
    identity = entry.get("id")
    if not isinstance(identity, str) or not identity:
        return None
    profile = entry.get("profile")
    given = profile if isinstance(profile, dict) else {}
    names = [source.get(key) for source in (entry, given) for key in _NAMES]
    return Person(
        identity,
        tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name.strip())),
        mails=_texts(given.get("email"), entry.get("email")),
        phones=_texts(given.get("phone")),
        bot=entry.get("is_bot") is True or identity == SLACKBOT,
        gone=entry.get("deleted") is True,
    )


def _texts(*values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and value.strip()))


def _join(root: str, file: str) -> str:
    return f"{root}/{file}" if root else file
