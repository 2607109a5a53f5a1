"""Front matter: the YAML or TOML block some pages begin with."""

import tomllib
from typing import Any, NamedTuple

import yaml

MOST_CHARACTERS = 64_000
"""Longest front matter that is read."""
MOST_DEPTH = 20
"""Deepest nesting that is read."""
_MARKS = {"---": ("---", "..."), "+++": ("+++",)}
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Page(NamedTuple):
    """A page parted into its front matter and its text."""

    fields: dict[str, Any]
    """Front matter; YAML values are texts, lists and mappings of texts, so that `0012` stays `0012`."""
    text: str
    """What follows it."""


def split_page(source: str) -> Page:
    r"""Return a page's front matter and the text after it.

    Raises:
        ValueError: If there is a block that cannot be read; the message holds none of it, `line` says where.

    >>> split_page("---\ntitle: Refunds\n---\nAsk first.\n")
    Page(fields={'title': 'Refunds'}, text='Ask first.\n')
    """
    first, _, _ = source.partition("\n")
    mark = first.rstrip()
    if mark not in _MARKS:
        return Page({}, source)
    start = at = len(first) + 1
    while at <= min(len(source), MOST_CHARACTERS):
        end = source.find("\n", at)
        stop = len(source) if end < 0 else end
        if source[at:stop].rstrip() in _MARKS[mark]:
            block = source[start:at]
            if mark == "---" and not _looks_like_fields(block):
                return Page({}, source)
            fields = _read_toml(block) if mark == "+++" else _read_yaml(block)
            return Page(fields, source[stop + 1 :])
        at = stop + 1
    # A rule at the top of a page is no front matter.
    return Page({}, source)


def _looks_like_fields(block: str) -> bool:
    lines = [line for line in block.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return not lines or ":" in lines[0] or lines[0].lstrip().startswith(("{", "? "))


def _read_toml(block: str) -> dict[str, Any]:
    try:
        return tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise ValueError("the front matter is not valid TOML") from None


def _read_yaml(block: str) -> dict[str, Any]:
    try:
        _check_shape(block)
        fields = yaml.load(block, Loader=_Loader)  # noqa: S506 - BaseLoader makes nothing but texts
    except yaml.YAMLError as bad:
        mark = getattr(bad, "problem_mark", None)
        where = f" (line {mark.line + 2})" if mark is not None else ""
        raise ValueError(f"the front matter is not valid YAML{where}") from None
    named = fields if isinstance(fields, dict) else {} if not fields else None
    if named is None:
        raise ValueError("the front matter is no list of names and values")
    return {key: value for key, value in named.items() if isinstance(key, str)}


def _check_shape(block: str) -> None:
    # Events come without recursion, so that deep nesting is refused before anything descends into it.
    depth = deepest = aliases = 0
    for event in yaml.parse(block, Loader=_Loader):
        step = isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        depth, aliases = depth + step, aliases + isinstance(event, yaml.AliasEvent)
        deepest = max(depth, deepest)
    if aliases:
        raise ValueError("the front matter refers to itself (YAML aliases are not read)")
    if deepest > MOST_DEPTH:
        raise ValueError(f"the front matter is nested more than {MOST_DEPTH} deep")
