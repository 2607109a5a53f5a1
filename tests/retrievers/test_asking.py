"""Asking a whole set."""

import asyncio
import random

import pytest

from findback.errors import EngineError, UsageError
from findback.model.hits import Answer, Hit, Span
from findback.model.protocols import Query
from findback.model.run import FAILED
from findback.retrievers.asking import MOST_PASSAGES, ask_all
from findback.retrievers.memory import MemoryRetriever
from retrievers.contract import CANARY, ask, documents


class Counting:
    """Progress that counts."""

    def __init__(self):
        self.done, self.total, self.ended = 0, None, 0

    def start(self, label, total):
        self.total = total

    def advance(self, units=1):
        self.done += units

    def finish(self):
        self.ended += 1


def test_answers_stand_in_the_order_of_the_questions():
    """Later questions that answer sooner do not overtake."""

    class Slow(MemoryRetriever):
        async def search(self, query, k):
            await asyncio.sleep(0.02 if query.text == "a" else 0)
            return await super().search(query, k)

    run = ask(Slow({name: [name] for name in "abc"}), list("abc"), depth=1, concurrency=3).run
    assert run.queries == ("q1", "q2", "q3")
    assert [documents(run, at) for at in range(3)] == [["a"], ["b"], ["c"]]


def test_more_is_asked_for_in_bounded_steps():
    """Passages of one document fill every page: 10, 30, 90 and 270 results are asked for, then it ends."""
    retriever = MemoryRetriever(lambda query, k: Answer(tuple(Hit("a", float(-n)) for n in range(k))))
    run = ask(retriever, ["x"], depth=10).run
    assert [k for _, k in retriever.asked] == [10, 30, 90, 270]
    assert documents(run, 0) == ["a"]


def test_passages_of_a_document_are_bounded():
    """A document with a hundred passages leaves twenty in the run; hits without passages leave one."""
    many = [{"id": "a", "text": f"p{n}", "score": -n} for n in range(100)]
    run = ask(MemoryRetriever({"x": many, "y": ["b"] * 50}), ["x", "y"], depth=5).run
    assert len(run.hits(0)) == MOST_PASSAGES
    assert documents(run, 1) == ["b"]


def test_aliases_of_one_document_are_one_document():
    """Two addresses of a document do not count twice for the depth."""
    known = {"/a": "a.md", "/a/": "a.md", "/b": "b.md"}
    run = ask(MemoryRetriever({"x": ["/a", "/a/", "/b"]}), ["x"], depth=2, resolve=known.get).run
    assert documents(run, 0) == ["a.md", "b.md"]


def test_warm_up_is_not_measured():
    """The first two of five searches have no time; the others do."""
    asked = ask(MemoryRetriever({}), list("abcde"), depth=1, concurrency=1, warm_up=2)
    assert asked.run.latency is not None
    assert [time != time for time in asked.run.latency.tolist()] == [True, True, False, False, False]
    assert (asked.warm_up, asked.concurrency) == (2, 1)


def test_repeats_count_unstable_questions():
    """Of two questions one changes its order: one is unstable; the first answer counts."""
    draws = random.Random(7)
    seen = []

    def find(query, k):
        if query.text == "steady":
            return ["a", "b"]
        names = ["a", "b", "c", "d", "e", "f"]
        draws.shuffle(names)
        seen.append(list(names))
        return names

    asked = ask(MemoryRetriever(find), ["steady", "shaky"], depth=10, repeats=3)
    assert asked.unstable == 1
    assert len(seen) == 3
    assert documents(asked.run, 1) == seen[0]
    assert ask(MemoryRetriever(find), ["steady"], depth=10).unstable is None


def test_scores_that_contradict_their_direction_are_counted():
    """Higher is said to be better, but the first result has the lowest score."""
    prepared = {"x": [("a", 0.1), ("b", 0.9)], "y": [("a", 0.9), ("b", 0.1)], "z": [("a", 1.0)]}
    assert ask(MemoryRetriever(prepared), list("xyz"), depth=5).contradicting == 1
    assert ask(MemoryRetriever(prepared, score_direction="lower"), list("xyz"), depth=5).contradicting == 1
    assert ask(MemoryRetriever(prepared, score_direction=None), list("xyz"), depth=5).contradicting == 0


def test_errors_are_grouped_by_message():
    """Three timeouts and one refusal: two kinds, the frequent one first."""
    errors = {name: TimeoutError("too slow") for name in "abc"} | {"d": ValueError("no")}
    asked = ask(MemoryRetriever(errors), list("abcde"), depth=1)
    assert [(error.kind, error.count, error.first) for error in asked.errors] == [
        ("TimeoutError", 3, "TimeoutError: too slow"),
        ("ValueError", 1, "ValueError: no"),
    ]
    assert asked.run.ended is not None
    assert asked.run.ended.tolist() == [FAILED] * 4 + [0]


@pytest.mark.parametrize(
    "message",
    [
        "near '{0}'",
        "{0}",
        "bad query: {0!r}",
        "GET /find?q={1}&n=1",
        '{{"query": {2}}}',
        "…{0}suffix",
        "{3}",
    ],
)
def test_messages_of_foreign_code_lose_the_query_in_every_spelling(message):
    """Plain, quoted, percent-encoded, JSON-escaped, upper case."""
    import json
    from urllib.parse import quote

    query = f"Größe von {CANARY}"
    error = RuntimeError(message.format(query, quote(query), json.dumps(query), query.upper()))
    (found,) = ask(MemoryRetriever({query: error}), [query], depth=1).errors
    for word in (CANARY, CANARY.upper(), "Größe", "größe", "von"):
        assert word not in found.first
    assert found.first.startswith("RuntimeError")


