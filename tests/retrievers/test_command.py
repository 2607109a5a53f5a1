"""Search programs that talk JSON lines."""

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from findback.errors import EngineError, SettingsError
from findback.model.case import Context
from findback.model.hits import Hit, Span
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import ask_all
from findback.retrievers.command import CommandRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import CANARY, ask, assert_no_canary, documents, message_of, run_closing, search

HEAD = "import json, os, sys, time\nfor line in sys.stdin:\n    asked = json.loads(line)\n    text = asked['query']\n"
ECHO = "    print(json.dumps({'hits': [{'id': text}]}), flush=True)\n"


def make(folder, body, **own):
    (folder / "find.py").write_text(HEAD + body)
    settings = RetrieverSettings(kind="command", command=[sys.executable, "find.py"], **own)
    return CommandRetriever.build("program", settings, Surroundings(base=folder))


def test_one_process_answers_every_query(tmp_path):
    """All answers come from one process id, which is gone after closing."""
    body = "    print(json.dumps({'hits': [{'id': str(os.getpid())}]}), flush=True)\n"
    run = ask(make(tmp_path, body), list("abc"), depth=1).run
    (name,) = {documents(run, at)[0] for at in range(3)}
    with pytest.raises(ProcessLookupError):
        os.kill(int(name), 0)


def test_the_question_arrives_whole(tmp_path):
    """Query, k and context as JSON; newlines and other scripts included."""
    body = "    print(json.dumps({'hits': [{'id': json.dumps(asked)}]}), flush=True)\n"
    retriever = make(tmp_path, body, honours=["locale", "turns"])
    query = Query("zeile\nzwei ü 返金", Context(locale="de", turns=("before",)))
    (hit,) = search(retriever, query, 7).hits
    assert json.loads(hit.document) == {
        "query": "zeile\nzwei ü 返金",
        "k": 7,
        "context": {"locale": "de", "turns": ["before"]},
    }


def test_passages_come_through(tmp_path):
    """Text and place of a passage are read from the answer."""
    body = (
        "    print(json.dumps({'hits': [{'id': 'a', 'score': 1, 'passage': 'p', 'start': 1, 'end': 2}]}), flush=True)\n"
    )
    assert search(make(tmp_path, body), "x").hits == (Hit("a", 1.0, "p", Span(1, 2)),)


def test_no_shell_reads_the_command(tmp_path):
    """An argument with shell signs arrives as it is."""
    (tmp_path / "find.py").write_text(
        "import json, sys\ninput()\nprint(json.dumps({'hits': sys.argv[1:]}), flush=True)\n"
    )
    command = [sys.executable, "find.py", "$(touch pwned); `id` *"]
    settings = RetrieverSettings(kind="command", command=command)
    found = search(CommandRetriever.build("p", settings, Surroundings(base=tmp_path)), "x")
    assert found.hits == (Hit("$(touch pwned); `id` *"),)
    assert not (tmp_path / "pwned").exists()
    (item,) = CommandRetriever.trusts("p", settings)
    assert item == Trusted("command", f"{sys.executable} find.py '$(touch pwned); `id` *'")


def test_a_crash_is_one_querys_error_and_the_next_starts_anew(tmp_path, caplog):
    """Status and the last words without the query's; the query after it is answered."""
    caplog.set_level(logging.DEBUG)
    body = (
        "    if 'crash' in text:\n        print('index broken while at', text, file=sys.stderr, flush=True)\n"
        "        sys.exit(3)\n" + ECHO
    )
    asked = ask(make(tmp_path, body), ["one", f"crash {CANARY}", "two"], depth=1)
    reason = asked.run.reason_of(1)
    assert reason is not None
    assert reason.startswith("EngineError: the program ended with status 3; its last words: index broken while at … …")
    assert [documents(asked.run, at) for at in (0, 2)] == [["one"], ["two"]]
    assert_no_canary([reason, *map(str, asked.errors)], caplog)


def test_last_words_about_an_earlier_query_are_masked_too(tmp_path):
    """The error output of a process may hold any query it has seen."""
    body = "    print('seen', text, file=sys.stderr, flush=True)\n    if text == 'crash':\n        sys.exit(3)\n" + ECHO
    reason = ask(make(tmp_path, body), [CANARY, "crash"], depth=1).run.reason_of(1)
    assert reason is not None
    assert "its last words" in reason
    assert CANARY not in reason


def test_a_hanging_program_is_ended_and_started_again(tmp_path):
    """The time limit counts; the late answer of the hanging query is not taken for the next one's."""
    body = "    if text == 'hang':\n        time.sleep(30)\n" + ECHO
    begun = time.monotonic()
    asked = ask(make(tmp_path, body, timeout=0.5), ["hang", "good"], depth=1)
    assert asked.run.reason_of(0) == "EngineError: the program gave no answer within 0.5 s"
    assert documents(asked.run, 1) == ["good"]
    assert time.monotonic() - begun < 5


