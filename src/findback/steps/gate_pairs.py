"""A system beside one baseline: paired case by case, bounded, judged."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from findback.evalset.baseline import Baseline
from findback.measure.clusters import Floats
from findback.measure.gating import (
    Bounds,
    Decision,
    bound_difference,
    count_needed,
    detect_loss,
    join_extremes,
    judge_floor,
    judge_loss,
)
from findback.measure.intervals import estimate_mean
from findback.measure.metrics.name import parse_metric
from findback.model.estimate import Estimate
from findback.model.gated import GateComparison, GatedCase, GatedFloor, GatedType, LeftOut, Policy, Role
from findback.model.protocols import Documents
from findback.model.question import Question
from findback.model.settings import GateAxis
from findback.steps.makeup import cluster_of
from findback.steps.paired_scores import PairedScores, pair_scores, shared_rows, was_asked
from findback.steps.publish import UNASKED, Replayed, replay
from findback.steps.scores import Scored, score_run

AXES: tuple[GateAxis, ...] = ("origin", "stratum", "wording", "answer", "language")
"""Types whose losses are counted apart."""
NOW, BEFORE = 0, 1
"""Columns of paired scores."""
_NEAR = 1e-9


class Rules(NamedTuple):
    """What verdicts are given by."""

    margin: float
    policy: Policy
    level: float
    alarm: float
    """Chance of a false alarm of one test."""
    show_queries: bool = False


def compare_with(
    baseline: Baseline, role: Role, scored: Scored, rules: Rules, documents: Documents | None
) -> GateComparison:
    """Return a system beside a baseline.

    Args:
        baseline: What it is held to.
        role: What for.
        scored: The system, scored with the primary metric.
        rules: What the verdict is given by.
        documents: Tells former names of a document.
    """
    metric = scored.metrics[0]
    again = replay(baseline, scored.labelled, parse_metric(metric), documents)
    before = score_run(again.run, scored.labelled, (metric,), seed=scored.seed)
    paired = pair_scores((scored, before), metric, ("now", "before"))
    errors = paired.count_failed((NOW, BEFORE))
    lowest, highest = _bound(paired, rules, errors)
    decision = judge_loss(lowest, margin=rules.margin, policy=rules.policy)
    if errors:
        decision = join_extremes(decision, judge_loss(highest, margin=rules.margin, policy=rules.policy), errors)
    gaps = paired.subtract((NOW, BEFORE))
    head = baseline.head
    return GateComparison(
        role=role,
        name=baseline.name,
        retriever=head.retriever,
        heading=head.heading,
        made=head.made,
        config_digest=head.config_digest,
        cases=len(paired.questions),
        units=lowest.units,
        before=_mean(paired, BEFORE),
        now=_mean(paired, NOW),
        difference=None if errors else lowest.value,
        lowest=lowest.value if errors else None,
        highest=highest.value if errors else None,
        lower=lowest.lower,
        upper=highest.upper,
        p=highest.p,
        interval=lowest.interval,
        verdict=decision.verdict,
        why=decision.why,
        errors=errors,
        lost=int((gaps < -_NEAR).sum()),
        won=int((gaps > _NEAR).sum()),
        detectable=detect_loss(lowest, margin=0.0 if rules.policy == "significance" else rules.margin),
        needed=None if errors else count_needed(lowest, rules.margin),
        rescored=again.rescored,
        left_out=_left_out(again, scored),
        types=_count_types(paired, gaps),
        changed=_list_changed(paired, (scored, before), rules),
    )


def _bound(paired: PairedScores, rules: Rules, errors: int) -> tuple[Bounds, Bounds]:
    """Return the difference at its least and at its most: one and the same without failed searches."""

    def bound(now: Floats, before: Floats) -> Bounds:
        gaps = now[:, NOW] - before[:, BEFORE]
        gaps[np.abs(gaps) <= _NEAR] = 0.0
        return bound_difference(
            gaps, paired.clusters, paired.golds, level=rules.level, alarm=rules.alarm, seed=paired.seed
        )

    lowest = bound(paired.low, paired.high)
    return lowest, bound(paired.high, paired.low) if errors else lowest


def _mean(paired: PairedScores, column: int) -> float | None:
    """Return one side's mean over clusters; None where a search failed."""
    if not paired.questions or paired.failed[:, column].any():
        return None
    return estimate_mean(paired.values[:, column], paired.clusters).value


