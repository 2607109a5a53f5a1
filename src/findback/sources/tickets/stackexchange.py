"""Stack Exchange dump: Posts.xml, with PostLinks.xml and Users.xml where they lie beside it."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath

from findback.errors import FindbackError
from findback.model.thread import Message, Person, Place, Thread
from findback.sources.archive import Archive
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.markup import read_html
from findback.sources.opening import open_archive
from findback.sources.tickets.body import TOO_LONG
from findback.sources.tickets.fields import MOST_TEXT, read_moment
from findback.sources.tickets.ledger import Ledger
from findback.sources.tickets.xmlrows import XmlRow, read_xml_rows

_QUESTION, _ANSWER = "1", "2"
_WIKI = frozenset(("4", "5"))
_DUPLICATE = "3"
_TAGS = re.compile(r"[<>|]+")
_POSTS = re.compile(r"(?:^|[/_.-])posts\.xml$", re.IGNORECASE)
_LINKS = re.compile(r"(?:^|[/_.-])postlinks\.xml$", re.IGNORECASE)
_USERS = re.compile(r"(?:^|[/_.-])users\.xml$", re.IGNORECASE)


class StackExchange:
    """Reader of Stack Exchange dumps."""

    name = "stackexchange"
    family: Family = "tickets"
    rules = ("accepted", "duplicate", "no-answer")

    def recognise(self, path: Path) -> str | None:
        """Return why the path is a dump, or None."""
        try:
            with open_archive(path) as archive:
                for name in archive.names:
                    head = archive.peek(name, 4_096)
                    if name.lower().endswith(".xml") and b"<posts" in head and (b"PostTypeId" in head):
                        return "Posts.xml with PostTypeId"
        except (FindbackError, OSError, ValueError, KeyError):
            return None
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading the dump, twice through: a question is given once its last answer has come.

        So only questions whose answers have not all come are held in memory.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If a file declares entities, or is larger than may be read.
        """
        reading = Reading()
        reading.threads = _Dump(path, options, reading).threads()
        return reading


def split_tags(tags: str) -> tuple[str, ...]:
    """Return the tags of a question, from either delimiter that dumps have had.

    >>> split_tags("|sql|joins|"), split_tags("<sql><joins>")
    (('sql', 'joins'), ('sql', 'joins'))
    """
    return tuple(tag for tag in _TAGS.split(tags) if tag)


