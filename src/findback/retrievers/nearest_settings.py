"""Settings of the kinds that ask a vector engine, and where the engine is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import Field, PositiveInt

from findback.endpoint import without_query
from findback.errors import MissingError, SettingsError
from findback.model.record import LOCAL_ONLY, Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.calling import trusted_calls
from findback.retrievers.http_settings import check_header, check_url, egress_of, fill_header

Metric = Literal["cosine", "dot", "l2"]
Value = str | bool | int

_PART = re.compile(r"locale|audience|filters\.[^.\s]+")


class Matching(Protocol):
    """Settings that say which fields must have which values."""

    @property
    def match(self) -> Mapping[str, str]:
        """Which field must equal which part of a question's context."""
        ...

    @property
    def only(self) -> Mapping[str, Value]:
        """Fields that must always have these values."""
        ...


class NearestSettings(Record):
    """What every kind that asks a vector engine can be told."""

    url: Annotated[str, Field(min_length=1), LOCAL_ONLY]
    """Folder or file of the engine, relative to findback.toml, or the address of its server."""
    collection: Annotated[str, Field(min_length=1, max_length=500)]
    """Collection or table that is searched."""
    vector: Annotated[str, Field(min_length=1)] | None = None
    """Field of the vectors, where the engine does not know it by itself."""
    metric: Metric = "cosine"
    """How the collection compares vectors; says which scores are better, too."""
    exact: bool = False
    """Whether every vector is compared, and equal scores are put in the order of their ids."""
    parameters: dict[str, bool | int | float] = Field(default_factory=dict)
    """The engine's own parameters of an approximate search."""
    id_field: str | None = None
    """Field of the document's id, where it is not the engine's own id."""
    split: Annotated[str, Field(min_length=1)] | None = None
    """Where an id names a passage: the document's id stands before the last occurrence of this text."""
    passage_field: str | None = None
    """Field of a passage's text."""
    start_field: str | None = None
    """Field of the first character of the passage in its document."""
    end_field: str | None = None
    """Field of the character after the passage."""
    text_field: str | None = None
    """Field of a document's whole text, to fetch it by id."""
    match: dict[str, str] = Field(default_factory=dict)
    """Which field must equal which part of a question's context: `locale`, `audience` or `filters.NAME`."""
    only: dict[str, Value] = Field(default_factory=dict)
    """Fields that must always have these values."""
    model: Annotated[str | None, LOCAL_ONLY] = None
    """Embedder the vectors were made with; see kind `dense`."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens of the query that the embedder sees."""
    pooling: Literal["mean", "cls"] = "mean"
    """How the embedder makes one vector of many."""
    query_prefix: str = ""
    """What the embedder wants before a query."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Seconds for one search."""

    @property
    def remote(self) -> bool:
        """Return whether the address is a server's."""
        return "://" in self.url

    def list_fields(self) -> list[str]:
        """Return the fields that a result is read from."""
        named = (self.id_field, self.passage_field, self.start_field, self.end_field)
        return list(dict.fromkeys(field for field in named if field))


class ServedSettings(NearestSettings):
    """Settings of the engines that may be a server."""

    key: Annotated[str | None, LOCAL_ONLY] = None
    """`env:NAME` of a variable with the server's key or token."""
    concurrency: PositiveInt = 4
    """Most searches of a server at the same time; a folder or file is searched by one."""


class Place(NamedTuple):
    """Where an engine is, not yet opened."""

    url: str
    """The address, or the absolute path."""
    shown: str
    """What messages and the digest call it."""
    egress: EgressLevel
    key: str | None = None
    """The secret."""


def trusted_place(name: str, settings: RetrieverSettings, record: type[NearestSettings]) -> tuple[Trusted, ...]:
    """Return the server that queries would go to and the variable it is sent, or the files that would be opened.

    Files as well: some engines keep Python objects in theirs, and opening those can run what they say.

    Raises:
        SettingsError: If a setting makes no sense.
        RefusedError: If the address is one that must not be called.
    """
    own = read_own(name, settings, record)
    check_place(name, own)
    if not own.remote:
        return (Trusted("database", f"{own.url}, opened by {name}"),)
    key = getattr(own, "key", None)
    return trusted_calls(name, (own.url,), {} if key is None else {"key": key})


def check_place(name: str, own: NearestSettings) -> None:
    """Refuse settings that cannot work; nothing is opened.

    Raises:
        SettingsError: If a part of the context does not exist, or a secret is written out.
        RefusedError: If the address is one that must not be called.
    """
    where = f"[retrievers.{name}]"
    check_match(name, own.match)
    key = getattr(own, "key", None)
    if not own.remote:
        if key is not None:
            raise SettingsError(f"{where} key: goes to servers only", hint="leave it out for a folder or file")
        return
    if not isinstance(own, ServedSettings) or not own.url.startswith(("http://", "https://")):
        raise SettingsError(f"{where} url: cannot be used", hint="name a folder, or the address of a server by http")
    check_url(where, own.url)
    if key is not None:
        if not key.startswith("env:"):
            raise SettingsError(
                f"{where} key: a secret is named, never written into findback.toml",
                hint='export it, and write key = "env:NAME"',
            )
        check_header(f"{where} key", "key", key)


def find_place(
    name: str, own: NearestSettings, environment: Mapping[str, str], base: Path, level: EgressLevel | None
) -> Place:
    """Return where the engine is; nothing is opened.

    Raises:
        SettingsError: If the variable of the key is not set.
        MissingError: If the folder or file is not there: the libraries would make an empty one.
    """
    check_place(name, own)
    if own.remote:
        key = getattr(own, "key", None)
        secret = None if key is None else fill_header(name, "key", key, environment)
        return Place(own.url, without_query(own.url), level or egress_of(own.url), secret)
    path = (base / own.url).resolve()
    if not path.exists():
        raise MissingError(
            f"[retrievers.{name}] url: {own.url} is not there", hint="paths are relative to the folder of findback.toml"
        )
    return Place(str(path), own.url, level or "local")


def check_match(name: str, match: Mapping[str, str]) -> None:
    """Refuse parts of a context that do not exist, or that no field can equal.

    Raises:
        SettingsError: It names the part.
    """
    for part in match:
        if not _PART.fullmatch(part):
            raise SettingsError(
                f"[retrievers.{name}] match: {part!r} is no part of a context that a field can equal",
                hint='write match = {"filters.product" = "product"}, with locale, audience or filters.NAME on the left',
            )


def list_conditions(own: Matching, values: Mapping[str, Any]) -> list[tuple[str, Value]]:
    """Return the fields with the values they must have for a question.

    Args:
        own: The settings.
        values: What stands for each part of the question's context.
    """
    asked = [(field, values.get(f"context.{part}")) for part, field in own.match.items()]
    return [*own.only.items(), *((field, value) for field, value in asked if value)]
