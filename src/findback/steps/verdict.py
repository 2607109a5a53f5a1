"""One sentence that says what an audit shows, and claims no more than its numbers carry."""

from findback.model.audit import Audit, AuditedRetriever, Gap
from findback.model.estimate import Estimate

FEW = 30
"""Real queries below this many make a comparison a first look."""


def verdict(result: Audit) -> str:
    """Return the sentence that stands first."""
    gap = next((gap for gap in result.gaps if gap.measure == "overlap"), None)
    if gap is None:
        return _alone(result)
    sentence = f"{_wording(gap)}; {_scores(result)}"
    if result.different_corpora:
        sentence += "; but the two are about different documents, so wording is not the only thing that differs"
    return sentence + "."


def _alone(result: Audit) -> str:
    own = result.set.yardstick("overlap")
    if own is None or own.figures.median is None:
        return "Nothing can be said about this set's wording: no question has a gold text to compare with."
    chance = f", where chance alone gives {_share(own.floor)}" if own.floor is not None else ""
    return (
        f"The median question shares {_share(own.figures.median)} of its content words with its answer{chance}; "
        "whether that is more than real queries do needs real queries (--real)."
    )


def _wording(gap: Gap) -> str:
    difference = gap.difference
    corrected = " above chance" if gap.corrected else ""
    if difference.value is None or difference.low is None or difference.high is None:
        return f"Whether this set borrows its answers' words cannot be told ({difference.reason})"
    span = f"{_points(difference.value)} points [{_points(difference.low)}, {_points(difference.high)}]"
    if difference.low > 0:
        return f"This set's questions share {span} more of their words with the answers{corrected} than real queries do"
    if difference.high < 0:
        return f"This set's questions share {span} of their words{corrected} against real queries: fewer, not more"
    return f"No difference in wording between this set and real queries is shown ({span}{corrected})"


def _scores(result: Audit) -> str:
    compared = [one for one in result.retrievers if one.gap is not None and one.gap.low is not None]
    if not result.retrievers:
        return "what that does to scores was not measured, as no document could be searched"
    if not compared:
        return "what that does to scores cannot be told without labelled real queries"
    higher = [one for one in compared if _low(one) > 0]
    if higher:
        most = max(higher, key=lambda one: one.gap.value or 0.0 if one.gap is not None else 0.0)
        who = "every retriever" if len(higher) == len(compared) > 1 else most.name
        return f"{who} scores higher on it, {most.name} by {_estimate(most.gap)} of {result.metric}"
    return f"no retriever's {result.metric} is shown to be higher on it"


def _low(one: AuditedRetriever) -> float:
    return one.gap.low if one.gap is not None and one.gap.low is not None else 0.0


def cautions(result: Audit, *, corrected_only: bool) -> tuple[str, ...]:
    """Return what limits the comparison, each sentence from the numbers at hand."""
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
    if result.retrievers and any(one.failed for one in result.retrievers):
        said.append("Some searches failed; those retrievers have bounds instead of scores, and no gap.")
    return tuple(said)


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return "an unknown amount"
    return f"{_figure(estimate.value)} [{_figure(estimate.low)}, {_figure(estimate.high)}]"


def _figure(value: float) -> str:
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"−{text}" if value < 0 else text


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else f"{value:.0%}"


def _points(value: float) -> str:
    return f"{round(100 * value):d}".replace("-", "−")


def _length(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"
