"""E-mail addresses, plain and spelled out."""

import re
from collections.abc import Iterator

from findback.privacy.finding import Finding
from findback.privacy.wordlists import words_of

_LOCAL_LIMIT = 128
_LOCAL_END = re.compile(r"[\w.%+'’&-]{1,128}$")
_DOMAIN = re.compile(r"\[?(?:[^\W_][\w-]{0,62}\.){1,8}[^\W_][\w-]{0,62}")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:[.\-+_]|$)")
_SCALED_IMAGE = re.compile(r"\dx\.", re.IGNORECASE)

_SPOKEN_AT = re.compile(r"(?P<marked>\s?[(\[{<]\s?(?:at|@|ät)\s?[)\]}>]\s?)|(?<=\s)(?:at|AT)(?=\s)|@")
_SPOKEN_DOMAIN = re.compile(
    r"\s{0,2}(?P<host>[^\W_][\w-]{0,62}(?:(?:\s?[(\[{<]\s?(?:dot|\.|punkt)\s?[)\]}>]\s?|\s(?:dot|DOT)\s|\.)"
    r"[^\W_][\w-]{0,62}){1,6})"
)
_SPOKEN_DOT = re.compile(r"[(\[{<]\s?(?:dot|\.|punkt)\s?[)\]}>]|\s(?:dot|DOT)\s")
_SPOKEN_LOCAL = re.compile(
    r"(?<![\w@])[\w][\w+'’-]{0,63}(?:(?:\.|\s?[(\[{]\s?dot\s?[)\]}]\s?|\s(?:dot|DOT)\s)[\w+'’-]{1,63}){0,4}\s{0,1}$"
)


def find_mail(text: str) -> Iterator[Finding]:
    """Yield e-mail addresses: Unicode, with apostrophes, and written as "name at example dot org".

    >>> [(f.start, f.end) for f in find_mail("see o'brien@example.org.")]
    [(4, 23)]
    """
    at = text.find("@")
    while at >= 0:
        found = _around(text, at)
        if found:
            yield found
        at = text.find("@", found.end if found else at + 1)
    if "dot" in text or "DOT" in text or re.search(r"[(\[{<]\s?(?:at|@|ät)\s?[)\]}>]", text):
        yield from _spoken(text)


def _around(text: str, at: int) -> Finding | None:
    local = _LOCAL_END.search(text[max(at - _LOCAL_LIMIT, 0) : at])
    domain = _DOMAIN.match(text, at + 1)
    if local is None or domain is None:
        return None
    name = local[0].lstrip("'’.&%+-").rstrip(".")
    if not name or text[at - 1] in ".&%":
        return None
    end = _trim_domain(text, at + 1, domain.end())
    if end is None:
        return None
    if name.lower() in words_of("mail", "service_names"):
        return None
    return Finding(at - len(local[0].lstrip("'’.&%+-")), end, "EMAIL", "mail.address")


def _trim_domain(text: str, start: int, end: int) -> int | None:
    """Return where a domain ends, or None when it is none: a version, a file, a unit."""
    domain = text[start:end].rstrip("-_")
    if _VERSION.match(domain) or _SCALED_IMAGE.match(domain):
        return None
    labels = domain.split(".")
    while len(labels) > 1 and not _is_top_level(labels[-1]):
        # "bob@example.org.3 of them": what follows the last real label is no part of it.
        labels.pop()
    if len(labels) < 2 or labels[-1].lower() in words_of("mail", "no_domains"):
        return None
    return start + len(".".join(labels))


def _is_top_level(label: str) -> bool:
    return (len(label) >= 2 and label.isalpha()) or label.lower().startswith("xn--")


def _spoken(text: str) -> Iterator[Finding]:
    for at in _SPOKEN_AT.finditer(text):
        local = _SPOKEN_LOCAL.search(text[max(at.start() - 200, 0) : at.start()])
        domain = _SPOKEN_DOMAIN.match(text, at.end())
        if local is None or domain is None:
            continue
        spelled = _SPOKEN_DOT.search(domain["host"]) is not None
        if not spelled and at["marked"] is None:
            continue
        top = re.split(r"[^\w-]+|\bdot\b", domain["host"])[-1].lower()
        if not top.isalpha() or len(top) < 2:
            continue
        if at["marked"] is None and len(top) > 2 and top not in words_of("mail", "spoken_domains"):
            continue
        start = at.start() - (len(text[max(at.start() - 200, 0) : at.start()]) - local.start())
        yield Finding(start, domain.end("host"), "EMAIL", "mail.spelled-out")
