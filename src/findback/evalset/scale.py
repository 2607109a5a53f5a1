"""What a file's ratings mean on the scale 0 to 3."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from findback.evalset.values import TOP_GRADE

MOST_STEPS = TOP_GRADE + 1

_NUMBER = re.compile(r"\s*[+-]?\d{1,9}(?:\.\d{1,9})?\s*")


def rating_text(value: Any) -> str:
    """Return a rating as it is looked up: numbers in their shortest form.

    >>> rating_text("100.000"), rating_text(2.0), rating_text(" 0.50"), rating_text("relevant")
    ('100', '2', '0.5', 'relevant')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = str(value).strip()[:200]
    return format(float(text), ".12g") if _NUMBER.fullmatch(text) else text


def read_scale(ratings: Iterable[str], given: Mapping[str, int]) -> tuple[dict[str, int], str | None]:
    """Return the grade of each rating that is not a grade as it stands, and a note where that was told by order.

    Ratings with few steps that start at 0 and end above 3, or lie between 0 and 1, are graded in their order; that
    keeps what is better, and `given` says it otherwise. Others are left as they are, to be refused.

    Args:
        ratings: Every rating of the file, as `rating_text` has them.
        given: What the user said that ratings mean.

    >>> read_scale(["0", "1", "10", "100"], {})[0]
    {'0': 0, '1': 1, '10': 2, '100': 3}
    >>> read_scale(["0", "2", "3"], {}), read_scale(["0", "7"], {"7": 1})
    (({}, None), ({'7': 1}, None))
    """
    grades = {rating_text(rating): grade for rating, grade in given.items()}
    distinct = sorted({rating for rating in ratings if _NUMBER.fullmatch(rating)}, key=float)
    plain = all(float(rating).is_integer() and float(rating) <= TOP_GRADE for rating in distinct)
    if grades or plain or not 1 < len(distinct) <= MOST_STEPS or float(distinct[0]) != 0:
        return grades, None
    by_order = {rating: grade for grade, rating in enumerate(distinct)}
    pairs = ", ".join(f"{rating} is {grade}" for rating, grade in by_order.items())
    return by_order, f"ratings were graded by their order: {pairs}; --grades.{distinct[-1]} N says otherwise"
