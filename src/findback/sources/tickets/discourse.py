"""Discourse: topics as `/t/<id>.json` gives them, one a file, a line or an array item."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from findback.model.thread import ActorKind, Audience, Message, Person, Place, Skipped, StatusChange, Thread
from findback.sources.faults import Faults
from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.markup import read_html
from findback.sources.tickets.body import TOO_LONG
from findback.sources.tickets.export import find_objects, peek_rows, read_rows
from findback.sources.tickets.fields import MOST_TEXT, Fields
from findback.sources.tickets.ledger import Ledger

ENVELOPES = frozenset(("topics",))
_REGULAR, _WHISPER = 1, 4
_CLOSINGS = {"closed.enabled": True, "autoclosed.enabled": True, "closed.disabled": False, "autoclosed.disabled": False}
FIRST_PAGE = "topics that hold only their first page of posts; fetch the rest by the ids in post_stream.stream"
"""What a note says about such topics, behind their number."""


class Discourse:
    """Reader of Discourse topics."""

    name = "discourse"
    family: Family = "tickets"
    rules = ("accepted", "no-answer")

    def recognise(self, path: Path) -> str | None:
        """Return why the path holds Discourse topics, or None."""
        for row in peek_rows(path, envelopes=ENVELOPES):
            stream = row.fields.values.get("post_stream")
            if isinstance(stream, dict) and "posts" in stream:
                return "topics with post_stream.posts"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Begin reading the topics: once through for the people, once for the topics.

        Raises:
            DataError: While iterated, at the end, with every fault, unless bad records are skipped.
            RefusedError: If it is larger than may be read.
        """
        reading = Reading()
        reading.threads = _Topics(path, options, reading).threads()
        return reading


class _Topics:
    def __init__(self, path: Path, options: SourceOptions, reading: Reading) -> None:
        self._ledger = Ledger(path, options, reading)
        self._cut = 0

    def threads(self) -> Iterator[Thread]:
        ledger = self._ledger
        with ledger.open_members() as (archive, members):
            # Once through for the people, so that the roster is whole before the first topic.
            for name in members:
                for row in read_rows(archive, name, Faults(), Skipped(), envelopes=ENVELOPES):
                    self._take_people(row.fields.values)
            for name in members:
                for row in read_rows(archive, name, ledger.faults, ledger.skipped, envelopes=ENVELOPES):
                    if "post_stream" not in row.fields.values:
                        if len(row.fields.values) > 5:
                            ledger.skipped.add("records of other kinds")
                        continue
                    yield from ledger.admit(self._topic(row.fields, row.place))
        if self._cut:
            ledger.notes.append(f"{self._cut:,} {FIRST_PAGE}")
        ledger.settle()

    def _take_people(self, values: Mapping[str, Any]) -> None:
        for user in find_objects(values, "username"):
            author, called = user["username"], user.get("name") or user.get("display_username")
            if isinstance(author, str) and author:
                names = (called, author) if isinstance(called, str) else (author,)
                self._ledger.meet(Person(author, names, bot=user.get("user_id", user.get("id")) == -1))

    def _topic(self, fields: Fields, place: Place) -> Thread | None:
        number, title = fields.identity("id", needed=True), fields.text("title")
        stream = fields.part("post_stream")
        posts = stream.parts("posts") if stream is not None else []
        category = fields.identity("category_id") or "topics"
        direct = fields.values.get("archetype") == "private_message"
        messages: list[Message] = []
        changes: list[StatusChange] = []
        numbers: dict[str, str] = {}
        flagged: str | None = None
        for post in posts:
            message = self._post(post, place)
            changes += self._change(post)
            if message is not None:
                messages.append(message)
                numbers[str(post.values.get("post_number"))] = message.id
                flagged = message.id if post.values.get("accepted_answer") is True else flagged
        if number is None or fields.bad:
            return None
        if self._ledger.is_further(number, "second copies of the same topic"):
            return None
        self._note_page(stream, len(posts))
        accepted = flagged or self._accepted(fields, numbers)
        first = posts[0].values.get("post_number") if posts else None
        return Thread(
            id=number,
            source="discourse",
            container=category,
            kind="question",
            audience="direct" if direct else "public",
            title=title,
            asker=messages[0].author if messages and first == 1 else None,
            tags=fields.words("tags"),
            messages=tuple(messages),
            changes=tuple(changes),
            accepted=accepted,
            help_channel=None,
            parent_missing=first != 1,
        )

    def _note_page(self, stream: Fields | None, posts: int) -> None:
        ids = stream.values.get("stream") if stream is not None else None
        if isinstance(ids, list) and len(ids) > posts:
            self._cut += 1
            self._ledger.skipped.add("posts beyond a topic's first page", len(ids) - posts)

    def _accepted(self, fields: Fields, numbers: dict[str, str]) -> str | None:
        """Return the accepted post the topic names, in an object or, through a race or in later versions, an array."""
        given: Any = fields.values.get("accepted_answer", fields.values.get("accepted_answers"))
        for answer in given if isinstance(given, list) else [given]:
            if isinstance(answer, dict) and "post_number" in answer:
                if (found := numbers.get(str(answer["post_number"]))) is not None:
                    return found
                self._ledger.skipped.add("accepted answers beyond a topic's first page")
        return None

    def _post(self, post: Fields, place: Place) -> Message | None:
        number, cooked, at = post.identity("id", needed=True), post.text("cooked"), post.moment("created_at")
        author, kind = post.text("username"), post.values.get("post_type", _REGULAR)
        if post.bad or number is None or kind not in (_REGULAR, _WHISPER):
            return None
        if cooked is not None and len(cooked) > MOST_TEXT:
            self._ledger.skipped.add(TOO_LONG)
            return None
        bot = post.values.get("user_id") == -1 or post.values.get("bot") is True
        marked = read_html(cooked or "")
        actor: ActorKind = "bot" if bot else "human"
        audience: Audience = "internal" if kind == _WHISPER else "public"
        version = post.values.get("version")
        return Message(
            id=number,
            author=author,
            actor=actor,
            at=at,
            text=marked.text,
            marks=marked.marks,
            links=marked.links,
            extras=marked.extras,
            audience=audience,
            staff=any(post.values.get(name) is True for name in ("staff", "moderator", "admin")),
            edited=isinstance(version, int) and version > 1,
            deleted=any(post.values.get(name) for name in ("deleted_at", "user_deleted", "hidden")),
            place=place,
        )

    def _change(self, post: Fields) -> list[StatusChange]:
        code = post.values.get("action_code")
        if code not in _CLOSINGS:
            return []
        actor: ActorKind = "system" if str(code).startswith("auto") or post.values.get("user_id") == -1 else "human"
        at, author = post.moment("created_at"), post.text("username")
        return [StatusChange(at=at, status=str(code), closed=_CLOSINGS[code], author=author, actor=actor)]
