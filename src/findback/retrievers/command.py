"""A search program: one JSON line in for every search, one JSON line out."""

import asyncio
import codecs
import os
import shutil
import signal
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from findback.departures import Departures
from findback.errors import EngineError, SettingsError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.context import FIELDS
from findback.retrievers.masking import list_words, mask
from findback.retrievers.returned import read_answer
from findback.retrievers.surroundings import Surroundings

LONGEST_LINE = 20_000_000
"""Bytes of one answer that are read."""
KEPT_LINES = 3
"""Last lines of the program's error output that an error quotes."""
MARKER_VARIABLE = "X_FINDBACK"
"""Set for the program, so that it can mark what it logs as evaluation traffic."""
LOOKED_AFTER = 0.25
"""Seconds after which a program that has not answered is looked after: it may have ended."""
GRACE = 2.0
"""Seconds a program has to end by itself after its input was closed."""


class CommandSettings(Record):
    """Settings of kind `command`."""

    command: Annotated[tuple[str, ...], Field(min_length=1), LOCAL_ONLY]
    """Program and arguments, as a list; no shell reads it. Runs in the folder of findback.toml."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Seconds for one search; the program is ended and started again after that."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    honours: tuple[str, ...] = ()
    """Fields of a question's context that the program takes account of: locale, filters, audience, as_of, turns."""


