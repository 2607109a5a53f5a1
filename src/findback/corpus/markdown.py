"""Markdown and plain text pages: front matter, title, text as written."""

import re

from findback.corpus.frontmatter import Page, split_page

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()]{0,1000}\)")
_MOST_LINES = 2_000


def read_markdown(source: str) -> tuple[Page, str | None]:
    r"""Return the page, and its first heading.

    The text keeps its markup: passages follow headings, and anchors are quoted from it.

    >>> read_markdown("# Set up\n\nPlug it in.")[1]
    'Set up'
    """
    page = split_page(source)
    return page, find_heading(page.text)


def find_heading(text: str) -> str | None:
    r"""Return the first heading outside code, as plain words, or None.

    >>> find_heading("intro\n\n## The [grid](grid.md) `v2`")
    'The grid v2'
    """
    fence: str | None = None
    above = ""
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if len(line) > 1_000:
            above = ""
            continue
        opened = _FENCE.match(line)
        if opened is not None:
            mark = opened[1]
            fence = mark if fence is None else None if mark.startswith(fence) else fence
            continue
        if fence is not None:
            continue
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            return _plain(heading[1]) or None
        if above and _UNDERLINE.fullmatch(line) and not above.startswith(("-", "*", ">", "|", "    ")):
            return _plain(above) or None
        above = line.strip()
    return None


def _plain(heading: str) -> str:
    heading = re.sub(r"[ \t]#+[ \t]*$", "", heading.strip())
    heading = re.sub(r"\s*\{#[^{}]*\}$", "", heading)
    return _LINK.sub(r"\1", heading).replace("`", "").replace("**", "").strip()
