"""What every kind of retriever promises, whatever is behind it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from findback.errors import FindbackError
from findback.model.case import Context
from findback.model.hits import Span
from findback.model.protocols import Query, Retriever
from findback.model.run import FAILED, SKIPPED, Run
from findback.retrievers.asking import Asked, ask_all, config_digest
from findback.retrievers.readers import Readers
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS, SmallPassages

Result = TypeVar("Result")
Prepared = dict[str, Any]

CANARY = "zq7canary" + "81x"
ABSTAIN = {"abstain": True}
FAIL = {"error": f"cannot parse <{CANARY}>"}
"""What a prepared engine gives for a query it fails on; the message quotes the query, as engines do."""

ODD_IDS = ["a b.md", "zoll/prüfung.md", "返金.md", "x%20y", "tab\tid", 'quote"id', "../up", "C:\\docs\\a.md"]
PASSAGES = [
    {"id": "one.md", "score": 9.0, "passage": "first of one", "start": 0, "end": 12},
    {"id": "one.md", "score": 8.0, "passage": "second of one", "start": 20, "end": 33},
    {"id": "one.md", "score": 7.0, "passage": "third of one", "start": 40, "end": 52},
    {"id": "two.md", "score": 6.0, "passage": "first of two", "start": 5, "end": 17},
    {"id": "two.md", "score": 5.0, "passage": "second of two", "start": 30, "end": 43},
    {"id": "three.md", "score": 4.0, "passage": "first of three", "start": 0, "end": 14},
    {"id": "four.md", "score": 3.0, "passage": "first of four", "start": 0, "end": 13},
]


class RetrieverContract:
    """Subclasses open a retriever over prepared answers, say what it can do, and set what it cannot to None."""

    keeps_passages: ClassVar[bool] = True
    """Every passage of a document comes through, not only the best."""
    cuts: ClassVar[bool] = True
    """Results after the depth are left out; a recorded run keeps them, because ties may cross the depth."""
    ids: ClassVar[list[str]] = ODD_IDS

    def open(self, answers: Prepared, folder: Path) -> Retriever:
        """Return a retriever that answers each query text as prepared, at most k results at a time."""
        raise NotImplementedError

    def test_order_is_kept(self, tmp_path: Path):
        """The order the system returns is the order of the run."""
        retriever = self.open({"parcel": [_scored("c", 3), _scored("a", 2), _scored("b", 1)]}, tmp_path)
        run = ask(retriever, ["parcel"], depth=10).run
        assert documents(run, 0) == ["c", "a", "b"]

    def test_scores_come_through(self, tmp_path: Path):
        """A score is the system's own."""
        run = ask(self.open({"parcel": [_scored("c", 3.5), _scored("a", -2)]}, tmp_path), ["parcel"], depth=10).run
        assert run.scores is not None
        assert run.scores.tolist() == [3.5, -2.0]

    def test_depth_counts_documents(self, tmp_path: Path):
        """Three documents are wanted, the first three results are of one: more is asked for until there are three."""
        run = ask(self.open({"parcel": PASSAGES}, tmp_path), ["parcel"], depth=3).run
        wanted = ["one.md", "two.md", "three.md"]
        assert list(dict.fromkeys(documents(run, 0))) == (wanted if self.cuts else [*wanted, "four.md"])
        if self.keeps_passages and self.cuts:
            assert documents(run, 0) == ["one.md"] * 3 + ["two.md"] * 2 + ["three.md"]

    def test_passages_and_places_are_carried(self, tmp_path: Path):
        """A passage comes with its text and its characters."""
        run = ask(self.open({"parcel": PASSAGES}, tmp_path), ["parcel"], depth=2).run
        first = run.hits(0)[0]
        assert (first.document, first.passage, first.span) == ("one.md", "first of one", Span(0, 12))

    def test_fewer_than_wanted_is_no_error(self, tmp_path: Path):
        """One result where ten were wanted is one result, and the end."""
        run = ask(self.open({"parcel": [_scored("a", 1)], "gate": []}, tmp_path), ["parcel", "gate"], depth=10).run
        assert (documents(run, 0), documents(run, 1)) == (["a"], [])
        assert run.ended is None
        assert run.exhausted is not None
        assert run.exhausted.tolist() == [True, True]

    def test_duplicates_do_not_fill_the_depth(self, tmp_path: Path):
        """A document returned twice counts once, at its better rank."""
        hits = [_scored("a", 4), _scored("a", 3), _scored("b", 2), _scored("a", 1)]
        run = ask(self.open({"parcel": hits}, tmp_path), ["parcel"], depth=2).run
        assert documents(run, 0) == ["a", "b"]

    def test_ids_are_kept_as_they_are(self, tmp_path: Path):
        """Ids with spaces, tabs, quotes, other scripts come through unchanged."""
        hits = [_scored(name, 100 - at) for at, name in enumerate(self.ids)]
        run = ask(self.open({"parcel": hits}, tmp_path), ["parcel"], depth=50).run
        assert documents(run, 0) == self.ids

    def test_ids_outside_the_corpus_are_kept(self, tmp_path: Path):
        """An id the corpus does not know stays in the run; an alias becomes the corpus' own id."""
        known = {"https://docs.example.org/a": "a.md"}
        retriever = self.open({"parcel": [_scored("https://docs.example.org/a", 2), _scored("gone", 1)]}, tmp_path)
        run = ask(retriever, ["parcel"], depth=10, resolve=known.get).run
        assert documents(run, 0) == ["a.md", "gone"]

    def test_one_failed_query_is_that_querys_error(self, tmp_path: Path):
        """Queries around a failing one are answered; the failing one is an error, not an empty answer."""
        answers = {"parcel": [_scored("a", 1)], CANARY: FAIL, "gate": [_scored("b", 1)]}
        asked = ask(self.open(answers, tmp_path), ["parcel", CANARY, "gate"], depth=10, concurrency=1)
        assert [documents(asked.run, at) for at in (0, 2)] == [["a"], ["b"]]
        assert asked.run.ended is not None
        assert asked.run.ended.tolist() == [0, FAILED, 0]
        assert [error.count for error in asked.errors] == [1]
        assert asked.run.reason_of(1)

    def test_errors_and_logs_do_not_hold_the_query(self, tmp_path: Path, caplog: pytest.LogCaptureFixture):
        """A token of the query is in no message and no log record, at any level."""
        caplog.set_level(logging.DEBUG)
        query = f"where is {CANARY} {CANARY.upper()}"
        asked = ask(self.open({query: FAIL}, tmp_path), [query], depth=10)
        assert asked.run.reason_of(0)
        assert_no_canary([*map(str, asked.errors), *asked.run.reasons], caplog)

    def test_abstention_is_told_from_finding_nothing(self, tmp_path: Path):
        """A system that says it has no answer abstains; one that returns nothing does not."""
        run = ask(self.open({"parcel": ABSTAIN, "gate": []}, tmp_path), ["parcel", "gate"], depth=10).run
        assert run.abstained is not None
        assert run.abstained.tolist() == [True, False]

    def test_a_context_it_cannot_honour_is_not_asked(self, tmp_path: Path):
        """A question whose context the retriever cannot honour is skipped and counted."""
        retriever = self.open({"parcel": [_scored("a", 1)]}, tmp_path)
        lacking = {"locale": "de", "audience": "staff", "as_of": "2026-01-01"}
        context = Context(**{key: value for key, value in lacking.items() if key not in retriever.honours})
        assert context != Context()
        queries = [("q1", Query("parcel", context)), ("q2", Query("parcel"))]
        asked = run_closing(retriever, lambda: ask_all(retriever, queries, depth=5))
        assert asked.run.ended is not None
        assert asked.run.ended.tolist() == [SKIPPED, 0]

    def test_settings_can_be_digested(self, tmp_path: Path):
        """Settings are plain values, and the same settings give the same digest."""
        one, two = (self.open({"parcel": [_scored("a", 1)]}, tmp_path) for _ in range(2))
        json.dumps(dict(one.settings()), default=list)
        assert config_digest(one) == config_digest(two)

        async def close() -> None:
            await one.close()
            await two.close()

        asyncio.run(close())

    def test_it_can_be_closed_twice_and_unused(self, tmp_path: Path):
        """Closing is harmless at any time."""
        retriever = self.open({"parcel": [_scored("a", 1)]}, tmp_path)

        async def close() -> None:
            await retriever.close()
            await retriever.close()

        asyncio.run(close())

    def test_it_is_a_retriever(self, tmp_path: Path):
        """It has every attribute of the protocol."""
        retriever = self.open({"parcel": [_scored("a", 1)]}, tmp_path)
        assert isinstance(retriever, Retriever)
        assert retriever.egress in {"local", "internal", "external"}
        asyncio.run(retriever.close())


