"""Several retrievers as one."""

import asyncio

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.hits import Hit
from findback.model.settings import RetrieverSettings
from findback.retrievers.build import build_retriever, list_trusted
from findback.retrievers.fuse import FuseRetriever, FuseSettings
from findback.retrievers.memory import MemoryRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import ask, documents, search


def fuse(*parts, **own):
    return FuseRetriever("both", FuseSettings(of=tuple(str(n) for n in range(len(parts))), **own), parts)


def test_reciprocal_ranks_are_added():
    """a: 1/61 + 1/63, b: 1/62 + 1/62, c: 1/63 + 1/61; a and c tie, a stood first in the first list."""
    one, two = MemoryRetriever({"x": ["a", "b", "c"]}), MemoryRetriever({"x": ["c", "b", "a"]})
    hits = search(fuse(one, two), "x").hits
    assert [hit.document for hit in hits] == ["a", "c", "b"]
    assert hits[0].score == pytest.approx(1 / 61 + 1 / 63)
    assert hits[2].score == pytest.approx(2 / 62)


def test_k_and_weights_count():
    """With k = 1 and weights 3 and 1: a = 3/2, b = 3/3 + 1/2, so a and b tie at 1.5; c = 1/3."""
    one, two = MemoryRetriever({"x": ["a", "b"]}), MemoryRetriever({"x": ["b", "c"]})
    hits = search(fuse(one, two, k=1.0, weights=(3.0, 1.0)), "x").hits
    assert [(hit.document, round(hit.score, 4)) for hit in hits] == [("a", 1.5), ("b", 1.5), ("c", 0.3333)]


def test_scores_are_scaled_per_query():
    """10, 6, 2 become 1, .5, 0; distances 0 and 4 become 1 and 0; weights 1 and 2."""
    one = MemoryRetriever({"x": [("a", 10), ("b", 6), ("c", 2)]})
    two = MemoryRetriever({"x": [("c", 0), ("b", 4)]}, score_direction="lower")
    hits = search(fuse(one, two, by="score", weights=(1.0, 2.0)), "x").hits
    assert [(hit.document, hit.score) for hit in hits] == [("c", 2.0), ("a", 1.0), ("b", 0.5)]


def test_equal_scores_are_all_the_best():
    """A single result, or equal ones, count 1."""
    one, two = MemoryRetriever({"x": [("a", 3)]}), MemoryRetriever({"x": [("b", 2), ("a", 2)]})
    assert search(fuse(one, two, by="score"), "x").hits == (Hit("a", 2.0), Hit("b", 1.0))


def test_scores_that_are_missing_cannot_be_added():
    """The error says what to use instead."""
    one, two = MemoryRetriever({"x": ["a"]}), MemoryRetriever({"x": [("a", 1)]})
    with pytest.raises(EngineError, match="gives no scores") as caught:
        search(fuse(one, two, by="score"), "x")
    assert "rank" in str(caught.value.hint)


def test_passages_collapse_before_ranks_are_counted():
    """Three passages of a do not push b down: b has rank 2, and a keeps its best passage."""
    passages = [{"id": "a", "text": "first"}, {"id": "a", "text": "second"}, {"id": "b", "text": "other"}]
    hits = search(fuse(MemoryRetriever({"x": passages}), MemoryRetriever({"x": []})), "x").hits
    assert [(hit.document, hit.passage) for hit in hits] == [("a", "first"), ("b", "other")]
    assert hits[1].score == pytest.approx(1 / 62)


def test_a_failing_part_fails_the_query():
    """Half a hybrid is not the hybrid."""
    good, bad = MemoryRetriever({"x": ["a"]}), MemoryRetriever({"x": EngineError("down")})
    with pytest.raises(EngineError, match="down"):
        search(fuse(good, bad), "x")


def test_it_is_as_far_away_and_as_able_as_its_parts():
    """The farthest egress, the honoured fields of all, the smallest concurrency; fused ranks are no scores."""
    one, two = MemoryRetriever({}, honours=("locale", "filters")), MemoryRetriever({}, honours=("locale",))
    two.egress, two.concurrency = "internal", 2
    both = fuse(one, two)
    assert (both.egress, both.honours, both.concurrency) == ("internal", {"locale"}, 2)
    assert both.score_direction is None


def test_existence_is_told_from_the_parts():
    """Held by one: yes. Denied by all: no. Otherwise it cannot be told."""
    holds, denies, mute = MemoryRetriever({}, holds=["a"]), MemoryRetriever({}, holds=[]), MemoryRetriever({})
    assert asyncio.run(fuse(holds, mute).exists("a")) is True
    assert asyncio.run(fuse(holds, denies).exists("b")) is False
    assert asyncio.run(fuse(denies, mute).exists("b")) is None


