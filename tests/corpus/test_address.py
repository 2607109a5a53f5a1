"""Gold addresses meet the files they were made from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.corpus.address import Site, drop_suffix, fold_path
from findback.corpus.corpus import Corpus, corpus_of
from findback.model.document import Document


def site_of(*names: str, base_url: str | None = "https://docs.example.org/kb/") -> Corpus:
    """Return a corpus of empty pages."""
    return corpus_of([Document(name, "text") for name in names], base_url=base_url)


@pytest.mark.parametrize(
    "reference",
    [
        "guides/Set up.md",
        "guides/set up",
        "/guides/set%20up/",
        "./guides/set up.html#step-2",
        "guides\\set up.md",
        "https://docs.example.org/kb/guides/set%20up",
        "http://www.docs.example.org/kb/Guides/Set%20Up.html?from=mail#x",
        "https://docs.example.org:443/kb/guides/set%20up/index.html",
        "//docs.example.org/kb/guides/set%20up",
        "/kb/guides/set%20up",
        "docs.example.org/kb/guides/set%20up",
        " guides/set up ",
        "guides//other/../set up.md",
    ],
)
def test_ways_to_name_a_page(reference: str) -> None:
    """Slashes, endings, case, escapes, query, fragment, scheme and www do not matter."""
    assert site_of("guides/Set up.md", "other.md").resolve(reference) == "guides/Set up.md"


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "  ",
        "set up",
        "guides",
        "https://other.example.org/kb/guides/set%20up",
        "https://docs.example.org/guides/set%20up",
        "https://docs.example.org:8443/kb/guides/set%20up",
        "../guides/set up.md",
        "https://[broken/kb",
    ],
)
def test_names_of_something_else(reference: str) -> None:
    """Another host, port or folder is another page; nothing is guessed."""
    assert site_of("guides/Set up.md", "other.md").resolve(reference) is None


def test_index_pages_stand_for_their_folder() -> None:
    """A folder's address is its index page, the root's the first page."""
    corpus = site_of("index.md", "guides/README.md", "guides/a.md")
    assert corpus.resolve("https://docs.example.org/kb") == "index.md"
    assert corpus.resolve("/guides/") == "guides/README.md"
    assert corpus.resolve("guides/index.html") == "guides/README.md"


def test_what_could_be_two_is_none() -> None:
    """A folded name of two documents means neither; their exact ids still work."""
    corpus = site_of("a.md", "A.html", "c#.md", "c.md")
    assert corpus.resolve("a") is None
    assert corpus.resolve("A.html") == "A.html"
    assert corpus.resolve("c#") == "c#.md"
    assert corpus.resolve("c") == "c.md"


def test_queries_tell_pages_apart_where_they_must() -> None:
    """Addresses that differ only by their query stay apart; without it they are ambiguous."""
    first, second = "https://example.org/kb?id=1", "https://example.org/kb?id=2"
    corpus = site_of(first, second, base_url=None)
    assert corpus.resolve("http://www.example.org/kb/?id=2#top") == second
    assert corpus.resolve("https://example.org/kb") is None


def test_addresses_are_made_from_paths() -> None:
    """The address of a page lacks its ending, that of an index page its name."""
    site = Site("https://docs.example.org/kb")
    assert site.url_of("a/b.md") == "https://docs.example.org/kb/a/b"
    assert site.url_of("a/index.html") == "https://docs.example.org/kb/a/"
    assert Site().url_of("a.md") is None


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_more(path: str) -> None:
    """A key without endings left is its own key."""
    key = fold_path(path)
    if drop_suffix(key) == key and key.rpartition("/")[2] not in ("index", "_index", "readme", "."):
        assert fold_path(key) == key


@given(st.text(min_size=1, max_size=60))
def test_any_text_is_looked_up_safely(reference: str) -> None:
    """Looking up any text gives a known id or None."""
    assert site_of("guides/Set up.md", "other.md").resolve(reference) in (
        None,
        "guides/Set up.md",
        "other.md",
    )
