"""Overlap of two sets in one window."""

from findback.corpus.corpus import corpus_of
from findback.model.case import Judgement
from findback.model.document import Document
from findback.model.question import Question, QuestionSet
from findback.steps.overlaps import measure_overlaps


def make_set(*rows: tuple[str, str, str | None]) -> QuestionSet:
    return QuestionSet(
        name="set",
        kind="unreleased set",
        questions=tuple(
            Question(id=id_, query=query, judged=(Judgement(doc=doc, grade=3, found_by="resolver"),) if doc else ())
            for id_, query, doc in rows
        ),
    )


def test_each_question_has_the_share_its_answer_holds() -> None:
    """Two of four content words are a half, none is 0; without gold text there is no overlap."""
    corpus = corpus_of(
        [
            Document(id="vpn", text="Install the tunnel client, then enrol the device certificate."),
            Document(id="badge", text="A lost badge is blocked at the reception desk."),
        ]
    )
    first = make_set(("a", "tunnel certificate broken laptop", "vpn"), ("b", "printer jam", "badge"))
    second = make_set(("c", "lost badge", "badge"), ("d", "nothing fits", None))
    found = measure_overlaps(first, second, corpus, seed=1)
    assert (found.first, found.second) == ({"a": 0.5, "b": 0.0}, {"c": 1.0})
    assert found.of(1, second.questions) == [1.0, None]
    assert found.window is not None


def test_quoted_gold_needs_no_documents() -> None:
    """Gold given as text is measured without a corpus; without any text there is no window."""
    quoted = QuestionSet(
        name="set",
        kind="unreleased set",
        questions=(Question(id="a", query="tunnel client", gold_texts=("Install the tunnel.",)),),
    )
    assert measure_overlaps(quoted, quoted, None, seed=1).first == {"a": 0.5}
    bare = make_set(("a", "tunnel", "vpn"))
    assert measure_overlaps(bare, bare, None, seed=1) == (None, {}, {})
