"""Fields as forms and addresses carry them: everything is a text there, and an empty one says nothing."""

from typing import Annotated

from pydantic import BeforeValidator

Empty = BeforeValidator(lambda value: None if value == "" else value)
"""Makes of an empty text that nothing was chosen."""


def _flag(value: object) -> object:
    return {"": None, "yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


Flag = Annotated[bool | None, BeforeValidator(_flag)]
"""Yes, no, or nothing chosen."""
