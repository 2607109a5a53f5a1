"""Simulated systems on simulated sets, for comparisons."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from findback.model.case import Judgement
from findback.model.compared import Comparison
from findback.model.question import Question, QuestionSet
from findback.retrievers.memory import MemoryRetriever
from findback.steps.compare import CompareRequest, compare
from findback.steps.paired_scores import PairedScores
from findback.workspace import open_workspace

Floats = npt.NDArray[np.float64]


def question(number: int, **more: Any) -> Question:
    """Return a question whose only gold is the document of its number."""
    fields = {
        "id": f"q{number}",
        "query": f"query {number}",
        "judged": (Judgement(doc=f"d{number}", grade=3, found_by="resolver"),),
    }
    return Question.model_validate(fields | more)


def questions(count: int, **more: Any) -> tuple[Question, ...]:
    """Return so many questions, all alike save for their number."""
    return tuple(question(number, **more) for number in range(count))


def question_set(asked: Sequence[Question]) -> QuestionSet:
    """Return them as a set."""
    return QuestionSet(name="set.jsonl", kind="unreleased set", questions=tuple(asked))


def ranking(name: str, ranks: Mapping[int, int | Exception] | Sequence[int | Exception]) -> MemoryRetriever:
    """Return a system that returns each question's gold at a rank, 0 for nowhere, or fails on it."""
    rows = ranks.items() if isinstance(ranks, Mapping) else enumerate(ranks)
    answers: dict[str, object] = {}
    for number, rank in rows:
        others = [f"x{at}" for at in range(12)]
        if isinstance(rank, int) and rank > 0:
            others.insert(rank - 1, f"d{number}")
        answers[f"query {number}"] = rank if isinstance(rank, Exception) else others
    return MemoryRetriever(answers, name=name)


def compare_systems(
    folder: Path, systems: Sequence[MemoryRetriever], asked: Sequence[Question], **options: Any
) -> Comparison:
    """Compare systems in a folder without settings."""
    workspace = open_workspace(folder, environment={"HOME": str(folder)}, required=False)
    return compare(workspace, CompareRequest(**options), systems=systems, questions=question_set(asked))


def paired_scores(values: Floats, asked: Sequence[Question] | None = None, *, seed: int = 1) -> PairedScores:
    """Return scores side by side; NaN is a failed search, which may have scored anything from 0 to 1."""
    rows = tuple(asked or questions(len(values)))
    return PairedScores(
        names=tuple("ABCDEFGH"[: values.shape[1]]),
        metric="RR@10",
        questions=rows,
        values=values,
        low=np.nan_to_num(values, nan=0.0),
        high=np.nan_to_num(values, nan=1.0),
        left_out=0,
        seed=seed,
    )


def reciprocal_ranks(ease: Floats, rng: np.random.Generator) -> Floats:
    """Return a reciprocal rank for each ease in (0, 1): geometric ranks, 0 beyond 10."""
    ranks = rng.geometric(np.clip(ease, 0.01, 0.99))
    return np.where(ranks <= 10, 1 / ranks, 0.0)


@cache
def comparison(**options: Any) -> Comparison:
    """Return a comparison of four systems of the invented portal on 90 failure and 40 control cases."""
    rng = np.random.default_rng(11)
    asked = [
        question(
            at,
            stratum="failure" if at < 90 else "control",
            selected_on="bm25" if at < 90 else None,
            wording=("vague", "plain", "symptom-first")[at % 3],
            origin="mined" if at % 5 else "generated",
            language="en",
        )
        for at in range(130)
    ]
    ease = rng.beta(0.6, 0.8, 130)
    systems = []
    for name, lift in (("bm25", 0.0), ("dense", 0.02), ("hybrid", 0.3), ("engine", 0.32)):
        ranks: list[int | Exception] = np.minimum(rng.geometric(np.clip(0.6 * ease + lift, 0.03, 0.97)), 13).tolist()
        if name == "engine":
            ranks[5] = RuntimeError("timeout")
        systems.append(ranking(name, ranks))
    return compare_systems(Path("/"), systems, asked, **options)
