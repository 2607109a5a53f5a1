"""Settings of kind `http`, and what is wrong with them before anything is called."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from findback.endpoint import check_address, host_of, is_loopback
from findback.errors import RefusedError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel
from findback.net import MARKER
from findback.retrievers.json_answer import PathSettings
from findback.retrievers.templates import check_names

FROM_ENVIRONMENT = "env:"

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\{\{\s*env:\s*([^{}|]*?)\s*\}\}")
_SECRET_HEADER = re.compile(
    r"authori[sz]ation|authentication|cookie|token(?!s)|secret|passw|credential|api[-_]?key"
    r"|(?:^|access|auth|subscription|account|functions|private|master|admin|x)[-_]?key$"
)
"""Names of headers whose value lets somebody in."""
_SECRET_VALUE = re.compile(r"(?:bearer|basic|digest|token|apikey|api-key)\s+\S", re.IGNORECASE)
_CONNECTION = {"connection", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"}
_OUR_HEADERS = frozenset({*_CONNECTION, "content-length", "transfer-encoding", *map(str.lower, MARKER)})
"""Headers that follow from the address, the body and the connection, or say that this is an evaluation."""

Body = str | dict[str, Any] | list[Any]


class RequestSettings(Record):
    """A request about one document: `[retrievers.NAME.exists]`, `[retrievers.NAME.fetch]`; `{{id}}` is its id.

    `{{context.…}}` says who asks; asked whether it is there at all, nobody does: `{{context.audience|admin}}`.
    """

    url: Annotated[str, LOCAL_ONLY]
    method: Literal["GET", "HEAD", "POST"] | None = None
    """POST when there is a body, else GET."""
    body: Body | None = None
    found: str | None = None
    """`exists`: JSONPath that matches something true when the document is there; else status 200 is enough."""
    text: str = "$.text"
    """`fetch`: JSONPath to the document's text."""


class CallSettings(PathSettings):
    """What every kind that asks over HTTP can be told."""

    headers: dict[str, Annotated[str, LOCAL_ONLY]] = Field(default_factory=dict)
    """Sent with every request. `env:NAME`, or `{{env:NAME}}` inside a text, takes a secret from the environment."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    max_k: PositiveInt | None = None
    """Most results the system gives at once."""
    concurrency: PositiveInt = 4
    """Most searches at the same time."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Most requests a second."""
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    """Further tries after 429, 502, 503, 504 or a broken connection."""
    timeout: Annotated[float, Field(gt=0, le=600)] | None = None
    """Seconds for one request; `[http] timeout` when left out."""


class HttpRetrieverSettings(CallSettings):
    """Settings of kind `http`."""

    url: Annotated[str, LOCAL_ONLY]
    """Address with `{{query}}`, `{{k}}` or `{{context.…}}` where they belong."""
    method: Literal["GET", "POST", "PUT"] | None = None
    """POST when there is a body, else GET."""
    body: Body | None = None
    """A table (values are put into its strings), or a text."""
    body_type: Literal["json", "form", "text"] = "json"
    """How values are escaped, and what the content is declared as."""
    exists: RequestSettings | None = None
    fetch: RequestSettings | None = None


def check_settings(name: str, own: HttpRetrieverSettings) -> None:
    """Refuse addresses and templates that cannot work; nothing is called.

    Raises:
        SettingsError: If an address cannot be read, a template names something unknown, the host is a template, or
            a header cannot be sent or holds a secret itself.
        RefusedError: If an address is one that must not be called.
    """
    where = f"[retrievers.{name}]"
    requests: tuple[tuple[str, str, Body | None, Callable[[str], bool]], ...] = (
        (where, own.url, own.body, lambda used: used != "id"),
        *(
            (f"{where} {key}", request.url, request.body, lambda used: used not in {"query", "k"})
            for key, request in (("exists", own.exists), ("fetch", own.fetch))
            if request is not None
        ),
    )
    for place, url, body, allowed in requests:
        check_names([url, body], allowed=allowed, where=place)
        check_url(place, url)
    check_headers(where, own.headers)


