"""How a gate's verdict came about, in sentences."""

from collections.abc import Iterator

from findback.model.gated import Gated


def explain_gate(result: Gated) -> tuple[str, ...]:
    """Return how it was decided: bounds, rule, and what false alarms cost."""
    return tuple(_sentences(result))


def _sentences(result: Gated) -> Iterator[str]:
    yield (
        f"Paired case by case on {result.label}; every cluster counts once. One-sided bounds of the mean difference: t"
        " below 50 clusters, bias-corrected bootstrap from 50, over gold groups where shared golds widen them. Below"
        " 50, or where fewer than eight differ, the lower one is never nearer than what so many can show (about 3 / n)."
    )
    sure, margin = f"{result.level:.0%}".replace("%", " %"), say_share(result.margin)
    alarm = f"{say_share(1 - result.alarm)} confidence"
    proven = f"the upper bound at {alarm} is below 0 and sign flips of whole clusters agree"
    if result.policy == "significance":
        yield f"Policy significance: fail where {proven}; everything else passes, however little it says."
    else:
        yield (
            f"Pass: the lower bound at {sure} is above −{margin}. Fail: it is not, and {proven}. Undecided: neither."
        )
    yield (
        "Detectable: the smallest loss that fails in 8 of 10 such sets, however it is spread over the cases. Cases the"
        " margin needs: as many as let a system that is as good as before pass that often."
    )
    if result.floors:
        count = len(result.floors)
        yield f"Floors: one-sided bounds of each type's mean, adjusted for {count} together (Bonferroni)."
    nightly = result.nightly
    if nightly is not None:
        looks = max(nightly.looks_a_year, nightly.look)
        yield (
            f"Nightly: the same cases again for a new system, so that it is alarms that add up, not data."
            f" {nightly.alarms_a_year:g} false {'alarm' if nightly.alarms_a_year == 1 else 'alarms'} a year over"
            f" {looks} looks and {nightly.tests} tests a look (Bonferroni): {result.alarm:.2g} each. This is look"
            f" {nightly.look} of the past year. The anchor stays, so that small losses add up against it."
        )


def say_share(value: float) -> str:
    """Return a share as figures are printed.

    >>> say_share(0.05), say_share(0.99863)
    ('.05', '.9986')
    """
    return f"{value:.4g}".removeprefix("0")
