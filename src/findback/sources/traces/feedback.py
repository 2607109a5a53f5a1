"""What people said of an answer, and how a task ended."""

import math
from typing import Any

_FEEDBACK = ("feedback", "thumb", "rating", "user")
_OUTCOMES = frozenset({"success", "task_success", "outcome", "correct", "resolved"})
_VERDICTS = dict.fromkeys(
    ("thumbs_down", "down", "negative", "bad", "dislike", "no", "false", "unhelpful", "👎", "0", "_1"), 0.0
) | dict.fromkeys(("thumbs_up", "up", "positive", "good", "like", "yes", "true", "helpful", "👍", "1"), 1.0)


def is_feedback(name: str) -> bool:
    """Return whether a score of this name is a person's; the many that programs give are not.

    >>> is_feedback("user_rating"), is_feedback("faithfulness")
    (True, False)
    """
    return any(word in name.casefold() for word in _FEEDBACK)


def is_outcome(name: str) -> bool:
    """Return whether a score of this name says how a task ended.

    >>> is_outcome("Resolved"), is_outcome("resolved_by")
    (True, False)
    """
    return name.casefold() in _OUTCOMES


def as_score(value: Any) -> float | None:
    """Return a person's score in [0, 1]: thumbs, yes and no, or a number that lies there; else None.

    >>> as_score("thumbs_down"), as_score(True), as_score(-1), as_score(4)
    (0.0, 1.0, 0.0, None)
    """
    if isinstance(value, str):
        folded = value.strip().casefold().replace("-", "_").replace(" ", "_")
        return _VERDICTS.get(folded)
    if not isinstance(value, (bool, int, float)) or not math.isfinite(value):
        return None
    if value == -1:
        return 0.0
    return float(value) if 0 <= value <= 1 else None


def as_outcome(value: Any) -> bool | None:
    """Return whether a task succeeded, where the value plainly says so.

    >>> as_outcome("success"), as_outcome(0), as_outcome(0.5)
    (True, False, None)
    """
    if isinstance(value, str):
        folded = value.strip().casefold()
        if folded in {"true", "success", "succeeded", "correct", "resolved", "pass", "passed", "yes", "1"}:
            return True
        if folded in {"false", "failure", "failed", "incorrect", "unresolved", "fail", "no", "0"}:
            return False
        return None
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    return None
