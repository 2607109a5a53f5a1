"""reStructuredText pages to text: headings as Markdown headings, directives and roles lightly taken away."""

import re
from dataclasses import dataclass, field
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
_CODE = frozenset({"code", "code-block", "sourcecode"})
_MOST_LINE = 5_000
"""Longest line whose roles are taken away."""
_ADORNMENTS = frozenset("=-`:.'\"~^_*+#<>!$%&(),/;?@[\\]{|}")


class RstPage(NamedTuple):
    """What a page holds."""

    text: str
    title: str | None
    fields: dict[str, str]
    """The field list it begins with, such as `:date: 2024-05-01`."""


def read_rst(source: str) -> RstPage:
    r"""Return the text a reader sees, near enough to search and quote.

    >>> read_rst("Refunds\n=======\n\n.. image:: x.png\n\nSee :ref:`the form <form>`.")
    RstPage(text='# Refunds\n\nSee the form.', title='Refunds', fields={})
    """
    reader = _Reader(source.split("\n"))
    while reader.at < len(reader.lines):
        reader.read_on()
    return RstPage("\n".join(reader.kept).strip("\n"), reader.title, reader.fields)


@dataclass(slots=True)
class _Reader:
    """Goes through the lines of a page."""

    lines: list[str]
    at: int = 0
    kept: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    levels: list[str] = field(default_factory=list)
    title: str | None = None
    hidden: int | None = None
    """Indentation of the block whose content is left out."""
    started: bool = False
    """Whether text has begun, after which a field list is text."""

    def read_on(self) -> None:
        """Take the next line, heading or directive."""
        line = self.lines[self.at]
        indent = len(line) - len(line.lstrip())
        if self.hidden is not None and line.strip() and indent <= self.hidden:
            self.hidden = None
        if self.hidden is not None:
            self.at += 1
        elif not (self._take_field(line) or self._take_heading() or self._take_directive(line, indent)):
            self.started = self.started or bool(line.strip())
            self.kept.append(_plain(line) if len(line) < _MOST_LINE else line)
            self.at += 1

    def _take_field(self, line: str) -> bool:
        begins = None if self.started else _FIELD.fullmatch(line)
        if begins is None:
            return False
        self.fields.setdefault(begins[1].strip().casefold(), begins[2].strip())
        self.at += 1
        return True

    def _take_heading(self) -> bool:
        heading = _find_heading(self.lines, self.at)
        if heading is None:
            return False
        words, mark, self.at = heading
        if mark not in self.levels:
            self.levels.append(mark)
        words = _plain(words)
        self.title = self.title or words
        self.kept.append(f"{'#' * min(self.levels.index(mark) + 1, 6)} {words}")
        return True

    def _take_directive(self, line: str, indent: int) -> bool:
        directive = _DIRECTIVE.match(line)
        if directive is None:
            if _EXPLICIT.match(line):
                self.hidden = indent
                self.at += 1
                return True
            return False
        name = directive[2].casefold().rpartition(":")[2] or directive[2].casefold()
        self.at += 1
        if name not in _SPOKEN:
            self.hidden = indent
            return True
        if directive[3] and name not in _CODE:
            self.kept.append(f"{directive[1]}{_plain(directive[3])}")
        while self.at < len(self.lines) and _OPTION.match(self.lines[self.at]):
            self.at += 1
        return True


def _find_heading(lines: list[str], at: int) -> tuple[str, str, int] | None:
    """Return a heading's words, its adornment, and the line after it."""
    mark = _adornment(lines[at])
    if mark and at + 2 < len(lines) and lines[at + 2].rstrip() == lines[at].rstrip() and lines[at + 1].strip():
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
