"""Links resolved to documents: wrapped ones unwrapped, by the corpus' own names and by URL patterns; never fetched."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from findback.errors import SettingsError
from findback.model.protocols import Documents
from findback.text.wrappers import load_wrappers, unwrap_link

_MOST_REMEMBERED = 100_000
_PLACE = "{document}"
_MESSAGE = re.compile(r"https://[\w-]+(?:\.enterprise)?\.slack\.com/archives/([A-Z0-9]{5,20})/p(\d{10})(\d{6})\b")


def linked_message(url: str) -> str | None:
    """Return the id of the chat message that an address leads to, as container and message, or None.

    >>> linked_message("https://acme.slack.com/archives/C012AB3CD/p1788247568322499")
    'C012AB3CD:1788247568.322499'
    """
    match = _MESSAGE.match(url)
    return f"{match[1]}:{match[2]}.{match[3]}" if match else None


class LinkResolver:
    """Finds the document an address means, and remembers it."""

    def __init__(
        self, documents: Documents, *, patterns: Iterable[str] = (), not_knowledge: Iterable[str] = ()
    ) -> None:
        """Take the corpus and how its addresses look.

        Args:
            documents: The corpus.
            patterns: Addresses with `{document}` where the id or an alias stands, `*` for any other part:
                `https://docs.example.org/*/{document}`.
            not_knowledge: Ids or globs of documents that answer nothing: etiquette, how to ask.

        Raises:
            SettingsError: If a pattern is not such an address.
        """
        self.documents = documents
        self._patterns = [(pattern, compile_pattern(pattern)) for pattern in patterns]
        self._not_knowledge = tuple(not_knowledge)
        self._known: dict[str, str | None] = {}

    def resolve(self, url: str) -> str | None:
        """Return the id of the document, or None."""
        if url in self._known:
            return self._known[url]
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        found = self._known[url] = self._find(unwrap_link(url))
        return found

    def _find(self, url: str) -> str | None:
        found = self.documents.resolve(url)
        for _, pattern in self._patterns if found is None else ():
            match = pattern.match(url)
            if match is None:
                continue
            for reference in dict.fromkeys((match[1], unquote(match[1]))):
                found = self.documents.resolve(reference)
                if found is not None:
                    return found
        return found

    def is_knowledge(self, document: str) -> bool:
        """Return whether a document answers questions, and is not about how to ask them."""
        return not any(document == name or fnmatchcase(document, name) for name in self._not_knowledge)

    def hosts(self) -> frozenset[str]:
        """Return the hosts that addresses of documents have; empty when they are not known.

        Hosts of wrapping services are among them, for a wrapped address hides its own.
        """
        found = {urlsplit(pattern).netloc for pattern, _ in self._patterns}
        for document in self.documents:
            for name in (document.url, document.id, *document.aliases):
                if name is not None and name.startswith(("http://", "https://")):
                    try:
                        found.add(urlsplit(name).netloc)
                    except ValueError:
                        continue
        named = {host.rpartition("@")[2].casefold().removeprefix("www.") for host in found if host and "*" not in host}
        return frozenset(named | {wrapper.host for wrapper in load_wrappers()}) if named else frozenset()


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for an address with `{document}` in it.

    >>> compile_pattern("https://docs.example.org/*/{document}").match("http://docs.example.org/en/vpn?from=chat")[1]
    'vpn'

    Raises:
        SettingsError: If it is no address with one `{document}`.
    """
    scheme, between, rest = pattern.partition("://")
    if not between or scheme not in ("http", "https") or rest.count(_PLACE) != 1 or "/" not in rest:
        raise SettingsError(
            f"{pattern[:200]!r} is no pattern of addresses", hint="write it like https://docs.example.org/{document}"
        )
    before, _, after = rest.partition(_PLACE)
    in_query = "?" in before
    part = "[^&#]+?" if in_query else "[^?#]+?"
    end = r"(?:[&#].*)?$" if in_query else r"/?(?:[?#].*)?$"
    literal = [r"[^/?#]*".join(map(re.escape, piece.split("*"))) for piece in (before, after)]
    return re.compile(f"https?://(?:www\\.)?{literal[0]}({part}){literal[1]}{end}", re.IGNORECASE)