class _Dump:
    def __init__(self, path: Path, options: SourceOptions, reading: Reading) -> None:
        self._path = path
        self._ledger = Ledger(path, options, reading)
        self._last: dict[str, int] = {}
        self._owners: set[str] = set()
        self._duplicates: dict[str, str] = {}

    def threads(self) -> Iterator[Thread]:
        with open_archive(self._path) as archive:
            names = archive.names
            single = len(names) == 1
            posts = [name for name in names if single or _POSTS.search(name)]
            links = [name for name in names if _LINKS.search(name)]
            users = [name for name in names if _USERS.search(name)]
            if others := len(names) - len(posts) - len(links) - len(users):
                self._ledger.skipped.add("files of other kinds", others)
            for name in posts:
                self._last.clear()
                self._owners.clear()
                self._duplicates.clear()
                site = _site(name, self._path)
                self._gather(archive, name)
                self._take_links(archive, [other for other in links if _site(other, self._path) == site])
                self._take_people(archive, [other for other in users if _site(other, self._path) == site])
                yield from self._emit(archive, name, site)
        self._ledger.settle()

    def _rows(self, archive: Archive, name: str, faults: Faults) -> Iterator[XmlRow]:
        with archive.open(name) as file:
            yield from read_xml_rows(file, archive.where(name), faults)

    def _gather(self, archive: Archive, name: str) -> None:
        for position, row in enumerate(self._rows(archive, name, self._ledger.faults)):
            values = row.values
            question = values.get("Id") if values.get("PostTypeId") == _QUESTION else values.get("ParentId")
            if question and values.get("PostTypeId") in (_QUESTION, _ANSWER):
                self._last[question] = position
            if owner := values.get("OwnerUserId"):
                self._owners.add(owner)

    def _take_links(self, archive: Archive, names: list[str]) -> None:
        for name in names:
            for row in self._rows(archive, name, self._ledger.faults):
                if row.values.get("LinkTypeId") != _DUPLICATE:
                    continue
                post, target = row.values.get("PostId"), row.values.get("RelatedPostId")
                if post and target:
                    self._duplicates[post] = target
                else:
                    self._ledger.faults.add(archive.where(name), row.line, "a link without PostId or RelatedPostId")

    def _take_people(self, archive: Archive, names: list[str]) -> None:
        for name in names:
            for row in self._rows(archive, name, self._ledger.faults):
                number, shown = row.values.get("Id"), row.values.get("DisplayName")
                if number in self._owners and number and shown:
                    self._ledger.meet(Person(number, (shown,), bot=number == "-1"))

    def _emit(self, archive: Archive, name: str, site: str) -> Iterator[Thread]:
        where = archive.where(name)
        questions: dict[str, dict[str, str]] = {}
        posts: dict[str, list[Message]] = {}
        # What is wrong with the XML itself was noted the first time through.
        for position, row in enumerate(self._rows(archive, name, Faults())):
            kind = row.values.get("PostTypeId")
            if kind not in (_QUESTION, _ANSWER):
                self._ledger.skipped.add("tag wikis" if kind in _WIKI else "posts of other kinds")
                continue
            question = row.values.get("Id") if kind == _QUESTION else row.values.get("ParentId")
            message = self._message(row, where)
            if not question:
                self._ledger.faults.add(
                    where, row.line, "Id is missing" if kind == _QUESTION else "ParentId is missing"
                )
                continue
            if message is not None:
                posts.setdefault(question, []).append(message)
            if kind == _QUESTION:
                questions[question] = row.values
            if self._last.get(question) == position:
                thread = self._thread(question, questions.pop(question, None), posts.pop(question, []), site)
                yield from self._ledger.admit(thread)

    def _message(self, row: XmlRow, where: str) -> Message | None:
        values = row.values
        number, body, written = values.get("Id"), values.get("Body"), values.get("CreationDate")
        at = read_moment(written)
        for problem, name in ((not number, "Id is missing"), (body is None, "Body is missing")):
            if problem:
                self._ledger.faults.add(where, row.line, name)
                return None
        if written and at is None:
            self._ledger.faults.add(where, row.line, "CreationDate is no time")
            return None
        if body is None or number is None or len(body) > MOST_TEXT:
            self._ledger.skipped.add(TOO_LONG)
            return None
        marked = read_html(body)
        owner = values.get("OwnerUserId")
        return Message(
            id=number,
            author=owner,
            actor="bot" if owner == "-1" else "human",
            at=at,
            text=marked.text,
            marks=marked.marks,
            links=marked.links,
            extras=marked.extras,
            edited="LastEditDate" in values,
            place=Place(where, row.offset),
        )

    def _thread(self, number: str, values: dict[str, str] | None, posts: list[Message], site: str) -> Thread | None:
        if values is None:
            self._ledger.skipped.add("answers whose question is not in the export", len(posts))
            return None
        asked = [post for post in posts if post.id == number]
        answers = sorted((post for post in posts if post.id != number), key=_order)
        return Thread(
            id=f"{site}/{number}",
            source="stackexchange",
            container=site,
            kind="question",
            title=values.get("Title"),
            asker=values.get("OwnerUserId"),
            tags=split_tags(values.get("Tags", "")),
            messages=(*asked, *answers),
            accepted=values.get("AcceptedAnswerId"),
            duplicate_of=f"{site}/{original}" if (original := self._duplicates.get(number)) else None,
            help_channel=True,
            parent_missing=not asked,
        )


def _order(post: Message) -> tuple[float, str]:
    written: datetime | None = post.at
    return (written.timestamp() if written else 0.0, post.id)


def _site(name: str, path: Path) -> str:
    """Return the site a dump's file is of: what stands before `Posts`, else its folder."""
    bare = PurePosixPath(name)
    prefix = re.sub(r"(?i)[_.-]?(posts|postlinks|users)\.xml$", "", bare.name)
    if prefix and prefix != bare.name:
        return prefix
    return bare.parent.name or (path.parent.name if path.suffix.lower() == ".xml" else path.stem)