class CommandRetriever:
    """Talks to one long-running process.

    In: `{"query": …, "k": …, "context": …}`. Out: `{"hits": [{"id": …, "score": …}, …]}`, `{"abstain": true}` or
    `{"error": "…"}`. A process that ends or hangs is this query's error; the next query starts another one.
    """

    kind = "command"
    concurrency = 1

    def __init__(
        self,
        name: str,
        own: CommandSettings,
        base: Path,
        egress: EgressLevel = "local",
        temporary: Path | None = None,
        *,
        departures: Departures | None = None,
    ) -> None:
        unknown = sorted(set(own.honours) - FIELDS)
        if unknown:
            raise SettingsError(
                f"[retrievers.{name}] honours: no such field of a context: {', '.join(unknown)}",
                hint=f"known: {', '.join(sorted(FIELDS))}",
            )
        self.name = name
        self.egress: EgressLevel = egress
        self.score_direction: ScoreDirection | None = None if own.scores == "none" else own.scores
        self.honours = frozenset(own.honours)
        self._own, self._base, self._temporary = own, base, temporary
        self._departures = departures if egress != "local" else None
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        self._words: set[str] = set()
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the command line that would run."""
        import shlex  # noqa: PLC0415 (needed for this alone)

        return (Trusted("command", shlex.join(read_own(name, settings, CommandSettings).command)),)

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "CommandRetriever":
        """Return the retriever; the first search starts the program.

        Raises:
            SettingsError: If a setting makes no sense.
        """
        own = read_own(name, settings, CommandSettings)
        return cls(
            name,
            own,
            surroundings.base,
            settings.egress or "local",
            surroundings.temporary,
            departures=surroundings.departures,
        )

    def settings(self) -> Mapping[str, object]:
        """Return the command; what the program does inside cannot be seen."""
        return {"command": self._own.command, "scores": self._own.scores, "honours": self._own.honours}

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the program answers.

        Raises:
            EngineError: If it cannot be started, ends, hangs, reports an error or answers no JSON.
        """
        context = None if query.context is None else query.context.model_dump(exclude_none=True)
        line = orjson.dumps({"query": query.text, "k": k, "context": context}) + b"\n"
        if self._departures is not None:
            self._departures.add(f"{self.kind} {self.name}", self.egress)
        async with self._lock():
            try:
                async with asyncio.timeout(self._own.timeout):
                    answered = await self._exchange(line, list_words(query))
            except TimeoutError:
                await self._end()
                raise EngineError(
                    f"the program gave no answer within {self._own.timeout:g} s", hint="raise `timeout`"
                ) from None
            except BaseException:
                # Whatever interrupted it, the next answer could belong to this question.
                await self._end()
                raise
        return self._read(answered, query, k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return None: the program is asked for searches only."""
        return None

    async def close(self) -> None:
        """Close the program's input, and end it if it does not end by itself."""
        if self._departures is not None:
            self._departures.flush()
        process = self._process
        if process is not None and process.returncode is None and process.stdin is not None:
            process.stdin.close()
            if await _wait(process) is not None:
                _kill_group(process.pid)
        await self._end()

    def _lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._turn is None or self._turn[0] is not loop:
            # What belongs to a loop that has ended cannot be used or closed any more.
            if self._process is not None and self._process.returncode is None:
                _kill_group(self._process.pid)
            self._turn, self._process, self._drain = (loop, asyncio.Lock()), None, None
        return self._turn[1]

    async def _exchange(self, line: bytes, words: frozenset[str]) -> bytes:
        process = await self._start()
        self._words |= words
        if process.stdin is None or process.stdout is None:
            raise EngineError("the program has no input or output")
        try:
            process.stdin.write(line)
            await process.stdin.drain()
            answered = await _read_line(process, process.stdout)
        except (BrokenPipeError, ConnectionResetError):
            answered = b""
        except ValueError:
            raise EngineError(f"the program's answer is longer than {LONGEST_LINE:,} bytes") from None
        if not answered.endswith(b"\n"):
            status = await _wait(process)
            # What it started is of no use without it, and may hold its pipes open.
            _kill_group(process.pid)
            if self._drain is not None:
                await asyncio.wait({self._drain}, timeout=GRACE)
            raise EngineError(
                f"the program {f'ended with status {status}' if status is not None else 'closed its output'}"
                f"{self._tail()}",
                hint="run it by hand and send it a line",
            )
        return answered

    async def _start(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self._end()
        program = _find_program(self._own.command[0], self._base)
        try:
            self._process = await asyncio.create_subprocess_exec(
                program,
                *self._own.command[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._base,
                env=self._environment(),
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            said = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
            raise EngineError(
                f"cannot start {self._own.command[0]}: {said.lower()}",
                hint=f"`command` is started in {self._base}",
            ) from None
        self._drain = asyncio.create_task(self._listen(self._process))
        return self._process

    def _environment(self) -> dict[str, str]:
        """Return the program's variables: ours, the evaluation marker, and a place for temporary files."""
        places = {"TMPDIR": str(self._temporary)} if self._temporary is not None else {}
        return {**os.environ, **places, MARKER_VARIABLE: "evaluation"}

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read the error output, so that a full pipe does not stop the program."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        rest = ""
        while process.stderr is not None and (part := await process.stderr.read(4096)):
            *lines, rest = (rest + decode(part))[-100_000:].split("\n")
            self._said.extend(line for line in lines if line.strip())
        if rest.strip():
            self._said.append(rest)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                _kill_group(process.pid)
            if process.stdin is not None:
                process.stdin.close()
            await _wait(process)
        drain, self._drain = self._drain, None
        if drain is not None:
            await asyncio.wait({drain}, timeout=GRACE)
            drain.cancel()
        if process is not None:
            # A grandchild may keep the pipes open; the transport must not wait for it.
            transport: Any = getattr(process, "_transport", None)
            if transport is not None:
                transport.close()
        self._said.clear()
        self._words.clear()

    def _tail(self) -> str:
        said = mask(" | ".join(self._said), self._words)
        return f"; its last words: {said}" if said else ""

    def _read(self, answered: bytes, query: Query, k: int) -> Answer:
        try:
            content = orjson.loads(answered)
        except orjson.JSONDecodeError:
            raise EngineError(
                "the program's answer is not a line of JSON",
                hint="print one JSON object a line, and nothing else, to standard output",
            ) from None
        if isinstance(content, dict) and content.get("error"):
            raise EngineError(f"the program reports: {mask(str(content['error']), list_words(query))}")
        return read_answer(content, k)


async def _read_line(process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> bytes:
    """Return the next line; what there is of it where the program has ended, whoever still holds its output."""
    reading = asyncio.ensure_future(output.readline())
    try:
        while not reading.done():
            has_ended = process.returncode is not None
            await asyncio.wait({reading}, timeout=LOOKED_AFTER)
            if has_ended and not reading.done():
                return b""
        return reading.result()
    finally:
        reading.cancel()


async def _wait(process: asyncio.subprocess.Process) -> int | None:
    """Return the status of a program that ends soon, else None.

    Its own end counts: asyncio would wait until everybody has closed its pipes, processes it started included.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + GRACE
    while process.returncode is None and clock() < until:  # noqa: ASYNC110 (nothing tells of its own end alone)
        await asyncio.sleep(0.01)
    return process.returncode


def _kill_group(leader: int) -> None:
    """End a program, which leads a process group of its own, and whatever it started in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _find_program(program: str, base: Path) -> str:
    beside = base / program
    if ("/" in program or "\\" in program) and beside.is_file():
        return str(beside.absolute())
    return shutil.which(program) or program
