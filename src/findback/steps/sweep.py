"""A grid of configurations of one retriever: the best of them, and whether it is any better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
from pydantic import ValidationError

from findback.errors import MissingError, SettingsError
from findback.measure.best_of import rate_best
from findback.measure.contrasts import take_sample
from findback.measure.factors import estimate_effects
from findback.model.evaluation import Sweep
from findback.model.settings import RetrieverSettings, SweepSettings
from findback.steps.effect_records import estimate_of, record_effect
from findback.steps.makeup import cluster_of
from findback.steps.opening import DEFAULT_RETRIEVERS
from findback.steps.scores import Scored
from findback.workspace import Workspace

MOST = 100
"""Configurations of one sweep."""


def add_sweep(workspace: Workspace, name: str) -> tuple[Workspace, tuple[str, ...]]:
    """Return the workspace with every configuration of a sweep among its retrievers, and their names.

    Raises:
        MissingError: If there is no such sweep, or no retriever for it to vary.
        SettingsError: If the grid has more than 100 configurations, or a value makes no sense.
    """
    sweep = workspace.settings.sweeps.get(name)
    if sweep is None:
        known = ", ".join(workspace.settings.sweeps) or "none"
        raise MissingError(f"there is no [sweeps.{name[:200]}] in findback.toml", hint=f"known: {known}")
    retrievers = workspace.settings.retrievers or DEFAULT_RETRIEVERS
    varied = retrievers.get(sweep.of)
    if varied is None:
        raise MissingError(
            f"[sweeps.{name}] varies {sweep.of[:200]!r}, which is no retriever", hint=f"known: {', '.join(retrievers)}"
        )
    count = prod(map(len, sweep.grid.values()))
    if count > MOST:
        raise SettingsError(f"[sweeps.{name}] has {count} configurations", hint=f"at most {MOST}")
    made = _vary(name, sweep, varied)
    settings = workspace.settings.model_copy(update={"retrievers": {**retrievers, **made}})
    return replace(workspace, settings=settings), tuple(made)


def _vary(name: str, sweep: SweepSettings, varied: RetrieverSettings) -> dict[str, RetrieverSettings]:
    made = {}
    for values in product(*sweep.grid.values()):
        chosen = dict(zip(sweep.grid, values, strict=True))
        levels = {key: _say(value) for key, value in chosen.items()}
        named = " ".join((sweep.of, *(f"{key}={level}" for key, level in levels.items())))
        try:
            made[named] = RetrieverSettings.model_validate(
                {**varied.model_dump(exclude_unset=True), **chosen, "factors": {**varied.factors, **levels}}
            )
        except ValidationError as error:
            keys = ", ".join(sorted({str(fault["loc"][0]) for fault in error.errors() if fault["loc"]}))
            raise SettingsError(f"[sweeps.{name}] gives {keys} a value that makes no sense") from None
    return made


def _say(value: bool | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def rate_sweep(name: str, scored: Sequence[Scored], metric: str, settings: Sequence[Mapping[str, str]]) -> Sweep | None:
    """Return the best of the scored configurations.

    Args:
        name: Of the sweep.
        scored: Every configuration, and whatever else was scored beside them.
        metric: What they are judged by.
        settings: The level of each factor, one a run.

    Returns:
        None with fewer than two, where a search failed, and without a case all were asked.
    """
    if len(scored) < 2 or any(one.scores.failed.any() for one in scored):
        return None
    rows = sorted(set(scored[0].answerable_rows).intersection(*(one.answerable_rows for one in scored[1:])))
    questions = [scored[0].labelled.questions[row] for row in rows]
    sample = take_sample(
        np.column_stack([one.scores[metric].values[rows] for one in scored]),
        [cluster_of(question) for question in questions],
        [frozenset(judgement.doc for judgement in question.gold) for question in questions],
    )
    names, seed = [one.run.name for one in scored], scored[0].seed
    found = rate_best(sample, seed=seed)
    if found.best is None:
        return None
    return Sweep(
        name=name,
        best=names[found.best],
        systems=found.systems,
        n=len(sample.matrix),
        clusters=found.clusters,
        lead=found.lead,
        ahead=found.ahead,
        luck=found.luck,
        noise=found.noise,
        p=found.p,
        rivals=tuple(names[at] for at in found.rivals),
        warning=found.warning,
        effects=tuple(
            record_effect(one.levels, (estimate_of(one.gain, (sample,), seed=seed),))
            for one in estimate_effects(sample, settings, seed=seed)
        ),
    )
