"""What people in Slack are told, who alone see it."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from findback.errors import FindbackError, MissingError, RefusedError, UsageError
from findback.model.settings import SlackSettings
from findback.model.thread import Audience
from findback.slack.turns import Turns
from findback.steps.slackflag import SlackDesk, SlackWords, message_text

FAILED = "Something went wrong here, and nothing was kept. Please tell whoever runs findback."
TOO_OFTEN = "That was often, for one hour. Nothing was kept this time; please come back later."
BY_PROGRAM = "A program wrote that message. Nothing was kept; use the shortcut on what a person asked."
KEPT = "Kept, with names and secrets that were recognised taken out; your name is not kept."
FOLDED = "Others could not find that either: it counts for what is kept already. Your name is not kept."
_STATUS = re.compile(r"status\s+([A-Za-z0-9_-]{16,200})")


class Answers:
    """Takes flags in and says in a few words what happens next."""

    def __init__(
        self, desk: SlackDesk, settings: SlackSettings, *, base_url: str | None, clock: Callable[[], datetime]
    ) -> None:
        """Take where flags go.

        Args:
            desk: Keeps them.
            settings: Name of the command, and how many flags a person may send.
            base_url: Where the review page is reached, for links to what came of a flag; None without one.
            clock: Returns the moment.
        """
        self._desk, self._settings, self._clock = desk, settings, clock
        self._base_url = base_url.rstrip("/") if base_url else None
        self._turns = Turns(settings.per_person)

    def to_command(self, payload: Mapping[str, Any]) -> str:
        """Return the answer to the command."""
        said = _text(payload, "text")
        asked = said.strip()
        if not asked or asked.lower() == "help":
            return self._help()
        if (named := _STATUS.fullmatch(asked)) is not None:
            return self._say(lambda: self._desk.status(named[1]).says)
        person = _text(payload, "user_id")
        words = SlackWords(said, person or None, _text(payload, "channel_id") or None)
        return self._flag(words, person)

    def to_shortcut(self, payload: Mapping[str, Any]) -> str:
        """Return the answer to the shortcut on a message."""
        message, channel, person = (_part(payload, key) for key in ("message", "channel", "user"))
        author = _text(message, "user") or None
        if author is None or message.get("bot_id"):
            return BY_PROGRAM
        flagger = _text(person, "id")
        words = SlackWords(
            message_text(message),
            author,
            _text(channel, "id") or None,
            _audience_of(channel),
            own=author == flagger,
        )
        return self._flag(words, flagger)

    def _flag(self, words: SlackWords, person: str) -> str:
        now = self._clock()
        if not self._turns.take(self._desk.digest(person), now):
            return TOO_OFTEN

        def keep() -> str:
            receipt = self._desk.flag(words, now=now)
            return f"{KEPT if receipt.new else FOLDED} A reviewer reads it next. {self._follow(receipt.status)}"

        return self._say(keep)

    def _say(self, answer: Callable[[], str]) -> str:
        try:
            return answer()
        except (UsageError, MissingError) as error:
            return f"Nothing was kept: {error.message}." if isinstance(error, UsageError) else f"{error.message}."
        except RefusedError:
            return "Nothing was kept: the words cannot be taken out of here, or somebody objected to it."
        except FindbackError:
            return FAILED

    def _follow(self, token: str) -> str:
        if self._base_url is not None:
            return f"What comes of it: {self._base_url}/flag/{token}"
        return f"To learn what came of it: `{self._settings.command} status {token}`"

    def _help(self) -> str:
        return (
            f"Type `{self._settings.command}` and the words you searched with, as you typed them. They are kept "
            "without names and secrets that are recognised, read by a reviewer, and become a question that search is "
            "tested with. Nobody else sees this answer."
        )


def _audience_of(channel: Mapping[str, Any]) -> Audience:
    """Return who could read a message; Slack hides the names of what is not public."""
    identity, name = _text(channel, "id"), _text(channel, "name")
    if identity.startswith("D") or name in ("directmessage", "mpdm") or name.startswith("mpdm-"):
        return "direct"
    return "private" if name == "privategroup" or not name else "public"


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _part(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, Mapping) else {}
