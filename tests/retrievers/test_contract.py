"""The contract suite over every kind that can be given prepared answers."""

import json
import sys
from pathlib import Path

import pytest

from findback.model.settings import RetrieverSettings
from findback.net import HttpClient
from findback.retrievers.command import CommandRetriever
from findback.retrievers.file import FileRetriever
from findback.retrievers.fuse import FuseRetriever, FuseSettings
from findback.retrievers.http import HttpRetriever
from findback.retrievers.http_settings import HttpRetrieverSettings
from findback.retrievers.memory import MemoryRetriever
from findback.retrievers.python import PythonRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import Reply, Seen, Server, json_reply
from retrievers.contract import ODD_IDS, RetrieverContract

PROGRAM = """
import json, sys
answers = json.load(open(sys.argv[1], encoding="utf-8"))
for line in sys.stdin:
    asked = json.loads(line)
    found = answers.get(asked["query"], [])
    print("searching", asked["query"], file=sys.stderr, flush=True)
    print(json.dumps(found if isinstance(found, dict) else {"hits": found[: asked["k"]]}), flush=True)
"""


def _raise(found):
    raise ValueError(found["error"])


def _answer(answers, text, k):
    found = answers.get(text, [])
    if isinstance(found, dict):
        return _raise(found) if "error" in found else found
    return found[:k]


class TestMemory(RetrieverContract):
    def open(self, answers, folder):
        prepared = {
            text: ValueError(found["error"]) if isinstance(found, dict) and "error" in found else found
            for text, found in answers.items()
        }
        return MemoryRetriever(prepared)


class TestPython(RetrieverContract):
    def open(self, answers, folder):
        def find(query, k):
            return _answer(answers, query, k)

        return PythonRetriever("python", find)


class TestAsyncPython(RetrieverContract):
    def open(self, answers, folder):
        async def find(query, k):
            return _answer(answers, query, k)

        return PythonRetriever("python", find, concurrency=4)


class TestCommand(RetrieverContract):
    def open(self, answers, folder):
        (folder / "answers.json").write_text(json.dumps(answers), "utf-8")
        (folder / "find.py").write_text(PROGRAM, "utf-8")
        settings = RetrieverSettings(kind="command", command=[sys.executable, "find.py", "answers.json"])
        return CommandRetriever.build("command", settings, Surroundings(base=folder))


class TestHttp(RetrieverContract):
    @pytest.fixture(autouse=True)
    def _server(self):
        self.answers = {}
        self.server = Server(self._reply)
        yield
        self.server.close()

    def _reply(self, asked: Seen) -> Reply:
        found = self.answers.get(asked.content["q"], [])
        if isinstance(found, dict):
            return json_reply(found, 500 if "error" in found else 200)
        return json_reply({"hits": found[: asked.content["size"]]})

    def open(self, answers, folder):
        self.answers = answers
        own = HttpRetrieverSettings(
            url=f"{self.server.url}/search?q={{{{query}}}}",
            body={"q": "{{query}}", "size": "{{k}}"},
            score="$.score",
            passage="$.passage",
            start="$.start",
            end="$.end",
            abstain="$.abstain",
        )
        return HttpRetriever("http", own, client=HttpClient(), environment={})


class TestFile(RetrieverContract):
    cuts = False
    test_one_failed_query_is_that_querys_error = None
    test_errors_and_logs_do_not_hold_the_query = None
    test_a_context_it_cannot_honour_is_not_asked = None

    def open(self, answers, folder: Path):
        lines = [
            json.dumps({"query": text, **(found if isinstance(found, dict) else {"hits": found})})
            for text, found in answers.items()
        ]
        (folder / "run.jsonl").write_text("\n".join(lines), "utf-8")
        return FileRetriever.build("file", RetrieverSettings(kind="file", path="run.jsonl"), Surroundings(base=folder))


class TestFuse(RetrieverContract):
    keeps_passages = False
    test_scores_come_through = None

    def open(self, answers, folder):
        parts = [TestMemory().open(answers, folder) for _ in range(2)]
        return FuseRetriever("fuse", FuseSettings(of=("a", "b")), parts)


class TestFuseByScore(TestFuse):
    ids = ODD_IDS

    def open(self, answers, folder):
        parts = [TestMemory().open(answers, folder) for _ in range(2)]
        return FuseRetriever("fuse", FuseSettings(of=("a", "b"), by="score", weights=(2.0, 1.0)), parts)
