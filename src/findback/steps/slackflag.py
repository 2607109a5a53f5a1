"""Flags from Slack: words from a command, or somebody's message, kept only where nobody objected."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from findback.errors import RefusedError, SettingsError, UsageError
from findback.model.flag import LONGEST_QUERY, FlagReceipt, FlagRequest, FlagStatus
from findback.model.settings import SlackSettings
from findback.model.thread import Audience
from findback.privacy.key import Key
from findback.sources.chat.slack_blocks import write_blocks
from findback.sources.chat.slack_text import read_slack_text
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.flag import FlagDesk
from findback.steps.opening import SetRequest, open_documents
from findback.workbench.store import Workbench
from findback.workspace import Workspace

KIND = "slack"


class SlackWords(NamedTuple):
    """What is flagged, and where it came from."""

    text: str
    """In Slack's own markup."""
    author: str | None
    """Id of who wrote them."""
    channel: str | None
    """Id of the channel they were written in."""
    audience: Audience | None = None
    """Who could read them there; the audience of `[flags]` where it is the flagger's own command."""
    own: bool = True
    """Whether who flags wrote them; somebody else's are kept with a digest of their id, so that they can be erased."""


class SlackDesk:
    """Takes flags from Slack in; threads may share it."""

    def __init__(self, desk: FlagDesk, bench: Workbench, key: Key) -> None:
        self._desk, self._bench, self._key = desk, bench, key

    def warm(self) -> None:
        """Begin to open what the first flag would wait for."""
        self._desk.warm()

    def flag(self, words: SlackWords, *, now: datetime) -> FlagReceipt:
        """Keep a flag, redacted, and return the token of its link.

        Raises:
            UsageError: If there are no words, or too many.
            RefusedError: If who wrote them, or their channel, objected; or they cannot be redacted whole.
            StorageError: If the database refuses.
        """
        query = read_slack_text(words.text).text
        if not query.strip():
            raise UsageError("there are no words to look for")
        if len(query) > LONGEST_QUERY:
            raise UsageError(f"more than {LONGEST_QUERY:,} characters are too many for one question")
        if self._is_kept_out(words):
            raise RefusedError("who wrote this, or the channel it stands in, is kept out of the test set")
        author = None if words.own else words.author
        return self._desk.flag(FlagRequest(query=query), via="slack", audience=words.audience, author=author, now=now)

    def status(self, token: str) -> FlagStatus:
        """Return what came of a flag.

        Raises:
            MissingError: If there is no such flag, or it was erased since.
        """
        return self._desk.status(token)

    def digest(self, person: str) -> str:
        """Return what a person is counted by."""
        return self._key.hmac(person)

    def _is_kept_out(self, words: SlackWords) -> bool:
        if words.author is not None and self._bench.is_person_kept_out(self._key.hmac(words.author)):
            return True
        container = None if words.channel is None else self._key.hmac(f"container\0{KIND}\0{words.channel}")
        return container is not None and self._bench.is_kept_out(container)


@contextmanager
def open_slack_desk(workspace: Workspace) -> Iterator[SlackDesk]:
    """Open the place where flags from Slack come in for a while, with the workbench.

    Raises:
        StorageError: If disk or server refuse.
        RefusedError: If the workbench was made with another key or by a newer findback.
    """
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        desk = FlagDesk(workspace, bench, key, documents=lambda: open_documents(workspace, SetRequest()))
        yield SlackDesk(desk, bench, key)


def message_text(message: Mapping[str, Any]) -> str:
    """Return the words of a message, in Slack's own markup."""
    text = message.get("text")
    return text if isinstance(text, str) and text else write_blocks(message.get("blocks"))


class SlackSecrets(NamedTuple):
    """What lets findback and Slack know each other."""

    app_token: str | None
    signing_secret: str | None


def find_secrets(workspace: Workspace) -> SlackSecrets:
    """Return the secrets that `[slack]` names.

    Raises:
        SettingsError: If it names none, or a variable is not set.
    """
    settings = workspace.settings.slack
    if settings.app_token is None and settings.signing_secret is None:
        raise SettingsError(
            "[slack] names neither an app-level token nor a signing secret",
            hint='app_token = "env:SLACK_APP_TOKEN" for Socket Mode; see docs/slack.md',
        )
    return SlackSecrets(_secret(workspace, settings.app_token), _secret(workspace, settings.signing_secret))


def uses_secrets(settings: SlackSettings) -> bool:
    """Return whether somebody must agree to what `[slack]` names."""
    return settings.app_token is not None or settings.signing_secret is not None


def _secret(workspace: Workspace, named: str | None) -> str | None:
    if named is None:
        return None
    value = workspace.named_secret(named)
    if value is None:
        variable = named.removeprefix("env:")
        raise SettingsError(f"[slack] takes a secret from {variable}, which is not set", hint=f"set {variable}")
    return value.strip()
