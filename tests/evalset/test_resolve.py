"""Gold meets documents: by name, then by text, and what does not is named with the way to mend it."""

import json
import random
import time
from pathlib import Path

import pytest

from builders.sets import MemoryDocuments, question_set
from findback.evalset.format import SetFormat
from findback.evalset.open import open_set
from findback.evalset.resolve import resolve
from findback.evalset.textmatch import find_quote, place_texts
from findback.model.case import Judgement
from findback.model.document import Document
from findback.model.question import Question
from findback.privacy.core import CoreRedactor

CORPUS = (
    Document(
        "guide/retries.md",
        "Retries back off when the server answers 429.\nThe job  stops after five attempts in a row.",
        title="How retries work",
        url="https://docs.example.org/guide/retries",
        aliases=("old/retries.md",),
        metadata={"key": "DOC-7"},
    ),
    Document("guide/quota.md", "A quota limits how many requests a team may send in one minute.", title="Quota"),
    Document("ops/quota.md", "Operators raise a quota with the admin tool, never by hand.", title="Quota"),
)


def documents() -> MemoryDocuments:
    """Return a fresh corpus of three documents."""
    return MemoryDocuments(CORPUS)


def ask(*docs: str, anchor: str | None = None, texts: tuple[str, ...] = (), grade: int = 1) -> Question:
    """Return a question with these documents as judgements."""
    rows = tuple(Judgement(doc=doc, grade=grade, anchor=anchor, found_by="import") for doc in docs)
    return Question(id="q", query="why", judged=rows or None, gold_texts=texts)


@pytest.mark.parametrize(
    ("reference", "way"),
    [
        ("guide/retries.md", "id"),
        ("https://docs.example.org/guide/retries", "URL"),
        ("old/retries.md", "alias"),
        ("how  retries WORK", "title"),
    ],
)
def test_names_lead_to_documents(reference: str, way: str) -> None:
    """An id, an address, an alias and a title that one document has lead to it, and the way is counted."""
    resolution = resolve(question_set(ask(reference)), documents())
    assert [j.doc for j in resolution.set.questions[0].gold] == ["guide/retries.md"]
    assert resolution.ways == {way: 1}
    assert resolution.unresolved_share == 0


def test_title_of_two_documents_leads_nowhere() -> None:
    """A title that two documents have resolves to neither, and stays gold that search cannot find."""
    resolution = resolve(question_set(ask("Quota")), documents())
    assert resolution.set.questions[0].unresolved == ("Quota",)
    assert [judgement.doc for judgement in resolution.set.questions[0].gold] == ["Quota"]


def test_list_in_one_cell_is_split_only_when_every_piece_is_there() -> None:
    """`a;b` becomes two alternatives when both are documents, else it stays one dangling name."""
    found = resolve(question_set(ask("guide/quota.md; ops/quota.md")), documents())
    assert [j.doc for j in found.set.questions[0].gold] == ["guide/quota.md", "ops/quota.md"]
    assert found.ways == {"list": 1}
    lost = resolve(question_set(ask("guide/quota.md; gone.md")), documents())
    assert lost.set.questions[0].unresolved == ("guide/quota.md; gone.md",)


def test_text_is_found_word_for_word() -> None:
    """Gold given as text leads to its document, white space and case aside, and becomes its anchor."""
    resolution = resolve(question_set(ask(texts=("the job stops after five attempts",))), documents())
    gold = resolution.set.questions[0].gold
    assert [(j.doc, j.anchor) for j in gold] == [("guide/retries.md", "The job  stops after five attempts")]
    assert resolution.ways == {"text": 1}
    assert resolution.set.questions[0].gold_texts == ("the job stops after five attempts",)


def test_text_with_small_changes_is_found_by_runs() -> None:
    """A text of which four fifths of the runs are in one document leads there, without an anchor."""
    text = "<1-hop> " + "Operators raise a quota with the admin tool, never by hand."
    resolution = resolve(question_set(ask(texts=(text,))), documents())
    gold = resolution.set.questions[0].gold
    # 13 words make 9 runs of five, the 11 of the document 7 of them: 7/9 is below .8.
    assert gold == ()
    resolution = resolve(question_set(ask(texts=(text,))), documents(), containment=0.75)
    assert [(j.doc, j.anchor) for j in resolution.set.questions[0].gold] == [("ops/quota.md", None)]
    assert resolution.ways == {"shingles": 1}


