"""Whether the wording of a query and of its gold text can be compared at all."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from findback.text.languages import SAMPLED, guess_language, guess_latin_language
from findback.text.scripts import count_scripts, find_dominant_script, join_japanese, primary_language
from findback.text.words import blank_placeholders, words

Unmeasurable = Literal["no-words", "unknown-script", "different-languages", "rarity-unknown", "few-rare-words"]
"""Why a figure is undefined. An undefined figure is never a low one."""

_LATIN = frozenset({"Latn"})

_REASONS: dict[Unmeasurable, str] = {
    "no-words": "query or gold text has no word that counts",
    "unknown-script": "query or gold text is in a script findback cannot cut into words",
    "different-languages": "query and gold text are in different languages",
    "rarity-unknown": "no list of frequent words for the language and fewer than 200 documents",
    "few-rare-words": "fewer than 3 rare words in the query",
}


class Reading(NamedTuple):
    """How a text reads: what decides with which others it can be compared."""

    script: str | None
    """Dominant script; None for a text without letters, or with most of them in an unknown one."""
    language: str | None
    """Language without region; None where unknown."""
    scripts: frozenset[str]
    """Every script with at least a twentieth of the letters; `?` stands for the unknown ones."""


def explain(reason: Unmeasurable) -> str:
    """Return the reason in words."""
    return _REASONS[reason]


def read(text: str, language: str | None = None) -> Reading:
    """Return how a text reads.

    Args:
        text: The text.
        language: Its language, where known; it is believed.

    >>> read("vpn timeout", "en-GB")[:2]
    ('Latn', 'en')
    """
    if text.isascii():
        return read_ascii(text, language or guess_latin_language(_list_first_words(text)))
    text = blank_placeholders(text)
    known = primary_language(language) if language else guess_language(text)
    counts = join_japanese(count_scripts(text))
    enough = counts.total() / 20
    present = frozenset(script for script, letters in counts.items() if letters >= enough)
    return Reading(find_dominant_script(text), known, present)


def read_ascii(text: str, language: str | None) -> Reading:
    """Return how an ASCII text reads whose language is known, or was guessed or sought in vain."""
    sample = text[:SAMPLED]
    if sample.lower() == sample.upper() and text.lower() == text.upper():
        return Reading(None, primary_language(language) if language else None, frozenset())
    return _read_latin(language)


@lru_cache(maxsize=64)
def _read_latin(language: str | None) -> Reading:
    return Reading("Latn", primary_language(language) if language else None, _LATIN)


def _list_first_words(text: str) -> list[str]:
    """Return the words that end within the first 400 characters."""
    first = words(text[:SAMPLED])
    if first and len(text) > SAMPLED:
        # Two more characters tell whether the last word goes on.
        further = words(text[: SAMPLED + 2])
        return first[:-1] if first[-1] != further[len(first) - 1] else first
    return first


@lru_cache(maxsize=4096)
def settle(query: Reading, gold: Reading, default: str | None = None) -> tuple[str | None, Unmeasurable | None]:
    """Return the language in which two texts are compared, and why they cannot be, if so.

    A query half in Latin script is compared with a gold text in another one when both hold that other script:
    Korean engineers write `OAuth token` too.

    Args:
        query: How the query reads.
        gold: How the gold text reads.
        default: Language of a pair that tells none, for example the one most of the set is in.

    >>> settle(read("wo ist das Formular"), read("where is the form"))
    (None, 'different-languages')
    >>> settle(read("vpn timeout"), read("where is the form"))
    ('en', None)
    >>> settle(read("OAuth refresh token 만료"), read("토큰이 만료되면 다시 로그인합니다"))
    ('ko', None)
    """
    if _is_unreadable(query) or _is_unreadable(gold):
        return None, "unknown-script"
    if query.script is not None and gold.script is not None and query.script != gold.script:
        other = gold if query.script == "Latn" else query
        if "Latn" in (query.script, gold.script) and other.script in query.scripts & gold.scripts:
            return other.language, None
        return None, "different-languages"
    if query.language is not None and gold.language is not None and query.language != gold.language:
        return None, "different-languages"
    return query.language or gold.language or default, None


def assume_languages(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings with unknown languages filled in where one language dominates their script.

    Short texts tell no language. Where at least nine in ten of the texts that tell one, in the same script,
    tell the same, the silent ones are taken to be in it too.

    >>> [reading.language for reading in assume_languages([read("wo ist das"), read("Formular")])]
    ['de', 'de']
    """
    told: dict[str | None, Counter[str]] = {}
    alike = Counter(readings)
    for reading, times in alike.items():
        if reading.language is not None:
            told.setdefault(reading.script, Counter())[reading.language] += times
    dominant: dict[str | None, str] = {}
    for script, languages in told.items():
        ((language, times),) = languages.most_common(1)
        if times >= 0.9 * languages.total():
            dominant[script] = language
    assumed = {
        reading: reading if reading.language is not None else reading._replace(language=dominant.get(reading.script))
        for reading in alike
    }
    return [assumed[reading] for reading in readings]


def _is_unreadable(reading: Reading) -> bool:
    return reading.script is None and "?" in reading.scripts
