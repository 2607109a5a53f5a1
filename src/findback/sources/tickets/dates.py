"""Times of an export in the layouts its mapping knows; whether months come before days is learnt on the way."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from findback.sources.tickets.fields import read_moment
from findback.sources.tickets.mapping import plain

_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}\b")
UNDECIDED = "no date tells whether days or months come first: read as day/month"
"""What a note says about an export in which every date can be read both ways."""


class Dates:
    """Reads times; `03/04/2024` as the other dates of the export tell."""

    def __init__(self, layouts: Iterable[str]) -> None:
        self._layouts = tuple(layouts)
        self.are_open = any("/" in layout for layout in self._layouts)
        """Whether the layouts leave open which of day and month comes first."""
        self._month_first: bool | None = None
        self._any_slashed = False

    def learn(self, written: str | None) -> None:
        """Look at a date; one that can only be read one way decides."""
        found = _SLASHED.match(written or "")
        if found is not None:
            self._any_slashed = True
            if (int(found[1]) > 12) != (int(found[2]) > 12):
                self._month_first = int(found[2]) > 12

    def settle(self) -> str | None:
        """Leave out the layouts that cannot be meant; return a note where no date told."""
        refused = "%d/%m" if self._month_first else "%m/%d"
        self._layouts = tuple(layout for layout in self._layouts if not layout.startswith(refused))
        return UNDECIDED if self._any_slashed and self._month_first is None else None

    def read(self, value: Any) -> datetime | None:
        """Return a time in UTC, or None for what is none."""
        given = value if isinstance(value, int | float | datetime) else plain(value)
        readings = (read_moment(given, layout=layout) for layout in (None, *self._layouts))
        return next((moment for moment in readings if moment is not None), None)
