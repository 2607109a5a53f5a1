"""Network addresses and the names of internal hosts."""

import ipaddress
import re
from collections.abc import Iterator, Sequence

from findback.privacy.finding import Finding
from findback.privacy.wordlists import ends_with_cue, has_cue, words_of

_V4 = re.compile(r"(?<![\w.])(?<!\d-)(\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)")
_V6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f]{0,4}(?![\w:])")
_PREFIX = re.compile(r"/\d{1,3}(?!\d)")
_SMALL = 30
_REACH = 30
_HOST = re.compile(r"(?<![\w.@%-])(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.){1,10}[A-Za-z][A-Za-z0-9-]{0,62}(?![\w-]|\.\w)")
_MACHINE = re.compile(r"(?<![\w-])ip-\d{1,3}(?:-\d{1,3}){3}(?:\.[A-Za-z0-9-]{1,63}){0,6}(?![\w-])")
_VERSION_AFTER = re.compile(
    r"(?:[-+](?:rc|beta|alpha|dev|snapshot|ubuntu|deb|el\d)|\s?(?:release|build|version)\b)", re.IGNORECASE
)
_CHANGE_BEFORE = re.compile(
    r"\b(?:up|down)?(?:grad|dat|migrat|bump)\w{0,6}\s(?:from|to)\s(?:v?[\d.]{1,20}\s(?:to|->|→)\s)?$", re.IGNORECASE
)
_PRODUCT_BEFORE = re.compile(r"(?:^|\s)[\w.+-]{0,40}[A-Za-z][\w+-]{0,40}[-_]$")


def find_addresses(text: str) -> Iterator[Finding]:
    """Yield IPv4 and IPv6 addresses, save those that every machine has, and version numbers that look like one.

    >>> [f.type for f in find_addresses("127.0.0.1 and 203.0.113.7, version 10.1.2.3")]
    ['IP']
    """
    for match in _V4.finditer(text):
        if _is_range(text, match.start(1), match.end(1)):
            continue
        if _is_private_matter(match[1]) and not _is_version(text, match):
            yield Finding(match.start(1), match.end(1), "IP", "net.ipv4")
    if text.count(":") >= 2:
        for match in _V6.finditer(text):
            written = match[0]
            if _is_v6(written) and not _is_range(text, match.start(), match.end()):
                yield Finding(match.start(), match.end(), "IP", "net.ipv6")


def find_hosts(text: str, suffixes: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield names of internal hosts.

    Args:
        text: Any text.
        suffixes: Suffixes of the team's own, such as `corp.example.org`.
    """
    for match in _MACHINE.finditer(text):
        yield Finding(match.start(), match.end(), "HOST", "net.host")
    if "." not in text:
        return
    own = tuple(suffix.strip(".").lower() for suffix in suffixes if suffix.strip("."))
    for match in _HOST.finditer(text):
        name = match[0].lower()
        if any(name == suffix or name.endswith(f".{suffix}") for suffix in own):
            yield Finding(match.start(), match.end(), "HOST", "net.own-host")
        elif _is_internal(name):
            yield Finding(match.start(), match.end(), "HOST", "net.host")


def _is_private_matter(written: str) -> bool:
    try:
        address = ipaddress.IPv4Address(written)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return False
    # 0.0.0.0/8 is "this network" (RFC 1122): no machine has such an address.
    return not written.startswith(("0.", "255.")) and written not in words_of("addresses", "public")


def _is_range(text: str, start: int, end: int) -> bool:
    """Say whether an address is one of the great private or documentation ranges, such as 10.0.0.0/8."""
    prefix = _PREFIX.match(text, end)
    if prefix is None:
        return False
    try:
        network = ipaddress.ip_network(text[start : prefix.end()], strict=True)
    except ValueError:
        return False
    return network.prefixlen <= network.max_prefixlen // (2 if network.version == 4 else 4) and network.is_private


def _is_version(text: str, match: re.Match[str]) -> bool:
    start, end = match.span(1)
    if _VERSION_AFTER.match(text, end) or _PRODUCT_BEFORE.search(text[max(start - 80, 0) : start]):
        return True
    if ends_with_cue(text, start, "versions", "cues") or _CHANGE_BEFORE.search(text[max(start - 60, 0) : start]):
        return True
    address = ipaddress.IPv4Address(match[1])
    if address.is_private or any(octet > _SMALL for octet in address.packed):
        return False
    # All four numbers small: a version of something, unless the words around speak of machines.
    after = text[end : end + 1]
    return not (
        has_cue(text, start, "addresses", "cues", reach=_REACH) or after in (":", "/") or text[start - 1 : start] == "/"
    )


def _is_v6(written: str) -> bool:
    try:
        address = ipaddress.IPv6Address(written)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return False
    groups = [group for group in written.split(":") if group]
    if not any(c.isdigit() for c in written):
        return False
    # "a::1" is as likely a name in code; real ones are longer or start with a full group.
    return len(groups) >= 3 or (len(groups) == 2 and len(groups[0]) == 4)


def _says_inside(labels: Sequence[str]) -> bool:
    """Say whether a name such as host-1.corp.example.org has a piece that says that it is internal."""
    telling = any(c.isdigit() or c == "-" for c in labels[0])
    return telling and labels[-1].isalpha() and not words_of("hosts", "inner").isdisjoint(labels[1:-1])


def _is_internal(name: str) -> bool:
    everywhere = words_of("hosts", "everywhere")
    if any(name == known or name.endswith(f".{known}") for known in everywhere):
        return False
    labels = name.split(".")
    if len(labels) > 3 and _says_inside(labels):
        return True
    suffix = next((s for s in words_of("hosts", "suffixes") if name.endswith(f".{s}")), None)
    if suffix is None or labels[0] in words_of("hosts", "package_roots"):
        return False
    own = labels[: len(labels) - suffix.count(".") - 1]
    telling = any(any(c.isdigit() or c == "-" for c in label) for label in own)
    if suffix in ("corp", "lan", "intranet", "intra", "home.arpa"):
        return True
    # "threading.local" and "settings.private" are code and files; hosts have numbers, hyphens or more pieces.
    return telling or (suffix == "internal" and len(own) >= 2 and "_" not in name)
