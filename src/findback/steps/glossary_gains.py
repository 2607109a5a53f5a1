"""Questions with and without a glossary, side by side."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from findback.measure.clusters import Floats
from findback.measure.intervals import estimate_mean
from findback.measure.paired import compare_pair
from findback.model.estimate import Estimate
from findback.model.glossary import GlossaryGain, Harmed, StratumGain
from findback.steps.glossary_material import Material
from findback.steps.glossary_texts import TextScore, TextScores
from findback.steps.scores import silence
from findback.text.expansion import Expanded

MOST_HARMED = 200
"""Harmed questions a record holds."""
_NEAR = 1e-9

Texts = Mapping[int, Sequence[str]]
"""What is searched for each question; with several texts their scores are averaged."""


class Searched(NamedTuple):
    """What a retriever found for the questions, with every text it was asked."""

    material: Material
    scores: TextScores
    seed: int


class _Sides(NamedTuple):
    """One figure of some questions, with and without."""

    after: Floats
    before: Floats

    def mean(self) -> tuple[Floats, Floats]:
        """Return both sides, undefined where one of them is: what is compared is the same on both."""
        lost = np.isnan(self.after) | np.isnan(self.before)
        return np.where(lost, np.nan, self.after), np.where(lost, np.nan, self.before)


def measure_gain(searched: Searched, rows: Collection[int], texts: Texts) -> GlossaryGain:
    """Return what searching other texts changes on some questions, with intervals over clusters.

    Args:
        searched: What was found.
        rows: Which questions.
        texts: What is searched for each with the glossary.
    """
    chosen = list(rows)
    queries = [searched.material.questions[row].query for row in chosen]
    before = [[searched.scores[row, query]] for row, query in zip(chosen, queries, strict=True)]
    after = [[searched.scores[row, text] for text in texts[row]] for row in chosen]
    sides = _Sides(_average(after, "value"), _average(before, "value"))
    failed = sum(any(one.failed for one in (*old, *new)) for old, new in zip(before, after, strict=True))
    ranks = [_reciprocal(new) - _reciprocal(old) for old, new in zip(before, after, strict=True)]
    with_it, without = sides.mean()
    estimates = (_estimate(searched, chosen, without), _estimate(searched, chosen, with_it))
    difference = _compare(searched, chosen, with_it, without)
    if failed:
        estimates = (silence(estimates[0], failed), silence(estimates[1], failed))
    return GlossaryGain(
        cases=len(chosen),
        changed=sum(any(text != query for text in texts[row]) for row, query in zip(chosen, queries, strict=True)),
        better=sum(rank > _NEAR for rank in ranks),
        worse=sum(rank < -_NEAR for rank in ranks),
        without=estimates[0],
        with_it=estimates[1],
        difference=silence(difference, failed) if failed else difference,
        lowest=_compare(searched, chosen, _average(after, "low"), _average(before, "high")) if failed else None,
        highest=_compare(searched, chosen, _average(after, "high"), _average(before, "low")) if failed else None,
        failed=failed,
    )


def measure_strata(searched: Searched, rows: Collection[int], texts: Texts) -> tuple[StratumGain, ...]:
    """Return the same for each stratum; nothing where there is only one."""
    by_stratum: dict[str, list[int]] = {}
    for row in rows:
        by_stratum.setdefault(searched.material.questions[row].stratum or "unknown", []).append(row)
    if len(by_stratum) < 2:
        return ()
    return tuple(
        StratumGain(stratum=name, gain=measure_gain(searched, by_stratum[name], texts)) for name in sorted(by_stratum)
    )


def list_harmed(searched: Searched, rows: Collection[int], expanded: Sequence[Expanded]) -> tuple[Harmed, ...]:
    """Return the questions whose best right document stands lower with the glossary, the greatest losses first."""
    found = []
    for row in rows:
        question, one = searched.material.questions[row], expanded[row]
        before, after = searched.scores[row, question.query], searched.scores[row, one.text]
        if not (before.failed or after.failed) and after.reciprocal < before.reciprocal:
            loss = after.reciprocal - before.reciprocal
            harmed = Harmed(
                question=question.id,
                query=question.query,
                added=one.added,
                before=before.rank,
                after=after.rank or None,
            )
            found.append((loss, question.id, harmed))
    return tuple(harmed for _, _, harmed in sorted(found, key=lambda one: one[:2])[:MOST_HARMED])


def _average(scores: Sequence[Sequence[TextScore]], figure: str) -> Floats:
    """Return the mean of each question's scores; NaN where one of them is undefined."""
    values = [[getattr(one, figure) for one in several] for several in scores]
    return np.array([np.nan if None in one else float(np.mean(one)) for one in values], dtype=np.float64)


def _reciprocal(scores: Sequence[TextScore]) -> float:
    if any(one.failed for one in scores):
        return float("nan")
    return float(np.mean([one.reciprocal for one in scores]))


def _estimate(searched: Searched, rows: Sequence[int], values: Floats) -> Estimate:
    if not rows:
        return Estimate(value=None, reason="no cases")
    return estimate_mean(values, searched.material.clusters(rows), _golds(searched, rows), seed=searched.seed)


def _compare(searched: Searched, rows: Sequence[int], after: Floats, before: Floats) -> Estimate:
    if not rows:
        return Estimate(value=None, reason="no cases")
    clusters = searched.material.clusters(rows)
    return compare_pair(after, before, clusters, _golds(searched, rows), seed=searched.seed).estimate


def _golds(searched: Searched, rows: Sequence[int]) -> list[frozenset[str]]:
    questions = searched.material.questions
    return [frozenset(judgement.doc for judgement in questions[row].gold) for row in rows]
