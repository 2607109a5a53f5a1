"""The form filter: two or three whole sentences in a person's voice and the document's language, and nothing else."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from findback.measure.containment import find_content_words
from findback.model.written import Rejection
from findback.text.frequency import list_frequent_words
from findback.text.languages import guess_language, load_stop_words
from findback.text.scripts import (
    count_scripts,
    find_dominant_script,
    is_written_as_bigrams,
    join_japanese,
    primary_language,
)
from findback.text.sentences import find_sentences
from findback.text.words import fold, is_bigram, words
from findback.writing.runs import BIGRAMS_TO_A_WORD, Runs

ECHOED_RUN = 7
"""Words in a row that stand in the prompt and in the answer only when one was copied from the other."""
FEWEST_TELLING = 2
"""Words that tell which document may be meant, below which a text is empty talk."""
FEWEST_TELLING_PAIRS = 3
"""The same for pairs of characters: two words of a text written without spaces give about as many."""
LONGEST_LINE = 30
"""Words of one sentence that may do without an end mark."""
LONGEST = 1_200
"""Characters of a text that may be three sentences."""
ANY_SENTENCES = (1, 3)
"""Sentences a text may have where its voice does not say."""

Form = Literal[
    "empty",
    "markup",
    "assistant chatter",
    "prompt echo",
    "headings or lists",
    "speaks of the document",
    "wrong language",
    "cut off",
    "too few sentences",
    "too many sentences",
    "empty talk",
]
"""Why the form filter rejects a text."""

_TOLD: dict[Form, str] = {
    "empty": "It holds no words.",
    "markup": "It holds markup or an unfilled blank. Write plain sentences only.",
    "assistant chatter": "It speaks as an assistant. Write only what the person would write, without introduction.",
    "prompt echo": "It repeats these instructions or an example. Write what the person would write.",
    "headings or lists": "It has a heading, a label, a list or several lines. Write plain sentences on one line.",
    "speaks of the document": "It speaks of the document. The person has not seen any document.",
    "wrong language": "It is in another language than the document. Write in the document's language.",
    "cut off": "Its last sentence is not finished. Be shorter and end the last sentence.",
    "too few sentences": "It has too few sentences.",
    "too many sentences": "It is too long. Write fewer sentences.",
    "empty talk": "It could be about anything. Say what the person sees, does or wants in this very case.",
}
_MARKUP = re.compile(
    r"```|\{\{|\}\}|</?[a-z][^<>\n]{0,80}>|\*\*\w|⟦|⟧|\[(?:insert|your|name|product)\b|^\s*\{", re.IGNORECASE
)
_LISTED = re.compile(r"\n|^\s*(?:#{1,6}\s|[-*+•‣]\s|\d{1,2}[.)]\s|>\s)")
_END = re.compile(r"(?:[.!?…。！？｡]['\"’”»」』)）\]]{0,3}|(?<=\s)[:;=]-?[()/|DPp])\s*$")
_LOOSE_END = re.compile(r"(?<=\w\w)[.!?…]++(?=\s)|[。！？｡]+|[.!?…]+$")
_LEFT_OPEN = re.compile(r"[,;:、，：；(（「『/–—-]\s*$")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]{2}")


def reject_form(
    text: str,
    *,
    language: str | None,
    source_text: str,
    instructions: Sequence[str] = (),
    sentences: tuple[int, int] = ANY_SENTENCES,
) -> Rejection | None:
    """Return why a text has not the form of a description, or None.

    Args:
        text: What was written.
        language: The document's; the text must be in it.
        source_text: The document, for its script.
        instructions: Everything the writer was told, without the document.
        sentences: Fewest and most that the voice may have.
    """
    reason = next(_find_faults(text.strip(), language, source_text, instructions, sentences), None)
    return None if reason is None else Rejection(by="form", reason=reason, told=_TOLD[reason])


def _find_faults(
    text: str, language: str | None, source_text: str, instructions: Sequence[str], sentences: tuple[int, int]
) -> Iterator[Form]:
    """Yield what is wrong with a text, what can be told most surely first."""
    if not words(text):
        yield "empty"
        return
    folded = fold(text)
    if _MARKUP.search(text):
        yield "markup"
    if _phrases("openings").match(folded) or _phrases("assistant").search(folded):
        yield "assistant chatter"
    if Runs(instructions, ECHOED_RUN).find(text) is not None:
        yield "prompt echo"
    if _LISTED.search(text) or _labels().match(folded):
        yield "headings or lists"
    if _phrases("pointing").search(folded):
        yield "speaks of the document"
    if not is_in_language(text, language, source_text):
        yield "wrong language"
    if is_cut(text, language):
        yield "cut off"
    yield from _find_length_faults(text, sentences)
    if is_empty_talk(text, language):
        yield "empty talk"


def _find_length_faults(text: str, sentences: tuple[int, int]) -> Iterator[Form]:
    fewest, most = sentences
    strict, loose = len(find_sentences(text)), len(_LOOSE_END.findall(text)) + (not _END.search(text))
    if max(strict, loose) < fewest:
        yield "too few sentences"
    if strict > most or len(text) > LONGEST:
        yield "too many sentences"


def is_in_language(text: str, language: str | None, source_text: str) -> bool:
    """Say whether a text is in a language, as far as it can be told; True where nothing is known.

    Args:
        text: What was written.
        language: ISO 639-1; None where the document's is unknown: then only the script must be the document's.
        source_text: The document.

    >>> is_in_language("Warum geht das Tor nicht auf, wenn es regnet?", "en", "The gate opens by itself.")
    False
    """
    guessed = guess_language(text)
    if language is not None and guessed is not None:
        wanted = primary_language(language)
        # Function words of a language findback has no list of may look like those of another one.
        return guessed == wanted or (wanted not in load_stop_words() and guessed == guess_language(source_text))
    counts = join_japanese(count_scripts(text))
    if is_written_as_bigrams(language):
        return counts["Latn"] < 0.8 * counts.total()
    script = find_dominant_script(text)
    known = join_japanese(count_scripts(source_text))
    return script is None or known[script] >= known.total() / 20


def is_cut(text: str, language: str | None) -> bool:
    """Say whether a text breaks off.

    A text without an end mark does so where it has several sentences or a long one, unless it begins with a small
    letter: who writes in a hurry leaves out both. No text ends where more has to follow.

    Args:
        text: What was written.
        language: Of the text; None where unknown.

    >>> is_cut("My scanner shows a red light and the", "en"), is_cut("scanner dead. tried it twice", "en")
    (True, False)
    """
    if _END.search(text):
        return False
    tokens, ends = words(text), _listed("unfinished", language)
    if _LEFT_OPEN.search(text) or tokens[-1] in ends or any(text.endswith(end) for end in ends if is_bigram(end)):
        return True
    if text.lstrip("\"'“„«「")[:1].islower():
        return False
    longest = LONGEST_LINE * (BIGRAMS_TO_A_WORD if is_bigram(tokens[-1]) else 1)
    return len(find_sentences(text)) > 1 or len(tokens) > longest


def is_empty_talk(text: str, language: str | None) -> bool:
    """Say whether a text has too few words that tell what it is about.

    >>> is_empty_talk("Something about this does not work, please help.", "en")
    True
    >>> is_empty_talk("The handheld froze at the gate.", "en")
    False
    """
    told = language or guess_language(text)
    folded, idle = fold(text), _listed("idle", told)
    for phrase in sorted(filter(is_bigram, idle), key=len, reverse=True):
        folded = folded.replace(phrase, "。")
    content = find_content_words(folded, told)
    pairs = [word for word in content if is_bigram(word)]
    frequent = list_frequent_words(told) or frozenset()
    telling = {
        stemmed: word in frequent for word, stemmed in content.items() if not is_bigram(word) and word not in idle
    }
    telling_pairs = sum(1 for pair in pairs if len(pair) == 2 and not _HIRAGANA.fullmatch(pair))
    # A rare word alone, such as a name, may tell enough.
    weight = len(telling) + sum(not common for common in telling.values())
    return weight < FEWEST_TELLING and telling_pairs + 2 * len(telling) < FEWEST_TELLING_PAIRS


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    return tomllib.loads((files("findback.writing") / "form.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=8)
def _phrases(kind: str) -> re.Pattern[str]:
    """Return a pattern of the phrases of every language, as whole words where words are spaced."""
    listed = [phrase for phrases in _load()[kind].values() for phrase in phrases]
    return re.compile("|".join(map(_as_pattern, sorted(listed, key=len, reverse=True))))


def _as_pattern(phrase: str) -> str:
    pattern = r"\s+".join(map(re.escape, fold(phrase).split()))
    if any(map(is_bigram, words(phrase))):
        return pattern
    after = r"(?!\w)" if phrase[-1].isalnum() else ""
    return rf"(?<!\w){pattern}{after}"


@lru_cache(maxsize=1)
def _labels() -> re.Pattern[str]:
    listed = [re.escape(fold(label)) for labels in _load()["labels"].values() for label in labels]
    return re.compile(
        rf"[\s\"'*]{{0,3}}(?:{'|'.join(sorted(listed, key=len, reverse=True))})\s{{0,2}}\d{{0,2}}\s?[:：]"
    )


@lru_cache(maxsize=64)
def _listed(kind: str, language: str | None) -> frozenset[str]:
    """Return the listed words of a language; those of all where none are listed for it."""
    lists: dict[str, str] = _load()[kind]
    known = None if language is None else lists.get(primary_language(language))
    return frozenset(fold(word) for listed in ([known] if known else lists.values()) for word in listed.split())
