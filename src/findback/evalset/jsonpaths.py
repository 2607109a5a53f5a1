"""JSONPath to a value of an entry, for gold that stands where no column name leads."""

from functools import lru_cache
from itertools import islice
from typing import Any

import jsonpath

from findback.errors import UsageError

MOST = 10_000
"""Most values one path may find."""


def find_values(entry: Any, path: str) -> Any:
    """Return what a path finds: nothing, the one value, or a list.

    >>> find_values({"outputs": {"docs": [{"id": "a"}, {"id": "b"}]}}, "$.outputs.docs[*].id")
    ['a', 'b']
    """
    found = list(islice(compile_path(path).finditer(entry), MOST))
    if not found:
        return None
    return found[0].obj if len(found) == 1 else [match.obj for match in found]


@lru_cache(maxsize=64)
def compile_path(path: str) -> jsonpath.JSONPath | jsonpath.CompoundJSONPath:
    """Return a path ready for use.

    Raises:
        UsageError: If it is none, or filters: a filter can hold any regular expression.
    """
    if "?" in path:
        raise UsageError("a JSONPath to a column cannot filter", hint="name the key: $.outputs.documents[*].id")
    try:
        return jsonpath.compile(path)
    except jsonpath.JSONPathError:
        raise UsageError(
            f"{path[:200]!r} is no JSONPath", hint="for example $.outputs.documents[*].id, in quotation marks"
        ) from None
