"""What findback adds to a search: kinds http, sql and python beside a bare loop over the same client.

Both sides ask the same questions of the same system and take turns in one run; figures are medians of the turns.
At concurrency 1 each question waits for the one before. At concurrency 16 sixteen are under way, and what counts is
how many a second come back: the system is then the bound, not the loop around it.

    python benchmarks/retriever_overhead.py [--questions 300] [--rounds 7] [--milliseconds 10]

The HTTP server is a process of its own that takes some milliseconds for ten results and answers two questions at a
time, as an engine on two cores does; the database is an SQLite file with 20,000 documents in an FTS5 index; the
Python function searches it, too.
"""

import argparse
import asyncio
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
from sqlalchemy import create_engine, text

from findback.model.protocols import Query, Retriever
from findback.model.settings import RetrieverSettings
from findback.retrievers.asking import ask_all
from findback.retrievers.build import build_retriever
from findback.retrievers.python import PythonRetriever
from findback.retrievers.surroundings import Surroundings

DEPTH = 10
SERVER = """
import asyncio, json, sys
pause = float(sys.argv[1]) / 1000
room = asyncio.Semaphore(2)
hits = [{"id": f"doc-{n}", "score": 10.0 - n} for n in range(10)]
body = json.dumps({"hits": hits}).encode()
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)

async def answer(reader, writer):
    try:
        while True:
            asked = await reader.readuntil(b"\\r\\n\\r\\n")
            size = [line for line in asked.lower().split(b"\\r\\n") if line.startswith(b"content-length:")]
            if size:
                await reader.readexactly(int(size[0].split(b":")[1]))
            async with room:
                await asyncio.sleep(pause)
            writer.write(head + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
SELECT = "SELECT id, bm25(docs) AS score FROM docs WHERE docs MATCH :any_word ORDER BY score LIMIT :k"
Ask = Callable[[str], Awaitable[int]]


def main() -> int:
    """Run every pair at both concurrencies and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--milliseconds", type=float, default=10.0)
    options = parser.parse_args()
    draw = random.Random(20_251)
    vocabulary = [f"word{n}" for n in range(2_000)]
    questions = [" ".join(draw.choices(vocabulary, k=6)) for _ in range(options.questions)]
    with tempfile.TemporaryDirectory() as folder, serving(options.milliseconds) as url:
        file = Path(folder) / "docs.db"
        fill(file, vocabulary, draw)
        print(
            f"{options.questions} questions, medians of {options.rounds} turns; the server takes "
            f"{options.milliseconds:g} ms\n"
        )
        print("| kind | concurrency | bare loop, a second | findback, a second | findback / bare time |")
        print("|---|---|---|---|---|")
        for kind, bare, ours in (
            ("http", lambda: BareHttp(url), lambda: build_retriever("http", http(url), Surroundings())),
            ("sql", lambda: BareSql(file), lambda: build_retriever("sql", sql(file), Surroundings())),
            ("python", lambda: BarePython(file), lambda: PythonRetriever("python", finder(file), concurrency=16)),
        ):
            for together in (1, 16):
                rates = compare(bare, ours, questions, together=together, rounds=options.rounds)
                print(f"| {kind} | {together} | {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[2]:.3f} |", flush=True)
    return 0


class BareHttp:
    """A loop over httpx2 that reads ids and scores."""

    def __init__(self, url: str) -> None:
        limits = httpx2.Limits(max_connections=16, max_keepalive_connections=16)
        self.client = httpx2.AsyncClient(limits=limits, trust_env=False, timeout=30)
        self.url = url

    async def ask(self, question: str) -> int:
        answered = await self.client.post(f"{self.url}/search", json={"q": question, "k": DEPTH})
        answered.raise_for_status()
        return len([(hit["id"], hit["score"]) for hit in answered.json()["hits"]])

    async def close(self) -> None:
        await self.client.aclose()


