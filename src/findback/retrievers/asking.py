"""Ask a retriever every question of a set, and keep what it answered, how long it took and what went wrong."""

import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, runtime_checkable

from findback.errors import FindbackError, MissingError, UsageError
from findback.model.evaluation import ErrorKind
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Progress, Query, Retriever
from findback.model.run import Run, RunBuilder
from findback.retrievers.context import UnhonouredError, tell_unhonoured
from findback.retrievers.foreign import contain, is_ours, output_apart, search_contained
from findback.retrievers.masking import describe_exception, list_words, mask

WARM_UP = 3
"""First searches whose time is not kept."""
MOST_ROUNDS = 4
"""Times one question is asked, each with more results wanted, until there are enough documents."""
WIDER = 3
"""How many times more results the next round asks for."""
MOST_PASSAGES = 20
"""Passages kept per document and question; what comes after adds nothing to passage-level figures."""
CANCELLED = "CancelledError"
"""What is wrong with a question whose search ended by itself, without a result or an error."""
MOST_ERRORS = 10
"""Distinct errors that are listed; each failed question keeps its own in the run."""


class Asked(NamedTuple):
    """A run, and what a run does not hold about how it came about."""

    run: Run
    """Every answer; questions a recorded run does not have are not in it."""
    errors: tuple[ErrorKind, ...]
    """The most frequent errors, without query text."""
    unstable: int | None
    """Questions whose repeated searches gave other documents or another order; None when each was asked once."""
    warm_up: int
    """Searches whose time was not kept."""
    concurrency: int
    """Most searches at the same time."""
    missing: tuple[str, ...] = ()
    """Questions that a recorded run does not have."""
    contradicting: int = 0
    """Answers whose scores rise where the retriever says that higher is better, or the reverse."""


class AbsentError(MissingError):
    """A recorded run does not have this question."""


@runtime_checkable
class Recorded(Protocol):
    """A retriever whose answers were recorded under question ids."""

    def recorded(self, question: str, query: Query) -> Answer:
        """Return the recorded answer.

        Raises:
            AbsentError: If there is none.
        """
        ...


@dataclass(slots=True)
class _Outcome:
    answer: Answer | None = None
    milliseconds: float | None = None
    unhonoured: str | None = None
    error: str | None = None
    absent: bool = False
    unstable: bool = False


@dataclass(slots=True)
class _Asking:
    retriever: Retriever
    depth: int
    repeats: int
    warm_up: int
    resolve: Callable[[str], str | None] | None
    known: dict[str, str] = field(default_factory=dict)
    started: int = 0
    recorded: Recorded | None = None
    """The retriever, where its answers were recorded; looking that up takes longer than a search may."""

    def __post_init__(self) -> None:
        if isinstance(self.retriever, Recorded):
            self.recorded = self.retriever

    async def ask(self, question: str, query: Query) -> _Outcome:
        if (reason := tell_unhonoured(query, self.retriever.honours)) is not None:
            return _Outcome(unhonoured=reason)
        try:
            answer, milliseconds = await self.search(question, query)
            orders = {_order(answer)}
            for _ in range(self.repeats - 1):
                again, _spent = await self.search(question, query)
                orders.add(_order(again))
        except UnhonouredError as error:
            said = str(error)
            return _Outcome(unhonoured=said if is_ours(self.retriever) else mask(said, list_words(query)))
        except AbsentError:
            return _Outcome(absent=True)
        except Exception as error:  # noqa: BLE001 (one query's exception is that query's error)
            return _Outcome(error=self.describe(error, query))
        return _Outcome(answer=answer, milliseconds=milliseconds, unstable=len(orders) > 1)

    async def search(self, question: str, query: Query) -> tuple[Answer, float | None]:
        """Return the answer cut to `depth` documents, and how long the first round took."""
        if self.recorded is not None:
            # A recorded run may hold ties across the depth; scoring needs the whole block.
            return self.cut(self.recorded.recorded(question, query), sys.maxsize), None
        self.started += 1
        warming = self.started <= self.warm_up
        wanted, milliseconds, answer = self.depth, None, Answer(())
        for round_ in range(MOST_ROUNDS):
            begun = time.perf_counter()
            found = await search_contained(self.retriever, query, wanted)
            if round_ == 0:
                milliseconds = None if warming else (time.perf_counter() - begun) * 1000
            grown = len(found.hits) > len(answer.hits)
            answer = found
            if found.exhausted or (round_ and not grown) or self.documents_in(found) >= self.depth:
                break
            wanted *= WIDER
        return self.cut(answer, self.depth), milliseconds

    def describe(self, error: Exception, query: Query) -> str:
        """Return class and message; only our own retrievers are known to keep the query out of theirs."""
        if isinstance(error, FindbackError) and is_ours(self.retriever):
            return f"{type(error).__name__}: {error}"
        return describe_exception(error, query)

    def documents_in(self, answer: Answer) -> int:
        return len({self.name_of(hit.document) for hit in answer.hits})

    def cut(self, answer: Answer, depth: int) -> Answer:
        """Keep the hits of the first `depth` documents, a bounded number of passages each."""
        seen: Counter[str] = Counter()
        kept: list[Hit] = []
        for hit in answer.hits:
            document = self.name_of(hit.document)
            if document not in seen and len(seen) >= depth:
                break
            seen[document] += 1
            has_place = hit.passage is not None or hit.span is not None
            if seen[document] <= (MOST_PASSAGES if has_place else 1):
                kept.append(hit if document == hit.document else hit._replace(document=document))
        return answer._replace(hits=tuple(kept))

    def name_of(self, document: str) -> str:
        """Return the corpus' id for what the engine calls the document; unknown ids stay as they are."""
        if self.resolve is None:
            return document
        name = self.known.get(document)
        if name is None:
            name = self.known[document] = self.resolve(document) or document
        return name


