"""The one way findback writes numbers: `.538 [.37, .70]`.

A figure has three decimals, the ends of an interval two, no leading zero. What would round to 0 or 1 without
being it gets a fourth decimal, so that no interval seems to touch what it excludes.
"""

from typing import NamedTuple

from findback.model.estimate import Estimate
from findback.model.evaluation import Score

NONE = "–"
MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"
_MOST_PLACES = 4
_FEW_CLUSTERS = 8


class Reach(NamedTuple):
    """What an interval bar draws."""

    low: float
    left: float
    """Where the mark begins; the figure itself unless errors leave only bounds."""
    right: float
    high: float


class Cell(NamedTuple):
    """One table cell, ready to be escaped for its target."""

    text: str
    extra: str = ""
    """The interval, or what stands in its place."""
    tail: str = ""
    """A short remark, such as `3 errors`."""
    note: str | None = None
    """Goes into a footnote: why there is no value, or no interval."""
    value: float | None = None
    """The exact figure behind the text; None where there is none."""
    reach: Reach | None = None
    """What a bar may draw; None without a value."""


def figure(value: float, *, digits: int = 3, signed: bool = False) -> str:
    """Return a number as findback prints it.

    >>> figure(21 / 39), figure(0.0), figure(1.0), figure(-0.0412), figure(0.05, signed=True)
    ('.538', '.000', '1.000', '−.041', '+.050')
    >>> figure(0.9996), figure(0.004, digits=2), figure(0.0000001)
    ('.9996', '.004', '<.0001')
    """
    size = abs(value)
    sign = MINUS if value < 0 else "+" if signed and value > 0 else ""
    for places in range(digits, _MOST_PLACES + 1):
        text = f"{size:.{places}f}"
        if float(text) not in (0.0, 1.0) or size in (0.0, 1.0):
            return sign + text.removeprefix("0")
    edge = ".0001" if size < 0.5 else ".9999" if size < 1 else "1.0001"
    nearer = "<" if size < 0.5 or size > 1 else ">"
    if value < 0:
        nearer = ">" if nearer == "<" else "<"
    return nearer + sign + edge


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Return an interval, or nothing where there is none.

    >>> interval(0.3718, 0.6991), interval(None, None)
    ('[.37, .70]', '')
    """
    if low is None and high is None:
        return ""
    ends = [NONE if end is None else figure(end, digits=2, signed=signed) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def axis_mark(value: float) -> str:
    """Return a value as it stands under an axis.

    >>> axis_mark(0.0), axis_mark(0.5), axis_mark(-1.0)
    ('0', '.5', '−1')
    """
    return f"{value:g}".replace("0.", ".").replace("-", MINUS)


def whole(count: int) -> str:
    """Return a count with its thousands apart.

    >>> whole(12345)
    '12,345'
    """
    return f"{count:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "error"), plural(3, "error")
    ('1 error', '3 errors')
    """
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def number_cell(value: float | None, *, reason: str | None, signed: bool = False, digits: int = 3) -> Cell:
    """Return a cell for a figure without an interval; when it is undefined its reason becomes a footnote."""
    if value is None:
        return Cell(NONE, note=reason or "not measured")
    return Cell(figure(value, digits=digits, signed=signed), value=value)


def count_cell(count: int | None, *, reason: str | None = None) -> Cell:
    """Return a cell for a count; an unknown count is a dash with its reason."""
    if count is None:
        return Cell(NONE, note=reason or "not counted")
    return Cell(whole(count), value=count)


def text_cell(text: str | None, *, reason: str | None = None) -> Cell:
    """Return a cell for words."""
    return Cell(text) if text else Cell(NONE, note=reason)


def estimate_cell(estimate: Estimate | None, *, signed: bool = False, reason: str | None = None) -> Cell:
    """Return a cell for an estimate: figure, interval, and why one of them is missing."""
    if estimate is None or estimate.value is None:
        why = estimate.reason if estimate is not None else None
        return Cell(NONE, note=why or reason or "no reason recorded")
    text = figure(estimate.value, signed=signed)
    if estimate.low is None and estimate.high is None:
        few = estimate.clusters < _FEW_CLUSTERS
        return Cell(
            text,
            "[too few]" if few else "[no interval]",
            note=estimate.reason or ("too few clusters for an interval" if few else None),
            value=estimate.value,
            reach=Reach(estimate.value, estimate.value, estimate.value, estimate.value),
        )
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    return Cell(
        text,
        interval(estimate.low, estimate.high, signed=signed),
        note=interval_note(estimate),
        value=estimate.value,
        reach=Reach(low, estimate.value, estimate.value, high),
    )


def interval_note(estimate: Estimate) -> str | None:
    """Return what a reader must know about how an interval was made; None when there is nothing unusual."""
    notes = []
    if estimate.method == "gold-clustered":
        effect = f"design effect {estimate.design_effect:.2f}" if estimate.design_effect is not None else "shared golds"
        notes.append(f"interval over questions that share a gold document ({effect})")
    if estimate.level != 0.95:
        notes.append(f"{estimate.level * 100:g} % interval")
    return "; ".join(notes) or None


def score_cell(score: Score | None, *, errors: int = 0, reason: str = "not scored") -> Cell:
    """Return a cell for a score; with errors it shows what bounds the mean, never a mean.

    Args:
        score: The score; None where the retriever has none.
        errors: Failed queries, where the estimate itself does not count them.
        reason: Why there is no score.
    """
    if score is None:
        return Cell(NONE, note=reason)
    low, high = score.lowest, score.highest
    if low is None or high is None or low.value is None or high.value is None:
        return estimate_cell(score.estimate)
    failed = score.estimate.left_out or errors
    ends = (low.value if low.low is None else low.low, high.value if high.high is None else high.high)
    return Cell(
        f"{figure(low.value, digits=2)}–{figure(high.value, digits=2)}",
        interval(low.low, high.high) or "[too few]",
        tail=plural(failed, "error") if failed else "errors",
        note=score.estimate.reason
        or "searches failed: the bounds are the mean if all of them had missed, and if none had",
        reach=Reach(ends[0], low.value, high.value, ends[1]),
    )


def spoken(cell: Cell) -> str:
    """Return a cell as it stands in a sentence, with spaces that do not break.

    >>> spoken(Cell(".538", "[.37, .70]")).replace(NO_BREAK, " ")
    '.538 [.37, .70]'
    >>> spoken(Cell(".41–.52", "[.30, .63]", "3 errors")).replace(NO_BREAK, " ")
    '.41–.52 (3 errors) [.30, .63]'
    """
    tail = f"({cell.tail})" if cell.tail else ""
    return " ".join(part for part in (cell.text, tail, cell.extra) if part).replace(" ", NO_BREAK)


def basis(estimate: Estimate) -> str:
    """Return what an estimate rests on, for a sentence.

    >>> basis(Estimate(value=0.5, n=39, clusters=13))
    'n 39 in 13 clusters'
    """
    if estimate.clusters and estimate.clusters != estimate.n:
        return f"n {whole(estimate.n)} in {plural(estimate.clusters, 'cluster')}"
    return f"n {whole(estimate.n)}"


def milliseconds(value: float | None) -> Cell:
    """Return a duration, in milliseconds below a second.

    >>> milliseconds(12.34).text, milliseconds(1530.0).text, milliseconds(None).text
    ('12.3 ms', '1.53 s', '–')
    """
    if value is None:
        return Cell(NONE, note="no search was timed")
    if value >= 1000:
        return Cell(f"{value / 1000:.2f} s", value=value)
    return Cell(f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms", value=value)
