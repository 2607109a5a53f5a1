"""Which reader takes a path for its own."""

from pathlib import Path
from typing import NamedTuple, cast

from findback.errors import DataError, MissingError, MissingLibraryError, UsageError
from findback.registry import is_ours, load, names
from findback.sources.format import Source

GROUP = "findback.sources"


class Recognised(NamedTuple):
    """The reader that claims a path."""

    name: str
    reason: str


def load_source(name: str) -> Source:
    """Return a reader by its name.

    Raises:
        MissingError: If nothing of that name is installed.
        MissingLibraryError: If it needs a library that is not installed.
    """
    found = load(GROUP, name)
    return cast("Source", found() if isinstance(found, type) else found)


def recognise(path: Path) -> Recognised:
    """Return the one reader that takes a path for its own, and why.

    Raises:
        MissingError: If nothing is there.
        DataError: If no reader takes it for its own.
        UsageError: If more than one does.
    """
    if not path.exists():
        raise MissingError(f"{path} is not there", hint="check the path")
    claims: list[Recognised] = []
    absent: list[str] = []
    # Only findback's own: another package's reader is code, and is loaded when somebody names it.
    for name in filter(lambda one: is_ours(GROUP, one), names(GROUP)):
        try:
            reason = load_source(name).recognise(path)
        except MissingLibraryError as missing:
            absent.append(f"{name}: {missing.hint}")
            continue
        if reason is not None:
            claims.append(Recognised(name, reason))
    if len(claims) == 1:
        return claims[0]
    if claims:
        listed = "; ".join(f"{claim.name} ({claim.reason})" for claim in claims)
        raise UsageError(f"{path} could be several things: {listed}", hint=f"say which with --as {claims[0].name}")
    hint = f"say what it is with --as; known: {', '.join(names(GROUP)) or 'none'}"
    raise DataError(
        f"{path} is no export that is known", hint=f"{hint} (not installed: {'; '.join(absent)})" if absent else hint
    )
