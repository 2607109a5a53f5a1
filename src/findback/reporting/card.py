"""One page and a badge with everything needed to publish a number honestly."""

import re
from typing import NamedTuple

from markupsafe import Markup, escape

from findback.errors import MissingError, UsageError
from findback.model.estimate import Estimate
from findback.model.evaluation import Evaluation, RetrieverScores, Score
from findback.reporting.figures import NO_BREAK, Cell, plural, score_cell, whole
from findback.reporting.html import environment
from findback.reporting.inert import inert
from findback.reporting.makeup import by_hand, chosen
from findback.reporting.scored import primary_score
from findback.reporting.share import shareable_evaluation

METHODS = {
    "clopper-pearson": "exact (Clopper-Pearson)",
    "t": "t on cluster means",
    "bca": "bias-corrected bootstrap over clusters",
    "gold-clustered": "over questions that share a gold document",
    "none": "none",
}
_WIDE = {"@": 12.0, " ": 4.0, ".": 4.0, ",": 4.0, "[": 5.0, "]": 5.0, "(": 5.0, ")": 5.0}
"""Letters that are not of the common width, in pixels at the badge's size."""
_NAMESPACE = "http://www.w3.org/2000/svg"


class Card(NamedTuple):
    """A publishable number."""

    html: str
    """A self-contained page."""
    badge: str
    """A standalone SVG."""


def render_card(evaluation: Evaluation, retriever: str | None = None) -> Card:
    """Return page and badge for one retriever's primary metric; texts and ids are left out, not whose it is.

    Args:
        evaluation: What scoring gave.
        retriever: Whose number it is; may be left out when only one was scored.

    Raises:
        MissingError: If no retriever of that name was scored.
        UsageError: If several were scored and none is named: a card is no contest to pick the best from.
    """
    shared = shareable_evaluation(evaluation)
    chosen_one = _choose(shared, retriever)
    score = primary_score(chosen_one, shared.primary)
    cell = score_cell(score, errors=chosen_one.failed)
    label = score.label if score is not None else shared.primary
    badge = _badge(label, cell, score, shared.set.heading)
    html = (
        environment()
        .get_template("card.html.j2")
        .render(
            label=label,
            cell=cell,
            evaluation=shared,
            workspace=evaluation.workspace,
            retriever=chosen_one,
            facts=(("Workspace", evaluation.workspace), *card_facts(shared, chosen_one, score, cell)),
            legend=[line for line in shared.legend if label.partition("@")[0] in line] or shared.legend,
            badge=_inline(badge),
        )
    )
    return Card(html, badge)


def _inline(badge: str) -> Markup:
    without = badge.replace(f' xmlns="{_NAMESPACE}"', "", 1)
    return Markup(without)  # noqa: S704 - _badge escapes every text it puts in


def _choose(evaluation: Evaluation, name: str | None) -> RetrieverScores:
    names = [retriever.name for retriever in evaluation.retrievers]
    if name is None and len(names) > 1:
        raise UsageError("a card shows one retriever, and several were scored", hint=f"name one of: {', '.join(names)}")
    found = next((r for r in evaluation.retrievers if name in (None, r.name)), None)
    if found is None:
        raise MissingError(f"no retriever named {name!r} was scored", hint=f"scored: {', '.join(names) or 'none'}")
    return found


def card_facts(
    evaluation: Evaluation, retriever: RetrieverScores, score: Score | None, cell: Cell
) -> tuple[tuple[str, str], ...]:
    """Return what must stand beside the number, each with its name."""
    base = _base(score)
    facts = [
        ("Metric", score.metric if score is not None else evaluation.primary),
        ("Retriever", f"{retriever.name} ({retriever.kind}, configuration {retriever.config_digest[:19]})"),
        ("Questions", f"{whole(base.n)} in {plural(base.clusters, 'cluster')}"),
    ]
    if base.golds is not None:
        effect = "" if base.design_effect is None else f", design effect {base.design_effect:.2f}"
        facts.append(("Distinct golds", f"{whole(base.golds)}{effect}"))
    if base.low is not None:
        facts.append(("Interval", f"{base.level * 100:g}{NO_BREAK}%, {METHODS[base.method]}"))
    elif cell.note:
        facts.append(("No interval", cell.note))
    makeup = evaluation.set
    facts += [
        ("Set", makeup.heading),
        *((("Judged by hand", by_hand(makeup)),) if makeup.judged_by_hand else ()),
        ("How cases were chosen", chosen(makeup)),
        ("Left out of the figure", _left_out(retriever, makeup.questions - makeup.answerable)),
        ("Corpus", _corpus(evaluation)),
        ("Date", evaluation.made.strftime("%Y-%m-%d")),
        ("Depth, seed, tokenizer", f"{evaluation.depth}, {evaluation.seed}, {evaluation.tokenizer}"),
        ("Computed by", f"findback {evaluation.findback}"),
    ]
    return tuple(facts)


def _base(score: Score | None) -> Estimate:
    if score is None:
        return Estimate(value=None, reason="not scored")
    return score.lowest if score.estimate.value is None and score.lowest is not None else score.estimate


def _left_out(retriever: RetrieverScores, unanswerable: int) -> str:
    parts = [f"{plural(unanswerable, 'question')} without an answer or label"] if unanswerable else []
    if retriever.not_applicable:
        parts.append(f"{whole(retriever.not_applicable)} not applicable")
    if retriever.failed:
        parts.append(f"{plural(retriever.failed, 'failed search', 'failed searches')} (bounds, not a mean)")
    if retriever.missing:
        parts.append(f"none of the {whole(retriever.missing)} missing from the run, which count as missed")
    return "; ".join(parts) or "nothing"


def _corpus(evaluation: Evaluation) -> str:
    documents = "size unknown" if evaluation.documents is None else plural(evaluation.documents, "document")
    return f"{documents}, {evaluation.corpus_digest[:19]}" if evaluation.corpus_digest else documents


def is_released(heading: str) -> bool:
    """Return whether a set's heading names a release.

    >>> is_released("release 3"), is_released("unreleased set, sha256 4be0c9d27a11")
    (True, False)
    """
    return re.match(r"release \d", heading) is not None


def _badge(label: str, cell: Cell, score: Score | None, heading: str) -> str:
    figures = " ".join(part for part in (cell.text, cell.extra, f"({cell.tail})" if cell.tail else "") if part)
    left, right = inert(label, limit=40), f"{figures}  n {whole(_base(score).n)}"
    if not is_released(heading):
        right += "  unreleased"
    said = escape(f"{left} {right}, {inert(heading, limit=120)}")
    widths = [16 + round(sum(_WIDE.get(letter, 7.6) for letter in text)) for text in (left, right)]
    full = sum(widths)
    texts = "".join(
        f'<text x="{at + 8}" y="15" textLength="{wide - 16}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        for text, wide, at in ((left, widths[0], 0), (right, widths[1], widths[0]))
    )
    return (
        f'<svg xmlns="{_NAMESPACE}" width="{full}" height="22" viewBox="0 0 {full} 22" '
        f'role="img" aria-label="{said}">'
        f'<title>{said}</title><rect width="{full}" height="22" rx="4" fill="#0a4f7a"/>'
        f'<path d="M4 0H{widths[0]}V22H4a4 4 0 0 1 -4 -4V4a4 4 0 0 1 4 -4z" fill="#24292e"/>'
        f'<g fill="#ffffff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="12">{texts}</g></svg>'
    )
