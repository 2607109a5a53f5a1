"""The people a source itself names, found in text in any of the ways they are written."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from findback.model.thread import Person
from findback.privacy.finding import Band, Finding
from findback.privacy.folding import Word, find_unspaced_runs, find_words, fold, is_glued
from findback.privacy.name_lists import (
    has_cue_after,
    has_cue_before,
    name_list,
    names_digest,
)
from findback.privacy.name_variants import Variant, is_ordinary_word, list_variants, variant_key

VERSION = "roster-1"

_LONGEST = 6
_JOIN = re.compile(r"[\s.,_'’ʼ`´·\-\u00ad\u200b-\u200d\u2010-\u2015]{0,3}")
_PHONE = re.compile(r"(?<![\w.])\+?\(?\d[\d ().\-/\u00a0]{5,28}\d(?![\w])")
_PHONE_TAIL = 8
_SHORT = 2
_BESIDE = re.compile(r"\s(?:&|and|und|et|y|e)\s|\s?\+\s?")
_APOSTROPHES = ("'", "’", "ʼ", "`", "´")


class Mention(NamedTuple):
    """A person named in a text."""

    finding: Finding
    people: tuple[str, ...]
    """Ids of everyone who bears that name, in the roster's order."""


class Roster:
    """Finds the people of a source by full, first, last, display and handle names, addresses and numbers.

    Case and accents do not matter. A name that is also an ordinary word (`common_names.txt`, or one of
    `ambiguous`) counts only with a cue beside it and is otherwise suggested; one of two letters needs `@`, or
    a capital and a cue. The work grows linearly with the text, whatever the number of people.
    """

    def __init__(self, people: Iterable[Person], *, ambiguous: Collection[str] = ()) -> None:
        """Prepare the roster.

        Args:
            people: Everyone the source lists, those who left included; bots are left out.
            ambiguous: Words of this team that are not only names, such as a service called like a person.
        """
        self._variants: dict[tuple[str, ...], dict[str, Variant]] = {}
        self._unspaced: dict[str, dict[str, Variant]] = {}
        self._lengths: dict[str, int] = {}
        self._phones: dict[str, list[str]] = {}
        self._mails: dict[str, list[str]] = {}
        self._ambiguous = frozenset(fold(word) for word in ambiguous)
        self._people = {person.id: person for person in people if not person.bot}
        for person in self._people.values():
            self._add(person)
        self.version = f"{VERSION}.{names_digest()}"

    def __len__(self) -> int:
        """Return how many people it holds."""
        return len(self._people)

    def person(self, id: str) -> Person | None:  # noqa: A002 - what the record calls it
        """Return the person with this id, or None."""
        return self._people.get(id)

    def with_mail(self, mail: str) -> tuple[str, ...]:
        """Return the ids of the people with this address."""
        return tuple(self._mails.get(mail.casefold(), ()))

    def with_name(self, name: str) -> tuple[str, ...]:
        """Return the ids of the people who are written so."""
        return tuple(self._variants.get(variant_key(name), ()))

    def find(self, text: str) -> list[Mention]:
        """Return the people named in a text, in order, without overlaps."""
        if not self._people:
            return []
        mentions = [*self._find_numbers(text), *self._find_unspaced(text)]
        taken = [(mention.finding.start, mention.finding.end) for mention in mentions]
        mentions += [m for m in self._find_spaced(text) if not _overlaps(m.finding, taken)]
        return sorted(mentions)

    def _add(self, person: Person) -> None:
        for variant in list_variants(person):
            if variant.unspaced:
                self._unspaced.setdefault("".join(variant.words), {})[person.id] = variant
                continue
            bearers = self._variants.setdefault(variant.words, {})
            if person.id not in bearers or variant.handle:
                bearers[person.id] = variant
            first = variant.words[0]
            self._lengths[first] = min(max(self._lengths.get(first, 0), len(variant.words)), _LONGEST)
        for mail in person.mails:
            self._mails.setdefault(mail.casefold(), []).append(person.id)
        for phone in person.phones:
            digits = re.sub(r"\D", "", phone)
            if len(digits) >= _PHONE_TAIL:
                self._phones.setdefault(digits[-_PHONE_TAIL:], []).append(person.id)

    def _find_spaced(self, text: str) -> Iterator[Mention]:
        words = find_words(text)
        lengths = self._lengths
        at = 0
        last = -1
        while at < len(words):
            longest = lengths.get(words[at].folded)
            if longest is None:
                longest = lengths.get(words[at].folded[:-1], 0) if words[at].folded.endswith("s") else 0
            step = 1
            for length in range(min(longest, len(words) - at), 0, -1):
                beside = last >= 0 and _BESIDE.fullmatch(text, last, words[at].start) is not None
                mention = self._match(text, words[at : at + length], beside=beside)
                if mention:
                    yield mention
                    last = mention.finding.end if mention.finding.band == "applied" else -1
                    step = length
                    break
            at += step

    def _match(self, text: str, words: list[Word], *, beside: bool = False) -> Mention | None:
        key = tuple(word.folded for word in words)
        bearers = self._variants.get(key)
        if bearers is None and len(key[-1]) > 3 and key[-1].endswith("s"):
            # "karims laptop": a genitive without its apostrophe, but not of a word such as "marks".
            stem = (*key[:-1], key[-1][:-1])
            if any(self._is_telling(word) for word in stem):
                bearers, key = self._variants.get(stem), stem
        if not bearers or not all(_JOIN.fullmatch(text, one.end, two.start) for one, two in pairwise(words)):
            return None
        start, end = words[0].start, words[-1].end
        if len(key) > 1 and len(key[-1]) == 1 and text[end : end + 1] == ".":
            end += 1
        if len(key[0]) == 1 and text[start - 1 : start] in _APOSTROPHES and start > 0:
            return None
        at_sign = start > 0 and text[start - 1] == "@" and (start < 2 or not text[start - 2].isalnum())
        handle = any(variant.handle for variant in bearers.values())
        beside = beside and not any(word in name_list("strict") for word in key)
        band = "applied" if at_sign or beside else self._judge(text, start, end, key, handle=handle)
        if band is None:
            return None
        if at_sign:
            return Mention(Finding(start - 1, end, "USER", "roster.handle", band), tuple(bearers))
        return Mention(Finding(start, end, "PERSON", "roster.name", band), tuple(bearers))

    def _judge(self, text: str, start: int, end: int, key: tuple[str, ...], *, handle: bool) -> Band | None:
        written = text[start:end]
        several = len(key) > 1
        if (
            any(self._is_telling(word) for word in key)
            or (handle and any(c.isdigit() for c in written))
            or (several and ("." in written or (written.istitle() and not text.istitle())))
        ):
            return "applied"
        capital = written[0].isupper()
        strict = any(word in name_list("strict") for word in key)
        short = not several and len(key[0]) <= _SHORT
        further = "weak_before" if capital and not (strict or short) else None
        cued = has_cue_before(text, start, further=further) or has_cue_after(text, end)
        if short:
            return "applied" if capital and cued else None
        if cued:
            return "applied"
        return None if is_glued(text, start, end) else "suggested"

    def _is_telling(self, word: str) -> bool:
        """Say whether a word is a name and nothing else."""
        return len(word) > _SHORT and not is_ordinary_word(word) and word not in self._ambiguous

    def _find_unspaced(self, text: str) -> Iterator[Mention]:
        if not self._unspaced:
            return
        lengths = sorted({len(name) for name in self._unspaced}, reverse=True)
        for place, run in find_unspaced_runs(text):
            at = 0
            while at < len(run):
                mention = self._match_unspaced(text, place + at, place + len(run), lengths)
                if mention:
                    yield mention
                at += mention.finding.end - mention.finding.start if mention else 1

    def _match_unspaced(self, text: str, start: int, stop: int, lengths: list[int]) -> Mention | None:
        for length in lengths:
            bearers = self._unspaced.get(text[start : start + length]) if start + length <= stop else None
            if not bearers:
                continue
            cued = has_cue_after(text, start + length)
            if length > 1 or cued:
                full = any(len(variant.words) > 1 or variant.full for variant in bearers.values())
                band: Band = "applied" if full or cued else "suggested"
                return Mention(Finding(start, start + length, "PERSON", "roster.name", band), tuple(bearers))
        return None

    def _find_numbers(self, text: str) -> Iterator[Mention]:
        if not self._phones:
            return
        for match in _PHONE.finditer(text):
            digits = re.sub(r"\D", "", match[0])
            bearers = self._phones.get(digits[-_PHONE_TAIL:]) if len(digits) <= 15 else None
            if bearers:
                yield Mention(Finding(match.start(), match.end(), "PHONE", "roster.phone"), tuple(bearers))


def _overlaps(finding: Finding, taken: list[tuple[int, int]]) -> bool:
    return any(finding.start < end and start < finding.end for start, end in taken)
