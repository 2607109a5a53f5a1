"""Search functions written in Python."""

import asyncio
import contextlib
import threading
import time
from pathlib import Path

import pytest

from findback.errors import EngineError, MissingError, SettingsError
from findback.model.case import Context
from findback.model.hits import Answer, Hit, Span
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.python import PythonRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import CANARY, ask, documents, search


def make(function, **options):
    return PythonRetriever("mine", function, **options)


def build(folder: Path, function: str, **own):
    return PythonRetriever.build(
        "mine", RetrieverSettings(kind="python", function=function, **own), Surroundings(base=folder)
    )


@pytest.mark.parametrize(
    ("returned", "hits"),
    [
        (["a", "b"], (Hit("a"), Hit("b"))),
        ([1, 2], (Hit("1"), Hit("2"))),
        ([("a", 2), ["b", "1.5"]], (Hit("a", 2.0), Hit("b", 1.5))),
        ([{"id": "a", "score": 1}, {"doc_id": 7}], (Hit("a", 1.0), Hit("7"))),
        ([{"document": "a", "text": "t", "start": 0, "end": 1}], (Hit("a", None, "t", Span(0, 1)),)),
        ([{"_id": "a", "passage": "t", "span": [2, 3]}], (Hit("a", None, "t", Span(2, 3)),)),
        ([Hit("a", 1.0)], (Hit("a", 1.0),)),
        (Answer((Hit("a"),)), (Hit("a"),)),
        ({"hits": ["a"]}, (Hit("a"),)),
        ((name for name in "ab"), (Hit("a"), Hit("b"))),
        ([], ()),
    ],
)
def test_every_shape_is_read(returned, hits):
    """Ids, pairs, records, Hits, an Answer and generators are results in order."""
    assert search(make(lambda query, k: returned), "x").hits == hits


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "NoneType, not a list"),
        ("a", "str, not a list"),
        (3, "int, not a list"),
        ({"a": 1.0}, "record without `hits`"),
        ([("a", 1, 2)], "3 parts"),
        ([{"name": "a"}], "record without an id"),
        ([None], "a NoneType, not text"),
        ([3.5], "a float, not text"),
        ([True], "a bool, not text"),
        ([""], "is empty"),
        (["x" * 4001], "longer than 4,000"),
        ([("a", float("nan"))], "not a finite number"),
        ([("a", float("inf"))], "not a finite number"),
        ([("a", "high")], "not a finite number"),
        ([{"id": "a", "text": 3}], "passage of result 1"),
        ([{"id": "a", "start": 3, "end": 1}], "place of result 1"),
        ([{"id": "a", "start": -1, "end": 1}], "place of result 1"),
        ([{"id": "a", "start": 0, "end": 10**30}], "place of result 1 ends after character 2,147,483,647"),
        ([Hit("a", None, None, (0, 10**30))], "place of result 1 ends after"),
        (["\ud800"], "lone surrogate"),
        (Answer((Hit("\udfff"),)), "lone surrogate"),
        ([{"id": "a", "text": "\ud800"}], "passage of result 1 holds a lone surrogate"),
        ([10**5000], "longer than 4,000"),
    ],
)
def test_every_other_shape_is_an_error(returned, said):
    """What cannot be read is this query's error, and says which result is at fault."""
    with pytest.raises(EngineError, match=said):
        search(make(lambda query, k: returned), "x")


def test_huge_scores_are_scores():
    """1e308 and numpy numbers are finite numbers."""
    import numpy as np

    found = search(make(lambda query, k: [("a", 1e308), (np.str_("b"), np.float32(0.5)), (np.int64(3), None)]), "x")
    assert found.hits == (Hit("a", 1e308), Hit("b", 0.5), Hit("3"))


def test_a_function_may_take_only_the_query_or_a_context_too():
    """`search(query)` is enough; `context` is handed over where it is a parameter."""
    assert search(make(lambda query: [query]), "a").hits == (Hit("a"),)
    taking = make(lambda query, k, context=None: [f"{k}-{context and context.locale}"])
    assert "locale" in taking.honours
    assert search(taking, Query("a", Context(locale="de")), 3).hits == (Hit("3-de"),)
    assert make(lambda query, k: []).honours == frozenset()


def test_objects_and_bound_methods_are_functions_too():
    """A class with `__call__`, sync or async, and a bound method."""

    class Engine:
        def find(self, query, k):
            return ["m"]

        async def __call__(self, query, k):
            return ["c"]

    assert search(make(Engine().find), "x").hits == (Hit("m"),)
    assert search(make(Engine()), "x").hits == (Hit("c"),)


@pytest.mark.parametrize("function", [lambda *, query: [], lambda a, b, c: [], lambda query, *, index: []])
def test_a_function_that_cannot_be_called_is_refused(function):
    """Found before the first search."""
    with pytest.raises(SettingsError, match=r"cannot be called as search\(query, k\)"):
        make(function)


