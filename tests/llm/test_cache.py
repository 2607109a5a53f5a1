"""Answers that were paid for once."""

import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from builders.asked import Query, an_ask, ask_all, ask_one, open_for, say_back, settings_for
from builders.llmserver import KEY, LlmServer
from findback.errors import StorageError
from findback.llm.ask import ItemFailedError, Usage
from findback.llm.budget import Budget
from findback.llm.cache import Answers, digest_ask
from findback.llm.open import open_model
from findback.model.record import Record

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_known_answer_is_not_paid_again(tmp_path):
    """A second run asks nothing, and has the same answer, tokens and time."""
    with LlmServer(say_back) as server:
        first = ask_one(open_for(server, cache=tmp_path))
        budget = Budget()
        second = ask_one(open_for(server, cache=tmp_path, budget=budget))
        assert server.counts.accepted == 1
    assert second == replace(first, cached=True)
    assert (budget.bills()[0].calls, budget.bills()[0].cached) == (0, 1)


def test_an_answer_is_on_disk_before_anybody_goes_on(tmp_path):
    """Each answer is kept as it lands: others see it while the run goes on."""
    seen = []

    def answer(question):
        if "pier 2." in question.user:
            seen.append(sqlite3.connect(tmp_path / "answers.sqlite").execute("SELECT value FROM answers").fetchall())
        return say_back(question)

    with LlmServer(answer) as server:
        ask_all(open_for(server, cache=tmp_path, connections=1), an_ask(1), an_ask(2))
    assert seen == [[('{"query":"how boats are moored at pier 1."}',)]]


def test_what_failed_is_not_kept(tmp_path):
    """An answer without sense is asked for again in the next run."""
    with LlmServer(say_back, mood=lambda question, times: "malformed" if times < 3 else None) as server:
        with pytest.raises(ItemFailedError):
            ask_one(open_for(server, cache=tmp_path))
        assert ask_one(open_for(server, cache=tmp_path)).cached is False


class Other(Record):
    """Another record with the same field."""

    query: str


@pytest.mark.parametrize(
    "changed",
    [
        {"system": "other"},
        {"user": "other"},
        {"answer": Other},
        {"prompt": "describe@ffff"},
        {"attempt": 2},
    ],
)
def test_everything_that_decides_an_answer_is_in_its_digest(changed):
    """Another message, schema, prompt or attempt is another key; the item's name and the text's state are not in it."""
    where = {"provider": "openai", "base_url": "http://a", "model": "m", "parameters": {"temperature": None}}
    key = digest_ask(an_ask(), **where)
    assert digest_ask(an_ask(**changed), **where) != key
    assert digest_ask(an_ask(item="other", state="reviewed"), **where) == key


@pytest.mark.parametrize(
    "changed",
    [{"provider": "x"}, {"base_url": "http://b"}, {"model": "n"}, {"parameters": {"temperature": 0.0}}],
)
def test_whoever_is_asked_is_in_the_digest(changed):
    """Another provider, server, model or parameter is another key."""
    where = {"provider": "openai", "base_url": "http://a", "model": "m", "parameters": {"temperature": None}}
    assert digest_ask(an_ask(), **(where | changed)) != digest_ask(an_ask(), **where)


def test_the_question_is_not_kept(tmp_path):
    """Neither the question nor the key is anywhere in the files; they are the owner's alone."""
    with LlmServer(lambda question: {"query": "boats"}) as server:
        model = open_for(server, cache=tmp_path)
        model._answers.keep("k", Query(query="x"), Usage(1, 1), AT)
        files = list(tmp_path.iterdir())
        assert len(files) > 1
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        ask_one(model)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"boats" in content
    for secret in (KEY, "moored", "search box", "doc1.md"):
        assert secret.encode() not in content


