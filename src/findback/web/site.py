"""What every page needs: the workspace, its workbench, who may come in, and the time."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from urllib.parse import urlsplit

from findback.model.settings import ServeSettings
from findback.steps.flag import FlagDesk
from findback.steps.review import Desk
from findback.web.originals import Originals
from findback.workbench.store import Workbench
from findback.workspace import Workspace


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Site:
    """One running review page."""

    desk: Desk
    local: bool
    """One person on this machine; otherwise a team with a login."""
    base_url: str
    """Address people type, without a path."""
    now: Callable[[], datetime] = _now
    entry: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """Local mode: the one-time token of the link that the terminal prints."""
    originals: Originals = field(default_factory=Originals, repr=False)
    """Words read again for somebody, until they have them."""

    @property
    def workspace(self) -> Workspace:
        """Return the workspace."""
        return self.desk.workspace

    @property
    def bench(self) -> Workbench:
        """Return the workbench."""
        return self.desk.bench

    @property
    def serve(self) -> ServeSettings:
        """Return the settings of the page."""
        return self.workspace.settings.serve

    @property
    def https(self) -> bool:
        """Return whether browsers reach the page over TLS."""
        return self.base_url.startswith("https://")

    @property
    def cookie(self) -> str:
        """Return the name of the session cookie; browsers keep `__Host-` ones to this host and to TLS.

        They do not keep cookies to a port: with two pages on one machine each needs a name of its own.
        """
        port = urlsplit(self.base_url).port if self.local else None
        return "__Host-findback" if self.https else f"findback-{port}" if port else "findback"

    @cached_property
    def flags(self) -> FlagDesk:
        """Return where flags come in."""
        desk = self.desk
        return FlagDesk(self.workspace, self.bench, desk.key, documents=lambda: desk.documents)

    @cached_property
    def signing_key(self) -> str:
        """Return the key that signs what lies in a browser for the minutes of a login."""
        return self.desk.key.hmac("findback web signing")
