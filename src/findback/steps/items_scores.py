"""The scores item analysis looks at: every system on every case, and where they came from."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import DataError
from findback.measure.metrics.name import parse_metric
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.steps.compare_runs import Asking, Entrant, gather_runs
from findback.steps.gold import label_columns, refuse_unscorable
from findback.steps.kept import now
from findback.steps.opening import SetRequest, open_documents, open_questions
from findback.steps.paired_scores import PairedScores, pair_scores
from findback.steps.scores import Scored, score_run
from findback.workspace import Workspace


class ItemsRequest(SetRequest):
    """Look at each case with every system: which cases, labels and documents look wrong."""

    systems: tuple[str, ...] = ()
    """Names from findback.toml, ids of kept runs, or files of runs; every retriever of findback.toml when empty."""
    fresh: bool = False
    """Search again, even where a run with these settings is kept for this set."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    seed: NonNegativeInt | None = None
    """Seed of resampling and of what is drawn; findback.toml's when left out."""


class ItemScores(NamedTuple):
    """Every system on every case."""

    asking: Asking
    entrants: tuple[Entrant, ...]
    scored: tuple[Scored, ...]
    paired: PairedScores
    """The primary metric on the cases that all were asked."""
    seed: int


def score_items(
    workspace: Workspace,
    request: ItemsRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> ItemScores:
    """Score systems on a set, with kept runs where they fit.

    Args:
        workspace: Where settings, documents and kept runs are.
        request: What to look at.
        systems: Retrievers already built, besides what the request names.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Raises:
        MissingError: If there is no set, or a system is not there.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
        DataError: If set, documents or a run cannot be read, or the systems share no answerable question.
    """
    chosen = workspace.settings.measures
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    asked = questions if questions is not None else open_questions(workspace, request, corpus)
    refuse_unscorable(asked, corpus)
    metric = str(parse_metric(chosen.primary))
    asking = Asking(
        workspace=workspace,
        asked=asked,
        labelled=label_columns(asked.questions, corpus),
        documents=corpus,
        depth=max(chosen.depth, parse_metric(metric).cutoff or 1),
        concurrency=request.concurrency,
        made=now(),
        fresh=request.fresh or bool(request.columns),
        progress=progress,
    )
    entrants = gather_runs(asking, request.systems, systems, ask=ask)
    seed = chosen.seed if request.seed is None else request.seed
    scored = tuple(score_run(one.run, asking.labelled, (metric,), seed=seed) for one in entrants)
    names = [one.name for one in entrants]
    paired = pair_scores(scored, metric, names)
    if not paired.questions:
        raise DataError(f"no answerable question of {asked.name} was asked of all: {', '.join(names)}")
    return ItemScores(asking, entrants, scored, paired, seed)
