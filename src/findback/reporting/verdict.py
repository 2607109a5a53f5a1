"""What a comparison shows, in a few sentences that claim no more than its verdicts."""

from collections.abc import Iterable, Sequence

from findback.model.compared import ComparedPair, Comparison
from findback.reporting.figures import MINUS, Cell, Reach, axis_mark, basis, figure, interval, plural, spoken, whole

PAST = " on its past failures"
_NAMED = 6
"""Most names one part of a sentence lists."""


def difference_cell(pair: ComparedPair) -> Cell:
    """Return a pair's difference with the interval that carries its verdict; with failed searches its bounds."""
    low, high = pair.low, pair.high
    ends = interval(low, high, signed=True)
    if pair.lowest is None or pair.highest is None:
        value = pair.difference.value
        if value is None:
            return Cell("–", note=pair.difference.reason or "no case has a value for both")
        reach = Reach(value if low is None else low, value, value, value if high is None else high)
        return Cell(figure(value, signed=True), ends or f"[{_no_interval(pair)}]", value=value, reach=reach)
    left, right = pair.lowest.value, pair.highest.value
    if left is None or right is None:
        return Cell("–", note=pair.difference.reason)
    reach = Reach(left if low is None else low, left, right, right if high is None else high)
    text = f"{figure(left, digits=2, signed=True)} to {figure(right, digits=2, signed=True)}"
    return Cell(text, ends or "[too few]", note=pair.difference.reason, reach=reach)


def _no_interval(pair: ComparedPair) -> str:
    return {"identical": "identical", "too few": "too few"}.get(pair.verdict, "no interval")


def say_verdict(pair: ComparedPair) -> str:
    """Return a pair's verdict as tables show it."""
    return pair.why if pair.verdict == "identical" else pair.verdict


def headline(result: Comparison) -> str:
    """Return what the primary metric shows, in a few sentences."""
    if len(result.pairs) == 1:
        return _say_pair(result, result.pairs[0])
    if result.baseline is not None:
        return _say_baseline(result)
    return _say_all(result)


def _say_pair(result: Comparison, pair: ComparedPair) -> str:
    one, other = pair.first, pair.second
    figures = f"{result.label} {spoken(difference_cell(pair))}"
    if pair.p is not None:
        figures += f", p {figure(pair.p)}"
    figures += f", {basis(pair.lowest or pair.difference)}"
    loser = other if pair.verdict.startswith("better") else one
    said = {
        "better": f"{one} is better than {other}: {figures}.",
        "worse": f"{one} is worse than {other}: {figures}.",
        "tied": f"{one} and {other} are tied, within ± {axis_mark(result.margin)}: {figures}.",
        "identical": f"{one} and {other} are {pair.why}.",
        "too few": f"Too few cases to tell {one} and {other} apart: {figures}.",
        "cannot tell": f"{one} and {other} cannot be told apart: {figures}.",
    }.get(pair.verdict)
    if said is None:
        winner = one if loser == other else other
        sure = _is_caught(result, [loser])
        whose = f"past failures of {loser}" if sure else f"past failures, if these are failures of {loser}"
        said = f"{winner} is better than {loser} on {whose}: {figures}. Whether it is in everyday use is not shown."
        return f"{said} {_say_controls(pair, winner)}".strip()
    return f"{said} {_say_needed(pair)}".strip()


def _is_caught(result: Comparison, names: Sequence[str]) -> bool:
    """Return whether some of the cases are for certain failures of each of these systems."""
    caught = {one.name for one in result.systems if one.selected > result.unclaimed}
    return not result.unclaimed or caught.issuperset(names)


def _say_needed(pair: ComparedPair) -> str:
    needed = pair.needed
    if needed is None or needed.cases is None:
        return ""
    return f"About {plural(needed.cases, 'more case')} would settle it, if the difference is as it seems."


def _say_controls(pair: ComparedPair, winner: str) -> str:
    """Say how many more control cases would settle it, and as what for the one that is better on past failures."""
    needed = pair.needed
    if needed is None or needed.cases is None:
        return ""
    turned = {"better": "worse", "worse": "better"}
    outcome = needed.outcome if winner == pair.first else turned.get(needed.outcome or "", needed.outcome)
    way = "" if outcome is None else "a tie" if outcome == "tied" else f"{outcome} for {winner}"
    settled = f"About {plural(needed.cases, 'more control case')} would settle it, if the difference is as it seems"
    return f"{settled}; so far they point to {way}." if way else f"{settled}."


def _say_baseline(result: Comparison) -> str:
    parts = []
    its, theirs = "better on its past failures alone", "worse on their own past failures alone"
    if not _is_caught(result, [str(result.baseline)]):
        its = f"better on past failures alone, if these are failures of {result.baseline}"
    if not _is_caught(result, [pair.first for pair in result.pairs if pair.verdict == "worse" + PAST]):
        theirs = "worse on past failures alone, if these are their own"
    for verdict, words in (
        ("better", "better"),
        ("better" + PAST, its),
        ("tied", "tied with it"),
        ("identical", "identical to it"),
        ("cannot tell", "cannot be told from it"),
        ("too few", "too few cases to tell"),
        ("worse" + PAST, theirs),
        ("worse", "worse"),
    ):
        names = [pair.first for pair in result.pairs if pair.verdict == verdict]
        if names:
            parts.append(f"{words}: {list_names(names, 'and')}")
    return f"Against {result.baseline}: {'; '.join(parts)}."


def _say_all(result: Comparison) -> str:
    plain = [pair for pair in result.pairs if pair.verdict in ("better", "worse")]
    past = sum(pair.verdict.endswith(PAST) for pair in result.pairs)
    order = list(dict.fromkeys(name for pair in result.pairs for name in (pair.first, pair.second)))
    leading = {one.name for one in result.systems if one.first_rank == 1}
    first = [name for name in order if name in leading]
    if len(first) == 1:
        said = f"{first[0]} is better than every other system."
    elif len(first) == len(result.systems):
        said = f"Which system is best cannot be told: {list_names(first)}."
    else:
        said = f"The best is {list_names(first)}: which of them cannot be told."
    counted = f"Of {whole(len(result.pairs))} pairs {whole(len(plain))} are told apart"
    if past:
        counted += f", {whole(past)} more on past failures alone"
    return f"{said} {counted} ({result.label}, {whole(result.compared)} cases)."


def list_names(names: Iterable[str], word: str = "or") -> str:
    """Return names as they stand in a sentence.

    >>> list_names(["a", "b", "c"]), list_names(["a"])
    ('a, b or c', 'a')
    """
    listed: Sequence[str] = list(names)
    if len(listed) > _NAMED:
        listed = [*listed[:_NAMED], f"{len(listed) - _NAMED} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {word} {listed[-1]}"


def name_pair(first: str, second: str) -> str:
    """Return how tables call a pair.

    >>> name_pair("hybrid", "bm25")
    'hybrid − bm25'
    """
    return f"{first} {MINUS} {second}"
