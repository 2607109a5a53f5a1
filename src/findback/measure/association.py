"""Which words of questions go with which words of their answers."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

CAP = 5
"""Most clusters that one gold document counts for: a document that answers everything proves little."""
STRONG = 10.83
"""Least log-likelihood ratio of a pair: what chance exceeds once in a thousand, for one pair looked at alone."""
FEWEST = 2
"""Least clusters behind a pair."""


class Sighting(NamedTuple):
    """One question with its answer."""

    cluster: Hashable
    golds: frozenset[str]
    """Ids of its gold documents."""
    asked: frozenset[str]
    """Phrases of the question that the answer does not hold."""
    answered: frozenset[str]
    """Phrases of the answer that the question does not hold."""


class Association(NamedTuple):
    """A phrase of questions and a phrase of their answers."""

    asked: str
    answered: str
    rows: tuple[int, ...]
    """Questions that hold the one while their answer holds the other."""
    clusters: int
    """Clusters among them."""
    golds: int
    """Distinct sets of gold documents among them."""
    strength: float
    """Log-likelihood ratio against chance, 0 or more."""
    lift: float
    """How many times more often the answers hold the phrase than chance would have it."""


def log_likelihood(first: int, of_first: int, second: int, of_second: int) -> float:
    """Return the log-likelihood ratio of two shares being different: 0 or more, without sign.

    Args:
        first: Hits among `of_first`.
        of_first: 1 or more.
        second: Hits among `of_second`.
        of_second: 1 or more.

    Source:
        Dunning 1993: twice the gain in log-likelihood of two binomial shares over one; chi-squared with one
        degree of freedom under chance.

    >>> round(log_likelihood(8, 10, 20, 200), 2), round(log_likelihood(1, 10, 2, 20), 2)
    (24.88, 0.0)
    """
    pooled = (first + second) / (of_first + of_second)
    gain = (
        _log_binomial(first, of_first, first / of_first)
        + _log_binomial(second, of_second, second / of_second)
        - _log_binomial(first, of_first, pooled)
        - _log_binomial(second, of_second, pooled)
    )
    return max(2 * gain, 0.0)


def associate(
    sightings: Sequence[Sighting],
    frequency: Mapping[str, int],
    documents: int,
    *,
    fewest: int = FEWEST,
    cap: int = CAP,
) -> list[Association]:
    """Return the pairs seen in enough clusters, the strongest first.

    Every cluster counts once, and one gold document for at most `cap` clusters. How often an answer holds a phrase is
    compared with the corpus and with the answers of questions that do not hold the other phrase; the less
    surprising of both counts.

    Args:
        sightings: Questions with their answers.
        frequency: In how many documents of the corpus each phrase stands.
        documents: How many documents there are.
        fewest: Least clusters of a pair.
        cap: Most clusters a gold document counts for.
    """
    asked = _clusters_of((one.cluster, one.asked) for one in sightings)
    answered = _clusters_of((one.cluster, one.answered) for one in sightings)
    everything = len({one.cluster for one in sightings})
    found = []
    for (question, answer), rows in _pair(sightings, asked, answered, fewest).items():
        clusters = {sightings[row].cluster for row in rows}
        if len(clusters) < fewest:
            continue
        by_gold: defaultdict[frozenset[str], set[Hashable]] = defaultdict(set)
        for row in rows:
            by_gold[sightings[row].golds].add(sightings[row].cluster)
        hits = min(sum(min(len(held), cap) for held in by_gold.values()), len(clusters))
        holding = asked[question]
        others = (len(answered[answer] - holding), everything - len(holding))
        corpus = (frequency.get(answer, 0), documents)
        second, of_second = max((others, corpus), key=lambda pair: pair[0] / pair[1] if pair[1] else 0.0)
        share, usual = hits / len(holding), second / of_second if of_second else 0.0
        if not of_second or share <= usual:
            continue
        found.append(
            Association(
                asked=question,
                answered=answer,
                rows=tuple(rows),
                clusters=len(clusters),
                golds=len(by_gold),
                strength=log_likelihood(hits, len(holding), second, of_second),
                # A phrase nobody else uses is taken to be used half a time.
                lift=share / max(usual, 0.5 / of_second),
            )
        )
    return sorted(found, key=lambda one: (-one.strength, one.asked, one.answered))


def _pair(
    sightings: Sequence[Sighting],
    asked: Mapping[str, set[Hashable]],
    answered: Mapping[str, set[Hashable]],
    fewest: int,
) -> dict[tuple[str, str], list[int]]:
    """Return the rows of each pair of phrases that enough clusters hold."""
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, one in enumerate(sightings):
        questions = sorted(phrase for phrase in one.asked if len(asked[phrase]) >= fewest)
        answers = sorted(phrase for phrase in one.answered if len(answered[phrase]) >= fewest)
        for question in questions:
            for answer in answers:
                found[question, answer].append(row)
    return found


def _clusters_of(phrases: Iterable[tuple[Hashable, Iterable[str]]]) -> dict[str, set[Hashable]]:
    """Return the clusters that hold each phrase."""
    found: defaultdict[str, set[Hashable]] = defaultdict(set)
    for cluster, held in phrases:
        for phrase in held:
            found[phrase].add(cluster)
    return found


def _log_binomial(hits: int, trials: int, share: float) -> float:
    return (hits * log(share) if hits else 0.0) + ((trials - hits) * log(1 - share) if trials > hits else 0.0)
