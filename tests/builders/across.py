"""Simulated systems on two sides, for comparisons across sets."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from builders.comparisons import question, question_set, ranking
from findback.corpus.corpus import Corpus, corpus_of
from findback.model.across import Across
from findback.model.document import Document
from findback.model.question import Question
from findback.steps.across import AcrossRequest, compare_across
from findback.workspace import open_workspace

NAMES = ("bm25", "dense", "hybrid", "engine", "rerank")


def across_systems(
    folder: Path, systems: Sequence[Any], asked: Sequence[Question], documents: Corpus | None = None, **options: Any
) -> Across:
    """Compare systems across parts of a set, in a folder without settings."""
    workspace = open_workspace(folder, environment={"HOME": str(folder)}, required=False)
    request = AcrossRequest(**{"across": "generated,mined", **options})
    return compare_across(workspace, request, systems=systems, questions=question_set(asked), documents=documents)


def two_sides(count: int, first: int) -> tuple[Question, ...]:
    """Return so many questions, the first of them generated and the rest mined."""
    return tuple(question(at, origin="generated" if at < first else "mined", language="en") for at in range(count))


def documents_for(count: int) -> Corpus:
    """Return a document for each question; generated ones share their words with it."""
    return corpus_of(
        [Document(id=f"d{at}", text=f"query {at} about tunnel certificate number {at}") for at in range(count)]
    )


@cache
def across(**options: Any) -> Across:
    """Return five systems on 120 generated and 60 mined cases; bm25 and dense change places."""
    rng = np.random.default_rng(5)
    lifts = {"bm25": (0.5, 0.1), "dense": (0.1, 0.5), "hybrid": (0.6, 0.55), "engine": (0.3, 0.3), "rerank": (0.8, 0.8)}
    ease = rng.uniform(0, 0.15, 180)
    systems = []
    for name in NAMES:
        here, there = lifts[name]
        chance = ease + np.where(np.arange(180) < 120, here, there)
        systems.append(ranking(name, np.minimum(rng.geometric(np.clip(chance, 0.03, 0.97)), 13).tolist()))
    return across_systems(Path("/"), systems, two_sides(180, 120), documents_for(180), **options)
