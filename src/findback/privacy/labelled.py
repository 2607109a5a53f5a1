"""Texts in which a person labelled what must go."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from findback.errors import DataError, Fault
from findback.privacy.finding import PRIORITY

_LABEL = re.compile(r"\[\[([A-Z_]+)(?:\.([a-z-]+))?:(.+?)\]\](?!\])", re.DOTALL)


class Label(NamedTuple):
    """One labelled stretch."""

    start: int
    end: int
    type: str
    kind: str = ""
    """A finer kind the labeller chose, such as `roster` or `spoken`; empty without."""


class Labelled(NamedTuple):
    """One text with its labels."""

    text: str
    labels: tuple[Label, ...]
    technical: bool = False
    """Whether it is one of the texts that must stay as they are."""


def parse_marked(text: str) -> tuple[str, tuple[Label, ...]]:
    """Return a text without its marks, and the labels they are.

    >>> parse_marked("ask [[PERSON.roster:minh]] now")
    ('ask minh now', (Label(start=4, end=8, type='PERSON', kind='roster'),))
    """
    pieces, labels, at, length = [], [], 0, 0
    for match in _LABEL.finditer(text):
        before = text[at : match.start()]
        start = length + len(before)
        pieces += [before, match[3]]
        labels.append(Label(start, start + len(match[3]), match[1], match[2] or ""))
        length = start + len(match[3])
        at = match.end()
    pieces.append(text[at:])
    return "".join(pieces), tuple(labels)


def read_labelled(path: Path) -> list[Labelled]:
    """Return the texts of a JSON Lines file.

    A line has `text` and `spans` (start, end, type, in characters), or `marked`: the text with
    `[[TYPE:value]]` or `[[TYPE.kind:value]]` around what must go. `technical: true` says that nothing must.

    Raises:
        DataError: If lines cannot be read as that; all of them at once.
    """
    faults: list[Fault] = []
    read = list(_read_lines(path, faults))
    if not read and not faults:
        faults.append(Fault(str(path), None, "no texts"))
    if faults:
        raise DataError(f"{path.name} is no labelled sample", faults=faults, hint="see docs/privacy.md for its shape")
    return read


def _read_lines(path: Path, faults: list[Fault]) -> Iterator[Labelled]:
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise DataError(f"cannot read {path}: {(error.strerror or '').lower()}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _read_one(orjson.loads(line))
        except orjson.JSONDecodeError:
            faults.append(Fault(str(path), number, "not JSON"))
        except KeyError as error:
            faults.append(Fault(str(path), number, f"{error.args[0]} is missing"))
        except (TypeError, ValueError):
            faults.append(Fault(str(path), number, "not an object with a text and spans inside it, of known types"))


def _read_one(row: Any) -> Labelled:
    if not isinstance(row, dict):
        raise TypeError("not an object")
    if isinstance(row.get("marked"), str):
        text, labels = parse_marked(row["marked"])
    else:
        text = str(row["text"])
        labels = tuple(_read_label(span, len(text)) for span in row.get("spans", ()))
    unknown = {label.type for label in labels} - set(PRIORITY)
    if unknown:
        raise ValueError(f"unknown type {min(unknown)}; there are {', '.join(PRIORITY)}")
    return Labelled(text, labels, bool(row.get("technical", False)))


def _read_label(span: Any, length: int) -> Label:
    start, end = span["start"], span["end"]
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length):
        raise ValueError("a span lies outside its text")
    kind, _, finer = str(span["type"]).partition(".")
    return Label(start, end, kind, finer)
