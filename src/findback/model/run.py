"""A run: what one retriever returned for the questions of a set, in columns."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from findback.errors import UsageError
from findback.model.hits import Answer, Hit, Span
from findback.model.names import Names

Direction = Literal["higher", "lower"]
Order = Literal["given", "score"]

OK, FAILED, SKIPPED = 0, 1, 2
"""How a query ended: answered, with an error, or not asked as the retriever cannot honour its context."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Run:
    """Ranked results as arrays; query `q` owns the rows `starts[q]` to `starts[q + 1]`.

    Ranks are not stored: they are found when scoring, so a run can be scored again on new labels.
    """

    name: str
    """How tables call the retriever."""
    queries: tuple[str, ...]
    """Question ids, distinct, in the order asked."""
    documents: Names
    """Every id returned."""
    starts: NDArray[np.int64]
    """Row where each query begins; one more entry than queries."""
    codes: NDArray[np.int32]
    """Document number of each row."""
    scores: NDArray[np.float64] | None = None
    """The engine's own score of each row, NaN where it gave none; None when it gives none at all."""
    direction: Direction | None = None
    """Which scores are better; None when they cannot be compared."""
    order: Order = "given"
    """`given`: rows stand in the order returned. `score`: only the scores order them, ties are ties."""
    distinct: bool = False
    """True when no query is known to hold a document twice."""
    passages: tuple[str, ...] = ()
    """Distinct passage texts returned."""
    passage: NDArray[np.int32] | None = None
    """Passage number of each row, -1 for none; None when no row has one."""
    spans: NDArray[np.int64] | None = None
    """Start and end of each row's passage in its document, -1 for unknown; None when no row has one."""
    latency: NDArray[np.float64] | None = None
    """Milliseconds per query, NaN where not measured."""
    ended: NDArray[np.int8] | None = None
    """OK, FAILED or SKIPPED per query; None when all are OK."""
    reasons: tuple[str, ...] = ()
    """Distinct classes of error and of not being asked, without query text."""
    reason: NDArray[np.int32] | None = None
    """Reason number per query, -1 for none."""
    abstained: NDArray[np.bool_] | None = None
    """True where the engine said that it has no answer."""
    exhausted: NDArray[np.bool_] | None = None
    """True where the engine had no more results."""
    kind: str = "file"
    """The registry's name for what the retriever is."""
    config_digest: str | None = None
    """Digest of the retriever's settings."""
    system_digest: str | None = None
    """Digest of the system behind it: model files, index, snapshot."""
    created: str | None = None
    """When it was made, UTC, ISO 8601."""
    depth: int | None = None
    """How many documents were asked for; None when unknown."""

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Rows of each query."""
        return np.diff(self.starts)

    def reason_of(self, query: int) -> str | None:
        """Return why a query was not answered, or None."""
        number = -1 if self.reason is None else int(self.reason[query])
        return None if number < 0 else self.reasons[number]

    def hits(self, query: int) -> tuple[Hit, ...]:
        """Return the results of one query as they were given, best first when only scores order them."""
        rows = range(int(self.starts[query]), int(self.starts[query + 1]))
        found = [self._hit(row) for row in rows]
        if self.order == "score":
            sign = -1.0 if self.direction == "lower" else 1.0
            found.sort(key=lambda hit: -sign * (hit.score or 0.0))
        return tuple(found)

    def _hit(self, row: int) -> Hit:
        score = None if self.scores is None or np.isnan(self.scores[row]) else float(self.scores[row])
        number = -1 if self.passage is None else int(self.passage[row])
        span = None if self.spans is None or self.spans[row, 0] < 0 else Span(*map(int, self.spans[row]))
        return Hit(self.documents[int(self.codes[row])], score, None if number < 0 else self.passages[number], span)


class RunBuilder:
    """Collects answers one by one and makes a run of them.

    >>> builder = RunBuilder("mine")
    >>> builder.add("q1", Answer((Hit("b", 2.0), Hit("a", 1.0))), latency=3.5)
    >>> builder.fail("q2", "timeout")
    >>> run = builder.build()
    >>> [run.documents[c] for c in run.codes], run.reason_of(1)
    (['b', 'a'], 'timeout')
    """

    def __init__(self, name: str, *, kind: str = "python", direction: Direction | None = "higher") -> None:
        self._name, self._kind, self._direction = name, kind, direction
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._passages: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._ends: list[int] = [0]
        self._codes: list[int] = []
        self._scores: list[float] = []
        self._passage: list[int] = []
        self._spans: list[tuple[int, int]] = []
        self._latency: list[float] = []
        self._ended: list[int] = []
        self._reason: list[int] = []
        self._flags: list[tuple[bool, bool]] = []
        self._distinct = True

    def add(self, query: str, answer: Answer, *, latency: float | None = None) -> None:
        """Add what a search gave; a score that is not finite counts as none."""
        seen = len(self._codes)
        for hit in answer.hits:
            score = np.nan if hit.score is None or not np.isfinite(hit.score) else float(hit.score)
            self._codes.append(self._documents.setdefault(hit.document, len(self._documents)))
            self._scores.append(score)
            self._passage.append(
                -1 if hit.passage is None else self._passages.setdefault(hit.passage, len(self._passages))
            )
            self._spans.append((-1, -1) if hit.span is None else (hit.span.start, hit.span.end))
        self._distinct &= len(set(self._codes[seen:])) == len(answer.hits)
        self._close(query, OK, None, latency, (answer.abstained, answer.exhausted))

    def fail(self, query: str, error: str, *, latency: float | None = None) -> None:
        """Add a query that ended in an error; `error` names its class, without query text."""
        self._close(query, FAILED, error, latency, (False, False))

    def skip(self, query: str, reason: str) -> None:
        """Add a query the retriever was not asked, because it cannot honour its context."""
        self._close(query, SKIPPED, reason, None, (False, False))

    def _close(
        self, query: str, ended: int, reason: str | None, latency: float | None, flags: tuple[bool, bool]
    ) -> None:
        if query in self._queries:
            raise UsageError(f"question {query!r} was answered twice in the run {self._name}")
        self._queries[query] = len(self._queries)
        self._ends.append(len(self._codes))
        self._ended.append(ended)
        self._reason.append(-1 if reason is None else self._reasons.setdefault(reason, len(self._reasons)))
        self._latency.append(np.nan if latency is None else latency)
        self._flags.append(flags)

    def build(
        self,
        *,
        depth: int | None = None,
        created: str | None = None,
        config_digest: str | None = None,
        system_digest: str | None = None,
    ) -> Run:
        """Return the run; the builder can go on after."""
        documents = Names.of(self._documents)
        places = documents.find(list(self._documents)) if self._documents else np.empty(0, np.int32)
        scores = np.array(self._scores, dtype=np.float64)
        passage = np.array(self._passage, dtype=np.int32)
        spans = np.array(self._spans, dtype=np.int64).reshape(-1, 2)
        ended = np.array(self._ended, dtype=np.int8)
        flags = np.array(self._flags, dtype=np.bool_).reshape(-1, 2)
        return Run(
            name=self._name,
            kind=self._kind,
            queries=tuple(self._queries),
            documents=documents,
            starts=np.array(self._ends, dtype=np.int64),
            codes=places[np.array(self._codes, dtype=np.int64)],
            scores=None if np.isnan(scores).all() else scores,
            direction=self._direction,
            distinct=self._distinct,
            passages=tuple(self._passages),
            passage=passage if (passage >= 0).any() else None,
            spans=spans if (spans >= 0).any() else None,
            latency=np.array(self._latency, dtype=np.float64),
            ended=ended if ended.any() else None,
            reasons=tuple(self._reasons),
            reason=np.array(self._reason, dtype=np.int32) if ended.any() else None,
            abstained=flags[:, 0] if flags[:, 0].any() else None,
            exhausted=flags[:, 1] if flags[:, 1].any() else None,
            depth=depth,
            created=created,
            config_digest=config_digest,
            system_digest=system_digest,
        )
