"""A question in other words: what a model is asked, and which of its answers are kept."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field

from findback.llm.ask import Ask
from findback.measure.containment import find_content_words
from findback.model.record import Record
from findback.text.placeholders import find_placeholders, list_faults, strip_placeholders
from findback.text.scripts import primary_language
from findback.text.shingles import shingle_hashes
from findback.text.words import words
from findback.writing.form import Form, is_in_language, reject_form
from findback.writing.prompts import Prompts, Rendered

ALIKE = 0.8
"""Share of character runs, or of content words by stem, that two questions have in common, from which one is a
near-copy of the other."""
LONGER = 4
"""A variant is at most so many times as long as the question."""
LEAST_ALLOWED = 200
"""Characters a variant of a very short question may have all the same."""

Drop = Literal[
    "empty",
    "too long",
    "placeholder lost or made up",
    "assistant chatter",
    "another language",
    "near-copy of the question",
    "near-copy of another variant",
    "more than asked for",
]
DROPS: tuple[Drop, ...] = get_args(Drop)
"""Why a variant is dropped, in the order they are looked for."""

_CHATTER: frozenset[Form] = frozenset({"assistant chatter", "prompt echo", "headings or lists", "markup"})
_MARKS = "⟪⟫"
"""What only a prompt holds."""


class Paraphrases(Record):
    """What the model answers."""

    variants: Annotated[tuple[Annotated[str, Field(max_length=4_000)], ...], Field(max_length=50)]
    """The question in other words, one a text."""


class Variant(NamedTuple):
    """One of them, and what became of it."""

    text: str
    """In one line."""
    dropped: Drop | None


@dataclass(frozen=True, slots=True)
class ParaphrasePrompt:
    """Builds the prompt out of a question, its language and a number.

    Nothing else can get into it: no case reaches this far, with its judgements, anchors, documents and ids.
    """

    prompts: Prompts

    def build(self, query: str, language: str, n: int) -> Rendered:
        """Return what asks for a question in other words.

        Args:
            query: The question, redacted; its placeholders are to survive.
            language: ISO 639 code of its language; `und` where it is unknown.
            n: How many variants.
        """
        return self.prompts.render("paraphrase", query=query, language=language, n=n)


def ask_paraphrases(rendered: Rendered, *, item: str, attempt: int = 1) -> Ask[Paraphrases]:
    """Return the question to the model.

    Args:
        rendered: The prompt.
        item: How progress and errors call it; it is never sent.
        attempt: Which try this is.
    """
    return Ask(
        system=rendered.system,
        user=rendered.user,
        answer=Paraphrases,
        prompt=rendered.label,
        state="reviewed",
        item=item,
        attempt=attempt,
    )


def sort_variants(
    answered: Sequence[str],
    query: str,
    language: str | None,
    n: int,
    *,
    instructions: Sequence[str] = (),
    known: Iterable[str] = (),
) -> list[Variant]:
    """Return every variant with the reason it is dropped for, or none.

    Args:
        answered: What the model wrote.
        query: The question.
        language: Its language; None or `und` where it is unknown.
        n: Most that are kept.
        instructions: What the model was told, the question left out.
        known: Variants of this question that are kept already.
    """
    code = primary_language(language) if language not in (None, "und") else None
    asked = _Wording.of(query, code)
    taken = [_Wording.of(text, code) for text in known]
    kept = 0
    sorted_out = []
    for raw in answered:
        text = " ".join(raw.split())
        dropped = _find_fault(text, query, code, instructions)
        wording = _Wording.of(text, code)
        if dropped is None and wording.is_like(asked):
            dropped = "near-copy of the question"
        elif dropped is None and any(map(wording.is_like, taken)):
            dropped = "near-copy of another variant"
        elif dropped is None and kept >= n:
            dropped = "more than asked for"
        if dropped is None:
            taken.append(wording)
            kept += 1
        sorted_out.append(Variant(text, dropped))
    return sorted_out


def are_alike(one: str, other: str, language: str | None) -> bool:
    """Say whether two questions are worded alike: the same content words in any order, or nearly the same letters.

    >>> are_alike("where is the leave form", "the form for leave: where is it?", "en")
    True
    >>> are_alike("where is the leave form", "how do I apply for time off", "en")
    False
    """
    return _Wording.of(one, language).is_like(_Wording.of(other, language))


def _find_fault(text: str, query: str, language: str | None, instructions: Sequence[str]) -> Drop | None:
    own, asked = strip_placeholders(text), strip_placeholders(query)
    if not words(own):
        return "empty"
    if len(text) > max(LEAST_ALLOWED, LONGER * len(query)):
        return "too long"
    if list_faults(text) or _placeholders(text) != _placeholders(query):
        return "placeholder lost or made up"
    if _is_chatter(own, asked, language, instructions):
        return "assistant chatter"
    return None if is_in_language(own, language, asked) else "another language"


def _placeholders(text: str) -> AbstractSet[tuple[str, int]]:
    return {(one.type, one.number) for one in find_placeholders(text)}


def _is_chatter(text: str, asked: str, language: str | None, instructions: Sequence[str]) -> bool:
    """Say whether a text speaks as an assistant, repeats its prompt or is laid out, where its question does not."""
    if any(mark in text for mark in _MARKS):
        return True
    faults = [
        reject_form(one, language=language, source_text=asked, instructions=instructions) for one in (text, asked)
    ]
    reasons = ["" if fault is None else fault.reason for fault in faults]
    return reasons[0] in _CHATTER and reasons[0] != reasons[1]


class _Wording(NamedTuple):
    """What a question's wording is known by; placeholders are no words."""

    runs: frozenset[int]
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str, language: str | None) -> "_Wording":
        plain = words(text)
        stems = find_content_words(text, language).values()
        return cls(frozenset(shingle_hashes(" ".join(plain)).tolist()), frozenset(stems or plain))

    def is_like(self, other: "_Wording") -> bool:
        return max(_shared(self.runs, other.runs), _shared(self.stems, other.stems)) >= ALIKE


def _shared(one: AbstractSet[object], other: AbstractSet[object]) -> float:
    """Return the share of two sets' members that both have; 0 for empty ones."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0
