"""Messages of one Slack channel, kept small until it is known which conversations are wanted."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import orjson

from findback.model.thread import Person, Place, Skipped
from findback.sources.chat.slack_index import read_person
from findback.sources.chat.slack_record import NOTHING, Record, keep_rest, make_record, open_value
from findback.sources.faults import Faults

MOST_CHARACTERS = 1_000_000
"""Longest text of a message that is read."""

_LOOKED_AT = 256
"""Texts from which they are looked at together."""
# Tuples, for a subtype may be something that has no hash.
_TALK = ("file_share", "me_message", "thread_broadcast", "bot_message", "slackbot_response", "assistant_app_thread")
_BROADCAST_COPY = ("reply_broadcast", "file_mention")
_TS = re.compile(r"\d{1,12}(?:\.\d{1,6})?")


Entry = tuple[str, str, str | None, int, Record | None]
"""One message, as little of it as it takes: ts, text, user, place (file and position in it, as `locate` reads it), and
the record with what else it has, None for a plain text. A plain tuple, for there are millions of them."""
TS: Final = 0
TEXT: Final = 1
USER: Final = 2
PLACE: Final = 3
REST: Final = 4


def locate(entry: Entry, files: Sequence[str]) -> Place:
    """Return where a message lies; `files` are those of its channel."""
    return Place(files[entry[PLACE] >> 32], entry[PLACE] & 0xFFFFFFFF)


class Entries:
    """Collects the messages of one channel by conversation."""

    def __init__(
        self,
        skipped: Skipped,
        faults: Faults,
        people: list[Person],
        known: set[str],
        *,
        screen: Callable[[Sequence[str]], Iterable[int]] | None = None,
    ) -> None:
        """Begin a channel.

        Args:
            skipped: Where notices, deleted and oversized messages are counted.
            faults: Where broken records are noted.
            people: Roster, to which people are added that only messages name.
            known: Ids of those in the roster.
            screen: Gives the places of texts whose conversations may matter; without it all are wanted.
        """
        self.threads: defaultdict[str, list[Entry]] = defaultdict(list)
        """Messages by the ts of the conversation's first."""
        self.wanted: set[str] | None = None if screen is None else set()
        """Conversations that passed the screen; None without one."""
        self.files: list[str] = []
        """Files that messages lie in; an entry's place says which."""
        self.alone = 0
        """People's messages that name no thread."""
        self.answered = 0
        """Messages that name one."""
        self._screen = screen
        self._keys: list[str] = []
        self._texts: list[str] = []
        self.line: int | None = None
        """Line of the message that comes next, where a file has a message a line."""
        self._skipped = skipped
        self._faults = faults
        self._people = people
        self._known = known
        self._deleted: set[str] = set()

    def add_file(self, where: str) -> int:
        """Remember a file and return its number."""
        self.files.append(where)
        return len(self.files) - 1

    def add_day(self, where: str, day: Any) -> None:
        """Take the messages of one day file, as `read_day` returns them."""
        if type(day) is not list:
            self._faults.add(where, None, "a list of messages is expected in it")
            return
        self.add_messages(self.add_file(where), day)

    def add_messages(self, file: int, messages: list[Any], first: int = 0) -> None:
        """Take records; `first` is the position of the first in its file. What is no record is a fault."""
        threads, known = self.threads, self._known
        keys, texts = self._keys, self._texts
        alone = answered = 0
        base = (file << 32) + first
        for position, message in enumerate(messages, base):
            rest = None
            # This loop runs once for every message of an export: what most messages are is told apart first.
            try:
                ts, text, user, key = message.ts, message.text, message.user, message.thread_ts
                plain = (
                    type(text) is type(ts) is type(user) is str
                    and 0 < len(text) < MOST_CHARACTERS
                    and message.subtype is None
                    and message.bot_id is None
                    and message.reactions is None
                    and message.edited is None
                    and message.files is None
                    and message.attachments is None
                    and message.hidden is None
                )
            except AttributeError:
                plain = False
            if not plain:
                turned = self._take(message, file, position - (file << 32))
                if turned is None:
                    continue
                ts, text, user, key, rest = turned
            if user not in known:
                self._learn(user, message)
            if key is None:
                alone += rest is None
                key = ts
            else:
                answered += 1
                if type(key) is not str:
                    key = _write_ts(key) or ts
            threads[key].append((ts, text, user, position, rest))
            keys.append(key)
            texts.append(text)
            if rest is not None and self.wanted is not None and _may_link(text, rest):
                self.wanted.add(key)
        self.alone += alone
        self.answered += answered
        if len(texts) >= _LOOKED_AT:
            self._sift()

    def _sift(self) -> None:
        """Look which of the messages that came since the last time may matter."""
        if self.wanted is not None and self._screen is not None:
            self.wanted.update(self._keys[place] for place in self._screen(self._texts))
        self._keys.clear()
        self._texts.clear()

    def finish(self) -> None:
        """Look at the last messages, and take out what later records say was deleted."""
        self._sift()
        self.threads.default_factory = None
        for key, group in list(self.threads.items()) if self._deleted else ():
            left = [entry for entry in group if entry[TS] not in self._deleted]
            if len(left) < len(group):
                self._skipped.add("deleted messages", len(group) - len(left))
                if left:
                    self.threads[key] = left
                else:
                    del self.threads[key]

    def _take(self, message: Any, file: int, position: int) -> tuple[str, str, str | None, Any, Record | None] | None:
        """Return the parts of a message that is not just a text by a person, or None if it is not to be read."""
        if type(message) is not Record:
            self._fault(file, position, "no object")
            return None
        try:
            message = _unwrap(message)
            text = message.text if type(message.text) is str else ""
            rest = keep_rest(message, blocks=not text)
        except orjson.JSONDecodeError as error:
            self._fault(file, position, f"not JSON: {error.msg}")
            return None
        ts = _write_ts(message.ts)
        if ts is None:
            self._fault(file, position, "no time stamp (ts)")
            return None
        if message.subtype == "message_deleted":
            self._deleted.add(_write_ts(message.deleted_ts) or ts)
            return None
        reason = _refuse(message, text)
        if reason is not None:
            self._skipped.add(reason)
            return None
        user = message.user if type(message.user) is str else None
        # A field that holds null is one that is not there.
        plain = text and user is not None and rest == NOTHING
        return ts, text, user, message.thread_ts, None if plain else rest

    def _learn(self, user: Any, message: Record) -> None:
        """Add somebody to the roster whom only messages name."""
        if type(user) is not str or message.user_profile is None:
            return
        try:
            profile = open_value(message.user_profile)
        except orjson.JSONDecodeError:
            # The message is good without it.
            return
        if type(profile) is dict:
            self._known.add(user)
            person = read_person({"id": user, "profile": profile, "name": profile.get("name")})
            if person is not None:
                self._people.append(person)

    def _fault(self, file: int, position: int, message: str) -> None:
        if self.line is not None:
            self._faults.add(self.files[file], self.line, message)
        else:
            self._faults.add(self.files[file], None, f"message {position + 1}: {message}")


