"""How many flags are taken: by address, by site and in total, counted in memory and gone with the process."""

import hmac
import ipaddress
import math
import secrets
import threading
from collections import deque
from datetime import date, datetime, timedelta

from findback.model.settings import FlagSettings

WINDOW = timedelta(hours=1)


class FlagLimits:
    """Counts the flags of the last hour. Addresses are digests under a key of the day, so no day knows another's."""

    def __init__(self, settings: FlagSettings) -> None:
        self._most = {"address": settings.per_address, "origin": settings.per_origin, "total": settings.total}
        self._lock = threading.Lock()
        self._day: date | None = None
        self._key = b""
        self._taken: dict[tuple[str, str], deque[datetime]] = {}
        self._cleared: datetime | None = None

    def wait(self, address: str, origin: str | None, now: datetime) -> int:
        """Return 0 and count a flag where one more is taken, else the seconds until one is; that counts nothing.

        Args:
            address: Of whoever sends it.
            origin: The site it comes from; None where it does not come from one.
            now: When it happens.
        """
        with self._lock:
            self._turn(now)
            names = (("address", self._digest(address)), ("origin", origin or ""), ("total", ""))
            full = [oldest for kind, name in names if (oldest := self._oldest_of_full(kind, name, now)) is not None]
            if full:
                return max(1, math.ceil((max(full) + WINDOW - now).total_seconds()))
            for key in names:
                self._taken.setdefault(key, deque()).append(now)
            return 0

    def _oldest_of_full(self, kind: str, name: str, now: datetime) -> datetime | None:
        """Return when the oldest flag counted was taken, where there is no room for one more."""
        taken = self._taken.get((kind, name), deque())
        while taken and now - taken[0] >= WINDOW:
            taken.popleft()
        return taken[0] if len(taken) >= self._most[kind] else None

    def _turn(self, now: datetime) -> None:
        """Forget yesterday's addresses with the key of their digests, and every hour what is older than one."""
        if now.date() != self._day:
            self._day, self._key = now.date(), secrets.token_bytes(32)
            self._taken = {key: taken for key, taken in self._taken.items() if key[0] != "address"}
        if self._cleared is None or now - self._cleared >= WINDOW:
            self._cleared = now
            self._taken = {key: taken for key, taken in self._taken.items() if taken and now - taken[-1] < WINDOW}

    def _digest(self, address: str) -> str:
        return hmac.new(self._key, network_of(address).encode(), "sha256").hexdigest()


def network_of(address: str) -> str:
    """Return what one client cannot leave at will: an IPv4 address, or the 64 leading bits of an IPv6 one.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1:2:3:4"), network_of("unknown")
    ('192.0.2.7', '2001:db8::/64', 'unknown')
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        if known.ipv4_mapped is not None:
            return str(known.ipv4_mapped)
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)
