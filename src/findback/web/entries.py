"""The one-time link of local mode."""

import hmac
import threading


class Entries:
    """Links that let one person in, each once."""

    def __init__(self, token: str) -> None:
        self._token: str | None = token
        self._lock = threading.Lock()

    def use(self, token: str) -> bool:
        """Return whether the token is the one that waits; it waits no more then."""
        with self._lock:
            if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
                return False
            self._token = None
            return True
