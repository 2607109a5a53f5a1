"""Names of people nobody listed: what speaks for one, and whether that is enough."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from findback.privacy.finding import Band, Finding
from findback.privacy.folding import Word, find_words, fold, is_glued
from findback.privacy.name_lists import (
    find_introduced,
    has_cue_after,
    has_cue_before,
    has_title_before,
    is_likely_name,
    name_list,
    name_words,
    names_digest,
)
from findback.privacy.name_variants import is_ordinary_word
from findback.text.frequency import list_frequent_words
from findback.text.languages import guess_language, load_stop_words

VERSION = "names-2"

_LINK = re.compile(r"[ \u00a0]{1,2}|\. ?|[-'’]|, (?=[A-Z])")
_INITIAL = re.compile(r"[ \u00a0][^\W\d_a-zß-ÿ]\.?[ \u00a0]")
_LISTED = re.compile(r"\s?(?:,|&|and|or|und|oder|et|ou|y|o|e)\s|,\s(?:and|or)\s")
_CLITICS = ("s", "ll", "d", "re", "ve")
_MOST_WORDS = 5
_MOST_INTRODUCED = 3
_KNOWN_WORDS = 50_000
"""English words of which an introduced one is none: "my name is missing"."""
_ACRONYM = 5


class Evidence(NamedTuple):
    """What speaks for a stretch being somebody's name."""

    words: tuple[str, ...]
    """Folded words, without particles and initials."""
    capitals: int
    """How many of them start with a capital."""
    model: bool
    """Whether a language model says so."""
    cued: bool
    """Whether the words around speak of a person."""
    titled: bool
    """Whether a title or "my name is" stands before it."""
    introduced: bool
    """Whether somebody says that they, or others, are called so."""
    owns: bool
    """Whether it is a genitive."""