async def ask_all(
    retriever: Retriever,
    queries: Sequence[tuple[str, Query]],
    *,
    depth: int,
    concurrency: int = 4,
    repeats: int = 1,
    warm_up: int = WARM_UP,
    resolve: Callable[[str], str | None] | None = None,
    created: str | None = None,
    progress: Progress = SILENT,
) -> Asked:
    """Ask every question and return a run with the answers in the order of the questions.

    `depth` counts documents: where several passages of one document come back, more results are asked for
    until there are enough documents or the engine has no more. An exception is that question's error.

    Args:
        retriever: The system under test; it stays open.
        queries: Question ids, distinct, with what to ask.
        depth: Documents wanted per question.
        concurrency: Most searches at the same time; a retriever may allow fewer.
        repeats: How often each question is asked; the first answer counts.
        warm_up: First searches whose time is not kept.
        resolve: Turns an engine's id into the corpus' own (`Documents.resolve`); unknown ids are kept.
        created: When the run is made, ISO 8601, kept in the run.
        progress: Told about each question.

    Raises:
        UsageError: If two questions have the same id.
        FindbackError: If the retriever cannot be prepared: its model, index or file is at fault.
    """
    if len({question for question, _ in queries}) < len(queries):
        raise UsageError("two questions have the same id", hint="ids must be distinct within a set")
    together = max(1, min(concurrency, getattr(retriever, "concurrency", None) or concurrency))
    asking = _Asking(retriever, depth, max(1, repeats), warm_up, resolve)
    with output_apart():
        outcomes = await _ask_each(asking, queries, together, progress)
    return _collect(asking, queries, outcomes, together, created)


async def _ask_each(
    asking: _Asking, queries: Sequence[tuple[str, Query]], together: int, progress: Progress
) -> list[_Outcome | None]:
    """Return how each question ended; None where the search cancelled its own task."""
    prepare = getattr(asking.retriever, "prepare", None)
    if prepare is not None:
        await contain(lambda: prepare(progress))
    outcomes: list[_Outcome | None] = [None] * len(queries)
    turns = iter(enumerate(queries))

    async def work() -> None:
        # One iterator shared by all workers: each takes the next question when it is free.
        for at, (question, query) in turns:
            outcomes[at] = await asking.ask(question, query)
            progress.advance()

    progress.start(f"Searching with {asking.retriever.name}", len(queries))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(together, len(queries))):
                group.create_task(work())
    finally:
        progress.finish()
    return outcomes


def config_digest(retriever: Retriever) -> str:
    """Return a digest of the settings that change a retriever's results: twelve hexadecimal digits."""
    content = json.dumps([retriever.kind, dict(retriever.settings())], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _collect(
    asking: _Asking,
    queries: Sequence[tuple[str, Query]],
    outcomes: Sequence[_Outcome | None],
    concurrency: int,
    created: str | None,
) -> Asked:
    retriever = asking.retriever
    builder = RunBuilder(retriever.name, kind=retriever.kind, direction=retriever.score_direction)
    missing: list[str] = []
    failures: Counter[str] = Counter()
    contradicting = 0
    for (question, _query), outcome in zip(queries, outcomes, strict=True):
        if outcome is None:
            # A search that cancelled its own task: nobody else ends one without ending all.
            failures[CANCELLED] += 1
            builder.fail(question, CANCELLED)
        elif outcome.absent:
            missing.append(question)
        elif outcome.unhonoured is not None:
            builder.skip(question, outcome.unhonoured)
        elif outcome.answer is None:
            message = outcome.error or "error"
            failures[message] += 1
            builder.fail(question, message, latency=outcome.milliseconds)
        else:
            contradicting += _contradicts(outcome.answer, retriever.score_direction)
            builder.add(question, outcome.answer, latency=outcome.milliseconds)
    errors = tuple(
        ErrorKind(kind=message.partition(":")[0], count=count, first=message)
        for message, count in failures.most_common(MOST_ERRORS)
    )
    run = builder.build(depth=asking.depth, created=created, config_digest=config_digest(retriever))
    if getattr(retriever, "order", "given") == "score":
        run = replace(run, order="score")
    return Asked(
        run=run,
        errors=errors,
        unstable=None if asking.repeats == 1 else sum(bool(o and o.unstable) for o in outcomes),
        warm_up=min(asking.warm_up, asking.started),
        concurrency=concurrency,
        missing=tuple(missing),
        contradicting=contradicting,
    )


def _order(answer: Answer) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.document for hit in answer.hits))


def _contradicts(answer: Answer, direction: str | None) -> bool:
    scores = [hit.score for hit in answer.hits if hit.score is not None]
    if direction is None or len(scores) < 2 or scores[0] == scores[-1]:
        return False
    return (scores[0] < scores[-1]) == (direction == "higher")