def _left_out(again: Replayed, scored: Scored) -> tuple[LeftOut, ...]:
    questions = scored.labelled.questions
    held = set(again.run.queries)
    skipped = {query for at, query in enumerate(again.run.queries) if again.run.reason_of(at) == UNASKED}
    rows = np.flatnonzero(scored.scores.answerable & ~was_asked(scored)).tolist()
    unasked = sorted({questions[row].id for row in rows if questions[row].id in held} | skipped)
    left = dict(again.left_out) | ({UNASKED: tuple(unasked)} if unasked else {})
    return tuple(LeftOut(why=why, cases=left[why]) for why in sorted(left))


def _count_types(paired: PairedScores, gaps: Floats) -> tuple[GatedType, ...]:
    """Return how each type fared, along the axes on which the cases differ."""
    found = []
    for axis in AXES:
        rows = paired.group_rows(lambda question, axis=axis: getattr(question, axis))  # type: ignore[misc]
        if len(rows) < 2:
            continue
        for value, at in rows.items():
            lost, won = int((gaps[at] < -_NEAR).sum()), int((gaps[at] > _NEAR).sum())
            found.append(GatedType(axis=axis, value=value, cases=len(at), lost=lost, won=won))
    return tuple(found)


def _list_changed(paired: PairedScores, sides: Sequence[Scored], rules: Rules) -> tuple[GatedCase, ...]:
    """Return the cases that differ, the largest loss first, and those on which a search failed."""
    rows = shared_rows(sides)
    ranks = [side.scores.best_gold[0][rows].tolist() for side in sides]
    cases = []
    for at, (question, values) in enumerate(zip(paired.questions, paired.values.tolist(), strict=True)):
        now, before = (None if np.isnan(value) else float(value) for value in values)
        if now is not None and before is not None and abs(now - before) <= _NEAR:
            continue
        if now is None and before is None and not paired.failed[at].any():
            continue
        cases.append(
            GatedCase(
                question=question.id,
                wording=question.wording,
                answer=question.answer,
                stratum=question.stratum,
                language=question.language,
                before=before,
                now=now,
                rank_before=None if before is None else ranks[BEFORE][at] or None,
                rank_now=None if now is None else ranks[NOW][at] or None,
                query=question.query if rules.show_queries else None,
            )
        )
    return tuple(sorted(cases, key=lambda case: (case.gap is None, case.gap or 0.0, case.question)))


def hold_floor(scored: Scored, axis: GateAxis, value: str, floor: float, rules: Rules) -> GatedFloor:
    """Return whether the cases of one type hold a level.

    Args:
        scored: The system, scored with the primary metric.
        axis: What the cases have in common.
        value: Which value of it.
        floor: The level, in [0, 1].
        rules: Level and alarm are those of this one test.
    """
    questions = scored.labelled.questions
    asked = scored.scores.answerable & was_asked(scored)
    rows = [row for row in np.flatnonzero(asked).tolist() if (getattr(questions[row], axis) or "unknown") == value]
    column = scored.scores[scored.metrics[0]]
    errors = int(scored.scores.failed[rows].sum()) if rows else 0
    taken = [questions[row] for row in rows]
    lowest = _estimate(column.low[rows], taken, 2 * rules.level - 1, scored.seed)
    highest = _estimate(column.high[rows], taken, 1 - 2 * rules.alarm, scored.seed)
    verdict = judge_floor(lowest.low, highest.high, floor, policy=rules.policy)
    why = lowest.reason or "" if lowest.low is None else ""
    if errors:
        decision = Decision(verdict, why) if verdict == "fail" else Decision("undecided")
        verdict, why = join_extremes(decision, decision, errors)
    return GatedFloor(
        axis=axis,
        value=value,
        floor=floor,
        cases=len(rows),
        mean=None if errors else lowest.value,
        lower=lowest.low,
        upper=highest.high,
        verdict=verdict,
        why=why,
    )


def _estimate(values: Floats, questions: Sequence[Question], level: float, seed: int) -> Estimate:
    if not questions:
        return Estimate(value=None, reason="the set has no such case")
    clusters = [cluster_of(question) for question in questions]
    golds = [frozenset(judgement.doc for judgement in question.gold) for question in questions]
    return estimate_mean(values, clusters, golds, level=level, seed=seed)
