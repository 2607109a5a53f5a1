"""Compare systems on one set: which is better, and whether that can be told at all."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from findback.corpus.corpus import Corpus
from findback.errors import DataError, UsageError
from findback.measure.metrics.name import parse_metric
from findback.measure.standing import bound_ranks, group_alike
from findback.model.compared import ComparedPair, ComparedSystem, Comparison
from findback.model.evaluation import Score
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.model.settings import MeasureSettings
from findback.steps.compare_pairs import Terms, count_against, count_nameless, judge_pairs, list_pairs, order_systems
from findback.steps.compare_parts import differ_by_type, differ_in_metrics, list_differing, score_systems
from findback.steps.compare_runs import Asking, Entrant, gather_runs, list_words
from findback.steps.compare_words import explain_comparison, limit_comparison, note_production, note_runs
from findback.steps.evaluate import PASSAGE_METRICS
from findback.steps.gold import Labelled, label_columns, refuse_unscorable
from findback.steps.kept import keep, now
from findback.steps.legend import note_depth
from findback.steps.lenient import score_leniently
from findback.steps.makeup import make_up
from findback.steps.opening import DEFAULT_RETRIEVERS, SetRequest, open_documents, open_questions
from findback.steps.paired_scores import PairedScores, pair_scores, shared_rows
from findback.steps.scores import Scored, score_run
from findback.workspace import Workspace


class CompareRequest(SetRequest):
    """Compare systems on one set: which is better, and whether that can be told at all."""

    systems: tuple[str, ...] = ()
    """Names from findback.toml, ids of kept runs, or files of runs; every retriever of findback.toml when empty."""
    baseline: str | None = None
    """Compare the others with this one alone, instead of every pair."""
    production: str | None = None
    """The system people use: failure cases that do not say whose failure they are count as its own."""
    lenient: bool = False
    """Count documents confirmed to be the same (translations, mirrors) as one."""
    fresh: bool = False
    """Search again, even where a run with these settings is kept for this set."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    seed: NonNegativeInt | None = None
    """Seed of resampling; findback.toml's when left out."""


