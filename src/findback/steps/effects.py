"""What the factors of retrievers are worth: the effects of an embedder, a chunking, a reranker."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.measure.contrasts import Sample
from findback.measure.factors import compare_effects, estimate_effects
from findback.measure.metrics.name import parse_metric
from findback.model.across import Effects, EffectSystem
from findback.model.effect import FactorEffect
from findback.model.protocols import SILENT, Progress
from findback.model.question import QuestionSet
from findback.steps.across_sides import SystemsRequest, open_asking, score_set
from findback.steps.across_words import explain_effects, limit_effects, note_side
from findback.steps.compare_runs import list_words
from findback.steps.effect_records import estimate_of, record_effect
from findback.steps.kept import keep
from findback.steps.legend import note_depth
from findback.steps.makeup import make_up
from findback.steps.opening import open_documents, open_questions
from findback.workspace import Workspace

ALL = "all"
RESAMPLES = 10_000
"""Sign patterns."""


class EffectsRequest(SystemsRequest):
    """Say what the factors of retrievers are worth on one set."""

    by: tuple[str, ...] = (ALL,)
    """Factors of findback.toml's retrievers; `all` for every one."""


class Factors(NamedTuple):
    """Which effects are wanted."""

    wanted: tuple[str, ...]
    settings: tuple[Mapping[str, str], ...]
    """Of each system, its level of each factor."""


def measure_effects(
    workspace: Workspace,
    request: EffectsRequest,
    *,
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Effects:
    """Return what each level of the factors is worth against each other level.

    Args:
        workspace: Where settings, documents and kept runs are.
        request: Which systems and factors, and on what.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Raises:
        UsageError: If fewer than two systems differ in a factor, or there is no such factor.
        MissingError: If the set or a system is not there.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
        DataError: If something cannot be read, or no answerable question was asked of all systems.
    """
    words = list_words(workspace, request.systems)
    factors = list_factors(workspace, words, request.by)
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    asked = questions if questions is not None else open_questions(workspace, request, corpus)
    asking = open_asking(workspace, request, asked, corpus, progress=progress)
    seed = workspace.settings.measures.seed if request.seed is None else request.seed
    side = score_set(asking, words, seed=seed, ask=ask)
    sample = side.sample
    found = estimate_effects(sample, factors.settings, factors.wanted, seed=seed, resamples=RESAMPLES)
    primary = side.paired.metric
    result = Effects(
        made=asking.made,
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name if corpus is not None else None,
        corpus_digest=corpus.digest if corpus is not None else None,
        set=make_up(asked),
        primary=primary,
        label=parse_metric(primary).label,
        systems=tuple(
            EffectSystem(name=name, kind=one.run.kind, run=one.source, config_digest=one.run.config_digest or "")
            for name, one in zip(side.paired.names, side.entrants, strict=True)
        ),
        n=len(sample.matrix),
        clusters=sample.clusters,
        left_out=side.left_out + side.failed,
        effects=tuple(record_effect(one.levels, (estimate_of(one.gain, (sample,), seed=seed),)) for one in found),
        seed=seed,
        notes=(*note_side(side), *note_depth(workspace.settings.measures.depth, [primary])),
        legend=(),
        limits=(),
    )
    result = result.model_copy(update={"legend": explain_effects(result), "limits": limit_effects(result)})
    if workspace.file is not None:
        keep(workspace, result)
    return result


_SAY_FACTORS = '[retrievers.NAME.factors] in findback.toml says what a configuration stands for: embedder = "e5"'


def list_factors(workspace: Workspace, words: Sequence[str], by: Iterable[str]) -> Factors:
    """Return the factors that are asked for, and each system's level of every factor; none where none is asked for.

    Raises:
        UsageError: If a factor is named by no system, or with one level alone.
    """
    known = workspace.settings.retrievers
    settings = tuple(known[word].factors if word in known else {} for word in words)
    levels: dict[str, set[str]] = {}
    for one in settings:
        for factor, level in one.items():
            levels.setdefault(factor, set()).add(level)
    several = tuple(factor for factor, found in levels.items() if len(found) > 1)
    asked = tuple(dict.fromkeys(by))
    if ALL in asked:
        if not several:
            told = "all that have the same factor have one level of it" if levels else "no retriever here has factors"
            raise UsageError(told, hint=_SAY_FACTORS)
        asked = several
    for factor in asked:
        if factor not in several:
            told = f"all systems that name the factor {factor[:200]!r} have one level of it"
            raise UsageError(
                told if factor in levels else f"no system names a factor {factor[:200]!r}",
                hint=f"factors that differ: {', '.join(several)}" if several else _SAY_FACTORS,
            )
    return Factors(asked, settings)


def shift_effects(first: Sample, second: Sample, factors: Factors, *, seed: int) -> tuple[FactorEffect, ...]:
    """Return the effects asked for on both sides, and how far they differ."""
    if not factors.wanted:
        return ()
    found = compare_effects(first, second, factors.settings, factors.wanted, seed=seed, resamples=RESAMPLES)
    return tuple(
        record_effect(
            one.levels,
            (estimate_of(one.here, (first,), seed=seed), estimate_of(one.there, (second,), seed=seed)),
            estimate_of(one.between, (first, second), seed=seed),
        )
        for one in found
    )
