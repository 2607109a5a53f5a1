"""What looking at a candidate is expected to be worth: how new, how frequent and how costly its question is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from findback.evalset.head import read_head
from findback.measure.containment import find_content_words
from findback.model.candidate import Candidate
from findback.privacy.masking import mask
from findback.steps.caselist import open_head
from findback.steps.gaps import TIMES
from findback.workspace import Workspace

NEAR = 0.8
"""Share of content words two questions have in common, from which one is nearly the other."""
LEAST = 0.1
"""What is left of the value of a question that the exam has already: its label may still be wrong."""
COSTLY = 2.0
CONTROL = 0.5
"""A control did not fail: it is worth half."""
UNANSWERED = frozenset({"zero-result", "no-answer"})
"""Rules that say that nothing was found at all."""


class Asked(Protocol):
    """A question of the exam."""

    @property
    def query(self) -> str:
        """Its words."""

    @property
    def language(self) -> str:
        """Its language."""


class Expected(NamedTuple):
    """What a candidate is worth, and why."""

    value: float
    """Times asked, by how unlike the exam, by what it costs; 0 or more."""
    why: tuple[str, ...]


class ExamWords:
    """The content words of an exam's questions, by which a question is told to be new."""

    def __init__(self, cases: Iterable[Asked]) -> None:
        self._sizes: list[int] = []
        self._holders: dict[str, list[int]] = defaultdict(list)
        for case in cases:
            stems = _stems(case.query, case.language)
            for one in stems:
                self._holders[one].append(len(self._sizes))
            self._sizes.append(len(stems))

    def nearness(self, query: str, language: str | None) -> float:
        """Return how near the nearest question of the exam is: shared content words over all of both, in [0, 1].

        >>> from types import SimpleNamespace
        >>> exam = ExamWords([SimpleNamespace(query="rotate the signing key", language="en")])
        >>> exam.nearness("Signing key?", "en"), exam.nearness("book leave", "en")
        (0.6666666666666666, 0.0)
        """
        stems = _stems(query, language)
        shared = Counter(place for one in stems for place in self._holders.get(one, ()))
        return max((both / (len(stems) + self._sizes[place] - both) for place, both in shared.items()), default=0.0)


def open_exam_words(workspace: Workspace) -> ExamWords:
    """Return the words of the cases that are asked now; an exam that did not change is not read again.

    Raises:
        DataError: If the set has faults.
    """
    digest = open_head(workspace).digest
    return _read(workspace.evalset, workspace.settings.measures.leak_limit, digest)


def expect_value(candidate: Candidate, exam: ExamWords) -> Expected:
    """Return what a candidate is worth: times asked, by how unlike the exam it is, by what it costs."""
    nearness = exam.nearness(mask(candidate.query).text, candidate.language)
    value = TIMES[candidate.asked] * max(1 - nearness, LEAST)
    why = [f"asked {candidate.asked}"] if candidate.asked != "1" else []
    why.append("the exam has nearly this" if nearness >= NEAR else "new to the exam" if nearness < 1 - NEAR else "")
    if candidate.outcome is False or candidate.no_answer_hint or _unanswered(candidate):
        value *= COSTLY
        why.append("its task failed" if candidate.outcome is False else "nothing was found")
    if candidate.stratum == "control":
        value *= CONTROL
        why.append("control")
    return Expected(value, tuple(filter(None, why)))


def order_by_value(candidates: Sequence[Candidate], exam: ExamWords) -> list[tuple[int, Expected]]:
    """Return the places of candidates, the most valuable first, equals in the order given."""
    values = [expect_value(one, exam) for one in candidates]
    return sorted(enumerate(values), key=lambda pair: -pair[1].value)


def _unanswered(candidate: Candidate) -> bool:
    return any(hit.rule in UNANSWERED for hit in candidate.rules)


def _stems(query: str, language: str | None) -> frozenset[str]:
    return frozenset(find_content_words(query, language).values())


@lru_cache(maxsize=1)
def _read(evalset: Path, leak_limit: float, _digest: str | None) -> ExamWords:
    return ExamWords(one for one in read_head(evalset, leak_limit=leak_limit).cases if one.status == "active")
