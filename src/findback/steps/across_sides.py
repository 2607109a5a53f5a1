"""The two sides of a comparison across sets: two sets, or two parts of one."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import DataError, UsageError
from findback.measure.contrasts import Sample, take_sample
from findback.measure.metrics.name import parse_metric
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import Question, QuestionSet
from findback.steps.compare_runs import Asking, Entrant, gather_runs
from findback.steps.gold import label_columns, refuse_unscorable
from findback.steps.kept import now
from findback.steps.makeup import counts
from findback.steps.opening import SetRequest
from findback.steps.paired_scores import PairedScores, pair_scores
from findback.steps.scores import score_run
from findback.workspace import Workspace

AXES = ("origin", "stratum", "wording", "answer", "language")
"""What parts of a set may be told apart by; the first that knows both values counts."""
_SHOWN = 6


class SystemsRequest(SetRequest):
    """Which systems are asked, and how."""

    systems: tuple[str, ...] = ()
    """Names from findback.toml, ids of kept runs, or files of runs; every retriever of findback.toml when empty."""
    fresh: bool = False
    """Search again, even where a run with these settings is kept for this set."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    seed: NonNegativeInt | None = None
    """Seed of resampling; findback.toml's when left out."""


class Named(NamedTuple):
    """One side as the user named it."""

    word: str
    release: int | None = None
    file: Path | None = None

    @property
    def is_set(self) -> bool:
        """Whether it is a set of its own, not part of one."""
        return self.release is not None or self.file is not None

    @property
    def name(self) -> str:
        """Return how reports call it."""
        if self.release is not None:
            return f"release {self.release}"
        return self.word if self.file is None else self.file.name


class Side(NamedTuple):
    """A set, or part of one, with the scores of all systems on it."""

    name: str
    questions: QuestionSet
    entrants: tuple[Entrant, ...]
    paired: PairedScores
    left_out: int
    """Answerable cases that not every system was asked."""

    @property
    def sample(self) -> Sample:
        """Return the cases every system has a score for."""
        return take_sample(self.paired.values, self.paired.clusters, self.paired.golds)

    @property
    def failed(self) -> int:
        """Return on how many cases a search failed."""
        return int(np.count_nonzero(self.paired.failed.any(axis=1)))


def name_sides(across: str) -> tuple[Named, Named]:
    """Return what `A,B` names: two releases, two files, or two values that part a set.

    Raises:
        UsageError: If it does not name two different sides of one kind.

    >>> [side.name for side in name_sides("3,4")], [side.name for side in name_sides("generated, mined")]
    (['release 3', 'release 4'], ['generated', 'mined'])
    """
    words = [word.strip() for word in across.split(",")]
    if len(words) != 2 or not all(words) or words[0] == words[1]:
        raise UsageError(
            f"--across needs two different sides, A,B; got {across[:200]!r}",
            hint="two parts of a set (generated,mined or failure,control), two releases (3,4), or two files",
        )
    first, second = map(_name, words)
    if first.is_set != second.is_set:
        part, whole = (second, first) if first.is_set else (first, second)
        raise UsageError(
            f"{part.word[:200]!r} is no release and no file, {whole.word[:200]!r} is one",
            hint="name two sets, or two parts of one set",
        )
    return first, second


def _name(word: str) -> Named:
    if word.isdecimal() and word.isascii() and len(word) < 10:
        return Named(word, release=int(word))
    file = Path(word)
    return Named(word, file=file) if file.exists() else Named(word)


def part_set(questions: QuestionSet, words: Sequence[str]) -> list[QuestionSet]:
    """Return the parts of a set whose questions have each value, along the first axis that knows all of them.

    Raises:
        UsageError: If there is no such axis; says which values each has.
    """
    for axis in AXES:
        parts = [tuple(one for one in questions.questions if getattr(one, axis) == word) for word in words]
        if all(parts):
            return [questions.model_copy(update={"questions": part}) for part in parts]
    listed = "; ".join(filter(None, (_list_values(questions.questions, axis) for axis in AXES)))
    raise UsageError(
        f"{questions.name} has no two parts {' and '.join(words)}", hint=f"it has {listed}" if listed else None
    )


def _list_values(questions: Sequence[Question], axis: str) -> str:
    found = [one for one in counts(getattr(question, axis) for question in questions) if one.name != "unknown"]
    if not found:
        return ""
    return f"{axis}: {', '.join(f'{one.name} ({one.count})' for one in found[:_SHOWN])}"


def open_asking(
    workspace: Workspace,
    request: SystemsRequest,
    questions: QuestionSet,
    documents: Corpus | None,
    *,
    progress: Progress = SILENT,
) -> Asking:
    """Return what every system is asked, for one set.

    Raises:
        DataError: If no question has usable gold.
    """
    refuse_unscorable(questions, documents)
    chosen = workspace.settings.measures
    return Asking(
        workspace=workspace,
        asked=questions,
        labelled=label_columns(questions.questions, documents),
        documents=documents,
        depth=max(chosen.depth, parse_metric(chosen.primary).cutoff or 1),
        concurrency=request.concurrency,
        made=now(),
        # Other columns give other questions of the same file: what was searched for cannot be told from ids.
        fresh=request.fresh or bool(request.columns),
        progress=progress,
    )


def score_set(
    asking: Asking,
    words: Sequence[str],
    systems: Sequence[Retriever] = (),
    *,
    seed: int,
    ask: Callable[[str], bool] | None = None,
) -> Side:
    """Return a set with the primary metric of every system on it.

    Raises:
        MissingError: If a word names no system.
        DataError: If a run cannot be read, or no answerable question was asked of all systems.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
    """
    primary = str(parse_metric(asking.workspace.settings.measures.primary))
    entrants = gather_runs(asking, words, systems, ask=ask)
    scored = [score_run(one.run, asking.labelled, [primary], seed=seed) for one in entrants]
    paired = pair_scores(scored, primary, [one.name for one in entrants])
    return _check(Side(asking.asked.name, asking.asked, entrants, paired, paired.left_out))


def take_parts(whole: Side, names: Sequence[str]) -> list[Side]:
    """Return two parts of a set that was scored as a whole.

    Raises:
        UsageError: If the set has no such parts.
        DataError: If a part has no answerable question that was asked of all systems.
    """
    place = {question.id: row for row, question in enumerate(whole.paired.questions)}
    sides = []
    for name, part in zip(names, part_set(whole.questions, names), strict=True):
        rows = [place[question.id] for question in part.questions if question.id in place]
        answerable = sum(1 for question in part.questions if question.gold or question.unresolved)
        sides.append(_check(Side(name, part, whole.entrants, whole.paired.take(rows), answerable - len(rows))))
    return sides


def _check(side: Side) -> Side:
    if not len(side.sample.matrix):
        names = ", ".join(one.name for one in side.entrants)
        raise DataError(f"no answerable question of {side.name} has a score from all of: {names}")
    return side
