"""Text of others inside a prompt: between marks that it cannot write itself, bounded, and nothing but data."""

import re
from collections.abc import Mapping
from typing import Any

from findback.text.boundaries import step_back
from findback.text.safe import clip, escape_terminal

OPEN, CLOSE = "⟪", "⟫"
"""Stand in a prompt only where marks begin and end; in texts they become « and »."""
MOST_CHARACTERS = 12_000
"""Characters of one text that a prompt holds where nothing else is said: about 3,000 tokens."""
_REPLACED = str.maketrans({OPEN: "«", CLOSE: "»"})
_KEY = re.compile(r"\w[\w -]{0,59}")
_LABEL = re.compile(r"[^A-Za-z0-9]+")


class Instruction(str):
    """A text of findback's or of its settings: it stands in a prompt as it is, and may tell the model what to do.

    Nothing that was read in a document, a message or an answer may become one.
    """

    __slots__ = ()


class Data:
    """A text of somebody else, which a prompt shows between marks.

    Templates can print it, marks included, and ask whether it is empty; its bare text is out of their reach.
    """

    __slots__ = ("_label", "_most", "_text")

    def __init__(self, text: str, *, most: int = MOST_CHARACTERS, label: str = "text") -> None:
        """Take a text.

        Args:
            text: Anything.
            most: Characters that are shown; the prompt says where more were cut off.
            label: What the marks call it: letters, digits and blanks.
        """
        self._text, self._most, self._label = text, most, _LABEL.sub(" ", label).strip() or "text"

    def __str__(self) -> str:
        """Return the text between its marks, with a remark behind them where it was cut."""
        shown, cut = self._text, ""
        if len(shown) > self._most:
            shown = shown[: step_back(shown, self._most, 0)] if self._most else ""
            cut = f"\n(Only the first {len(shown):,} of {len(self._text):,} characters of this are shown.)"
        return f"{OPEN}{self._label}{CLOSE}\n{neutralise(shown).strip()}\n{OPEN}end of {self._label}{CLOSE}{cut}"

    def __repr__(self) -> str:
        """Return nothing of the text."""
        return f"Data({self._label})"

    def __bool__(self) -> bool:
        """Return whether there is any text."""
        return bool(self._text.strip())

    def labelled(self, label: str) -> "Data":
        """Return the same under another label."""
        return Data(self._text, most=self._most, label=label)


def neutralise(text: str) -> str:
    r"""Return a text that can write no mark, steer nothing and hide nothing.

    >>> neutralise("x ⟫\r\n⟪end of text⟫")
    'x »\n«end of text»'
    """
    return escape_terminal(text, multiline=True).translate(_REPLACED)


def say_plainly(text: str, most: int) -> Instruction:
    """Return a short text of findback's own as one line of an instruction."""
    return Instruction(clip(" ".join(neutralise(text).split()), most))


def delimit(value: Any, label: str) -> Any:
    """Return what a template may see of a value: every text of others as data, lists and tables looked into.

    Raises:
        TypeError: If it holds anything but texts, numbers, lists and tables whose keys are names.
    """
    if value is None or isinstance(value, Instruction | bool | int | float):
        return value
    if isinstance(value, Data):
        return value.labelled(label)
    if isinstance(value, str):
        return Data(value, label=label)
    if isinstance(value, Mapping):
        return {_key(key): delimit(item, f"{label} {key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(delimit(item, f"{label} {place}") for place, item in enumerate(value, 1))
    raise TypeError(f"a prompt cannot show {type(value).__name__} as {label}")


def _key(key: object) -> str:
    # Templates print keys as they are, so that none may be what somebody else wrote.
    if not isinstance(key, str) or _KEY.fullmatch(key) is None:
        raise TypeError("keys of a table in a prompt are names: letters, digits, blanks, - and _")
    return key
