"""Passages know their document and characters, and are kept by digest."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback import registry
from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.passages import open_passages
from findback.errors import MissingError, StorageError, UsageError
from findback.model.document import Document, Passage
from findback.model.hits import Span
from findback.model.settings import PassageSettings


def corpus(**texts: str) -> Corpus:
    """Return a corpus of these texts."""
    return corpus_of(Document(name, text) for name, text in texts.items())


HEADINGS = PassageSettings(chunker="heading", size=100)


def test_passages_by_heading() -> None:
    """Each section is a passage of its document, in the order of ids; blank pages have none."""
    store = open_passages(corpus(b="# One\na\n# Two\nb\n", a="plain", c=" \n"), HEADINGS)
    assert list(store) == [
        Passage("a", Span(0, 5), "plain"),
        Passage("b", Span(0, 8), "# One\na\n"),
        Passage("b", Span(8, 16), "# Two\nb\n"),
    ]
    assert len(store) == 3
    assert store[-1] == store[2]
    assert (store.positions_of("b"), store.positions_of("c"), store.positions_of("x")) == (
        range(1, 3),
        range(0),
        range(0),
    )
    with pytest.raises(IndexError):
        store[3]


@settings(deadline=None, max_examples=50)
@given(
    st.dictionaries(st.sampled_from("abcd"), st.text(max_size=80), min_size=1),
    st.sampled_from(["whole", "size", "heading"]),
)
def test_every_passage_is_its_characters(texts: dict[str, str], chunker: str) -> None:
    """The text of a passage is its span of the document, and only white space is in none."""
    texts = {name: text.encode(errors="ignore").decode() for name, text in texts.items()}
    held = corpus(**texts)
    store = open_passages(held, PassageSettings(chunker=chunker, size=10))
    covered: dict[str, set[int]] = {name: set() for name in texts}
    for passage in store:
        assert passage.text == texts[passage.document][slice(*passage.span)]
        covered[passage.document].update(range(*passage.span))
    for name, text in texts.items():
        assert all(not character.strip() for place, character in enumerate(text) if place not in covered[name])


def test_the_cache_gives_the_same_and_holds_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second opening cuts nothing, gives the same passages, and the file holds no word of them."""
    held = corpus(a="# One\nsecret word\n# Two\nb\n")
    cache = tmp_path / "passages"
    first = open_passages(held, HEADINGS, cache=cache)
    (file,) = cache.iterdir()
    assert b"secret" not in file.read_bytes()
    assert (file.stat().st_mode & 0o777, cache.stat().st_mode & 0o777) == (0o600, 0o700)
    use_chunker(monkeypatch, lambda text, size, overlap: pytest.fail("cut again"))
    assert list(open_passages(held, HEADINGS, cache=cache)) == list(first)


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    """Whatever stands in the cache file, the passages are right."""
    held = corpus(a="# One\na\n# Two\nb\n")
    first = open_passages(held, HEADINGS, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damage in (
        b"",
        b"nonsense",
        whole[: len(whole) // 2],
        whole.replace(b"\x08\x00\x00\x00", b"\xff\x00\x00\x00"),
    ):
        file.write_bytes(damage)
        assert list(open_passages(held, HEADINGS, cache=tmp_path)) == list(first)


def test_a_changed_document_changes_only_its_own_passages() -> None:
    """The digest of the store follows texts and settings; digests of untouched passages stay."""
    before, after = corpus(a="same", b="old"), corpus(a="same", b="new")
    one, other = open_passages(before, HEADINGS), open_passages(after, HEADINGS)
    assert one.digest != other.digest
    assert one.digest != open_passages(before, PassageSettings(chunker="heading", size=50)).digest
    assert one.digest == open_passages(before, HEADINGS).digest
    assert one.text_digests[0] == other.text_digests[0]
    assert one.text_digests[1] != other.text_digests[1]


def use_chunker(monkeypatch: pytest.MonkeyPatch, chunker: Callable[..., Iterable[Span]]) -> None:
    """Put another chunker into the registry's place."""
    monkeypatch.setattr(registry, "load", lambda group, name: chunker)


def test_a_chunker_outside_the_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters a text does not have are an error that names the chunker."""
    use_chunker(monkeypatch, lambda text: [Span(0, len(text) + 1)])
    with pytest.raises(UsageError, match="chunker heading names characters 0 to 2 of 'a', which has 1"):
        open_passages(corpus(a="x"), HEADINGS)


def test_an_unknown_chunker(tmp_path: Path) -> None:
    """An unknown chunker is named; a cache that cannot be made is a StorageError."""
    with pytest.raises(MissingError, match="no chunker named 'magic'"):
        open_passages(corpus(a="x"), PassageSettings(chunker="magic"))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        open_passages(corpus(a="x"), HEADINGS, cache=tmp_path / "file")