def test_progress_is_told_about_every_question():
    """Three questions, one of them failing: three steps, one end."""
    progress = Counting()
    ask(MemoryRetriever({"b": ValueError()}), list("abc"), depth=1, progress=progress)
    assert (progress.total, progress.done, progress.ended) == (3, 3, 1)


def test_cancelling_ends_every_worker_and_the_progress():
    """A cancelled run leaves no task behind."""

    class Hanging(MemoryRetriever):
        async def search(self, query, k):
            await asyncio.sleep(30)
            return Answer(())

    progress = Counting()

    async def work():
        queries = [(str(n), Query("x")) for n in range(5)]
        task = asyncio.create_task(ask_all(Hanging({}), queries, depth=1, concurrency=3, progress=progress))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(work()) == 1
    assert progress.ended == 1


def test_no_questions_make_an_empty_run():
    """Nothing to ask is not an error."""
    asked = ask(MemoryRetriever({}), [], depth=5)
    assert len(asked.run) == 0
    assert asked.errors == ()


def test_a_query_that_is_no_valid_text_is_an_error_of_its_own():
    """A lone surrogate in query and message breaks neither masking nor the run."""
    query = "parcel \ud800"
    asked = ask(MemoryRetriever({query: ValueError(f"bad {query}")}), [query, "gate"], depth=1)
    assert asked.run.ended is not None
    assert asked.run.ended.tolist() == [FAILED, 0]
    assert "parcel" not in asked.errors[0].first


def test_two_questions_with_one_id_are_refused_before_anything_is_asked():
    """Found at the start, not after an hour of searching."""
    retriever = MemoryRetriever({})
    with pytest.raises(UsageError, match="same id"):
        asyncio.run(ask_all(retriever, [("q", Query("a")), ("q", Query("b"))], depth=1))
    assert retriever.asked == []


class Foreign:
    """A retriever that does not come with findback; what it does is handed over."""

    name, kind, score_direction, egress, honours = "foreign", "foreign", "higher", "local", frozenset()

    def __init__(self, act):
        self.act = act

    def settings(self):
        return {}

    async def search(self, query, k):
        found = self.act(query)
        return await found if asyncio.iscoroutine(found) else found

    async def close(self):
        pass


def raising(error):
    def act(query):
        if query.text == "bad":
            raise error
        return Answer((Hit("x"),), exhausted=True)

    return act


class SpeechlessError(Exception):
    def __str__(self):
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "EngineError: the retriever raised CancelledError"),
        (SystemExit(0), "EngineError: the retriever raised SystemExit"),
        (ValueError("broken \ud800"), "ValueError: broken \ufffd"),
        (ValueError("a\x1b[2K"), "ValueError: a\u241b[2K"),
        (type("Odd\x1bError", (Exception,), {})("a"), "Odd\u241bError: a"),
        (SpeechlessError(), "SpeechlessError"),
    ],
)
def test_whatever_a_retriever_raises_is_an_error_and_not_missing(error, reason):
    """One question fails with a reason every file can hold; the others are answered."""
    asked = ask(Foreign(raising(error)), ["bad", "good"], depth=1)
    assert asked.missing == ()
    assert asked.run.reason_of(0) == reason
    assert [kind.first for kind in asked.errors] == [reason]
    assert documents(asked.run, 1) == ["x"]


def test_a_search_that_cancels_its_own_task_is_an_error():
    """Every question that was not answered counts as failed, none as missing from a recording."""

    async def cancel():
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    asked = ask(Foreign(lambda query: cancel()), ["a", "b"], depth=1, concurrency=1)
    assert asked.missing == ()
    assert [asked.run.reason_of(at) for at in (0, 1)] == ["CancelledError", "CancelledError"]


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        (Hit("a", 1.0, None, Span(0, 10**30)), "the place of result 1 ends after character 2,147,483,647"),
        (Hit("a", 1.0, None, Span(3, 1)), "the place of result 1"),
        (Hit("\ud800"), "the id of result 1 holds a lone surrogate, which is no character"),
        (Hit("a", 1.0, "\ud800"), "the passage of result 1 holds a lone surrogate, which is no character"),
        (Hit(10**5000), "the id of result 1 is longer than 4,000 characters"),
        (Hit("a", float("nan")), "the score of result 1 is not a finite number"),
    ],
)
def test_one_bad_hit_is_one_questions_error(hit, said):
    """Answers of foreign retrievers are looked at before they get into a run."""

    def act(query):
        return Answer((hit if query.text == "bad" else Hit("x"),), exhausted=True)

    asked = ask(Foreign(act), ["bad", "good"], depth=1)
    assert asked.run.reason_of(0).startswith(f"EngineError: {said}")
    assert documents(asked.run, 1) == ["x"]


def test_what_a_retriever_prints_is_not_findbacks_output(capsys):
    """It goes to standard error, from preparing to the last search; afterwards standard output is itself again."""
    import sys

    class Talking(Foreign):
        async def prepare(self, progress):
            print("preparing")

    def act(query):
        print(query.text)
        return Answer((), exhausted=True)

    before = sys.stdout
    ask(Talking(act), ["one", "two"], depth=1)
    assert sys.stdout is before
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "preparing\none\ntwo\n")


def test_a_retriever_that_ends_the_program_while_prepared_is_an_error():
    """sys.exit(0) must not pass for an evaluation that went well."""

    class Leaving(Foreign):
        async def prepare(self, progress):
            raise SystemExit(0)

    with pytest.raises(EngineError, match="the retriever raised SystemExit"):
        ask(Leaving(lambda query: Answer(())), ["a"], depth=1)
