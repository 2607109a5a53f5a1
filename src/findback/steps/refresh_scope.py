"""Which documents a refresh looks at: all of them, or what changed since a release or a date."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import NamedTuple

from findback.corpus.corpus import Corpus
from findback.corpus.snapshot import Snapshot
from findback.errors import MissingError, UsageError
from findback.model.document import Document
from findback.steps.refresh_past import Past, stand, touched_on

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Scope(NamedTuple):
    """What limits the work."""

    said: str | None
    """As it was asked for; None where everything is looked at."""
    holds: Callable[[Document], bool]
    """Whether a document is looked at."""


def read_scope(since: str | None, past: Past, documents: Corpus) -> Scope:
    """Return what a refresh looks at.

    Args:
        since: Number of a release, or a date as 2026-10-31; everything when None.
        past: What is known of earlier releases.
        documents: The corpus.

    Raises:
        UsageError: If it is neither.
        MissingError: If nothing is remembered of that release.
    """
    if since is None:
        return Scope(None, lambda _: True)
    if since.isdecimal():
        if int(since) not in past.remembered:
            known = ", ".join(map(str, past.remembered)) or "none"
            raise MissingError(
                f"nothing is remembered of the documents of release {since}",
                hint=f"name a date, leave --since out, or name one of: {known}",
            )
        return _since_snapshot(f"release {since}", past.remembered[int(since)].snapshot, documents)
    moment = _read_date(since)
    older = [one.snapshot for one in past.remembered.values() if one.snapshot.taken <= moment]
    if older:
        # Pages that were renamed or merged often still carry their old times: digests tell more.
        return _since_snapshot(f"{since} (compared with {older[-1].taken:%Y-%m-%d})", older[-1], documents)
    return Scope(since, lambda document: (touched_on(document) or moment) >= moment)


def _since_snapshot(said: str, snapshot: Snapshot, documents: Corpus) -> Scope:
    digests = documents.text_digests
    return Scope(said, lambda document: stand(document.id, digests, snapshot) != "unchanged")


def _read_date(since: str) -> datetime:
    try:
        if _DATE.fullmatch(since):
            return datetime.combine(date.fromisoformat(since), datetime.min.time(), UTC)
    except ValueError:
        pass
    raise UsageError("--since is neither a release nor a date", hint="write 3 for release 3, or 2026-10-31")