def check_url(place: str, url: str) -> None:
    """Refuse an address that cannot be read, whose host is a template, or that must not be called.

    Raises:
        SettingsError: If it cannot be read, or the host is a template.
        RefusedError: If it is one that must not be called.
    """
    host = host_of(url)
    if host is None:
        raise SettingsError(f"{place} url: cannot be read as an address", hint="write it as https://host:port/path")
    if "{{" in host:
        raise SettingsError(f"{place} url: the host cannot be a template", hint="name one host")
    try:
        check_address(url)
    except RefusedError as error:
        raise RefusedError(f"{place} url: {error}", hint=error.hint) from None


def check_headers(where: str, headers: Mapping[str, str]) -> None:
    """Refuse headers that cannot be sent, are there twice, or hold a secret themselves.

    Raises:
        SettingsError: Without the value.
    """
    seen: set[str] = set()
    for header, value in headers.items():
        check_header(f"{where} headers.{header}", header, value)
        if header.lower() in seen:
            raise SettingsError(f"{where} headers.{header}: is there twice", hint="letter case does not matter")
        seen.add(header.lower())


def check_header(place: str, header: str, value: str) -> None:
    """Refuse a header that cannot be sent, that is not the user's to set, or that holds a secret itself.

    Raises:
        SettingsError: Without the value.
    """
    if not _HEADER.fullmatch(header) or not value.isprintable() or not value.isascii():
        raise SettingsError(f"{place}: holds characters that no header may have")
    if header.lower() in _OUR_HEADERS:
        raise SettingsError(f"{place}: is set by findback itself", hint="leave it out")
    variables = list_variables(value)
    if not all(_VARIABLE.fullmatch(variable) for variable in variables):
        raise SettingsError(
            f"{place}: {FROM_ENVIRONMENT} is not followed by the name of a variable", hint=f'{header} = "env:NAME"'
        )
    if "{{" in _PLACE.sub("", value):
        raise SettingsError(f"{place}: only {{{{env:NAME}}}} may stand in a header")
    if value and not variables and (_SECRET_HEADER.search(header.lower()) or _SECRET_VALUE.match(value)):
        raise SettingsError(
            f"{place}: a secret is named, never written into findback.toml",
            hint=f'export it, and write {header} = "env:NAME" (or "Bearer {{{{env:NAME}}}}")',
        )


def list_variables(value: str) -> list[str]:
    """Return the environment variables a header names, in order."""
    if value.startswith(FROM_ENVIRONMENT):
        return [value.removeprefix(FROM_ENVIRONMENT).strip()]
    return list(dict.fromkeys(_PLACE.findall(value)))


def fill_headers(name: str, headers: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return headers with their secrets.

    Raises:
        SettingsError: If a variable is not set, or holds what no header may have; its value is not shown.
    """
    return {header: fill_header(name, header, value, environment) for header, value in headers.items()}


def fill_header(name: str, header: str, value: str, environment: Mapping[str, str]) -> str:
    """Return a header's value with its secrets.

    Raises:
        SettingsError: If a variable is not set, or holds what no header may have; its value is not shown.
    """
    found = {}
    for variable in list_variables(value):
        secret = environment.get(variable, "").strip()
        if not secret:
            raise SettingsError(
                f"[retrievers.{name}] headers.{header}: the environment variable {variable} is not set",
                hint=f"export {variable}=…",
            )
        if not secret.isprintable() or not secret.isascii():
            raise SettingsError(f"the environment variable {variable} holds characters that no header may have")
        found[variable] = secret
    if value.startswith(FROM_ENVIRONMENT):
        return next(iter(found.values()))
    return _PLACE.sub(lambda match: found[match[1]], value)


def egress_of(url: str) -> EgressLevel:
    """Return how far a query travels to an address: this machine, an address of a private network, or further.

    >>> egress_of("http://127.0.0.1:9200"), egress_of("http://10.1.2.3/s"), egress_of("https://search.example.org")
    ('local', 'internal', 'external')
    """
    return level_of_host(host_of(url) or "")


def level_of_host(host: str) -> EgressLevel:
    """Return how far a query travels to a host; a name that is not this machine counts as external.

    >>> level_of_host("localhost"), level_of_host("10.1.2.3"), level_of_host("db.example.org")
    ('local', 'internal', 'external')
    """
    if is_loopback(host):
        return "local"
    try:
        return "internal" if ipaddress.ip_address(host).is_private else "external"
    except ValueError:
        return "external"