def test_one_thread_runs_everything_by_default():
    """Objects bound to a thread, such as SQLite connections, work."""
    names = set()

    def find(query, k):
        names.add(threading.get_ident())
        return ["a"]

    ask(make(find), list("abcdefgh"), depth=1, concurrency=8)
    assert len(names) == 1
    assert threading.get_ident() not in names


def test_concurrency_gives_each_search_its_thread():
    """Four searches of 100 ms at once take far less than 400 ms."""

    def find(query, k):
        time.sleep(0.1)
        return ["a"]

    begun = time.monotonic()
    ask(make(find, concurrency=4), list("abcd"), depth=1, concurrency=4)
    assert time.monotonic() - begun < 0.3


def test_a_function_that_hangs_is_given_up_and_the_next_query_goes_on():
    """The hanging call keeps its thread; another one takes the next query."""
    release = threading.Event()

    def find(query, k):
        if query == "hang":
            release.wait(10)
        return [query]

    try:
        asked = ask(make(find, seconds=0.1), ["hang", "good"], depth=1)
    finally:
        release.set()
    assert asked.run.reason_of(0) == (
        "EngineError: test_a_function_that_hangs_is_given_up_and_the_next_query_goes_on.<locals>.find "
        "did not return within 0.1 s"
    )
    assert documents(asked.run, 1) == ["good"]


@pytest.mark.parametrize(
    "error",
    [
        ValueError(CANARY),
        EngineError(CANARY),
        TimeoutError(CANARY),
        KeyError(f"x {CANARY}"),
        StopIteration(CANARY),
        SystemExit(0),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        ValueError("\ud800"),
    ],
)
def test_whatever_it_raises_is_this_querys_error(error):
    """Class and message without the words of the query; even an attempt to end the process, sync or async."""

    def find(query, k):
        raise error

    async def find_async(query, k):
        raise error

    def find_later(query, k):
        return find_async(query, k)

    for function in (find, find_async, find_later):
        with pytest.raises(EngineError, match="raised") as caught:
            search(make(function), f"where is {CANARY}")
        said = f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
        assert f"raised {type(error).__name__}" in said or "StopIteration" in said
        assert CANARY not in said
        assert said.encode()


def test_a_module_beside_the_settings_is_found(tmp_path):
    """`module:function` is looked for in the folder of findback.toml, with its neighbours; it shadows nothing."""
    import sys

    (tmp_path / "fb_neighbour.py").write_text("NAME = 'n.md'\n")
    (tmp_path / "fb_engine.py").write_text(
        "class Engine:\n    @staticmethod\n    def find(query, k):\n        import fb_neighbour\n"
        "        return [fb_neighbour.NAME]\n"
    )
    before = list(sys.path)
    try:
        retriever = build(tmp_path, "fb_engine:Engine.find")
        assert sys.path[: len(before)] == before
        assert search(retriever, "x").hits == (Hit("n.md"),)
    finally:
        sys.path[:] = before
    settings = RetrieverSettings(kind="python", function="fb_engine:Engine.find")
    assert PythonRetriever.trusts("mine", settings) == (Trusted("module", "fb_engine:Engine.find"),)


def test_what_cannot_be_imported_is_named(tmp_path, monkeypatch):
    """No such module, no such function, a module that fails, a module that lacks a library: four clear errors."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "fb_fails.py").write_text("raise RuntimeError('no index')\n")
    (tmp_path / "fb_lacks.py").write_text("import fb_not_installed\n")
    (tmp_path / "fb_plain.py").write_text("value = 3\n")
    with pytest.raises(MissingError, match="no module fb_nowhere"):
        build(tmp_path, "fb_nowhere:find")
    with pytest.raises(MissingError, match="has no find"):
        build(tmp_path, "fb_plain:find")
    with pytest.raises(SettingsError, match="importing fb_fails failed: RuntimeError: no index"):
        build(tmp_path, "fb_fails:find")
    with pytest.raises(SettingsError, match="needs the module fb_not_installed"):
        build(tmp_path, "fb_lacks:find")
    with pytest.raises(SettingsError, match="is a int, not a function"):
        build(tmp_path, "fb_plain:value")
    with pytest.raises(SettingsError, match=r"\[retrievers.mine\] function"):
        build(tmp_path, "no colon")


@pytest.mark.parametrize(
    "body",
    [
        "import sys; sys.exit(0)",
        "import asyncio; raise asyncio.CancelledError",
        "def __getattr__(name): raise SystemExit(0)",
        "def __getattr__(name): raise ValueError('\\ud800')",
    ],
)
def test_a_module_that_ends_the_program_is_a_fault_of_the_settings(tmp_path, monkeypatch, body):
    """Importing it, or looking for the function in it, must not pass for a run that went well."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "fb_leaves", raising=False)
    (tmp_path / "fb_leaves.py").write_text(body + "\n")
    try:
        with pytest.raises(SettingsError, match="importing fb_leaves failed: ") as caught:
            build(tmp_path, "fb_leaves:find")
    finally:
        sys.modules.pop("fb_leaves", None)
    assert str(caught.value).encode()