class BareSql:
    """A loop over SQLAlchemy, in threads where several are asked at once."""

    def __init__(self, file: Path) -> None:
        self.engine = create_engine(f"sqlite:///{file}", pool_size=16)
        self.threads = ThreadPoolExecutor(16)
        self.statement = text(SELECT)

    def find(self, question: str) -> int:
        words = " OR ".join(f'"{word}"' for word in question.split())
        with self.engine.connect() as connection:
            return len(
                [(row[0], row[1]) for row in connection.execute(self.statement, {"any_word": words, "k": DEPTH})]
            )

    async def ask(self, question: str) -> int:
        return await asyncio.get_running_loop().run_in_executor(self.threads, self.find, question)

    async def close(self) -> None:
        self.threads.shutdown()
        self.engine.dispose()


class BarePython:
    """A loop over a function, in threads."""

    def __init__(self, file: Path) -> None:
        self.find = finder(file)
        self.threads = ThreadPoolExecutor(16)

    async def ask(self, question: str) -> int:
        return len(await asyncio.get_running_loop().run_in_executor(self.threads, self.find, question, DEPTH))

    async def close(self) -> None:
        self.threads.shutdown()


def compare(
    bare: Callable[[], BareHttp | BareSql | BarePython],
    ours: Callable[[], Retriever],
    questions: list[str],
    *,
    together: int,
    rounds: int,
) -> tuple[float, float, float]:
    """Return questions a second of the bare loop and of findback, and the ratio of their times."""

    async def run() -> tuple[list[float], list[float]]:
        loop, retriever, times = bare(), ours(), ([], [])
        queries = [(f"q{at}", Query(question)) for at, question in enumerate(questions)]
        for turn in range(rounds + 1):
            begun = time.perf_counter()
            found = await ask_bare(loop.ask, questions, together)
            middle = time.perf_counter()
            asked = await ask_all(retriever, queries, depth=DEPTH, concurrency=together)
            end = time.perf_counter()
            assert not asked.errors, asked.errors
            assert len(asked.run.codes) == found, (len(asked.run.codes), found)
            if turn:
                times[0].append(middle - begun)
                times[1].append(end - middle)
        await loop.close()
        await retriever.close()
        return times

    plain, with_findback = asyncio.run(run())
    ratios = [b / a for a, b in zip(plain, with_findback, strict=True)]
    return (
        len(questions) / statistics.median(plain),
        len(questions) / statistics.median(with_findback),
        statistics.median(ratios),
    )


async def ask_bare(ask: Ask, questions: list[str], together: int) -> int:
    """Ask every question, so many at a time, and return how many results came."""
    turns = iter(questions)

    async def work() -> int:
        return sum([await ask(question) for question in turns])

    if together == 1:
        return await work()
    return sum(await asyncio.gather(*(work() for _ in range(together))))


def http(url: str) -> RetrieverSettings:
    """Return the settings of kind http."""
    return RetrieverSettings(
        kind="http", url=f"{url}/search", body={"q": "{{query}}", "k": "{{k}}"}, score="$.score", concurrency=16
    )


def sql(file: Path) -> RetrieverSettings:
    """Return the settings of kind sql."""
    return RetrieverSettings(kind="sql", url=str(file), statement=SELECT, scores="lower", concurrency=16)


def finder(file: Path) -> Callable[[str, int], list[tuple[str, float]]]:
    """Return a search function with a connection for each thread."""
    local = threading.local()

    def find(query: str, k: int) -> list[tuple[str, float]]:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(file)
        words = " OR ".join(f'"{word}"' for word in query.split())
        found = "SELECT id, -bm25(docs) AS score FROM docs WHERE docs MATCH ? ORDER BY score DESC LIMIT ?"
        return local.connection.execute(found, (words, k)).fetchall()

    return find


def fill(file: Path, vocabulary: list[str], draw: random.Random) -> None:
    """Write 20,000 documents of 80 words."""
    connection = sqlite3.connect(file)
    connection.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, body)")
    rows = ((f"doc-{n}", " ".join(draw.choices(vocabulary, k=80))) for n in range(20_000))
    connection.executemany("INSERT INTO docs VALUES (?, ?)", rows)
    connection.commit()
    connection.close()


@contextmanager
def serving(milliseconds: float) -> Iterator[str]:
    """Run the server while the block runs."""
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(milliseconds)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    sys.exit(main())
