"""Addresses and paths folded to one key, so that a gold URL meets the file it was made from."""

import re
import unicodedata
from urllib.parse import quote, unquote, urlsplit

from findback.errors import SettingsError

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".markdown", ".mdown", ".mdx", ".md", ".rst", ".txt", ".text")
"""Endings that an address of the same page may lack."""
INDEX_NAMES = frozenset({"index", "_index", "readme"})
"""Files that stand for their folder."""
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.\-]{0,30}:)?//", re.IGNORECASE)


def fold_path(path: str) -> str:
    """Return the key of a path: case, page ending, index name, doubled and outer slashes folded.

    >>> fold_path("/Guides/Setup/index.html"), fold_path("guides/setup.md")
    ('guides/setup', 'guides/setup')
    """
    parts: list[str] = []
    for part in unicodedata.normalize("NFC", path).casefold().replace("\\", "/").split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if parts:
        parts[-1] = drop_suffix(parts[-1])
        if parts[-1] in INDEX_NAMES:
            parts.pop()
    return "/".join(parts)


def drop_suffix(name: str) -> str:
    """Return a file name without a page ending.

    >>> drop_suffix("setup.md"), drop_suffix("v1.2")
    ('setup', 'v1.2')
    """
    if "." not in name:
        return name
    lowered = name.casefold()
    for suffix in PAGE_SUFFIXES:
        if lowered.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


class Site:
    """Where a corpus is published; without an address, paths and foreign addresses are folded all the same."""

    def __init__(self, base_url: str | None = None) -> None:
        """Take the address the corpus' root has, or the path that references to it begin with.

        Raises:
            SettingsError: If it is no http(s) address, or carries a password.
        """
        self.base_url = base_url.rstrip("/") + "/" if base_url else None
        self._root = ""
        self._path = ""
        if self.base_url is not None:
            try:
                parts = urlsplit(self.base_url)
                host = parts.hostname
            except ValueError:
                host = None
            bare = "://" not in self.base_url and not self.base_url.startswith("//")
            if not bare and (host is None or parts.scheme not in ("http", "https")):
                raise SettingsError(
                    "corpus.base_url is not an http(s) address",
                    hint="write it as https://host/path/, or as the path that labels begin with",
                )
            if parts.username or parts.password:
                raise SettingsError("corpus.base_url carries a user name or password", hint="leave them out")
            self._root = fold_path(unquote(parts.path)) if bare else _address_key(self.base_url)
            self._path = fold_path(unquote(parts.path))
            if bare:
                # Labels begin with a path; there is no address under which pages are published.
                self.base_url = None

    def url_of(self, path: str) -> str | None:
        """Return the address under which a file is most likely published, or None without a base.

        >>> Site("https://docs.example.org/kb").url_of("guides/Set up.md")
        'https://docs.example.org/kb/guides/Set%20up'
        """
        if self.base_url is None:
            return None
        folder, _, name = path.rpartition("/")
        stem = drop_suffix(name)
        page = "" if stem.casefold() in INDEX_NAMES else stem
        return self.base_url + quote(f"{folder}/{page}" if folder else page)

    def join(self, url: str) -> str:
        """Return an address given relative to the site's host as a whole one, others unchanged."""
        if self.base_url is None or not url.startswith("/") or url.startswith("//"):
            return url
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}{url}"

    def keys(self, reference: str) -> tuple[str, ...]:
        """Return the keys a reference may be known under, the most exact first.

        As it stands; then without its fragment and percent signs; then without its query too. Scheme and a
        leading `www.` do not count, and what lies under the base address is keyed by its path alone.

        >>> Site("https://docs.example.org/kb").keys("http://www.docs.example.org/kb/guides/Setup/?from=mail#top")
        ('guides/setup?from=mail', 'guides/setup')
        >>> Site("https://docs.example.org/kb").keys("/kb/guides/setup.html")
        ('kb/guides/setup', 'guides/setup')
        """
        bare, _, _ = reference.partition("#")
        bare, _, query = bare.partition("?")
        if _SCHEME.match(reference):
            key = self._below(_address_key(bare), self._root)
            found = [f"{key}?{query}", key] if query else [key]
        else:
            key = fold_path(unquote(bare))
            found = [fold_path(reference), f"{key}?{query}" if query else key, key]
            if reference.startswith("/") and self._path:
                found.append(self._below(key, self._path))
            elif self._root:
                found.append(self._below(key, self._root))
        return tuple(dict.fromkeys(found))

    def own_keys(self, name: str) -> tuple[str, ...]:
        """Return the keys of a document's own id or path, in which `#` and `?` may be ordinary characters.

        >>> Site().own_keys("languages/C#.md")
        ('languages/c#',)
        """
        if _SCHEME.match(name):
            return self.keys(name)
        found = [fold_path(name), fold_path(unquote(name))]
        if name.startswith("/") and self._path:
            found.append(self._below(found[1], self._path))
        return tuple(dict.fromkeys(found))

    @staticmethod
    def _below(key: str, root: str) -> str:
        if root and key == root:
            return ""
        return key.removeprefix(root + "/") if root else key


def _address_key(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return fold_path(address)
    if port is not None and port not in (80, 443):
        host = f"{host}:{port}"
    # The host is kept out of the folding, or `readme.md` as a host's last label would be cut.
    path = fold_path(unquote(parts.path))
    return f"{host}/{path}" if path else host
