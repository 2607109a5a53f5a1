"""Which places of an export are read: by name, by who could read them, and never the excluded ones."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from fnmatch import translate
from functools import lru_cache
from importlib.resources import files

from findback.model.thread import Audience
from findback.sources.format import SourceOptions

_BETWEEN = re.compile(r"[\s_.\-/・]+")


@lru_cache(maxsize=1)
def load_excluded() -> tuple[str, ...]:
    """Return the shipped glob patterns of channels that are never read: personnel, law, health and the like."""
    listed = tomllib.loads((files("findback.sources") / "exclude.toml").read_text(encoding="utf-8"))
    return tuple(_within_name(word for words in listed["words"].values() for word in words))


@lru_cache(maxsize=1)
def load_help() -> tuple[str, ...]:
    """Return the shipped glob patterns of channels that are meant for questions."""
    listed = tomllib.loads((files("findback.sources") / "help.toml").read_text(encoding="utf-8"))
    return tuple(_within_name(listed["words"]))


def fold_name(name: str) -> str:
    """Return a channel's name as patterns are matched: case and width folded, hyphens between words, no `#`.

    >>> fold_name("#Ask_HR Berlin")
    'ask-hr-berlin'
    """
    return _BETWEEN.sub("-", unicodedata.normalize("NFKC", name).casefold().strip().lstrip("#")).strip("-")


class Scope:
    """Says of each channel, queue or project whether it is read.

    Naming a place in full opens it, whatever its audience and though a pattern excludes it; only an exclusion
    that names it in full is stronger.
    """

    def __init__(self, options: SourceOptions) -> None:
        """Take what the options name."""
        self._chosen = _matcher(options.channels)
        self._named = {fold_name(name) for name in options.channels} | set(options.channels)
        self._excluded = _matcher(options.exclude)
        self._never = {fold_name(name) for name in options.exclude} - set(load_excluded())
        self._help = _matcher((*load_help(), *options.help_channels))
        self._open = options.open_audiences

    def refuse(self, names: Iterable[str], audience: Audience | None) -> str | None:
        """Return why a place is not read, or None if it is.

        Args:
            names: Its id, its name and earlier names.
            audience: Who could read it; None when the export does not say, which counts as private.
        """
        given = tuple(names)
        folded = [fold_name(name) for name in given]
        if any(name in self._never for name in folded):
            return "excluded channels"
        if any(name in self._named for name in (*given, *folded)):
            return None
        if self._chosen is not None and not any(self._chosen.match(name) for name in folded):
            return "channels not asked for"
        if self._excluded is not None and any(self._excluded.match(name) for name in folded):
            return "excluded channels"
        if audience is None:
            return None if "private" in self._open else "channels whose audience the export does not say"
        return None if audience in self._open else _REFUSED[audience]

    def is_help(self, name: str | None) -> bool:
        """Return whether a place's name says that it is meant for questions."""
        return name is not None and self._help is not None and self._help.match(fold_name(name)) is not None


_REFUSED: dict[Audience, str] = {
    "public": "public channels",
    "internal": "internal notes",
    "private": "private channels",
    "direct": "direct messages",
}


def since_timestamp(since: datetime | None) -> float:
    """Return the POSIX seconds before which nothing is wanted; minus infinity when everything is."""
    if since is None:
        return float("-inf")
    return (since if since.tzinfo else since.replace(tzinfo=UTC)).timestamp()


def _within_name(words: Iterable[str]) -> Iterable[str]:
    for word in map(fold_name, words):
        yield from (word, f"{word}-*", f"*-{word}", f"*-{word}-*")


def _matcher(patterns: Iterable[str]) -> re.Pattern[str] | None:
    folded = dict.fromkeys(map(fold_name, patterns))
    return re.compile("|".join(map(translate, folded))) if folded else None