def test_what_the_module_and_the_function_print_is_not_findbacks_output(tmp_path, monkeypatch, capsys):
    """Importing and searching print to standard error; afterwards standard output is itself again."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "fb_talks.py").write_text(
        "print('loading')\ndef find(query, k):\n    print('asked')\n    return []\n"
        "async def later(query, k):\n    print('asked later')\n    return []\n"
    )
    before = sys.stdout
    search(build(tmp_path, "fb_talks:find"), "x")
    search(build(tmp_path, "fb_talks:later"), "x")
    assert sys.stdout is before
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "loading\nasked\nasked later\n")


def test_an_async_function_that_blocks_is_given_up_and_the_next_query_goes_on():
    """It blocks a loop of its own: the time limit holds, and the next query gets another loop."""
    release = threading.Event()

    async def find(query, k):
        if query == "hang":
            release.wait(20)
        return [query]

    begun = time.monotonic()
    try:
        asked = ask(make(find, seconds=0.2), ["hang", "good"], depth=1)
    finally:
        release.set()
    assert time.monotonic() - begun < 5
    assert asked.run.reason_of(0).endswith("did not return within 0.2 s")
    assert documents(asked.run, 1) == ["good"]


def test_async_calls_share_one_loop_and_run_at_once():
    """What belongs to a loop can be kept between searches, even after one took too long; it is ended on closing."""
    loops = []

    async def find(query, k):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(10 if query == "slow" else 0.1)
        return [query]

    begun = time.monotonic()
    asked = ask(make(find, seconds=0.5, concurrency=4), ["slow", "b", "c", "d", "e", "f"], depth=1, concurrency=4)
    assert time.monotonic() - begun < 3
    assert asked.run.reason_of(0).endswith("did not return within 0.5 s")
    assert [documents(asked.run, at) for at in range(1, 6)] == [["b"], ["c"], ["d"], ["e"], ["f"]]
    assert len(set(loops)) == 1
    assert loops[0].is_closed()


def test_a_task_of_an_async_function_that_exits_ends_nothing():
    """sys.exit in a task it started leaves the loop to the next query."""

    async def leave():
        raise SystemExit(0)

    async def find(query, k):
        task = asyncio.get_running_loop().create_task(leave())
        with contextlib.suppress(SystemExit):
            await task
        return [query]

    run = ask(make(find), ["a", "b"], depth=1).run
    assert [documents(run, at) for at in (0, 1)] == [["a"], ["b"]]


def test_an_answer_that_is_read_slowly_is_given_up():
    """The list itself may be what hangs: it is read in the function's thread too."""
    release = threading.Event()

    class Slow:
        def __iter__(self):
            release.wait(20)
            return iter(())

    async def find(query, k):
        return Slow()

    for function in (lambda query, k: Slow(), find):
        begun = time.monotonic()
        with pytest.raises(EngineError, match="did not return within"):
            search(make(function, seconds=0.1), "x")
        assert time.monotonic() - begun < 5
    release.set()


def test_asking_for_trust_imports_nothing(tmp_path):
    """A module that would fail is only named."""
    (tmp_path / "fb_evil.py").write_text("raise SystemExit(1)\n")
    settings = RetrieverSettings(kind="python", function="fb_evil:find")
    assert PythonRetriever.trusts("mine", settings) == (Trusted("module", "fb_evil:find"),)


def test_a_cancelled_search_ends_at_once():
    """Cancelling does not wait for the function."""
    release = threading.Event()
    retriever = make(lambda query, k: release.wait(10) and [])

    async def work():
        task = asyncio.create_task(retriever.search(Query("x"), 1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await retriever.close()

    begun = time.monotonic()
    asyncio.run(work())
    release.set()
    assert time.monotonic() - begun < 2


def test_a_generator_that_breaks_off_is_this_querys_error():
    """Half a list of results is not an answer."""

    def find(query, k):
        yield "a"
        raise ValueError(query)

    async def find_async(query, k):
        return find(query, k)

    for function in (find, find_async):
        with pytest.raises(EngineError, match="raised ValueError") as caught:
            search(make(function), CANARY)
        assert CANARY not in str(caught.value)


def test_endless_results_end():
    """A generator without an end is read up to the bound."""
    import itertools

    from findback.retrievers.returned import MOST_HITS

    assert len(search(make(lambda query, k: (str(n) for n in itertools.count())), "x").hits) == MOST_HITS
