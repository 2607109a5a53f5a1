"""Compare systems across two sets: do both put them into the same order?"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.errors import UsageError
from findback.measure.metrics.name import parse_metric
from findback.measure.ranking import RankAgreement, compare_orders
from findback.measure.reweighting import Queries, Reweighting, reweight
from findback.model.across import Across
from findback.model.effect import FactorEffect
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.steps.across_records import list_pairs, list_systems, mix_overlaps, noise_of, stand
from findback.steps.across_sides import Side, SystemsRequest, name_sides, open_asking, score_set, take_parts
from findback.steps.across_words import explain_across, limit_across, note_sides
from findback.steps.compare_runs import list_words
from findback.steps.effects import list_factors, shift_effects
from findback.steps.kept import keep, now
from findback.steps.legend import note_depth
from findback.steps.opening import open_documents, open_questions
from findback.steps.overlaps import Overlaps, measure_overlaps
from findback.workspace import Workspace

RESAMPLES = 10_000
"""Divisions of the clusters, and sign patterns."""


class AcrossRequest(SystemsRequest):
    """Compare systems across two sets: do both put them into the same order?"""

    across: str
    """Two parts of the set (generated,mined or failure,control), two releases (3,4), or two files of sets."""
    by: tuple[str, ...] = ()
    """Factors of findback.toml's retrievers whose effects are compared as well; `all` for every one."""


def compare_across(
    workspace: Workspace,
    request: AcrossRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Across:
    """Compare the order of systems on two sides: sets, or parts of one.

    Args:
        workspace: Where settings, documents and kept runs are.
        request: What to compare, and across what.
        systems: Retrievers already built, besides what the request names.
        questions: Questions already read, whose parts are compared, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.

    Returns:
        Whether the order is the same, which pairs are reversed, and both sides beside each other. Where gold texts
        are at hand, the first side's scores are shown weighted to the second's overlap as well.

    Raises:
        UsageError: If there are fewer than two systems, the sides make no sense or a factor is not known.
        MissingError: If a set or a system is not there.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
        DataError: If something cannot be read, or a side has no answerable question that all systems were asked.
    """
    named = name_sides(request.across)
    words = list_words(workspace, request.systems, systems)
    if len(words) < 2:
        raise UsageError("an order needs two systems or more", hint="findback compare A B --across generated,mined")
    factors = list_factors(workspace, words, request.by)
    corpus = documents if documents is not None else open_documents(workspace, request, progress=progress)
    seed = workspace.settings.measures.seed if request.seed is None else request.seed

    def score(asked: QuestionSet) -> Side:
        asking = open_asking(workspace, request, asked, corpus, progress=progress)
        return score_set(asking, request.systems, systems, seed=seed, ask=ask)

    if named[0].is_set:
        read = [open_questions(workspace, _of(request, one.release, one.file), corpus) for one in named]
        sides = [score(one)._replace(name=side.name) for one, side in zip(read, named, strict=True)]
    else:
        whole = questions if questions is not None else open_questions(workspace, request, corpus)
        sides = take_parts(score(whole), [one.name for one in named])
    samples = [side.sample for side in sides]
    overlaps = measure_overlaps(sides[0].questions, sides[1].questions, corpus, seed=seed)
    result = _describe(
        workspace,
        corpus,
        sides,
        Measured(
            compare_orders(samples[0], samples[1], seed=seed, resamples=RESAMPLES),
            overlaps,
            _reweight(sides, overlaps, seed) if overlaps.window is not None else None,
            shift_effects(samples[0], samples[1], factors, seed=seed),
        ),
    )
    if workspace.file is not None:
        keep(workspace, result)
    return result


class Measured(NamedTuple):
    """What was found out about two sides."""

    agreement: RankAgreement
    overlaps: Overlaps
    reweighting: Reweighting | None
    effects: tuple[FactorEffect, ...]


def _of(request: AcrossRequest, release: int | None, file: object) -> AcrossRequest:
    return request.model_copy(update={"release": release, "set": file})


def _reweight(sides: Sequence[Side], overlaps: Overlaps, seed: int) -> Reweighting:
    first, second = (
        Queries(side.paired.values, overlaps.of(at, side.paired.questions), side.paired.clusters, side.paired.golds)
        for at, side in enumerate(sides)
    )
    return reweight(first, second, seed=seed)


def _describe(workspace: Workspace, corpus: Corpus | None, sides: Sequence[Side], measured: Measured) -> Across:
    agreement, primary = measured.agreement, sides[0].paired.metric
    names = sides[0].paired.names
    result = Across(
        made=now(),
        findback=version("findback"),
        workspace=workspace.settings.name,
        corpus=corpus.name if corpus is not None else None,
        corpus_digest=corpus.digest if corpus is not None else None,
        primary=primary,
        label=parse_metric(primary).label,
        sides=(stand(sides[0], agreement.sets[0]), stand(sides[1], agreement.sets[1])),
        systems=list_systems(sides, agreement, measured.reweighting),
        verdict=agreement.verdict,
        why=agreement.why,
        tau=agreement.tau,
        reason=agreement.reason,
        population=noise_of(agreement.population),
        order=noise_of(agreement.order),
        pairs=list_pairs(names, sides, agreement),
        overlap=mix_overlaps(measured.reweighting, measured.overlaps.window),
        effects=measured.effects,
        resamples=RESAMPLES,
        seed=agreement.seed,
        notes=(*note_sides(sides), *note_depth(workspace.settings.measures.depth, [primary])),
        legend=(),
        limits=(),
    )
    return result.model_copy(update={"legend": explain_across(result), "limits": limit_across(result)})