class EmbeddedContract:
    """Subclasses open a retriever that searches the small corpus of `builders.TEXTS` itself."""

    finds_nothing_for_empty: ClassVar[bool] = True

    def open(self, surroundings: Surroundings) -> Retriever:
        """Return a retriever over the passages of the surroundings."""
        raise NotImplementedError

    def test_depth_counts_documents(self, around: Surroundings):
        """Two documents are wanted and two come, however many passages stand first."""
        run = ask(self.open(around), ["trace a lost parcel claim"], depth=2).run
        assert len(set(documents(run, 0))) == 2

    def test_passages_are_the_corpus_own(self, around: Surroundings):
        """Text and characters of a passage are those of its document."""
        for hit in search(self.open(around), "trace a lost parcel", 3).hits:
            assert hit.span is not None
            assert hit.passage == TEXTS[hit.document][hit.span.start : hit.span.end]

    def test_ids_are_kept_as_they_are(self, around: Surroundings):
        """Ids with spaces, slashes and umlauts come through."""
        run = ask(self.open(around), ["gate hours", "Ausfuhr Prüfung Papiere"], depth=1).run
        assert [documents(run, at)[0] for at in range(2)] == ["gate hours.md", "zoll/ausfuhr-prüfung.md"]

    def test_more_than_there_is_ends(self, around: Surroundings):
        """Asked for a thousand documents of four it says that there are no more."""
        run = ask(self.open(around), ["parcel"], depth=1000).run
        assert run.exhausted is not None
        assert run.exhausted.all()
        assert len(set(documents(run, 0))) <= 4

    def test_an_empty_query_finds_nothing(self, around: Surroundings):
        """No words, no results, no error."""
        asked = ask(self.open(around), ["", "   "], depth=5)
        assert asked.run.ended is None
        assert len(asked.run.codes) == 0

    def test_the_same_question_gives_the_same_answer(self, around: Surroundings):
        """Asked five times in a row and by a second retriever: one answer."""
        asked = ask(self.open(around), ["lost parcel", "gate"], depth=4, repeats=5)
        assert asked.unstable == 0
        again = ask(self.open(replace(around, kept={})), ["lost parcel", "gate"], depth=4)
        assert again.run.codes.tolist() == asked.run.codes.tolist()

    def test_strange_queries_are_no_errors(self, around: Surroundings):
        """Control characters, a lone surrogate, a very long query, placeholders."""
        texts = ["a\0b", "parcel \ud800", "parcel " * 20_000, "⟦USER_1⟧ parcel", "\n\t", "返金 parcel"]
        asked = ask(self.open(around), texts, depth=2)
        failed = [] if asked.run.ended is None else asked.run.ended.tolist()
        assert FAILED not in failed[:1] + failed[2:]

    def test_logs_do_not_hold_the_query(self, around: Surroundings, caplog: pytest.LogCaptureFixture):
        """No record at any level holds a token of the query."""
        caplog.set_level(logging.DEBUG)
        ask(self.open(around), [f"parcel {CANARY}"], depth=2)
        assert_no_canary([], caplog)

    def test_a_context_is_not_honoured(self, around: Surroundings):
        """Filters are not known, audiences only where documents say who reads them: such questions are not asked."""
        retriever = self.open(around)
        contexts = [Context(filters={"a": "b"}), Context(audience="staff")]
        queries = [(f"q{at}", Query("parcel", context)) for at, context in enumerate(contexts)]
        asked = run_closing(retriever, lambda: ask_all(retriever, queries, depth=5))
        assert [asked.run.reason_of(at) for at in (0, 1)] == ["cannot honour filters", "cannot honour audience"]

    def test_an_audience_sees_what_it_may_read(self, around: Surroundings):
        """Hidden documents are not returned and take no place: as many others come as were wanted."""
        retriever = self.open(replace(around, readers=Readers({"tracing.md": ["staff"], "gate hours.md": ["partner"]})))
        contexts = [Context(audience="staff"), Context(audience="partner"), Context(audience="guest"), None]
        text = "trace a lost or damaged parcel"
        queries = [(f"q{at}", Query(text, context)) for at, context in enumerate(contexts)]
        run = run_closing(retriever, lambda: ask_all(retriever, queries, depth=1)).run
        assert [documents(run, at)[0] for at in range(4)] == ["tracing.md", "claims.md", "claims.md", "tracing.md"]

    def test_an_audience_that_may_read_little_gets_to_the_end(self, around: Surroundings):
        """Where all but one document are hidden, that one comes, and the answer says that there is no more."""
        hidden = Readers({name: ["nobody"] for name in TEXTS if name != "claims.md"})
        asked = Query("parcel", Context(audience="guest"))
        answer = search(self.open(replace(around, readers=hidden)), asked, 50)
        assert {hit.document for hit in answer.hits} == {"claims.md"}
        assert answer.exhausted

    def test_existence_depends_on_who_asks(self, around: Surroundings):
        """A hidden document exists, but not for an audience that may not read it."""
        retriever = self.open(replace(around, readers=Readers({"claims.md": ["staff"]})))
        contexts = [None, Context(audience="staff"), Context(audience="guest")]

        async def work() -> list[bool | None]:
            return [await retriever.exists("claims.md", context) for context in contexts]

        assert run_closing(retriever, work) == [True, True, False]

    def test_settings_follow_the_readers(self, around: Surroundings):
        """Who may read what changes results, so it changes the digest."""
        readers = [Readers(), Readers({}), Readers({"claims.md": ["staff"]}), Readers({"claims.md": ["staff", "hr"]})]
        digests = [config_digest(self.open(replace(around, readers=one))) for one in readers]
        assert len(set(digests)) == 4

    def test_settings_follow_the_corpus(self, around: Surroundings):
        """The digest changes with the passages, and only then; it can be written as JSON."""
        one, two = self.open(around), self.open(around)
        json.dumps(dict(one.settings()), default=list)
        assert config_digest(one) == config_digest(two)
        other = self.open(replace(around, passages=SmallPassages({**TEXTS, "new.md": "new"})))
        assert config_digest(other) != config_digest(one)

    def test_existence_is_what_the_corpus_holds(self, around: Surroundings):
        """A document of the corpus exists, another does not."""
        retriever = self.open(around)

        async def work() -> list[bool | None]:
            return [await retriever.exists(name) for name in ("claims.md", "gone.md")]

        assert run_closing(retriever, work) == [True, False]

    def test_nothing_is_written_without_a_cache(self, around: Surroundings, tmp_path: Path):
        """Without a cache folder no file appears."""
        before = sorted(tmp_path.rglob("*"))
        ask(self.open(replace(around, cache=None)), ["parcel"], depth=2)
        assert sorted(tmp_path.rglob("*")) == before

    def test_no_model_or_index_is_loaded_before_it_is_needed(self, around: Surroundings):
        """Building a retriever to look at its settings is cheap."""
        retriever = self.open(around)
        dict(retriever.settings())
        assert not [key for key in around.kept if key.startswith(("bm25:", "model:", "vectors:"))]
        asyncio.run(retriever.close())


