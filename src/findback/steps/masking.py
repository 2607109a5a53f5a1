"""Settings as they can be shown: without the secrets that somebody wrote into them."""

import re
from collections.abc import Iterable
from typing import Any

from findback.errors import RefusedError
from findback.privacy.core import CoreRedactor
from findback.workspace import without_credentials

MASK = "***"

_NAMES = r"authorization|cookies?|api[-_ ]?keys?|access[-_ ]?keys?|private[-_ ]?keys?|tokens?|secrets?|passw(?:or)?ds?"
_NAMES += r"|passphrases?|credentials?|bearer"
_NAMED = re.compile(rf"(?i)(?:{_NAMES})$")
_PAIR = re.compile(rf"""(?i)((?:{_NAMES})["'`]?\s{{0,3}}(?:=>|[:=])\s{{0,3}}["'`]?)([^\s"'`,;&][^"'`\n,;&]*)""")
_OPTION = re.compile(rf"""(?i)((?<!\S)--?[\w-]*(?:{_NAMES})(?:\s+|=)["'`]?)([^\s"'`]+)""")
_LOGIN_OPTIONS = frozenset({"-u", "--user", "--proxy-user"})
_FROM_ELSEWHERE = re.compile(r"(?:[A-Za-z]+\s+)?(?:env:\s*\w*|\{\{[^{}]*\}\}|\$\w+|\$\{\w+\}|\$\(\w+\))")
"""A value that stands somewhere else, with the word before it that says how it is meant."""


def mask_setting(name: str, value: Any) -> str:
    """Return the value of a setting as text, without secrets: by its dotted name, and by what it looks like.

    >>> mask_setting("retrievers.a.headers.Authorization", "Bearer hunter2")
    '***'
    >>> mask_setting("retrievers.a.headers.Authorization", "env:TOKEN")
    'env:TOKEN'
    >>> mask_setting("retrievers.a.command", ["curl", "-H", "Authorization: hunter2", "-u", "me:hunter2"])
    'curl, -H, Authorization: ***, -u, ***'
    """
    if isinstance(value, dict):
        pairs = (f"{key} = {mask_setting(f'{name}.{key}', one)}" for key, one in value.items())
        return ", ".join(pairs) or "(none)"
    if isinstance(value, list | tuple):
        return ", ".join(_mask_items(name, value)) or "(none)"
    if value is None:
        return "(none)"
    if isinstance(value, str) and _is_secret(name) and not _FROM_ELSEWHERE.fullmatch(value.strip()):
        return MASK
    return mask_text(str(value))


def mask_text(text: str) -> str:
    """Return a text without credentials in addresses, values of secret names, and what looks like a secret.

    >>> mask_text("curl -H 'X-Api-Key: abc' https://me:hunter2@example.org/?q=1")
    "curl -H 'X-Api-Key: ***' https://***@example.org/?q=1"
    """
    shown = without_credentials(text) if not re.search(r"\s", text) else text
    shown = _PAIR.sub(_mask_value, shown)
    shown = _OPTION.sub(_mask_value, shown)
    try:
        found = [one for one in CoreRedactor().find(shown) if one.type == "SECRET"]
    except RefusedError:
        return MASK
    pieces, at = [], 0
    for finding in found:
        pieces += [shown[at : finding.start], MASK]
        at = finding.end
    return "".join([*pieces, shown[at:]])


def _mask_items(name: str, items: Iterable[Any]) -> list[str]:
    shown: list[str] = []
    before = ""
    for item in items:
        option = before.startswith("-") and "=" not in before and (before in _LOGIN_OPTIONS or _NAMED.search(before))
        if option and isinstance(item, str) and not _FROM_ELSEWHERE.fullmatch(item):
            shown.append(MASK)
        else:
            shown.append(mask_setting(name, item))
        before = item if isinstance(item, str) else ""
    return shown


def _mask_value(match: re.Match[str]) -> str:
    value = match[2].strip()
    return match[0] if value == MASK or _FROM_ELSEWHERE.fullmatch(value) else f"{match[1]}{MASK}"


def _is_secret(name: str) -> bool:
    """Return whether a part of a dotted name says that a secret follows; what people call their own things does not."""
    parts = name.split(".")
    own = parts[2:] if parts[0] in ("retrievers", "sources") else parts
    return any(_NAMED.search(part) for part in own)