def test_text_that_is_nowhere_stays_text() -> None:
    """A text no document holds is named as unresolved and kept, so that wording can still be measured."""
    resolution = resolve(question_set(ask(texts=("nobody ever wrote these words down",))), documents())
    question = resolution.set.questions[0]
    assert question.judged is None
    assert question.unresolved == ("“nobody ever wrote these words down”",)
    assert question.gold_texts
    assert resolution.unresolved_share == 1


def test_anchor_leads_where_the_name_does_not() -> None:
    """A name that leads nowhere but quotes a passage is resolved by the passage."""
    resolution = resolve(question_set(ask("chunk-17", anchor="limits how many requests a team may send")), documents())
    assert [j.doc for j in resolution.set.questions[0].gold] == ["guide/quota.md"]
    assert resolution.set.questions[0].unresolved == ()


def test_anchor_is_put_in_the_documents_words() -> None:
    """An anchor of a resolved document becomes the document's own characters; one not there is counted."""
    found = resolve(question_set(ask("guide/retries.md", anchor="the JOB stops")), documents())
    assert found.set.questions[0].gold[0].anchor == "The job  stops"
    lost = resolve(question_set(ask("guide/retries.md", anchor="was rewritten")), documents())
    assert "1 quoted passages are not in their document as it is now" in lost.set.notes


def test_two_names_of_one_document_are_one() -> None:
    """A document named by its id and by its alias is judged once, with the better grade."""
    rows = (
        Judgement(doc="old/retries.md", grade=0, found_by="import"),
        Judgement(doc="guide/retries.md", grade=2, found_by="import"),
        Judgement(doc="old/retries.md", grade=1, found_by="import", part=1),
    )
    question = Question(id="q", query="why", judged=rows)
    gold = resolve(question_set(question), documents()).set.questions[0].judged or ()
    assert [(j.doc, j.grade) for j in gold] == [("guide/retries.md", 2)]


def test_grade_zero_outside_the_corpus_is_kept() -> None:
    """A document judged no answer does not count as dangling gold when it is not in the corpus."""
    question = ask("gone.md", grade=0).model_copy(update={"no_answer_reason": "none"})
    resolution = resolve(question_set(question), documents())
    assert resolution.references == 0
    assert resolution.unresolved_share is None
    assert resolution.set.questions[0].answer == "no-answer"


def test_without_a_corpus_nothing_is_claimed() -> None:
    """Without documents the set stays as it is, and a note says that gold was not checked."""
    resolution = resolve(question_set(ask("anything")), None)
    assert resolution.set.questions[0].gold[0].doc == "anything"
    assert resolution.set.notes == ("gold was not checked against documents: no corpus was given",)


@pytest.mark.parametrize(
    ("references", "advice"),
    [
        (
            ["https://wiki.example.org/v2/guide/quota.html", "https://wiki.example.org/v2/ops/quota/"],
            "give --base-url https://wiki.example.org/v2/",
        ),
        (["docs/guide/quota.md", "docs/ops/quota.md"], "the labels' paths start with 'docs/'"),
        (["retries.md"], "the labels' paths start below 'guide/'"),
        (["DOC-7"], "give --id-from field --id-field key"),
        (["guide/quota", "ops/quota"], "the documents' ids end in '.md' and the labels do not"),
        (["Guide/Quota.md"], "differ in upper and lower case"),
    ],
)
def test_the_joining_option_is_named(references: list[str], advice: str) -> None:
    """When much dangles, the note names the option that would join it and how many it joins."""
    resolution = resolve(question_set(*[ask(reference) for reference in references]), documents())
    assert resolution.join is not None
    assert advice in resolution.join.advice
    assert resolution.join.joined == resolution.join.tried == len(references)
    assert any("unresolved" in note and "nearest id" in note for note in resolution.set.notes)


def test_nearest_ids_are_shown_for_three() -> None:
    """Up to three dangling names stand beside their nearest ids; all are named."""
    names = [f"guide/retry{number}.md" for number in range(5)]
    resolution = resolve(question_set(*[ask(name) for name in names]), documents())
    assert len(resolution.examples) == 3
    assert resolution.examples[0].ids[0] == "guide/retries.md"
    assert resolution.dangling == tuple(names)
    assert any("5 of 5 gold references (100.0%)" in note and "and 2 more" in note for note in resolution.set.notes)


def test_little_dangling_is_only_named() -> None:
    """At a tenth or less nothing is guessed: the gold is named, without examples."""
    questions = [ask("guide/quota.md").model_copy(update={"id": f"q{n}"}) for n in range(9)]
    resolution = resolve(question_set(*questions, ask("gone.md")), documents())
    assert resolution.unresolved_share == pytest.approx(0.1)
    assert (resolution.examples, resolution.join) == ((), None)
    assert resolution.dangling == ("gone.md",)


