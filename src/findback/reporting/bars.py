"""Interval bars drawn with characters."""

from findback.reporting.figures import Reach

WIDTH = 21


def interval_bar(
    reach: Reach | None,
    *,
    axis: tuple[float, float] = (0.0, 1.0),
    width: int = WIDTH,
    ascii_only: bool = False,
) -> str:
    """Return an interval as a bar of `width` characters over an axis.

    Args:
        reach: What to draw; None draws nothing.
        axis: The values of the first and the last character.
        width: Length in characters, at least 2.
        ascii_only: Draw with ASCII alone.

    >>> interval_bar(Reach(0.2, 0.5, 0.5, 0.8), width=11, ascii_only=True)
    '..|--o--|..'
    >>> interval_bar(Reach(0.2, 0.4, 0.6, 0.8), width=11, ascii_only=True)
    '..|-o=o-|..'
    """
    if reach is None:
        return ""
    track, line, left_end, right_end, mark, between = ".-||o=" if ascii_only else "·─├┤●═"
    low, left, right, high = (_place(value, axis, width) for value in reach)
    drawn = [track] * width
    drawn[low : high + 1] = [line] * (high + 1 - low)
    drawn[low], drawn[high] = left_end, right_end
    drawn[left : right + 1] = [between] * (right + 1 - left)
    drawn[left] = drawn[right] = mark
    return "".join(drawn)


def _place(value: float, axis: tuple[float, float], width: int) -> int:
    share = (value - axis[0]) / (axis[1] - axis[0])
    return min(width - 1, max(0, round(share * (width - 1))))


def share_bar(share: float, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """Return a share in [0, 1] as a filled bar; anything above 0 shows at least one character.

    >>> share_bar(0.5, width=4, ascii_only=True), share_bar(0.01, width=4, ascii_only=True)
    ('##', '#')
    """
    filled = min(width, round(share * width)) or (1 if share > 0 else 0)
    return ("#" if ascii_only else "█") * filled
