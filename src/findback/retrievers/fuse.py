"""Several retrievers as one: by reciprocal ranks, or by weighted scores."""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from findback.errors import EngineError
from findback.model.case import Context
from findback.model.hits import Answer, Hit
from findback.model.protocols import SILENT, Progress, Query, Retriever, ScoreDirection
from findback.model.record import Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.foreign import contain, search_contained
from findback.retrievers.surroundings import Surroundings

LEVELS: tuple[EgressLevel, ...] = ("local", "internal", "external")


class FuseSettings(Record):
    """Settings of kind `fuse`."""

    of: Annotated[tuple[str, ...], Field(min_length=2)]
    """Names of the retrievers to fuse."""
    by: Literal["rank", "score"] = "rank"
    """`rank`: the sum of weight / (k + rank). `score`: the weighted sum of scores scaled to 0 … 1 per query."""
    k: PositiveFloat = 60.0
    """How little the first ranks stand out, for `rank`."""
    weights: tuple[NonNegativeFloat, ...] | None = None
    """One for each of `of`; all alike when left out."""
    depth: PositiveInt | None = None
    """Results asked of each; as many as are asked of the whole when left out."""

    @model_validator(mode="after")
    def _weighs_each(self) -> "FuseSettings":
        if self.weights is not None and (len(self.weights) != len(self.of) or not any(self.weights)):
            raise ValueError("there must be one weight for each of `of`, and one above 0")
        return self


class FuseRetriever:
    """Ranks documents by what several retrievers say about them. A query one of them fails on fails."""

    kind = "fuse"
    score_direction: ScoreDirection | None = None

    def __init__(self, name: str, own: FuseSettings, parts: Sequence[Retriever]) -> None:
        self.name = name
        self._own, self._parts = own, tuple(parts)
        self.honours = frozenset.intersection(*(part.honours for part in parts))
        self.egress: EgressLevel = max((part.egress for part in parts), key=LEVELS.index)
        limits = [limit for part in parts if (limit := getattr(part, "concurrency", None)) is not None]
        self.concurrency: int | None = min(limits) if limits else None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing of its own: what is fused is listed under its own name."""
        read_own(name, settings, FuseSettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "FuseRetriever":
        """Build what is fused, and the retriever.

        Raises:
            SettingsError: If a setting makes no sense, or a name is unknown or contains this one.
        """
        own = read_own(name, settings, FuseSettings)
        return cls(name, own, [surroundings.other(part) for part in own.of])

    def settings(self) -> Mapping[str, object]:
        """Return the way of fusing and the settings of everything fused."""
        return {
            **self._own.model_dump(),
            "parts": [[part.kind, dict(part.settings())] for part in self._parts],
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Prepare everything fused, one after the other."""
        for part in self._parts:
            prepare = getattr(part, "prepare", None)
            if prepare is not None:
                await contain(functools.partial(prepare, progress))

    async def search(self, query: Query, k: int) -> Answer:
        """Return the fused ranking; each document with the passage of the retriever that ranks it best.

        Raises:
            EngineError: If one of the retrievers fails.
        """
        wanted = max(k, self._own.depth or k)
        found = await asyncio.gather(
            *(search_contained(part, query, wanted) for part in self._parts), return_exceptions=True
        )
        answers = [_expect_answer(one) for one in found]
        weights = self._own.weights or (1.0,) * len(answers)
        totals: dict[str, float] = {}
        bests: dict[str, tuple[int, Hit]] = {}
        for part, answer, weight in zip(self._parts, answers, weights, strict=True):
            hits = collapse(answer.hits)
            points = self._points_by_rank(hits) if self._own.by == "rank" else _points_by_score(part, hits)
            for rank, (hit, point) in enumerate(zip(hits, points, strict=True)):
                totals[hit.document] = totals.get(hit.document, 0.0) + weight * point
                if hit.document not in bests or rank < bests[hit.document][0]:
                    bests[hit.document] = (rank, hit)
        ranked = sorted(totals, key=lambda document: (-totals[document], bests[document][0], document))
        fused = tuple(bests[document][1]._replace(score=totals[document]) for document in ranked)
        return Answer(
            fused,
            exhausted=all(answer.exhausted for answer in answers),
            abstained=all(answer.abstained for answer in answers),
        )

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return True if one of them holds it, False if all say no, else None."""
        said = [await part.exists(document, context) for part in self._parts]
        return True if any(said) else (None if None in said else False)

    async def close(self) -> None:
        """Close everything fused."""
        for part in self._parts:
            await part.close()

    def _points_by_rank(self, hits: Sequence[Hit]) -> list[float]:
        return [1.0 / (self._own.k + rank) for rank in range(1, len(hits) + 1)]


def collapse(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of each document, in order."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.document, hit)
    return list(first.values())


def _expect_answer(found: Answer | BaseException) -> Answer:
    if isinstance(found, BaseException):
        raise found
    return found


def _points_by_score(part: Retriever, hits: Sequence[Hit]) -> list[float]:
    """Return scores scaled to 0 … 1 over this answer; all 1 where they are equal."""
    scores = [hit.score for hit in hits if hit.score is not None]
    if len(scores) < len(hits) or part.score_direction is None:
        raise EngineError(
            f"{part.name} gives no scores that can be added up",
            hint='use `by = "rank"` for retrievers without scores',
        )
    if part.score_direction == "lower":
        scores = [-score for score in scores]
    if not scores or (span := max(scores) - min(scores)) == 0:
        return [1.0] * len(scores)
    least = min(scores)
    return [(score - least) / span for score in scores]
