"""One sentence that says what an audit shows, and claims no more than its numbers carry."""

from findback.model.audit import Audit, Gap, Side
from findback.model.estimate import Estimate

FEW = 30
"""Real queries below this many make a comparison a first look."""


def verdict(result: Audit) -> str:
    """Return the sentence that stands first."""
    gap = next((gap for gap in result.gaps if gap.measure == "overlap"), None)
    if gap is None:
        return _alone(result)
    if (
        result.sample is not None
        and result.set.set.heading.rpartition(" ")[2] == result.sample.set.heading.rpartition(" ")[2]
    ):
        return "Set and real queries are the same file, so there is nothing to compare."
    sentence = f"{_wording(gap)}; {_scores(result)}"
    if result.different_corpora:
        sentence += "; but the two are about different documents, so wording is not the only thing that differs"
    chosen = _chosen(result)
    return f"{sentence}. {chosen}" if chosen else f"{sentence}."


def _chosen(result: Audit) -> str | None:
    """Return how the real queries came to be, where that moves both gaps."""
    if result.sample is None:
        return None
    made_of = result.sample.set
    failures = next((count.count for count in made_of.by["stratum"] if count.name == "failure"), 0)
    if not failures:
        return None
    return (
        f"{failures} of the {made_of.questions} real queries were chosen because a search failed on them, so part of"
        " both gaps is how they were chosen."
    )


def _digest(side: Side) -> str:
    return side.set.heading.rpartition(" ")[2]


def _alone(result: Audit) -> str:
    own = result.set.yardstick("overlap")
    if own is None or own.figures.median is None:
        return "Nothing can be said about this set's wording: no question has a gold text to compare with."
    chance = f", where chance alone gives {_share(own.floor)}" if own.floor is not None else ""
    wanted = (
        "needs real queries (--real)"
        if result.sample is None
        else "needs labels for the real queries (findback label quick)"
    )
    return (
        f"The median question shares {_share(own.figures.median)} of its content words with its answer{chance}; "
        f"whether that is more than real queries do {wanted}."
    )


def _wording(gap: Gap) -> str:
    difference = gap.difference
    above = " above chance" if gap.corrected else ""
    if difference.value is None or difference.low is None or difference.high is None:
        return f"Whether this set borrows its answers' words cannot be told ({difference.reason})"
    if difference.low > 0:
        span = _span(difference.value, difference.low, difference.high)
        return f"This set's questions share {span} more of their words with the answers{above} than real queries do"
    if difference.high < 0:
        span = _span(-difference.value, -difference.high, -difference.low)
        return f"This set's questions share {span} fewer of their words with the answers{above} than real queries do"
    span = _span(difference.value, difference.low, difference.high)
    return f"No difference in wording between this set and real queries is shown ({span}{above})"


def _scores(result: Audit) -> str:
    if not result.retrievers:
        return "what that does to scores was not measured: " + (
            "no documents were given to search" if result.corpus is None else "the set has no label to score against"
        )
    gaps = [(one, one.gap) for one in result.retrievers if one.gap is not None]
    told = [(one, gap, gap.low) for one, gap in gaps if gap.low is not None]
    if not told:
        reasons = list(dict.fromkeys(gap.reason for _, gap in gaps if gap.reason))
        return f"what that does to scores cannot be told ({reasons[0] if reasons else 'no real query has a label'})"
    higher = [(one, gap) for one, gap, low in told if low > 0]
    if not higher:
        return f"no retriever's {result.metric} is shown to be higher on it"
    most, gap = max(higher, key=lambda pair: pair[1].value or 0.0)
    by = f"by {_estimate(gap)} of {result.metric}"
    if len(result.retrievers) == 1:
        return f"{most.name} scores higher on it, {by}"
    if len(higher) == len(result.retrievers):
        return f"every retriever scores higher on it, {most.name} most, {by}"
    return f"{len(higher)} of {len(result.retrievers)} retrievers score higher on it, {most.name} most, {by}"


def cautions(result: Audit, *, corrected_only: bool) -> tuple[str, ...]:
    """Return what limits the comparison, each sentence from the numbers at hand."""
    return (*_wording_cautions(result, corrected_only=corrected_only), *_score_cautions(result))


def _wording_cautions(result: Audit, *, corrected_only: bool) -> list[str]:
    said = []
    sample = result.sample
    if sample is not None and 0 < sample.measured < FEW:
        said.append(f"Only {sample.measured} real queries have a gold text: read the direction, not the decimals.")
    if result.different_corpora:
        said.append("Set and real queries have their answers in different corpora; part of any gap may come from that.")
    if corrected_only and sample is not None:
        said.append(
            f"Gold texts differ more than twofold in length ({_length(result.set.gold_length)} against"
            f" {_length(sample.gold_length)} characters), so only figures corrected for chance are compared."
        )
    for called, side in (("set", result.set), ("real queries", sample)):
        if side is not None and side.unmeasurable:
            said.append(
                f"{side.unmeasurable} of {side.measured} questions of the {called} cannot be measured for leak;"
                " they count as unknown, not as clean."
            )
    if sample is not None and sample.hints:
        said.append(
            "The real queries show signs of being edited or model-written (see hints); a gap may be hidden by that."
        )
    return said


def _score_cautions(result: Audit) -> list[str]:
    said = [
        f"Questions of the {called} that name only gold outside the documents: {lost}; they are left out of the scores"
        " here."
        for called, lost in zip(("set", "real queries"), result.lost_gold, strict=True)
        if lost
    ]
    if any(one.failed or one.sample_failed for one in result.retrievers):
        said.append("Some searches failed; those retrievers have bounds instead of scores, and no gap.")
    if any(one.missing for one in result.retrievers):
        said.append("A recorded run lacks some of the questions; it has no gap.")
    if any(one.not_applicable for one in result.retrievers):
        said.append("Some questions have a context that not every retriever can honour; its scores leave them out.")
    if result.sample is not None and any(one.sample_score is None for one in result.retrievers):
        said.append("Not every retriever could be scored on the real queries; those have no gap.")
    return said


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return "an unknown amount"
    return f"{_figure(estimate.value)} [{_figure(estimate.low)}, {_figure(estimate.high)}]"


def _figure(value: float) -> str:
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"−{text}" if value < 0 else text


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else f"{value:.0%}"


def _span(value: float, low: float, high: float) -> str:
    """Return a difference of shares in percentage points, with one decimal where whole points would read as none."""
    digits = 1 if min(abs(value), abs(low), abs(high)) < 0.02 else 0
    shown = [f"{100 * one:.{digits}f}".replace("-", "−") for one in (value, low, high)]
    return f"{shown[0]} points [{shown[1]}, {shown[2]}]"


def _length(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"
