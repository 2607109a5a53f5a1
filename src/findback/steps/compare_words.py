"""What a comparison says about itself: where its runs came from, what its words mean, what it does not tell."""

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from findback.model.compared import Comparison
from findback.reporting.figures import axis_mark
from findback.steps.compare_runs import Entrant
from findback.steps.legend import UNCERTAINTY, explain_metrics
from findback.steps.makeup import limits


def note_production(production: str | None, names: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Return a note where failures count against a system that is none of those compared, perhaps by a slip.

    >>> note_production("denes", ["bm25", "dense"], [])
    ("failures count against 'denes', which is not compared here; did you mean dense?",)
    """
    if production is None or production in names:
        return ()
    alike = [] if production in known else get_close_matches(production, [*names, *known], n=1)
    meant = f"; did you mean {alike[0]}?" if alike else ""
    return (f"failures count against {production[:200]!r}, which is not compared here{meant}",)


def note_runs(entrants: Sequence[Entrant], left_out: int) -> tuple[str, ...]:
    """Return which runs were there already, and what could not be compared."""
    notes = []
    reused = [one for one in entrants if one.reused]
    if reused:
        listed = ", ".join(f"{one.name} ({_say_date(one.run.created)})" for one in reused)
        notes.append(f"kept runs were used: {listed}; --fresh searches again")
    if left_out:
        notes.append(
            f"answerable cases left out: {left_out}, as not every system was asked them, or could honour their context"
        )
    return tuple(notes)


def _say_date(created: str | None) -> str:
    return created[:16].replace("T", " ") if created else "no date"


def explain_comparison(result: Comparison, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return what the names and words of a comparison mean."""
    pairs = len(result.pairs)
    together = (
        "its 95 % interval" if pairs == 1 else f"a 95 % interval that holds for all {pairs} pairs together (max-T)"
    )
    adjusted = "" if pairs == 1 else ", adjusted by Holm" if result.baseline else ", adjusted for all pairs (max-T)"
    return (
        *explain_metrics(metrics),
        f"difference: first minus second on the same cases, with {together}; verdicts rest on {result.label} alone",
        f"p: how often flipping the signs of whole clusters at random gives as large a difference{adjusted}",
        (
            "better, worse: the interval excludes 0; where fewer than eight clusters differ, p is at most .05 too."
            f" tied: it lies inside ± {axis_mark(result.margin)}. cannot tell: neither"
        ),
        (
            "better on its past failures: the cases were chosen because a search with the other one failed, and the"
            " control cases do not show the same"
        ),
        (
            "detectable: true difference that this many cases would find in 8 of 10 such sets, from how much the two"
            " systems' scores scatter; it decides nothing"
        ),
        *UNCERTAINTY,
    )


def limit_comparison(result: Comparison) -> tuple[str, ...]:
    """Return what a comparison does not tell, each sentence derived from set and systems."""
    return (*_selection(result), *_size(result), *limits(result.set, retrievers=2, today=result.made.date()))


def _selection(result: Comparison) -> Iterator[str]:
    selected = [one for one in result.systems if one.selected]
    if not selected:
        return
    if result.unclaimed and all(one.selected == result.unclaimed for one in result.systems):
        yield (
            f"Whose failures the cases are: {selected[0].selected} of {result.compared} were chosen because a search"
            " failed, and nothing says that it was none of these systems, so each of them may be at a disadvantage;"
            " --production NAME says which one people use."
        )
    else:
        listed = ", ".join(f"{one.name} {one.selected}" for one in selected)
        yield (
            f"Everyday differences: cases chosen because a search failed, by whose it was: {listed} of"
            f" {result.compared}; that system starts at a disadvantage."
        )
    controls = next((pair.strata for pair in result.pairs), ())
    if not any(part.stratum == "control" for part in controls):
        yield "Whether an advantage on past failures holds in everyday use: the set has no control cases."


def _size(result: Comparison) -> Iterator[str]:
    if result.detectable is None:
        return
    low, high = (f"{size:.3f}".removeprefix("0") for size in result.detectable)
    span = f"about {low}" if low == high else f"{low} to {high}, by pair"
    yield f"Differences of {result.label} below {span}: fewer than 8 of 10 such sets would show them."
