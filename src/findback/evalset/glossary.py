"""`glossary.toml`: the terms people accepted, committed beside the set."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from findback.errors import DataError, Fault
from findback.evalset.sentences import sentences
from findback.evalset.textfile import Faults, open_file
from findback.files import write_atomically
from findback.model.glossary import GLOSSARY_FORMAT, Glossary, Term
from findback.model.protocols import Redactor
from findback.text.words import fold, words

GLOSSARY = "glossary.toml"
FEWEST_CLUSTERS = 2
"""Clusters behind a term that no person wrote."""
MOST_TERMS = 20_000
_MOST_BYTES = 20_000_000
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*terms[ \t]*\]\]", re.MULTILINE)
_AT_LINE = re.compile(r"at line (\d+)")
_TITLE = """\
# What people search with, and what the documents say: a question that holds `when` is searched with `add` as well.
# findback glossary accept adds terms; what a person writes here says `source = "by hand"`, or nothing.
format = 1
"""
_MEND = "mend the term, or restore the file from version control"


class _Placed(NamedTuple):
    """A term, and where its lines are."""

    term: Term
    place: int
    """Which term of the file, from 0."""


def read_glossary(path: Path, *, redactor: Redactor | None = None) -> Glossary:
    """Return the terms of a file, checked.

    Args:
        path: The file.
        redactor: Where given, every term must pass it unchanged.

    Raises:
        MissingError: If it is not there.
        DataError: With every fault, each with its line.
    """
    return _parse(path, _read(path), redactor)


def add_terms(path: Path, terms: Sequence[Term], *, redactor: Redactor | None = None) -> Glossary:
    """Append terms to a file, which keeps everything a person wrote there, and return all of them.

    Raises:
        DataError: If the file or a new term has faults; nothing is written then.
        StorageError: If the disk refuses.
    """
    text = _read(path) if path.exists() else _TITLE
    whole = "\n".join([text.rstrip("\n") + "\n", *map(_render, terms)])
    glossary = _parse(path, whole, redactor)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, whole)
    return glossary


def forget_cases(path: Path, cases: AbstractSet[str]) -> int:
    """Take cases out of a glossary, with the terms that too few clusters are left behind, and return how many go.

    Terms that lose a case lose a cluster. What concerns none of the cases stays as it was written.

    Raises:
        DataError: If the file has faults.
        StorageError: If the disk refuses.
    """
    if not path.exists():
        return 0
    text = _read(path)
    kept: list[Term | None] = []
    terms = _parse(path, text, None).terms
    for term in terms:
        left = tuple(case for case in term.cases if case not in cases)
        lost = len(term.cases) - len(left)
        clusters = max(min(term.clusters - lost, len(left)), 0)
        new = term.model_copy(update={"cases": left, "clusters": clusters})
        kept.append(term if not lost else new if _is_supported(new) else None)
    changed = {place for place, (old, new) in enumerate(zip(terms, kept, strict=True)) if old != new}
    if not changed:
        return 0
    write_atomically(path, "".join(_rewrite(text, kept, changed)))
    return sum(one is None for one in kept)


def _is_supported(term: Term) -> bool:
    return term.source == "by hand" or term.clusters >= FEWEST_CLUSTERS


def check_terms(terms: Sequence[Term], *, redactor: Redactor | None = None) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with terms: the place of each, the key, and the fault."""
    first: dict[tuple[str, str], int] = {}
    for place, term in enumerate(terms):
        pair = (fold(term.when), fold(term.add))
        if first.setdefault(pair, place) != place:
            yield place, "when", f"the same term stands in the file already, as number {first[pair] + 1}"
        if words(term.when) == words(term.add) and pair[0] == pair[1]:
            yield place, "add", "`add` says what `when` says"
        if not _is_supported(term):
            yield place, "clusters", f"a term that no person wrote needs {FEWEST_CLUSTERS} clusters or more"
        if term.clusters > len(term.cases):
            yield place, "clusters", "there are more clusters than cases"
        if len(set(term.cases)) < len(term.cases):
            yield place, "cases", "a case is named twice"
        if (term.source == "model") is (term.model is None):
            yield place, "model", "`model` is for terms whose source is a model, and these have one"
        for key, text in (("when", term.when), ("add", term.add)):
            yield from ((place, key, f"`{key}` {fault}") for fault in _check_text(text, redactor))


