"""How much of what people labelled detectors cover, and what they touch that they should not."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from findback.measure.intervals import estimate_mean
from findback.model.estimate import Estimate
from findback.privacy.finding import Finding
from findback.privacy.labelled import Label, Labelled

Finder = Callable[[Sequence[str]], Sequence[Sequence[Finding]]]
"""What finds stretches in texts, all at once."""


class Recall(NamedTuple):
    """How much of one type was found."""

    type: str
    kind: str
    """A finer kind, or empty for the whole type."""
    labels: int
    """How many stretches are labelled so."""
    applied: Estimate
    """Share of labelled stretches every character of which is covered by findings that are applied."""
    either: Estimate
    """The same with suggestions counted too."""
    half: int
    """Stretches covered in part only by what is applied: a half-covered secret is a leak."""


class Score(NamedTuple):
    """What a detector did on a sample."""

    name: str
    recalls: tuple[Recall, ...]
    altered: Estimate
    """Share of technical texts in which something would be replaced."""
    suggested: Estimate
    """Share of technical texts in which only something is suggested."""
    precision: Estimate
    """Share of applied findings that touch something labelled."""

    def recall(self, type_: str, kind: str = "") -> Recall | None:
        """Return the figures of a type, or None where nothing of it is labelled."""
        return next((recall for recall in self.recalls if (recall.type, recall.kind) == (type_, kind)), None)


def evaluate(finders: Mapping[str, Finder], sample: Sequence[Labelled]) -> list[Score]:
    """Return each detector's figures over the same texts.

    Types are not compared: what matters is that the characters go. Intervals are exact (Clopper-Pearson).
    """
    texts = [entry.text for entry in sample]
    return [_score(name, find(texts), sample) for name, find in finders.items()]


def _score(name: str, found: Sequence[Sequence[Finding]], sample: Sequence[Labelled]) -> Score:
    outcomes: dict[tuple[str, str], list[tuple[bool, bool, bool]]] = defaultdict(list)
    altered: list[bool] = []
    suggested: list[bool] = []
    touching: list[bool] = []
    for entry, findings in zip(sample, found, strict=True):
        applied = _covered(finding for finding in findings if finding.band == "applied")
        either = applied | _covered(findings)
        for label in entry.labels:
            outcome = _outcome(entry.text, label, applied, either)
            outcomes[label.type, ""].append(outcome)
            if label.kind:
                outcomes[label.type, label.kind].append(outcome)
        labelled = _covered(entry.labels)
        touching += [
            not labelled.isdisjoint(range(finding.start, finding.end))
            for finding in findings
            if finding.band == "applied"
        ]
        if entry.technical:
            altered.append(bool(applied - labelled))
            suggested.append(bool(either - labelled) and not altered[-1])
    recalls = tuple(
        Recall(
            kind,
            finer,
            len(rows),
            _share([whole for whole, _, _ in rows]),
            _share([whole for _, whole, _ in rows]),
            sum(half for _, _, half in rows),
        )
        for (kind, finer), rows in sorted(outcomes.items())
    )
    return Score(name, recalls, _share(altered), _share(suggested), _share(touching))


def _outcome(text: str, label: Label, applied: set[int], either: set[int]) -> tuple[bool, bool, bool]:
    wanted = {at for at in range(label.start, label.end) if not text[at].isspace()}
    whole = wanted <= applied
    return whole, wanted <= either, not whole and not wanted.isdisjoint(applied)


def _covered(stretches: Iterable[Finding | Label]) -> set[int]:
    return {at for stretch in stretches for at in range(stretch.start, stretch.end)}


def _share(outcomes: Sequence[bool]) -> Estimate:
    return estimate_mean([float(outcome) for outcome in outcomes])
