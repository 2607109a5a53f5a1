"""Pages of an API in the place of an export's files: held in memory, written nowhere."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from findback.sources.archive import LIMITS, Archive


class Pages(Archive):
    """What an API gave, as the members of an export."""

    def __init__(self, name: str, members: Mapping[str, bytes]) -> None:
        """Take the pages.

        Args:
            name: How messages call them, such as `[connectors.desk]`.
            members: Bytes by the name a file of the export would have.
        """
        super().__init__(Path(name), LIMITS)
        self._members = dict(members)
        self.admit({name: len(raw) for name, raw in members.items()})

    def where(self, name: str) -> str:
        """Return how messages call a page."""
        return str(self.path)

    def _open(self, name: str) -> IO[bytes]:
        return io.BytesIO(self._members[name])