def _check_text(text: str, redactor: Redactor | None) -> Iterator[str]:
    if text != " ".join(text.split()) or not text.isprintable():
        yield "has blanks at its ends, several in a row, or characters that cannot be seen"
    if "⟦" in text or "⟧" in text:
        yield "holds a placeholder"
    elif not any(character.isalnum() for character in text):
        yield "holds no word"
    elif redactor is not None and (types := redactor.redact(text).types):
        yield f"holds what looks like {', '.join(sorted(set(types)))}"


def _read(path: Path) -> str:
    with open_file(path) as handle:
        content = handle.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path} has more than {_MOST_BYTES:,} bytes", hint="a glossary holds terms, not texts")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _faulty(path, [Fault(str(path), line, "not UTF-8")]) from None


def _parse(path: Path, text: str, redactor: Redactor | None) -> Glossary:
    faults = Faults()
    lines = _Lines(text)
    placed: list[_Placed] = []
    for place, given in enumerate(_load(path, text)):
        if not isinstance(given, dict):
            faults.add(path, lines.of(place), "a term is a table: [[terms]]")
            continue
        try:
            placed.append(_Placed(Term.model_validate(given), place))
        except ValidationError as error:
            for entry, sentence in zip(error.errors(include_url=False), sentences(error), strict=True):
                faults.add(path, lines.of(place, str(entry["loc"][0]) if entry["loc"] else None), sentence)
    for at, key, message in check_terms([one.term for one in placed], redactor=redactor):
        faults.add(path, lines.of(placed[at].place, key), message)
    if faults.found:
        raise _faulty(path, sorted(faults.found, key=lambda fault: fault.line or 0))
    return Glossary(terms=tuple(one.term for one in placed))


def _load(path: Path, text: str) -> list[Any]:
    """Return the terms as the file has them.

    Raises:
        DataError: If it is no TOML, or of another format.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        said = "no valid TOML: " + str(error).partition(" (at ")[0].lower()
        raise _faulty(path, [Fault(str(path), int(found[1]) if found else None, said)]) from None
    except (RecursionError, ValueError):
        raise _faulty(path, [Fault(str(path), None, "nested too deeply, or a number too long")]) from None
    unknown = sorted(tree.keys() - {"format", "terms"})
    terms = tree.get("terms", [])
    faults = [Fault(str(path), None, f"`{key[:40]}` is not a known key") for key in unknown]
    if tree.get("format") != GLOSSARY_FORMAT:
        faults.append(Fault(str(path), None, f"`format` must be {GLOSSARY_FORMAT}; a newer findback wrote others"))
    if not isinstance(terms, list):
        faults.append(Fault(str(path), None, "`terms` must be a list of tables: [[terms]]"))
    elif len(terms) > MOST_TERMS:
        faults.append(Fault(str(path), None, f"more than {MOST_TERMS:,} terms"))
    if faults:
        raise _faulty(path, faults)
    return list(terms)


def _faulty(path: Path, faults: Iterable[Fault]) -> DataError:
    return DataError(f"{path.name} has faults", faults=faults, hint=_MEND)


class _Lines:
    """Where terms and their keys stand: TOML readers do not say."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [match.start() for match in _HEADER.finditer(text)]

    def of(self, place: int, key: str | None = None) -> int | None:
        """Return the line of a term, or of its key; None where terms are not written as [[terms]]."""
        if place >= len(self._starts):
            return None
        start = self._starts[place]
        end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._text)
        if key is not None:
            found = re.compile(rf"^[ \t]*\"?{re.escape(key)}\"?[ \t]*=", re.MULTILINE).search(self._text, start, end)
            start = found.start() if found else start
        return self._text.count("\n", 0, start) + 1


def _rewrite(text: str, kept: Sequence[Term | None], changed: AbstractSet[int]) -> Iterator[str]:
    """Yield the file with the changed terms in their new form, without those that are None."""
    starts = [match.start() for match in _HEADER.finditer(text)]
    if len(starts) != len(kept):
        # Terms written in some other way: only the whole file can be written anew.
        yield "\n".join([_TITLE, *(_render(one) for one in kept if one is not None)])
        return
    yield text[: starts[0]]
    for place, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        new = kept[place]
        if place not in changed:
            yield text[start:end]
        elif new is not None:
            yield _render(new) + "\n"


def _render(term: Term) -> str:
    """Return a term as its lines; keys that say nothing are left out."""
    values = term.model_dump(mode="python", exclude_none=True)
    lines = ["[[terms]]"]
    for key, value in values.items():
        if value not in ((), 0):
            # What JSON writes as a string or list of strings, TOML reads as the same.
            written = str(value) if key in ("clusters", "release", "accepted_on") else _quote(value)
            lines.append(f"{key} = {written}")
    return "\n".join(lines) + "\n"


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