class NameRules:
    """Finds names by lists and by the words around them; a language model can add to it.

    Applied where two things agree: a listed name and a cue, a model and a list, a model and two capitals, and
    the like. Anything with a word of the system vocabulary in it is at most suggested, because in technical
    questions Kafka, Jenkins and Grafana are what is asked about.
    """

    def __init__(self, system_words: Collection[str] = ()) -> None:
        """Prepare the rules.

        Args:
            system_words: The team's own vocabulary: words of document titles, services, identifiers.
        """
        self._system = name_list("system") | {fold(word) for word in system_words}
        self.version = f"{VERSION}.{names_digest()}"

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds."""
        return [self.find(text) for text in texts]

    def find(self, text: str, model: Iterable[tuple[int, int]] = ()) -> list[Finding]:
        """Return possible names, in order, without overlaps.

        Args:
            text: Any text; what was found already is masked.
            model: Stretches that a language model takes for names.
        """
        words = find_words(text)
        introduced = list(self._by_introduction(text, words))
        groups = sorted(
            [
                *self._by_model(text, words, model),
                *self._by_list(text, words),
                *self._by_capitals(text, words),
                *introduced,
            ]
        )
        places = {first for first, _, _ in introduced}
        found = []
        for first, last, by_model in _united(groups):
            start, end = words[first].start, words[last - 1].end
            named = words[first:last]
            evidence = self._evidence(
                text, named, by_model=by_model, introduced=not places.isdisjoint(range(first, last))
            )
            band = self._judge(evidence)
            if band:
                found.append(Finding(start, end, "PERSON", "name.model" if by_model else "name.rule", band))
        return list(_beside_applied(text, found))

    def _judge(self, evidence: Evidence) -> Band | None:
        words = evidence.words
        if not words:
            return None
        listed = any(word in name_list("person") and word not in self._system for word in words)
        capital = evidence.capitals == len(words)
        spoken = evidence.cued or evidence.titled
        if any(word in self._system for word in words):
            return "suggested" if spoken or (listed and evidence.model) else None
        if all(is_ordinary_word(word) for word in words):
            named = all(word in name_list("common") for word in words)
            if not named or not (evidence.model or spoken):
                return None
            return "applied" if capital and spoken else "suggested"
        foreign = capital and not any(is_ordinary_word(word) for word in words)
        likely = [is_likely_name(word) for word in words]
        agreed = (
            evidence.introduced
            or (evidence.titled and evidence.capitals)
            or (listed and (evidence.model or evidence.cued or evidence.capitals))
            or (any(likely) and (evidence.cued or evidence.owns))
            or (any(likely) and evidence.model and (len(words) > 1 or not _is_known_word(words[0])))
            or (len(words) > 1 and all(likely))
            or (evidence.model and (evidence.cued or (foreign and len(words) > 1)))
        )
        return "applied" if agreed else "suggested"

    def _evidence(self, text: str, words: Sequence[Word], *, by_model: bool, introduced: bool) -> Evidence:
        start, end = words[0].start, words[-1].end
        named = [word for word in words if len(word.folded) > 1 and word.folded not in name_words("particles")]
        given = bool(named) and _is_given(named[0].folded)
        return Evidence(
            tuple(word.folded for word in named),
            sum(text[word.start].isupper() for word in named),
            by_model,
            has_cue_before(text, start, further="actor_before" if given else None)
            or has_cue_after(text, end, further="actor_after" if given else None),
            has_title_before(text, start),
            introduced,
            text[end : end + 2] in ("'s", "’s"),
        )

    def _by_model(
        self, text: str, words: Sequence[Word], spans: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[int, int, bool]]:
        places = {word.start: at for at, word in enumerate(words)}
        for start, end in spans:
            inside = [places[at] for at in range(start, end) if at in places]
            while inside and words[inside[-1]].folded in _CLITICS:
                inside.pop()
            while inside and words[inside[0]].folded in name_words("remarks"):
                inside.pop(0)
            named = words[inside[0] : inside[-1] + 1] if inside else []
            plain = 0 < len(named) <= _MOST_WORDS and all(word.folded.isalpha() for word in named)
            if plain and (len(named) > 1 or not _is_acronym(text, named[0])):
                yield inside[0], inside[-1] + 1, True

    def _by_list(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, bool]]:
        for at, word in enumerate(words):
            if _is_name(word.folded) and not is_glued(text, word.start, word.end) and not _is_acronym(text, word):
                yield (*self._widened(text, words, at), False)

    def _by_introduction(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, bool]]:
        """Yield the words after "my name is": as many as are no words of English."""
        starts = set(find_introduced(text))
        if not starts:
            return
        for at, word in enumerate(words):
            if word.start not in starts:
                continue
            last = at
            while last < len(words) and last - at < _MOST_INTRODUCED:
                folded = words[last].folded
                linked = last == at or _LINK.fullmatch(text, words[last - 1].end, words[last].start)
                if not linked or not folded.isalpha() or (_is_known_word(folded) and not _is_name(folded)):
                    break
                last += 1
            if last > at:
                yield at, last, False

    def _by_capitals(self, text: str, words: Sequence[Word]) -> Iterator[tuple[int, int, bool]]:
        """Yield unknown words with capitals: after a cue, two side by side, or with letters foreign to the text."""
        for at, word in enumerate(words):
            if not self._may_be_name(text, word):
                continue
            cued = has_cue_before(text, word.start) or has_title_before(text, word.start)
            if cued or self._is_followed(text, words, at) or _is_foreign(text, word):
                yield (*self._widened(text, words, at), False)

    def _is_followed(self, text: str, words: Sequence[Word], at: int) -> bool:
        """Return whether another capital follows, at once or after an initial: Ada Ek, Ada M. Ek."""
        after = words[at + 1 : at + 3]
        if after and self._are_two(text, words[at], after[0]):
            return True
        between = text[words[at].end : after[1].start] if len(after) > 1 else ""
        return _INITIAL.fullmatch(between) is not None and self._may_be_name(text, after[1])

    def _may_be_name(self, text: str, word: Word) -> bool:
        if not (text[word.start].isupper() and word.folded.isalpha() and len(word.folded) > 1):
            return False
        ordinary = is_ordinary_word(word.folded) and word.folded not in name_list("common")
        known = ordinary or word.folded in self._system or _is_acronym(text, word)
        return not (known or is_glued(text, word.start, word.end))

    def _are_two(self, text: str, one: Word, two: Word) -> bool:
        between = text[one.end : two.start]
        plain = not is_ordinary_word(one.folded) and not is_ordinary_word(two.folded)
        cased = text[one.start : one.end].istitle() and text[two.start : two.end].istitle()
        return between == " " and plain and cased and self._may_be_name(text, two)

    def _widened(self, text: str, words: Sequence[Word], at: int) -> tuple[int, int]:
        """Return the words around one that belong to the same name: capitals, initials, particles between."""
        first, last = at, at + 1
        while last < len(words) and last - first < _MOST_WORDS and self._follows(text, words, last):
            last += 1
        while words[last - 1].folded in name_words("particles") and last - 1 > at:
            last -= 1
        if first > 0 and text[words[at].start].isupper() and self._precedes(text, words, first - 1):
            first -= 1
        return first, last

    def _follows(self, text: str, words: Sequence[Word], at: int) -> bool:
        word = words[at]
        if not _LINK.fullmatch(text, words[at - 1].end, word.start) or not word.folded.isalpha():
            return False
        if word.folded in name_words("particles"):
            return at + 1 < len(words) and text[words[at + 1].start].isupper() and len(word.folded) > 1
        if not text[word.start].isupper():
            initial = len(word.folded) == 1 and at + 1 < len(words) and len(words[at + 1].folded) > 1
            return self._is_surname(words, at) or (initial and self._is_surname(words, at + 1))
        if len(word.folded) == 1:
            return True
        return not self._is_word(word) or word.folded in name_list("common")

    def _is_surname(self, words: Sequence[Word], at: int) -> bool:
        """Return whether a word in lower case may follow a given name: a name, or no word that is known."""
        word = words[at].folded
        if _is_name(word):
            return word not in self._system
        given = next(
            (words[before].folded for before in (at - 1, at - 2) if before >= 0 and len(words[before].folded) > 1), ""
        )
        unknown = len(word) > _ACRONYM and word not in self._system and not _is_known_word(word)
        return unknown and _is_given(given)

    def _precedes(self, text: str, words: Sequence[Word], at: int) -> bool:
        word = words[at]
        linked = _LINK.fullmatch(text, word.end, words[at + 1].start) is not None
        return linked and text[word.start].isupper() and word.folded.isalpha() and not self._is_word(word)

    def _is_word(self, word: Word) -> bool:
        return word.folded in self._system or is_ordinary_word(word.folded) or word.folded in name_words("remarks")


def _is_name(word: str) -> bool:
    return is_likely_name(word) and not is_ordinary_word(word)


def _is_given(word: str) -> bool:
    return (word in name_list("person") or word in name_list("given")) and not is_ordinary_word(word)


def _is_known_word(word: str) -> bool:
    return word in (list_frequent_words("en", _KNOWN_WORDS) or ()) or word in _function_words()


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    return frozenset(fold(word) for words in load_stop_words().values() for word in words)


@lru_cache(maxsize=8)
def _language(text: str) -> str | None:
    # Asked for word after word of the same text.
    return guess_language(text)


def _is_foreign(text: str, word: Word) -> bool:
    """Return whether a word has letters that an English text lends to names alone: Živković."""
    written = text[word.start : word.end]
    return not written.isascii() and written.istitle() and _language(text) == "en"


def _is_acronym(text: str, word: Word) -> bool:
    return len(word.folded) < _ACRONYM and text[word.start : word.end].isupper() and not text.isupper()


def _beside_applied(text: str, found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, those applied too that are listed with an applied one: "ingrid or tobias"."""
    last: Finding | None = None
    for at, finding in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else None
        joined = last is not None and last.band == "applied" and _LISTED.fullmatch(text, last.end, finding.start)
        followed = after is not None and after.band == "applied" and _LISTED.fullmatch(text, finding.end, after.start)
        last = finding._replace(band="applied") if joined or followed else finding
        yield last


def _united(groups: Sequence[tuple[int, int, bool]]) -> Iterator[tuple[int, int, bool]]:
    """Yield groups of words, overlapping ones as one."""
    at: tuple[int, int, bool] | None = None
    for group in groups:
        if at is None or group[0] >= at[1]:
            if at is not None:
                yield at
            at = group
        else:
            at = (at[0], max(at[1], group[1]), at[2] or group[2])
    if at is not None:
        yield at
