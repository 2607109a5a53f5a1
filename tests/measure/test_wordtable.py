"""Words numbered in bulk: the same words as one by one, whatever the texts."""

from hypothesis import given
from hypothesis import strategies as st

from findback.measure.coded import CodedTexts, Vocabulary
from findback.measure.wordtable import WordTable, cut_batches
from findback.text.words import words


def spell(texts: CodedTexts) -> list[list[str]]:
    listed = list(texts.vocabulary)
    return [[listed[code] for code in texts.codes(position)] for position in range(len(texts))]


@given(st.lists(st.text(alphabet="abc'_ \n\x00Z9é返⟦⟧", max_size=30), max_size=12))
def test_bulk_equals_one_by_one(texts: list[str]) -> None:
    """ASCII texts in a batch, others among them, and empty ones give the words of `words`."""
    assert spell(CodedTexts(texts)) == [words(text) for text in texts]


def test_many_words_are_kept_apart() -> None:
    """A hundred thousand words in many batches, through several growths, keep their own numbers."""
    texts = [" ".join(f"w{number}" for number in range(start, start + 50)) for start in range(0, 100_000, 25)]
    coded = CodedTexts(texts, ["en"] * len(texts))
    assert len(coded.vocabulary) == 100_025
    assert spell(coded) == [words(text) for text in texts]


def test_long_words_take_the_plain_way() -> None:
    """Words whose hashes could be made to collide are not hashed."""
    assert WordTable(Vocabulary().__getitem__).code(["x" * 101, "y"]) is None
    texts = ["x" * 101 + " y", "y", "x" * 200_000]
    assert spell(CodedTexts(texts)) == [words(text) for text in texts]


def test_shared_vocabulary_means_shared_numbers() -> None:
    """Two collections with one vocabulary number a word alike, in whichever it came first."""
    first = CodedTexts(["the form", "api"])
    second = CodedTexts(["form api new", "the new"], beside=first)
    third = CodedTexts(["new form", "other"], beside=first)
    assert second.codes(0)[0] == first.codes(0)[1]
    assert third.codes(0)[0] == second.codes(0)[2]


def test_batches_hold_what_fits() -> None:
    """A text longer than a batch is one of its own; nothing gives no batch."""
    assert cut_batches([]) == []
    assert cut_batches([200_000, 10, 10]) == [1, 3]
