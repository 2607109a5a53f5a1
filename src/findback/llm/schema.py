"""The JSON schema of an answer."""

from functools import lru_cache
from typing import Any

from findback.model.record import Record


@lru_cache(maxsize=64)
def schema_of(answer: type[Record]) -> dict[str, Any]:
    """Return the schema; nobody may change it."""
    return answer.model_json_schema()