def _may_link(text: str, rest: Record) -> bool:
    """Return whether a message says something beside its text that a screen of texts does not see."""
    return not text and not (rest.blocks is None and rest.attachments is None and rest.files is None)


def _unwrap(message: Record) -> Record:
    """Return the message inside a record of an edit, or of a comment on a file; others as they are."""
    if message.subtype == "message_changed":
        inner = open_value(message.message)
        if type(inner) is dict:
            message = make_record({**inner, "edited": inner.get("edited") or {"ts": message.ts}})
    if message.subtype == "file_comment":
        comment = open_value(message.comment)
        if type(comment) is dict:
            said = {"user": comment.get("user"), "text": comment.get("comment"), "subtype": None}
            return msgspec.structs.replace(message, **said)
    return message


def _refuse(message: Record, text: str) -> str | None:
    """Return why a message is not read, or None if it is."""
    subtype = message.subtype
    if subtype in _BROADCAST_COPY:
        return "copies of replies in the channel"
    if subtype == "tombstone":
        return "deleted messages"
    if (subtype is not None and subtype not in _TALK) or message.hidden is True:
        return "notices of the system"
    return f"messages longer than {MOST_CHARACTERS:,} characters" if len(text) > MOST_CHARACTERS else None


def _write_ts(ts: Any) -> str | None:
    """Return a time stamp as Slack writes it, also where an exporter made a number of it."""
    if type(ts) is str:
        return ts if _TS.fullmatch(ts) else None
    if type(ts) in (int, float) and 0 <= ts < 1e12:
        return f"{ts:.6f}"
    return None
