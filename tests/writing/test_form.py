"""What has not the form of a description is turned away, each for its own reason, in three languages."""

import json
import tomllib
from pathlib import Path

import pytest

from findback.model.document import Document
from findback.writing.describe import ask_description
from findback.writing.form import ANY_SENTENCES, is_in_language, reject_form
from findback.writing.prompts import open_prompts

PLANTED = tomllib.loads((Path(__file__).parent.parent / "data" / "planted_texts.toml").read_text(encoding="utf-8"))
LANGUAGES = sorted(PLANTED)
REASONS = {
    "chatter": "assistant chatter",
    "chatter_end": "assistant chatter",
    "wrong_language": "wrong language",
    "cut": "cut off",
    "cut_open": "cut off",
    "heading": "headings or lists",
    "list": "headings or lists",
    "pointing": "speaks of the document",
    "too_long": "too many sentences",
    "markup": "markup",
    "empty_talk": "empty talk",
}


def reason_of(
    text: str, language: str, *, instructions: tuple[str, ...] = (), sentences: tuple[int, int] = ANY_SENTENCES
) -> str | None:
    """Return why the form filter turns a text away."""
    source = PLANTED[language]["document"]
    found = reject_form(text, language=language, source_text=source, instructions=instructions, sentences=sentences)
    assert found is None or found.by == "form"
    return None if found is None else found.reason


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", sorted(REASONS))
def test_each_planted_fault_is_found_by_its_name(language: str, kind: str) -> None:
    """A planted text is turned away for the reason it was planted for."""
    assert reason_of(PLANTED[language][kind], language) == REASONS[kind]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["good", "of_other", "of_both"])
def test_a_description_in_two_sentences_passes(language: str, kind: str) -> None:
    """What a person would say has the right form, whichever document it is about."""
    assert reason_of(PLANTED[language][kind], language, sentences=(2, 3)) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_repeats_the_prompt_is_an_echo(language: str) -> None:
    """An instruction or an example of tone, given back by the writer, is turned away."""
    document = Document("d", PLANTED[language]["document"], language=language)
    example = PLANTED[language]["of_other"]
    asked = ask_description(open_prompts(), document, {}, language=language, examples=[example])
    instructions = (asked.system,)
    assert reason_of(example, language, instructions=instructions) == "prompt echo"
    echoed = "Say what the person sees, wants or is stuck on. It must be this document that helps."
    assert reason_of(echoed, language, instructions=instructions) == "prompt echo"
    assert reason_of(PLANTED[language]["good"], language, instructions=instructions) is None


def test_a_text_without_words_is_empty() -> None:
    """Nothing, or only punctuation, is no description."""
    assert reason_of("  \n", "en") == "empty"
    assert reason_of("…!", "ja") == "empty"


def test_sentences_are_bounded_by_the_voice() -> None:
    """A single line passes where the voice may be short, and is too little where two sentences are wanted."""
    line = "handheld shows red after the update"
    assert reason_of(line, "en") is None
    assert reason_of(line, "en", sentences=(2, 3)) == "too few sentences"
    assert reason_of("It is red. It was green.", "en", sentences=(1, 1)) == "too many sentences"


def test_who_writes_in_a_hurry_may_leave_out_capitals_and_the_last_mark() -> None:
    """Loose punctuation is a voice, and no sign that the text was cut."""
    assert reason_of("gate wont open since this morning, lamp is red. already tried the other lane", "en") is None
    assert reason_of("gate wont open since this morning and my", "en") == "cut off"


def test_a_long_line_that_does_not_end_is_cut() -> None:
    """Forty words in a careful voice without an end are the token limit, not a habit."""
    words = "Yesterday the lamp at the northern gate turned red while I waited there with my load of tiles"
    assert reason_of(words, "en") is None
    assert (
        reason_of(f"{words} and then the guard came over and told me to drive around to the other side", "en")
        == "cut off"
    )


def test_the_next_attempt_is_told_the_reason_and_no_word_of_the_document() -> None:
    """What a rejection says is findback's own sentence, the same for every document."""
    told = {
        reject_form(PLANTED[one]["cut"], language=one, source_text=PLANTED[one]["document"]).told  # type: ignore[union-attr]
        for one in LANGUAGES
    }
    assert told == {"Its last sentence is not finished. Be shorter and end the last sentence."}


def test_a_language_without_lists_is_judged_by_how_its_document_reads() -> None:
    """Function words that look like another language's do not turn away a language findback has no list of."""
    assert is_in_language(
        "Перевірте, чи працює ліфт, будь ласка.", "uk", "Ліфт їде на третій поверх, і двері відчиняються."
    )
    assert not is_in_language("The lift does not stop where it should.", "uk", "Ліфт їде на третій поверх.")
    assert not is_in_language("Перевірте ліфт.", None, "The lift stops at the third floor.")
    assert is_in_language("vpn timeout", "de", "Die Verbindung bricht ab.")


def test_japanese_may_hold_latin_names_but_not_be_latin() -> None:
    """A Japanese question about OAuth is Japanese; an English one is not."""
    assert is_in_language("OAuth tokenが切れる", "ja", PLANTED["ja"]["document"])
    assert not is_in_language("OAuth token expired", "ja", PLANTED["ja"]["document"])


def test_real_questions_mostly_have_the_form(data: Path) -> None:
    """Of 348 real questions the form filter turns away fewer than one in eight: cut, in two words, or pasted."""
    documents = {
        row["id"]: row["text"]
        for row in map(json.loads, (data / "ubuntu" / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    }
    rows = [json.loads(line) for line in (data / "ubuntu" / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [reject_form(row["query"], language="en", source_text=documents[row["gold"]]) for row in rows]
    rejected = [one.reason for one in found if one is not None]
    assert len(rows) == 348
    assert len(rejected) < 348 / 8
    assert "assistant chatter" not in rejected
    assert "speaks of the document" not in rejected
    assert "wrong language" not in rejected
