"""Requests put together from arguments by hand."""

from typing import Any, TypeVar

from pydantic import ValidationError

from findback.cli.faults import request_faults
from findback.errors import UsageError
from findback.model.record import Request

Made = TypeVar("Made", bound=Request)


def make_request(kind: type[Made], **values: Any) -> Made:
    """Return a request.

    Raises:
        UsageError: If a value makes no sense; every one at once.
    """
    try:
        return kind(**values)
    except ValidationError as error:
        raise UsageError("; ".join(request_faults(error)), hint="add --help to the command for what it takes") from None
