"""Untrusted text made safe to show, one place for each medium."""

import re

from findback.text.boundaries import step_back

_REPLACED = "\ufffd"
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, without tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, overrides and isolates
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # separators, byte order mark, annotations
    "\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates, invisible tag characters
)
_BLANKS = re.compile(r"[\t\n]+")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+\-.!|~$^=>]")


def escape_terminal(text: str, *, multiline: bool = False) -> str:
    r"""Return a text that cannot steer a terminal or reorder what stands beside it.

    Control characters show as their pictures (ESC as ␛); C1 controls, direction overrides, lone surrogates
    and invisible tags as U+FFFD.

    Args:
        text: Anything.
        multiline: Keep tabs and line feeds; else each run of them is one space.

    >>> escape_terminal("\x1b[31mred\u202e\nnext")
    '␛[31mred� next'
    """
    laid_out = text.replace("\r\n", "\n") if multiline else _BLANKS.sub(" ", text.replace("\r", "\n"))
    return _UNSAFE.sub(lambda match: _show(match[0]), laid_out)


def show_in_place(text: str) -> str:
    r"""Return a text that cannot reorder or hide anything, every character in its place: positions stay true.

    >>> show_in_place("a\x1b[31m\r\n\u202eb")
    'a␛[31m␍\n�b'
    """
    return _UNSAFE.sub(lambda match: _show(match[0]), text)


def escape_markdown(text: str) -> str:
    r"""Return a text that reads the same in Markdown and forms no markup, cell, HTML, link or mention.

    The text becomes one line.

    >>> escape_markdown("a|b <i>*x*</i>")
    'a\\|b &lt;i\\>\\*x\\*&lt;/i\\>'
    """
    shown = escape_terminal(text).replace("&", "&amp;").replace("<", "&lt;")
    shown = _MARKDOWN.sub(lambda match: "\\" + match[0], shown)
    # An empty comment keeps hosts from turning bare addresses and names into links and mentions.
    shown = shown.replace("@", "<!-- -->@<!-- -->").replace("://", ":<!-- -->//")
    return re.sub(r"(?i)\bwww(?=\\\.)", lambda match: match[0] + "<!-- -->", shown)


def clip(text: str, length: int) -> str:
    """Return at most `length` code points of a text; `…` stands for what was cut off.

    >>> clip("hammering", 6), clip("short", 6)
    ('hamme…', 'short')
    """
    if len(text) <= length:
        return text
    if length < 1:
        return ""
    cut = step_back(text, length - 1, 0)
    return (text[:cut] if cut < length else "") + "…"


def _show(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return " " if character in "\u2028\u2029" else _REPLACED
