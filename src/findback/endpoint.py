"""Addresses on the network: what they name, which may be called, and how they are shown."""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit, urlunsplit

from findback.errors import RefusedError

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    )
)


async def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host.

    Raises:
        OSError: If the name is not known.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_forbidden(address: str) -> bool:
    """Return whether an IP address is one that no search system has: link-local, metadata, multicast, unset.

    >>> is_forbidden("169.254.169.254"), is_forbidden("::ffff:169.254.1.1"), is_forbidden("127.0.0.1")
    (True, True, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = (
            ip.ipv4_mapped or ip.sixtofour or (ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        )
        if inner is not None:
            return is_forbidden(str(inner))
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA or str(ip) == "255.255.255.255"


def check_address(url: str, shown: str | None = None) -> None:
    """Refuse what is no plain http or https address.

    Raises:
        RefusedError: If the scheme is another one, there is no host, it holds a user name or password, or the
            host is an address that must not be called.
    """
    name = shown or without_query(url)
    parts = _split(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RefusedError(f"not an http or https address: {name}", hint="write it as https://host/path")
    if parts.username is not None or parts.password is not None:
        raise RefusedError(
            f"the address holds a user name or password: {name}",
            hint='send it in a header instead: Authorization = "env:NAME"',
        )
    try:
        forbidden = is_forbidden(parts.hostname)
    except ValueError:
        return
    if forbidden:
        refuse_special(parts.hostname)


def without_query(url: str) -> str:
    """Return an address without query string, fragment, user name and password.

    >>> without_query("https://ann:pw@search.example.org/find?q=lost#top")
    'https://search.example.org/find'
    """
    parts = _split(url)
    if parts is None:
        return "(an address that cannot be read)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, the port always written out; nothing where it cannot be read.

    >>> origin_of("https://Search.example.org/find?q=lost"), origin_of("http://[::1]:9200/")
    ('https://search.example.org:443', 'http://[::1]:9200')
    """
    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    port = parts.port if parts.port is not None else {"http": 80, "https": 443}.get(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def host_of(url: str) -> str | None:
    """Return the host of an address, empty where it names none; None where it cannot be read as an address.

    >>> host_of("http://[::1]:9200/"), host_of("/find"), host_of("http://[::1")
    ('::1', '', None)
    """
    parts = _split(url)
    return None if parts is None else parts.hostname or ""


def is_loopback(host: str) -> bool:
    """Return whether a host name certainly means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("search.example.org")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def refuse_special(host: str) -> NoReturn:
    """Refuse to call a host that no search system is.

    Raises:
        RefusedError: Always.
    """
    raise RefusedError(
        f"{host} is a link-local, metadata or otherwise special address, which is never called",
        hint="name the search system's own host",
    )
