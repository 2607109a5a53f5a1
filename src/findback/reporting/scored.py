"""The scores a report picks out of an evaluation."""

from findback.model.evaluation import Evaluation, RetrieverScores, Score, ScoreGroup


def primary_score(retriever: RetrieverScores, metric: str) -> Score | None:
    """Return a retriever's score over all cases, or None."""
    group = retriever.group()
    return None if group is None else find_score(group, metric)


def find_score(group: ScoreGroup, metric: str) -> Score | None:
    """Return one metric of a group, by name or label."""
    return next((score for score in group.scores if metric in (score.metric, score.label)), None)


def metric_label(evaluation: Evaluation, metric: str) -> str:
    """Return how tables head a metric."""
    for retriever in evaluation.retrievers:
        score = primary_score(retriever, metric)
        if score is not None:
            return score.label
    return metric
