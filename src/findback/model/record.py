"""What every stored or exchanged record has in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo


class Record(BaseModel):
    """A frozen record: unknown keys, NaN and infinities are refused, inputs never appear in errors."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_default=True,
    )


class LocalOnly:
    """Marks a field that names code, a command, a path or a URL: no HTTP or MCP schema has it."""


LOCAL_ONLY = LocalOnly()


class Request(Record):
    """What a step is asked to do. One record serves the command line, Python and the web."""

    @classmethod
    def local_only_fields(cls) -> frozenset[str]:
        """Return the names of the fields that no remote caller may set."""
        return frozenset(name for name, field in cls.model_fields.items() if _is_local(field))


def _is_local(field: FieldInfo) -> bool:
    marks: list[Any] = field.metadata
    return any(isinstance(mark, LocalOnly) for mark in marks)