def test_weights_must_fit():
    """One weight for each, and one above zero."""
    for weights in ((1.0,), (0.0, 0.0)):
        with pytest.raises(SettingsError, match="one weight for each"):
            FuseRetriever.build("both", RetrieverSettings(kind="fuse", of=["a", "b"], weights=weights), Surroundings())


def test_parts_are_built_by_name(surroundings):
    """A hybrid of two bm25 settings is built from findback.toml alone."""
    from dataclasses import replace

    tables = {
        "words": RetrieverSettings(kind="bm25"),
        "flat": RetrieverSettings(kind="bm25", b=0),
        "both": RetrieverSettings(kind="fuse", of=["words", "flat"]),
    }
    built = build_retriever("both", tables["both"], replace(surroundings, retrievers=tables))
    run = ask(built, ["lost parcel"], depth=5).run
    assert run.hits(0)[0].document == "tracing.md"


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"a": ["a", "b"], "b": ["a", "a"]}, "circle: a → a"),
        ({"a": ["b", "b"], "b": ["a", "a"]}, "circle: a → b → a"),
        ({"a": ["gone", "a"]}, r"\[retrievers.a\] names 'gone'"),
    ],
)
def test_circles_and_unknown_names_are_refused(tables, said):
    """The circle is written out."""
    settings = {name: RetrieverSettings(kind="fuse", of=of) for name, of in tables.items()}
    with pytest.raises(SettingsError, match=said):
        build_retriever("a", settings["a"], Surroundings(retrievers=settings))


def test_everything_to_agree_to_is_listed_once():
    """Module, command, origin, variable; each origin and variable with the retriever that asks or sends it."""
    tables = {
        "words": RetrieverSettings(kind="bm25"),
        "mine": RetrieverSettings(kind="python", function="engine:find"),
        "tool": RetrieverSettings(kind="command", command=["./find", "--all"]),
        "web": RetrieverSettings(kind="http", url="https://search.example.org/a", headers={"A": "env:KEY"}),
        "web2": RetrieverSettings(kind="http", url="https://search.example.org/b"),
        "both": RetrieverSettings(kind="fuse", of=["words", "mine"]),
    }
    assert [(item.kind, item.text) for item in list_trusted(tables)] == [
        ("module", "engine:find"),
        ("command", "./find --all"),
        ("host", "https://search.example.org:443, asked by web"),
        ("variable", "$KEY, sent to https://search.example.org:443 in header A by web"),
        ("host", "https://search.example.org:443, asked by web2"),
    ]


def test_a_plug_in_is_named_and_not_loaded(monkeypatch):
    """Asking for trust must not run what it asks about; other settings of it are another thing to agree to."""
    from importlib.metadata import EntryPoint

    from findback import registry

    point = EntryPoint("theirs", "no_such_package.engine:Engine", "findback.retrievers")
    monkeypatch.setattr(registry, "_found", lambda group: {"theirs": point})
    (item,) = list_trusted({"x": RetrieverSettings(kind="theirs", url="https://a.example.org")})
    assert item.kind == "plug-in"
    assert item.text.startswith("theirs, for x with its settings of digest ")
    assert list_trusted({"x": RetrieverSettings(kind="theirs", url="https://b.example.org")}) != (item,)
    assert list_trusted({"y": RetrieverSettings(kind="theirs", url="https://a.example.org")}) != (item,)


class Leaver:
    """A plug-in that ends the program when it is built."""

    @classmethod
    def build(cls, name, settings, surroundings):
        print("leaving")
        raise SystemExit(0)


def test_a_plug_in_that_fails_to_be_built_is_named(monkeypatch, capsys):
    """Even sys.exit(0) is an error of the settings that name it; what it prints is not findback's output."""
    from findback import registry

    monkeypatch.setattr(registry, "load", lambda group, name: Leaver)
    monkeypatch.setattr(registry, "is_ours", lambda group, name: False)
    with pytest.raises(SettingsError, match=r"\[retrievers.x\] the plug-in theirs failed: SystemExit: 0"):
        build_retriever("x", RetrieverSettings(kind="theirs"), Surroundings())
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "leaving\n")


@pytest.mark.parametrize("error", [SystemExit(0), asyncio.CancelledError()])
def test_a_part_that_tries_to_end_everything_is_this_querys_error(error):
    """The other questions are answered."""

    class Ending(MemoryRetriever):
        async def search(self, query, k):
            if query.text == "bad":
                raise error
            return await super().search(query, k)

    fused = FuseRetriever("both", FuseSettings(of=["a", "b"]), [Ending({"good": ["x"]}), MemoryRetriever({})])
    asked = ask(fused, ["bad", "good"], depth=1)
    assert asked.run.reason_of(0) == f"EngineError: the retriever raised {type(error).__name__}"
    assert documents(asked.run, 1) == ["x"]
