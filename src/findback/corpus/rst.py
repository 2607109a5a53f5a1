"""reStructuredText pages to text: headings as Markdown headings, directives and roles lightly taken away."""

import re
from typing import NamedTuple

_FIELD = re.compile(r":([\w][\w .-]{0,60}):[ \t]+(\S.*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. +([\w:+.-]+?)::(?:[ \t]+(.*))?$")
_EXPLICIT = re.compile(r"(\s*)\.\.(?:[ \t]|$)")
_OPTION = re.compile(r"\s+:[\w-]+:")
_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`<>\n]{1,500}?)(?:\s{0,9}<[^`<>\n]{0,500}>)?`")
_LINK = re.compile(r"`([^`<>\n]{1,500}?)\s{0,9}<[^`<>\n]{0,1000}>`__?")
_LITERAL = re.compile(r"``([^`\n]{1,1000})``|`([^`\n]{1,500})`_{0,2}")
_SPOKEN = frozenset(
    [
        "note",
        "warning",
        "tip",
        "important",
        "caution",
        "danger",
        "attention",
        "hint",
        "error",
        "seealso",
        "admonition",
        "topic",
        "sidebar",
        "versionadded",
        "versionchanged",
        "deprecated",
        "rubric",
        "code",
        "code-block",
        "sourcecode",
        "parsed-literal",
        "epigraph",
        "container",
        "tab-item",
        "dropdown",
        "glossary",
    ]
)
"""Directives whose content is for readers; the content of others is left out."""
_ADORNMENTS = frozenset("=-`:.'\"~^_*+#<>!$%&(),/;?@[\\]{|}")


class RstPage(NamedTuple):
    """What a page holds."""

    text: str
    title: str | None
    fields: dict[str, str]
    """The field list it begins with, such as `:date: 2024-05-01`."""


def read_rst(source: str) -> RstPage:
    """Return the text a reader sees, near enough to search and quote.

    >>> read_rst("Refunds\\n=======\\n\\n.. image:: x.png\\n\\nSee :ref:`the form <form>`.")
    RstPage(text='# Refunds\\n\\nSee the form.', title='Refunds', fields={})
    """
    lines = source.split("\n")
    fields: dict[str, str] = {}
    kept: list[str] = []
    levels: list[str] = []
    title: str | None = None
    hidden: int | None = None
    started = False
    at = 0
    while at < len(lines):
        line = lines[at]
        indent = len(line) - len(line.lstrip())
        if hidden is not None and line.strip() and indent <= hidden:
            hidden = None
        if hidden is not None:
            at += 1
            continue
        begins = None if started else _FIELD.fullmatch(line)
        if begins is not None:
            fields.setdefault(begins[1].strip().casefold(), begins[2].strip())
            at += 1
            continue
        heading = _find_heading(lines, at)
        if heading is not None:
            words, mark, at = heading
            if mark not in levels:
                levels.append(mark)
            words = _plain(words)
            title = title or words
            kept.append(f"{'#' * min(levels.index(mark) + 1, 6)} {words}")
            continue
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            name = directive[2].casefold().rpartition(":")[2] or directive[2].casefold()
            if name not in _SPOKEN:
                hidden = indent
            elif directive[3] and name not in ("code", "code-block", "sourcecode"):
                kept.append(f"{directive[1]}{_plain(directive[3])}")
            at += 1
            while at < len(lines) and name in _SPOKEN and _OPTION.match(lines[at]):
                at += 1
            continue
        if _EXPLICIT.match(line):
            hidden = indent
            at += 1
            continue
        started = started or bool(line.strip())
        kept.append(_plain(line) if len(line) < 5_000 else line)
        at += 1
    return RstPage("\n".join(kept).strip("\n"), title, fields)


def _find_heading(lines: list[str], at: int) -> tuple[str, str, int] | None:
    """Return a heading's words, its adornment, and the line after it."""
    mark = _adornment(lines[at])
    if (
        mark
        and at + 2 < len(lines)
        and lines[at + 2].rstrip() == lines[at].rstrip()
        and lines[at + 1].strip()
    ):
        return lines[at + 1].strip(), mark * 2, at + 3
    if not mark and at + 1 < len(lines) and lines[at].strip() and not lines[at][0].isspace():
        below = _adornment(lines[at + 1])
        if below and len(lines[at + 1].rstrip()) >= len(lines[at].rstrip()) - 1:
            return lines[at].strip(), below, at + 2
    return None


def _adornment(line: str) -> str:
    line = line.rstrip()
    return line[0] if len(line) >= 2 and line[0] in _ADORNMENTS and line == line[0] * len(line) else ""


def _plain(line: str) -> str:
    if "`" not in line:
        return line.removesuffix("::") + ":" if line.endswith("::") and len(line.strip()) > 2 else line
    line = _LINK.sub(r"\1", _ROLE.sub(r"\1", line))
    return _LITERAL.sub(lambda match: match[1] or match[2], line)
