"""What to do when a call went wrong: stop the run, wait and try again, leave something out, or give up this item."""

import re
from typing import Literal

from findback.llm.said import Failure

Verdict = Literal["stop", "wait", "temperature", "schema", "item"]
"""Stop everything; wait and try again; leave out temperature or schema; give up this item."""

QUOTA = frozenset(
    {"insufficient_quota", "quota_exceeded", "billing_error", "billing_not_active", "billing_hard_limit_reached"}
)
UNKNOWN = frozenset({"model_not_found", "not_found_error", "deploymentnotfound"})
AGAIN = frozenset({408, 409, 425, 429})
TOO_MUCH = 429
"""The status that says: too much at a time. 503 and 529 say that the server has trouble of its own."""
LONGEST_WAIT = 60.0
"""Seconds a server may ask to wait; more ends the run, which can be taken up again later."""

_CREDIT = re.compile(r"credit balance|insufficient (?:credit|fund|balance)|exceeded your current quota")
_NO_SCHEMA = re.compile(r"response_format|json_schema|output_config|output_format|structured output")


def sort_failure(failure: Failure, *, temperature: bool, schema: bool) -> Verdict:
    """Return what to do about a failed call.

    Args:
        failure: How it went wrong.
        temperature: Whether a temperature was sent.
        schema: Whether a schema was sent.

    >>> sort_failure(Failure(429), temperature=False, schema=True)
    'wait'
    >>> sort_failure(Failure(429, "insufficient_quota"), temperature=False, schema=True)
    'stop'
    >>> sort_failure(Failure(400, message="unsupported value: 'temperature'"), temperature=True, schema=True)
    'temperature'
    """
    status = failure.status
    if status is None:
        return "item" if failure.nonsense else "wait"
    if _is_final(failure):
        return "stop"
    if status in AGAIN or status >= 500:
        asked = failure.retry_after
        return "stop" if asked is not None and asked > LONGEST_WAIT else "wait"
    if status in (400, 422):
        if temperature and "temperature" in failure.message:
            return "temperature"
        if schema and _NO_SCHEMA.search(failure.message):
            return "schema"
    return "item"


def is_busy(failure: Failure) -> bool:
    """Return whether the server says that too much is asked at a time."""
    return failure.status == TOO_MUCH


def explain_stop(failure: Failure, model: str, key: str | None) -> tuple[str, str]:
    """Return why no further call can go well, and what to do; nothing of what the server said but its code.

    Args:
        failure: How a call went wrong.
        model: How the model is called there.
        key: Name of the variable that holds the key.
    """
    said = describe(failure)
    if _is_quota(failure):
        return (
            f"the quota or credit is used up ({said})",
            "top it up; run again, and what was answered is not paid twice",
        )
    if failure.status in (401, 403):
        what = f"the key in ${key}" if key else "a call without a key"
        return f"the server does not accept {what} ({said})", "check the key, and that it may use this model"
    if failure.status == 404 or failure.code in UNKNOWN:
        return f"the server knows no model {model} ({said})", "check `model` and `base_url`"
    if failure.retry_after is not None and failure.retry_after > LONGEST_WAIT:
        return (
            f"the server asks to wait {failure.retry_after:.0f} s ({said})",
            "run again then; what was answered is kept",
        )
    if not failure.connected:
        return "cannot connect", "check `base_url`, and that the server runs"
    return f"the server fails ({said})", "look at the server, and run again; what was answered is kept"


def describe(failure: Failure) -> str:
    """Return a failure in a few words that quote nothing.

    >>> describe(Failure(429, "rate_limit_exceeded")), describe(Failure(slow=True))
    ('HTTP 429, rate_limit_exceeded', 'no answer in time')
    """
    if failure.slow:
        return "no answer in time"
    if not failure.connected:
        return "cannot connect"
    if failure.nonsense:
        return "what came is no answer of this protocol"
    if failure.status is None:
        return "the connection broke"
    return f"HTTP {failure.status}, {failure.code}" if failure.code else f"HTTP {failure.status}"


def _is_final(failure: Failure) -> bool:
    return failure.status in (401, 402, 403, 404) or failure.code in UNKNOWN or _is_quota(failure)


def _is_quota(failure: Failure) -> bool:
    return failure.status == 402 or failure.code in QUOTA or _CREDIT.search(failure.message) is not None