def test_what_dangles_is_redacted() -> None:
    """Names that lead nowhere pass the redactor before they are shown."""
    address = "https://wiki.example.org/x?token=" + "abcdef0123456789"
    resolution = resolve(question_set(ask(address)), documents(), redactor=CoreRedactor())
    shown = resolution.set.model_dump_json() + str(resolution)
    assert "⟦SECRET_1⟧" in shown
    assert resolution.dangling == ("https://wiki.example.org/x?token=⟦SECRET_1⟧",)


def test_text_in_ten_documents_is_from_none() -> None:
    """A text that ten documents hold leads nowhere, and so does one of two words."""
    many = [Document(f"{n}.md", f"Page {n}. All rights are reserved by us.") for n in range(10)]
    places = place_texts(["all rights are reserved by us", "by us"], many)
    assert places["all rights are reserved by us"].reason == "10 documents or more hold it"
    assert not places["by us"].matches
    nine = place_texts(["all rights are reserved by us"], many[:9])
    assert len(nine["all rights are reserved by us"].matches) == 9


def test_text_in_scripts_without_blanks_is_found() -> None:
    """A Japanese and a Korean sentence are found inside their documents."""
    corpus = [
        Document("ja", "再試行は五回で停止します。詳しくは運用手順を参照してください。"),
        Document("ko", "요청은 1분에 백 번까지 보낼 수 있습니다. 자세한 내용은 문서를 보세요."),
    ]
    places = place_texts(["再試行は五回で停止します", "1분에 백 번까지 보낼 수 있습니다"], corpus)
    assert [m.document for place in places.values() for m in place.matches] == ["ja", "ko"]


def test_quote_is_found_across_line_ends() -> None:
    """A quote is found where the document breaks its lines elsewhere; blanks around it do not matter."""
    assert find_quote("a  b\nc d", " b c ") == (3, 6)
    assert find_quote("a b", "b a") is None
    assert find_quote("a b", "  ") is None


def test_work_grows_with_the_sum() -> None:
    """Two thousand texts that share boilerplate meet two thousand documents that do, in a few seconds and one pass."""
    chance = random.Random(1)
    words = [f"w{number}" for number in range(5_000)]
    boilerplate = "this page was made by the platform team and is kept by it"
    corpus = MemoryDocuments(
        [Document(f"d{n}", " ".join(chance.choices(words, k=100)) + " " + boilerplate) for n in range(2_000)]
    )
    texts = [" ".join(document.text.split()[20:60]) + " " + boilerplate for document in corpus]
    corpus.passes = 0
    start = time.process_time()
    places = place_texts(texts, corpus)
    assert corpus.passes == 1
    assert time.process_time() - start < 20
    assert sum(len(place.matches) == 1 for place in places.values()) == 2_000


def test_chroma_resolves_whole(data: Path, formats: dict[str, SetFormat]) -> None:
    """All 472 questions of Chroma find their corpus by their exact spans, though its name is not the file's."""
    folder = data / "chroma" / "corpora"
    corpus = MemoryDocuments([Document(path.name, path.read_text("utf-8")) for path in sorted(folder.glob("*.md"))])
    resolution = resolve(open_set(data / "chroma" / "questions.csv", formats=formats), corpus)
    assert resolution.ways == {"text": 472}
    for question in resolution.set.questions:
        for judgement in question.gold:
            document = corpus.get(judgement.doc)
            assert document is not None
            assert (judgement.anchor or "?") in document.text


def test_ubuntu_resolves_by_id(data: Path, formats: dict[str, SetFormat]) -> None:
    """All 348 questions of Ubuntu find their document by id."""
    lines = (data / "ubuntu" / "corpus.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    corpus = MemoryDocuments([Document(row["id"], row["text"], aliases=tuple(row["aliases"])) for row in rows])
    resolution = resolve(open_set(data / "ubuntu" / "queries.jsonl", formats=formats), corpus)
    assert resolution.ways == {"id": 348}


def test_gold_that_is_an_id_already_copies_nothing() -> None:
    """A question whose gold needs no resolving comes back as the same object, and is counted like any other."""
    plain, named, lost = ask("guide/quota.md"), ask("old/retries.md"), ask("gone.md")
    resolution = resolve(question_set(plain, plain, named, lost), documents())
    first, second, third, fourth = resolution.set.questions
    assert first is plain
    assert second is plain
    assert third.gold[0].doc == "guide/retries.md"
    assert fourth.unresolved == ("gone.md",)
    assert resolution.ways == {"id": 2, "alias": 1}
