"""The ways in which one person's names are written."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from findback.model.thread import Person
from findback.privacy.folding import find_unspaced_runs, find_words, fold, fold_spelled_out
from findback.privacy.name_lists import name_list, name_words
from findback.text.frequency import list_frequent_words

_ASIDE = re.compile(r"[(\[{<|/][^)\]}>]*[)\]}>]?|\s[-–—]\s.*$")
_EMPTY = re.compile(r"[\s,_]+")
_FEWEST = 3
_MOST_WORDS = 6


class Variant(NamedTuple):
    """One way to write a person."""

    words: tuple[str, ...]
    """Folded words, in order."""
    handle: bool = False
    """Whether it is a handle: unlike a name, it may hold digits."""
    full: bool = False
    """Whether it is the whole of a name."""
    unspaced: bool = False
    """Whether its script writes no blanks between words."""


def variant_key(name: str) -> tuple[str, ...]:
    """Return the folded words of a name.

    >>> variant_key("Noor Sørvik")
    ('noor', 'sorvik')
    """
    return tuple(word.folded for word in find_words(name))


def list_variants(person: Person) -> list[Variant]:
    """Return every way in which a person may be written, without doubles.

    >>> names = {" ".join(v.words) for v in list_variants(Person("u1", ("Jean-Luc O'Neil",)))}
    >>> sorted(names)[:4]
    ['j o neil', 'jean', 'jean luc', 'jean luc o']
    """
    made: dict[tuple[tuple[str, ...], bool], Variant] = {}
    for name in person.names:
        for variant in _of_name(name):
            made.setdefault((variant.words, variant.unspaced), variant)
    for mail in person.mails:
        local = mail.partition("@")[0]
        for variant in _of_handle(local):
            made.setdefault((variant.words, variant.unspaced), variant)
    return [variant for variant in made.values() if variant.words]


def _of_name(name: str) -> Iterator[Variant]:
    name = name.strip().lstrip("@")
    if _is_handle(name):
        yield from _of_handle(name)
        return
    plain = _ASIDE.sub(" ", name).strip()
    runs = [run for _, run in find_unspaced_runs(plain)]
    if runs:
        yield from _of_unspaced(runs)
        return
    for folding in {fold, fold_spelled_out}:
        pieces = [tuple(word.folded for word in find_words(folding(piece))) for piece in _EMPTY.split(plain)]
        kept = [piece for piece in pieces if piece and not set(piece) <= name_words("remarks")]
        yield from _of_pieces(kept)


def _of_pieces(pieces: list[tuple[str, ...]]) -> Iterator[Variant]:
    if not pieces or len(pieces) > _MOST_WORDS:
        return
    names = [piece for piece in pieces if not set(piece) <= name_words("particles")] or pieces
    whole = tuple(word for piece in pieces for word in piece)
    if len(names) > 1:
        first, last = names[0], names[-1]
        yield Variant(whole, full=True)
        yield Variant(first + last, full=True)
        yield Variant(last + first, full=True)
        yield Variant(("".join(first + last),), full=True)
        yield Variant((first[0][0], *last), full=True)
        yield Variant((*first, last[0][0]), full=True)
        initialled = first[0][0] + "".join(last)
        if len(initialled) > _FEWEST and not is_ordinary_word(initialled):
            yield Variant((initialled,), full=True)
    for piece in names:
        yield from _of_piece(piece)


def _of_piece(piece: tuple[str, ...]) -> Iterator[Variant]:
    """Yield one name with its parts: Jean-Luc, Jean, Luc; but of O'Neil only the whole."""
    if len(piece) == 1:
        if len(piece[0]) > 1 and not piece[0].isdigit():
            yield Variant(piece)
        return
    yield Variant(piece)
    yield Variant(("".join(piece),))
    if min(len(word) for word in piece) >= _FEWEST:
        for word in piece:
            yield Variant((word,))


def _of_unspaced(runs: list[str]) -> Iterator[Variant]:
    whole = "".join(runs)
    if len(whole) > 1:
        yield Variant((whole,), full=True, unspaced=True)
    if len(runs) > 1:
        yield Variant((runs[-1] + runs[0],), full=True, unspaced=True)
        for run in runs:
            yield Variant((run,), unspaced=True)


def _is_handle(name: str) -> bool:
    return bool(name) and not any(c.isspace() for c in name) and any(c.isdigit() or c in "._" for c in name)


def _of_handle(handle: str) -> Iterator[Variant]:
    words = variant_key(handle)
    letters = sum(c.isalpha() for c in handle)
    if not words or letters < _FEWEST or set(words) <= name_words("remarks"):
        return
    if len(words) == 1 and words[0].isalpha():
        yield Variant(words)
    elif len(words) <= _MOST_WORDS:
        yield Variant(words, handle=True)
        for word in words:
            name = word.rstrip("0123456789")
            if name in name_list("person") and not is_ordinary_word(name):
                yield Variant((name,))


@lru_cache(maxsize=1)
def _frequent() -> frozenset[str]:
    return list_frequent_words("en") or frozenset()


def is_ordinary_word(word: str) -> bool:
    """Say whether a folded word is more than a name: on the list of such names, or frequent in English.

    >>> is_ordinary_word("mark"), is_ordinary_word("success"), is_ordinary_word("karim")
    (True, True, False)
    """
    return word in name_list("common") or (word in _frequent() and word not in name_list("person"))
