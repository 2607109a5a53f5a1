"""Requests put together from arguments by hand."""

from typing import Any, TypeVar

from findback.cli.faults import spell_option
from findback.model.options import make_record
from findback.model.record import Request

Made = TypeVar("Made", bound=Request)


def make_request(kind: type[Made], **values: Any) -> Made:
    """Return a request.

    Raises:
        UsageError: If a value makes no sense; every one at once.
    """
    return make_record(kind, values, spell=spell_option, hint="add --help to the command for what it takes")
