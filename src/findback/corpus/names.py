"""Which document a name means: an id, an address, a path, an alias, an old address."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from findback.corpus.address import Site
from findback.corpus.redirects import Redirect
from findback.model.document import Document

_MOST_HOPS = 20
"""Longest chain of redirects that is followed."""
_MOST_SPLATS = 1_000


class Names:
    """Finds documents by name: exactly first, then with case, endings, queries and the like folded.

    A name that means two documents on the same level means none.
    """

    def __init__(self, documents: Mapping[str, Document], site: Site, redirects: Iterable[Redirect] = ()) -> None:
        self._documents = documents
        self._site = site
        self._redirects: dict[str, str] = {}
        self._splats: list[tuple[str, str]] = []
        for redirect in redirects:
            key = site.keys(redirect.old)[-1]
            if not redirect.splat:
                self._redirects.setdefault(key, redirect.new)
            elif len(self._splats) < _MOST_SPLATS:
                self._splats.append((key, redirect.new))

    @cached_property
    def exact(self) -> dict[str, str | None]:
        """Addresses and aliases as written, and the id they mean; None where they mean two."""
        exact: dict[str, str | None] = {}
        for name, document in self._documents.items():
            if document.url is not None and document.url != name:
                _enter(exact, document.url, name)
            for alias in document.aliases:
                _enter(exact, alias, name)
        return exact

    @cached_property
    def _levels(self) -> tuple[dict[str, str | None], ...]:
        # Folding every name takes a while, and references that are ids never need it.
        ids: dict[str, str | None] = {}
        urls: dict[str, str | None] = {}
        aliases: dict[str, str | None] = {}
        nearby: dict[str, str | None] = {}
        for name, document in self._documents.items():
            for key in self._site.own_keys(name):
                _enter(ids, key, name)
            if document.url is not None and document.url != name:
                for key in self._site.keys(document.url):
                    _enter(urls, key, name)
            folder = name.rpartition("/")[0]
            for alias in document.aliases:
                for key in self._site.keys(alias):
                    _enter(aliases, key, name)
                if folder and not alias.startswith("/") and "//" not in alias:
                    for key in self._site.keys(f"{folder}/{alias}"):
                        _enter(nearby, key, name)
        return ids, urls, aliases, nearby

    def resolve(self, reference: str) -> str | None:
        """Return the id of the document a name means, or None; redirects are followed, loops end."""
        seen: set[str] = set()
        for _ in range(_MOST_HOPS):
            found = self._look_up(reference)
            if found is not None or reference in seen:
                return found
            seen.add(reference)
            onward = self._redirect(reference)
            if onward is None:
                return None
            reference = onward
        return None

    def _look_up(self, reference: str) -> str | None:
        if reference in self._documents:
            return reference
        if not reference.strip():
            return None
        exact = self.exact.get(reference)
        if exact is not None:
            return exact
        for key in self._site.keys(reference.strip()):
            for level in self._levels:
                if key in level:
                    return level[key]
        return None

    def _redirect(self, reference: str) -> str | None:
        keys = self._site.keys(reference)
        for key in keys:
            if key in self._redirects:
                return self._redirects[key]
        for old, new in self._splats:
            for key in keys:
                if not old or key.startswith(old + "/"):
                    return new + key[len(old) + 1 :] if old else new + key
        return None


def _enter(level: dict[str, str | None], key: str, name: str) -> None:
    known = level.setdefault(key, name)
    if known != name:
        level[key] = None