def ask(retriever: Retriever, texts: list[str], **options: Any) -> Asked:
    """Ask each text under the ids q1, q2, …, and close the retriever."""
    queries = [(f"q{number}", Query(text)) for number, text in enumerate(texts, 1)]
    return run_closing(retriever, lambda: ask_all(retriever, queries, **options))


def run_closing(retriever: Retriever, make: Callable[[], Awaitable[Result]]) -> Result:
    """Run something and close the retriever in the same loop."""

    async def work() -> Result:
        try:
            return await make()
        finally:
            await retriever.close()

    return asyncio.run(work())


def search(retriever: Retriever, query: Query | str, k: int = 10) -> Any:
    """Return the answer to one query and close the retriever."""
    asked = Query(query) if isinstance(query, str) else query
    return run_closing(retriever, lambda: retriever.search(asked, k))


def documents(run: Run, query: int) -> list[str]:
    """Return the ids of one query in order."""
    return [hit.document for hit in run.hits(query)]


def assert_no_canary(messages: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """Assert that the canary is nowhere, in any letter case."""
    logged = [f"{record.getMessage()} {record.args} {record.exc_info}" for record in caplog.records]
    for text in (*messages, *logged, caplog.text):
        assert CANARY not in text.lower()


def message_of(error: FindbackError) -> str:
    """Return everything an error would show."""
    return f"{error} {error.hint}"


def _scored(name: str, score: float) -> Mapping[str, Any]:
    return {"id": name, "score": score}
