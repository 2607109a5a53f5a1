"""Who reviews: the roles they have and the audiences whose candidates they may see."""

from typing import NamedTuple

from findback.errors import RefusedError
from findback.model.settings import RoleName


class Reviewer(NamedTuple):
    """Somebody who uses the workbench."""

    subject: str
    """Who they are to the login, or the local name."""
    name: str | None
    roles: tuple[RoleName, ...]
    audiences: tuple[str, ...]
    """Candidates of other audiences do not exist for them."""

    def require(self, *roles: RoleName) -> None:
        """Refuse somebody without any of the roles.

        Raises:
            RefusedError: If they have none of them.
        """
        if not set(roles).intersection(self.roles):
            raise RefusedError(f"this needs the role {' or '.join(roles)}")