def test_answers_go_a_month_after_their_last_use(tmp_path):
    """Thirty days without use, and an answer is gone; a use begins them anew."""
    for key in ("used", "unused"):
        answers = Answers(tmp_path, now=AT)
        answers.keep(key, Query(query=key), Usage(1, 1), AT)
        answers.close()
    answers = Answers(tmp_path, now=AT + timedelta(days=20))
    assert answers.find("used", Query).value == Query(query="used")
    answers.close()
    answers = Answers(tmp_path, now=AT + timedelta(days=31))
    assert answers.find("used", Query) is not None
    assert answers.find("unused", Query) is None
    answers.close()
    assert b"unused" not in (tmp_path / "answers.sqlite").read_bytes()


def test_what_a_newer_findback_wrote_is_refused(tmp_path):
    """A file of a newer format is left alone, and the error says what to do."""
    Answers(tmp_path).close()
    database = sqlite3.connect(tmp_path / "answers.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StorageError, match=r"newer findback \(format 99") as caught:
        Answers(tmp_path)
    assert "update findback" in caught.value.hint


def test_a_damaged_file_is_named(tmp_path):
    """A file that is no database, or a folder that may not be written, is an error that names it."""
    (tmp_path / "answers.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match=r"answers\.sqlite cannot be used: SQLITE_NOTADB"):
        Answers(tmp_path)
    with pytest.raises(StorageError, match="cannot write"):
        Answers(tmp_path / "not there")


def test_an_answer_that_is_no_longer_valid_does_not_count(tmp_path):
    """What somebody changed in the file into no answer is asked for again."""
    answers = Answers(tmp_path)
    answers.keep("k", Query(query="x"), Usage(1, 1), AT)
    answers._database.execute("UPDATE answers SET value = '{}'")
    assert answers.find("k", Query) is None
    answers.close()


WRITER = """
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from findback.llm.ask import Usage
from findback.llm.cache import Answers
from findback.model.trusted import Trusted
from findback.model.record import Record
class Query(Record):
    query: str
answers = Answers(Path(sys.argv[1]))
for number in range(200):
    answers.keep(f"key {number}", Query(query=sys.argv[2]), Usage(1, 1), datetime.now(UTC))
answers.close()
"""


def test_processes_may_write_at_the_same_time(tmp_path):
    """Three processes keep the same keys at once: nothing is lost or damaged, and the first one's answer stays."""
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in ("a", "b", "c")]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    answers = Answers(tmp_path)
    found = [answers.find(f"key {number}", Query) for number in range(200)]
    answers.keep("key 0", Query(query="late"), Usage(1, 1), AT)
    assert answers.find("key 0", Query) == found[0]
    answers.close()
    assert all(one.value.query in {"a", "b", "c"} for one in found)


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from builders.asked import an_ask, ask_all
from builders.llmserver import KEY, MODEL
from findback.llm.open import open_model
from findback.model.settings import ModelSettings
settings = ModelSettings(provider="openai", model=MODEL, base_url=sys.argv[1], key="env:X", connections=4)
ask_all(open_model("m", settings, cache=Path(sys.argv[2]), secret=KEY), *map(an_ask, range(40)))
"""


def test_a_killed_run_pays_no_kept_answer_again(tmp_path):
    """Killed in the middle and run again: what had reached the disk is not asked again, and everything is answered."""
    tests = str(next(path for path in map(str, sys.path) if path.endswith("tests")))
    kept = 0

    def kept_now():
        file = tmp_path / "answers.sqlite"
        if not file.exists():
            return 0
        with closing(sqlite3.connect(file)) as database:
            return database.execute("SELECT count(*) FROM answers").fetchone()[0]

    with LlmServer(say_back, latency=0.02) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED, server.openai, str(tmp_path), tests])
        while server.counts.accepted < 15 and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.wait(20)
        time.sleep(0.5)  # what was on its way when it died is still taken in
        kept, before = kept_now(), server.counts.accepted
        settings = settings_for(server, connections=4)
        replies = ask_all(open_model("m", settings, cache=tmp_path, secret=KEY), *map(an_ask, range(40)))
        assert server.counts.accepted - before == 40 - kept
    assert kept >= 8
    assert sum(reply.cached for reply in replies) == kept
    assert [reply.value.query for reply in replies] == [f"how boats are moored at pier {n}." for n in range(40)]
