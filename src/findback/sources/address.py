"""Where a database of `[sources.NAME]` is, and what has to be agreed to before it is asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from findback.errors import MissingError, SettingsError, StorageError
from findback.model.settings import LOCAL_SCHEMES, SourceSettings
from findback.model.trusted import Trusted

FROM_ENVIRONMENT = "env:"
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
_PARAMETERS = frozenset(
    ("host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name")
)
"""What may stand behind the `?` of a PostgreSQL address: the others could undo that it is only read, or hide a host."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database."""

    url: URL = field(repr=False)
    """Holds the secret."""
    variable: str | None
    """Environment variable it came from."""
    file: Path | None
    """The file it is; None for a server."""

    @property
    def engine(self) -> str:
        """Return what answers there, such as sqlite, duckdb, postgresql or bigquery."""
        return self.url.get_backend_name()

    @property
    def host(self) -> str:
        """Return the host, with the port where one is named, without user and password."""
        hosts = self.url.host or self.url.query.get("host") or "this machine, or what PGHOST says"
        port = self.url.port or self.url.query.get("port")
        named = hosts if isinstance(hosts, str) else ", ".join(hosts)
        return named if port is None else f"{named}:{port if isinstance(port, int | str) else ', '.join(port)}"

    def __str__(self) -> str:
        """Return what messages call it."""
        if self.file is not None:
            return str(self.file)
        return f"{self.engine} {self.host}/{self.url.database or ''}"


def find_address(name: str, settings: SourceSettings, environment: Mapping[str, str], root: Path) -> Address:
    """Return where a source's database is; nothing is opened.

    Args:
        name: Of the source.
        settings: Its settings, which name a database.
        environment: Variables.
        root: Folder that a file's path is relative to.

    Raises:
        SettingsError: If the variable is not set, or holds no address.
        MissingError: If the file is not there.
        StorageError: If the file may not be read.
    """
    named = settings.database or ""
    variable = named.removeprefix(FROM_ENVIRONMENT) if named.startswith(FROM_ENVIRONMENT) else None
    if variable is not None:
        named = environment.get(variable, "").strip()
        if not named:
            raise SettingsError(
                f"[sources.{name}] database: the variable {variable or '(none)'} is not set",
                hint=f"export {variable or 'NAME'}=postgresql://user:password@host/database",
            )
    if "://" not in named:
        file = root / Path(named).expanduser()
        if variable is not None and not file.is_file():
            # It may be an address in another notation, with a password in it, and is not shown.
            raise _no_address(name)
        return Address(URL.create(_kind_of(name, file), database=str(file)), variable, file)
    url = _read_url(name, named)
    if url.get_backend_name() not in LOCAL_SCHEMES:
        return Address(url, variable, None)
    if not url.database or url.database == ":memory:" or url.query or url.host:
        raise SettingsError(
            f"[sources.{name}] database: the address names no file", hint="sqlite:////srv/support.db, or its path"
        )
    file = root / Path(url.database).expanduser()
    _kind_of(name, file)
    return Address(url.set(database=str(file)), variable, file)


def _read_url(name: str, named: str) -> URL:
    try:
        url = make_url(named)
        strange = set(url.query) - _PARAMETERS if url.get_backend_name() in ("postgresql", "postgres") else set()
    except (ArgumentError, ValueError):
        url, strange = None, set()
    if url is None:
        raise _no_address(name)
    if strange:
        raise SettingsError(
            f"[sources.{name}] database: an address may not say {', '.join(sorted(strange))}",
            hint=f"behind its ? may stand {', '.join(sorted(_PARAMETERS))}",
        )
    return url.set(drivername="postgresql") if url.get_backend_name() in ("postgresql", "postgres") else url


def _no_address(name: str) -> SettingsError:
    return SettingsError(
        f"[sources.{name}] database: that is no address of a database", hint="postgresql://user:password@host/database"
    )


def _kind_of(name: str, file: Path) -> str:
    """Return which kind of database a file is."""
    try:
        with file.open("rb") as opened:
            head = opened.read(16)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError(f"[sources.{name}] database: {file} is not there", hint="check the path") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise StorageError(f"[sources.{name}] database: {file} cannot be read: {reason}") from None
    for kind, (start, magic) in _MAGIC.items():
        if head[start:].startswith(magic):
            return kind
    raise SettingsError(
        f"[sources.{name}] database: {file} is no SQLite or DuckDB file",
        hint="an export is named by path, another database by env:NAME of a variable with its address",
    )


def list_trusted_databases(
    sources: Mapping[str, SourceSettings], environment: Mapping[str, str], root: Path
) -> Iterator[Trusted]:
    """Yield what somebody must agree to before databases named by variables are asked: host, name, variable, query.

    A file that findback.toml names itself needs no secret and no host; it is an export like others.
    """
    for name, settings in sources.items():
        if settings.database is None or not settings.database.startswith(FROM_ENVIRONMENT):
            continue
        yield Trusted("variable", settings.database.removeprefix(FROM_ENVIRONMENT))
        try:
            address = find_address(name, settings, environment, root)
        except (SettingsError, MissingError, StorageError):
            yield Trusted("database", f"not known yet, for [sources.{name}]")
        else:
            if address.file is None:
                yield Trusted("host", address.host)
            yield Trusted(
                "database", f"{address.file or f'{address.engine} {address.url.database}'}, for [sources.{name}]"
            )
        asked = settings.query if settings.query is not None else f"table {settings.table}"
        yield Trusted("query", f"{' '.join(asked.split())}, for [sources.{name}]")
