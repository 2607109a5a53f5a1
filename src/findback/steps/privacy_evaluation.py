"""Measure redaction on a team's own labelled sample."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from findback.model.estimate import Estimate
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.privacy.article_rules import find_as_article
from findback.privacy.evaluation import Finder, evaluate
from findback.privacy.key import Key
from findback.privacy.labelled import read_labelled
from findback.privacy.opening import open_redactor
from findback.workspace import Workspace


class PrivacyEvaluationRequest(Request):
    """Score redaction on texts that people labelled."""

    sample: Annotated[Path, LOCAL_ONLY] = Path("labelled.jsonl")
    """JSON Lines with `text` and `spans`, or `marked` text."""


class TypeRecall(Record):
    """How much of one type was covered whole."""

    type: str
    labels: int
    applied: Estimate
    either: Estimate
    """With suggestions counted too."""
    half: int
    """Covered in part only: a half-covered secret is a leak."""


class DetectorScore(Record):
    """What one detector did on the sample."""

    name: str
    recalls: tuple[TypeRecall, ...]
    altered: Estimate
    """Share of technical texts in which something would be replaced."""
    precision: Estimate


class PrivacyEvaluation(Record):
    """Every detector on the same sample."""

    texts: int
    detectors: tuple[DetectorScore, ...]


def evaluate_privacy(workspace: Workspace, request: PrivacyEvaluationRequest) -> PrivacyEvaluation:
    """Score findback's redaction, the articles' expressions and, where installed, Presidio on a labelled sample.

    A label counts as found only when every character of it is covered. The key used here is made for this run.

    Raises:
        DataError: If the sample cannot be read; every fault with its line.
    """
    sample = read_labelled(request.sample)
    finders: dict[str, Finder] = {
        "findback": open_redactor(Key.make(), workspace.settings.privacy).redactor.find_all,
        "the articles' expressions": find_as_article,
    }
    if find_spec("presidio_analyzer") is not None:
        from findback.privacy.presidio import PresidioDetector  # noqa: PLC0415  (an optional library)

        finders["Presidio"] = PresidioDetector().find_all
    scores = evaluate(finders, sample)
    return PrivacyEvaluation(
        texts=len(sample),
        detectors=tuple(
            DetectorScore(
                name=score.name,
                recalls=tuple(
                    TypeRecall(type=r.type, labels=r.labels, applied=r.applied, either=r.either, half=r.half)
                    for r in score.recalls
                    if not r.kind
                ),
                altered=score.altered,
                precision=score.precision,
            )
            for score in scores
        ),
    )