def compare(
    workspace: Workspace,
    request: CompareRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Comparison:
    """Compare systems case by case on the answerable cases that all of them were asked.

    Args:
        workspace: Where settings, documents and kept runs are.
        request: What to compare, and on what.
        systems: Retrievers already built, besides what the request names.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Returns:
        Each pair with its difference, interval and verdict on the primary metric of findback.toml; everything else
        in it is exploratory.

    Raises:
        UsageError: If there are fewer than two systems, or the baseline is none of them.
        MissingError: If there is no set, or a system is not there.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
        DataError: If set, documents or a run cannot be read, or the systems share no answerable question.
    """
    chosen = workspace.settings.measures
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    asked = questions if questions is not None else open_questions(workspace, request, corpus)
    labelled = label_columns(asked.questions, corpus)
    refuse_unscorable(asked, corpus)
    metrics = list_metrics(chosen, labelled)
    asking = Asking(
        workspace=workspace,
        asked=asked,
        labelled=labelled,
        documents=corpus,
        depth=max(chosen.depth, *(parse_metric(name).cutoff or 1 for name in metrics)),
        concurrency=request.concurrency,
        made=now(),
        # Other columns give other questions of the same file: what was searched for cannot be told from ids.
        fresh=request.fresh or bool(request.columns),
        progress=progress,
    )
    _check_words(list_words(workspace, request.systems, systems), request.baseline)
    same = _same(corpus) if request.lenient else {}
    entrants = gather_runs(asking, request.systems, systems, ask=ask)
    seed = chosen.seed if request.seed is None else request.seed
    progress.start("Comparing", None)
    try:
        scored = [score_run(one.run, labelled, metrics, seed=seed) for one in entrants]
        if request.lenient:
            scored = [score_leniently(one, same) for one in scored]
        result = compare_scored(asking, entrants, scored, request)
    finally:
        progress.finish()
    if workspace.file is not None:
        keep(workspace, result)
    return result


def list_metrics(chosen: MeasureSettings, labelled: Labelled) -> tuple[str, ...]:
    """Return the metrics to score: the primary one first."""
    names = [str(parse_metric(name)) for name in (chosen.primary, *chosen.metrics)]
    if any(judgement.anchor for question in labelled.questions for judgement in question.gold):
        names += PASSAGE_METRICS
    return tuple(dict.fromkeys(names))


def compare_scored(
    asking: Asking, entrants: Sequence[Entrant], scored: Sequence[Scored], request: CompareRequest
) -> Comparison:
    """Compare runs that were scored on the same questions with the same metrics, the primary one first."""
    workspace, corpus = asking.workspace, asking.documents
    names = tuple(one.name for one in entrants)
    primary = scored[0].metrics[0]
    paired = pair_scores(scored, primary, names)
    if not paired.questions:
        raise DataError(f"no answerable question of {asking.asked.name} was asked of all: {', '.join(names)}")
    production = request.production or workspace.settings.measures.production
    terms = Terms(
        margin=workspace.settings.measures.margin,
        baseline=None if request.baseline is None else [one.word for one in entrants].index(request.baseline),
        known=workspace.settings.retrievers or DEFAULT_RETRIEVERS,
        production=production,
    )
    pairs = _add_parts(paired, scored, terms, judge_pairs(paired, terms))
    groups, ranks = stand(paired, pairs) if terms.baseline is None else ((), None)
    made_of = make_up(asking.asked)
    sizes = [pair.detectable for pair in pairs if pair.detectable is not None]
    rows = shared_rows(scored)
    nameless = count_nameless(paired, terms)
    result = Comparison(
        made=asking.made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name if corpus is not None else None,
        corpus_digest=corpus.digest if corpus is not None else None,
        set=made_of,
        primary=primary,
        label=parse_metric(primary).label,
        family="all pairs" if terms.baseline is None else "against a baseline",
        baseline=None if terms.baseline is None else names[terms.baseline],
        production=production,
        lenient=request.lenient,
        margin=terms.margin,
        resamples=terms.resamples,
        seed=paired.seed,
        compared=len(paired.questions),
        unclaimed=nameless if production is None else 0,
        left_out=paired.left_out,
        systems=_describe(
            entrants, scored, _Standing(score_systems(paired), count_against(paired, terms), groups, ranks)
        ),
        pairs=pairs,
        groups=tuple(tuple(names[at] for at in group) for group in groups),
        detectable=(min(sizes), max(sizes)) if sizes else None,
        cases=list_differing(paired, [one.scores.best_gold[0][rows] for one in scored]),
        notes=(
            *(note_production(production, names, terms.known) if nameless else ()),
            *note_runs(entrants, paired.left_out),
            *note_depth(workspace.settings.measures.depth, scored[0].metrics),
        ),
        legend=(),
        limits=(),
    )
    return result.model_copy(
        update={"legend": explain_comparison(result, scored[0].metrics), "limits": limit_comparison(result)}
    )


def stand(
    paired: PairedScores, pairs: Sequence[ComparedPair]
) -> tuple[tuple[tuple[int, ...], ...], list[tuple[int, int]]]:
    """Return the groups of systems that cannot be told apart, best first, and the ranks each system may have.

    Only plain verdicts tell apart: one on past failures alone does not.
    """
    at = {name: place for place, name in enumerate(paired.names)}
    better = np.zeros((len(at), len(at)), dtype=np.bool_)
    for pair in pairs:
        first, second = at[pair.first], at[pair.second]
        better[first, second] = pair.verdict == "better"
        better[second, first] = pair.verdict == "worse"
    return group_alike(better | better.T, order_systems(paired)), list(bound_ranks(better))


def _add_parts(
    paired: PairedScores, scored: Sequence[Scored], terms: Terms, judged: Sequence[ComparedPair]
) -> tuple[ComparedPair, ...]:
    """Return the pairs with what is shown without a verdict."""
    pairs = list_pairs(paired, terms.baseline)
    types = differ_by_type(paired, pairs)
    metrics = differ_in_metrics(scored, scored[0].metrics[1:], paired.names, pairs)
    return tuple(
        pair.model_copy(update={"types": by_type, "metrics": others})
        for pair, by_type, others in zip(judged, types, metrics, strict=True)
    )


class _Standing(NamedTuple):
    """Where systems stand."""

    scores: Sequence[Score]
    selected: Mapping[str, int]
    groups: Sequence[Sequence[int]]
    ranks: Sequence[tuple[int, int]] | None


def _describe(entrants: Sequence[Entrant], scored: Sequence[Scored], standing: _Standing) -> tuple[ComparedSystem, ...]:
    rows = shared_rows(scored)
    scores, selected, groups, ranks = standing
    return tuple(
        ComparedSystem(
            name=entrant.name,
            kind=entrant.run.kind,
            run=entrant.source,
            created=entrant.run.created,
            reused=entrant.reused,
            config_digest=entrant.run.config_digest or "",
            score=scores[at],
            failed=int(one.scores.failed[rows].sum()),
            missing=int(one.scores.missing[rows].sum()),
            selected=selected[entrant.name],
            first_rank=None if ranks is None else ranks[at][0],
            last_rank=None if ranks is None else ranks[at][1],
            groups=tuple(number for number, group in enumerate(groups) if at in group),
        )
        for at, (entrant, one) in enumerate(zip(entrants, scored, strict=True))
    )


def _check_words(words: Sequence[str], baseline: str | None) -> None:
    """Stop before anything is searched.

    Raises:
        UsageError: If there are fewer than two systems, or the baseline is none of them.
    """
    if len(words) < 2:
        raise UsageError(
            "a comparison needs two systems or more",
            hint="findback compare A B: names of [retrievers] in findback.toml, kept runs, or files of runs",
        )
    if baseline is not None and baseline not in words:
        raise UsageError(
            f"the baseline {baseline[:200]!r} is none of the systems compared", hint=f"compared: {', '.join(words)}"
        )


def _same(corpus: Corpus | None) -> Mapping[str, str]:
    same = corpus.same if corpus is not None else {}
    if not same:
        raise UsageError(
            "no two documents are confirmed to be the same, so there is nothing to count leniently",
            hint="[corpus] same = FILE names a CSV with one group of ids a row",
        )
    return same