def test_a_cancelled_query_does_not_shift_the_answers(tmp_path):
    """After a cancelled search the next one gets its own answer."""
    retriever = make(tmp_path, "    time.sleep(0.3 if text == 'slow' else 0)\n" + ECHO)

    async def work():
        task = asyncio.create_task(retriever.search(Query("slow"), 1))
        await asyncio.sleep(0.15)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await retriever.search(Query("next"), 1)

    assert run_closing(retriever, work).hits == (Hit("next"),)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    print('hello', flush=True)\n", "not a line of JSON"),
        ("    print(flush=True)\n", "not a line of JSON"),
        ("    print('{}', flush=True)\n", "record without `hits`"),
        (
            "    print(json.dumps({'error': 'bad syntax near ' + text}), flush=True)\n",
            "the program reports: bad syntax near …",
        ),
        ("    sys.stdout.write('{\"hits\": [')\n    sys.exit(0)\n", "ended with status 0"),
        ("    sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()\n", "not a line of JSON"),
    ],
)
def test_nonsense_is_this_querys_error(tmp_path, body, said):
    """No JSON, no results, a reported error, half a line."""
    with pytest.raises(EngineError, match=said) as caught:
        search(make(tmp_path, body), CANARY)
    assert CANARY not in message_of(caught.value)


def test_much_error_output_does_not_block(tmp_path):
    """A megabyte on standard error is read away."""
    body = "    print('x' * 100 + '\\n', end='', file=sys.stderr)\n    sys.stderr.write('noise\\n' * 200_000)\n" + ECHO
    assert search(make(tmp_path, body), "a").hits == (Hit("a"),)


def test_a_program_that_is_not_there_is_named(tmp_path):
    """The first search says what could not be started."""
    settings = RetrieverSettings(kind="command", command=["no-such-program-xyz"])
    with pytest.raises(EngineError, match="cannot start no-such-program-xyz: no such file"):
        search(CommandRetriever.build("p", settings, Surroundings(base=tmp_path)), "x")


def test_a_program_beside_the_settings_is_found(tmp_path):
    """`./find` means the file beside findback.toml."""
    (tmp_path / "find").write_text(f"#!{sys.executable}\n{HEAD}{ECHO}")
    (tmp_path / "find").chmod(0o755)
    settings = RetrieverSettings(kind="command", command=["./find"])
    assert search(CommandRetriever.build("p", settings, Surroundings(base=tmp_path)), "a").hits == (Hit("a"),)


def test_settings_are_checked(tmp_path):
    """A command line as text, no command, and an unknown field of a context are refused."""
    for own in ({"command": "find it"}, {"command": []}, {"command": ["x"], "honours": ["mood"]}):
        with pytest.raises(SettingsError, match=r"\[retrievers.p\] (command|honours)"):
            CommandRetriever.build("p", RetrieverSettings(kind="command", **own), Surroundings(base=tmp_path))


def test_queries_at_once_take_turns(tmp_path):
    """Many workers, one process: every query gets its own answer."""
    names = [f"q{number}" for number in range(20)]
    run = ask(make(tmp_path, ECHO), names, depth=1, concurrency=8).run
    assert [documents(run, at)[0] for at in range(20)] == names


def test_two_loops_one_after_the_other(tmp_path):
    """The same retriever serves two runs."""
    retriever = make(tmp_path, ECHO)
    for name in ("a", "b"):
        run = run_closing(retriever, lambda name=name: ask_all(retriever, [("1", Query(name))], depth=1)).run
        assert documents(run, 0) == [name]


def test_the_program_can_tell_that_this_is_an_evaluation(tmp_path):
    """A variable marks the traffic, so that logs can leave it out."""
    body = "    print(json.dumps({'hits': [os.environ['X_FINDBACK']]}), flush=True)\n"
    assert search(make(tmp_path, body), "x").hits == (Hit("evaluation"),)


def is_running(process):
    """Whether a process is there and no zombie."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


FORK = (
    "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'], start_new_session={apart})\n"
    "    open('child', 'w').write(str(child.pid))\n"
)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("after", "seconds", "said"),
    [("    time.sleep(30)\n", 1, "no answer within 1 s"), ("    os._exit(3)\n", 20, "ended with status 3")],
)
def test_a_program_that_starts_others_is_given_up_in_time(tmp_path, after, seconds, said, apart):
    """What it started holds its pipes open and is ended with it; even one in a session of its own delays nothing."""
    body = "    import subprocess\n    if text == 'good':\n    " + ECHO + "        continue\n"
    retriever = make(tmp_path, body + FORK.format(apart=apart) + after, timeout=seconds)
    begun = time.monotonic()
    asked = ask(retriever, ["fork", "good"], depth=1)
    assert time.monotonic() - begun < 12
    child = int((tmp_path / "child").read_text())
    try:
        assert re.search(said, asked.run.reason_of(0))
        assert documents(asked.run, 1) == ["good"]
        if not apart and Path("/proc").is_dir():
            for _ in range(100):
                if not is_running(child):
                    break
                time.sleep(0.02)
            assert not is_running(child)
    finally:
        if apart or is_running(child):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def test_an_argument_no_program_can_have_is_named(tmp_path):
    """A NUL byte in the command is this query's error with a sentence."""
    settings = RetrieverSettings(kind="command", command=[sys.executable, "a\0b"])
    with pytest.raises(EngineError, match=r"cannot start .*: embedded null byte"):
        search(CommandRetriever.build("p", settings, Surroundings(base=tmp_path)), "x")
