"""Addresses that only lead to another one: mail filters, chat programs and search engines wrap what people link."""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_MOST_WRAPPED = 3
_MOST_FIELDS = 50
_COUNTRY = re.compile(r"[a-z]{2,3}(?:\.[a-z]{2})?")
_PROOFPOINT = re.compile(r"/v3/__(https?:/{1,2}.+?)__;")


class Wrapper(NamedTuple):
    """A service whose addresses lead to others."""

    host: str
    """How its host's name ends; with a dot at the end, in any country's domain."""
    field: str | None
    """Query field that holds the address."""
    path_part: str
    style: str | None

    def wraps(self, host: str, path: str) -> bool:
        """Return whether an address on a host is one of this service's."""
        _, named, rest = f".{host}".rpartition(f".{self.host}")
        if not named or self.path_part not in path:
            return False
        return _COUNTRY.fullmatch(rest) is not None if self.host.endswith(".") else not rest


@lru_cache(maxsize=1)
def load_wrappers() -> tuple[Wrapper, ...]:
    """Return the shipped list of wrapping services."""
    listed = tomllib.loads((files("findback.text") / "data" / "wrappers.toml").read_text(encoding="utf-8"))
    return tuple(
        Wrapper(entry["host"], entry.get("field"), entry.get("path_part", ""), entry.get("style"))
        for entry in listed["wrapper"]
    )


def unwrap_link(url: str) -> str:
    """Return the address that mail filters, chat programs and search engines wrapped, others unchanged.

    Nothing is fetched.

    >>> unwrap_link("https://eu01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fdocs.example.org%2Fvpn&data=05")
    'https://docs.example.org/vpn'
    >>> unwrap_link("https://urldefense.com/v3/__https://docs.example.org/vpn__;!!abc")
    'https://docs.example.org/vpn'
    """
    for _ in range(_MOST_WRAPPED):
        inner = _unwrap_once(url)
        if inner is None:
            return url
        url = inner
    return url


def _unwrap_once(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        for wrapper in load_wrappers():
            if not wrapper.wraps(host, parts.path):
                continue
            found = _proofpoint(url, parts) if wrapper.style else None
            if wrapper.field:
                found = _first(parts, wrapper.field)
            if found is not None and found[:8].casefold().startswith(("http://", "https://")):
                return found
    except ValueError:
        return None
    return None


def _first(parts: SplitResult, field: str) -> str | None:
    return parse_qs(parts.query, max_num_fields=_MOST_FIELDS).get(field, [None])[0]


def _proofpoint(url: str, parts: SplitResult) -> str | None:
    third = _PROOFPOINT.search(url)
    if third is not None:
        return re.sub(r"^(https?):/+", r"\1://", third[1])
    wrapped = _first(parts, "u")
    return unquote(wrapped.replace("-", "%").replace("_", "/")) if wrapped else None
