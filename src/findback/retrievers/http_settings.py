"""Settings of kind `http`, and what is wrong with them before anything is called."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt

from findback.errors import RefusedError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel
from findback.net import check_address, is_loopback
from findback.retrievers.json_answer import PathSettings
from findback.retrievers.templates import check_names, list_names

FROM_ENVIRONMENT = "env:"

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

Body = str | dict[str, Any] | list[Any]


class RequestSettings(Record):
    """A request about one document: `[retrievers.NAME.exists]`, `[retrievers.NAME.fetch]`; `{{id}}` is its id."""

    url: Annotated[str, LOCAL_ONLY]
    method: Literal["GET", "HEAD", "POST"] | None = None
    """POST when there is a body, else GET."""
    body: Body | None = None
    found: str | None = None
    """`exists`: JSONPath that matches something true when the document is there; else status 200 is enough."""
    text: str = "$.text"
    """`fetch`: JSONPath to the document's text."""


class HttpRetrieverSettings(PathSettings):
    """Settings of kind `http`."""

    url: Annotated[str, LOCAL_ONLY]
    """Address with `{{query}}`, `{{k}}` or `{{context.…}}` where they belong."""
    method: Literal["GET", "POST", "PUT"] | None = None
    """POST when there is a body, else GET."""
    headers: dict[str, Annotated[str, LOCAL_ONLY]] = Field(default_factory=dict)
    """Sent with every request. `env:NAME`, or `{{env:NAME}}` inside a text, takes a secret from the environment."""
    body: Body | None = None
    """A table (values are put into its strings), or a text."""
    body_type: Literal["json", "form", "text"] = "json"
    """How values are escaped, and what the content is declared as."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    max_k: PositiveInt | None = None
    """Most results the system gives at once."""
    exists: RequestSettings | None = None
    fetch: RequestSettings | None = None
    concurrency: PositiveInt = 4
    """Most searches at the same time."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Most requests a second."""
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    """Further tries after 429, 502, 503, 504 or a broken connection."""
    timeout: Annotated[float, Field(gt=0, le=600)] | None = None
    """Seconds for one request; `[http] timeout` when left out."""


def check_settings(name: str, own: HttpRetrieverSettings) -> None:
    """Refuse addresses and templates that cannot work; nothing is called.

    Raises:
        SettingsError: If a template names something unknown, or the host is a template.
        RefusedError: If an address is one that must not be called.
    """
    where = f"[retrievers.{name}]"
    requests: tuple[tuple[str, str, Body | None, Callable[[str], bool]], ...] = (
        (where, own.url, own.body, lambda used: used != "id"),
        *(
            (f"{where} {key}", request.url, request.body, lambda used: used == "id")
            for key, request in (("exists", own.exists), ("fetch", own.fetch))
            if request is not None
        ),
    )
    for place, url, body, allowed in requests:
        check_names([url, body], allowed=allowed, where=place)
        if "{{" in urlsplit(url.replace("|", "")).netloc:
            raise SettingsError(f"{place} url: the host cannot be a template", hint="name one host")
        try:
            check_address(url)
        except RefusedError as error:
            raise RefusedError(f"{place} url: {error}", hint=error.hint) from None
    for header, value in own.headers.items():
        if set(list_names([value])) - {f"{FROM_ENVIRONMENT}{variable}" for variable in list_variables(value)}:
            raise SettingsError(f"{where} headers.{header}: only {{{{env:NAME}}}} may stand in a header")
        if not _HEADER.fullmatch(header) or not value.isprintable() or not value.isascii():
            raise SettingsError(f"{where} headers.{header}: holds characters that no header may have")


def list_variables(value: str) -> list[str]:
    """Return the environment variables a header names."""
    if value.startswith(FROM_ENVIRONMENT):
        return [value.removeprefix(FROM_ENVIRONMENT).strip()]
    return [
        used.removeprefix(FROM_ENVIRONMENT).strip() for used in list_names([value]) if used.startswith(FROM_ENVIRONMENT)
    ]


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
        found[f"{FROM_ENVIRONMENT}{variable}"] = secret
    if value.startswith(FROM_ENVIRONMENT):
        return next(iter(found.values()))
    for used, secret in found.items():
        value = value.replace(f"{{{{{used}}}}}", secret)
    return value


def egress_of(url: str) -> EgressLevel:
    """Return how far a query travels to an address: this machine, an address of a private network, or further.

    >>> egress_of("http://127.0.0.1:9200"), egress_of("http://10.1.2.3/s"), egress_of("https://search.example.org")
    ('local', 'internal', 'external')
    """
    host = urlsplit(url).hostname or ""
    if is_loopback(host):
        return "local"
    try:
        return "internal" if ipaddress.ip_address(host).is_private else "external"
    except ValueError:
        return "external"
