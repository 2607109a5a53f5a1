"""Bringing a workbench to today's format: Alembic migrations whose number is the format."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from findback.errors import RefusedError, StorageError
from findback.files import PRIVATE_FILE, storage_errors
from findback.workbench.database import Database, connect_database
from findback.workbench.tables import VERSION_TABLE

FORMAT = 6
"""Number of the newest migration this findback knows."""

BACKUP_MARK = ".before-format-"
"""Stands between the file's name and the format it was brought to, in the name of a backup."""

SHIPPED = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Migrations:
    """The migrations to run, and the format they lead to."""

    folder: Path = SHIPPED
    """Folder of env.py."""
    versions: tuple[Path, ...] = (SHIPPED / "versions",)
    """Folders of the migrations."""
    format: int = FORMAT


def upgrade_database(database: Database, migrations: Migrations | None = None) -> Path | None:
    """Bring a workbench to today's format, or make its tables; return the backup, where one was made.

    A SQLite file that holds an older format is copied beside itself first. Two processes that open
    a new workbench at once make it once.

    Raises:
        RefusedError: If a newer findback made it, or another program did.
    """
    known = migrations or Migrations()
    with database.reading() as connection:
        found = format_of(connection)
    _check(found, known)
    if found == known.format:
        return None
    if database.path is None:
        with database.writing() as connection:
            _migrate(connection, known, f"{known.format:04d}")
        return None
    # Rebuilding a table drops it, and with foreign keys on SQLite would empty those that point at it.
    loose = connect_database(database.path, patience=database.patience, foreign_keys=False)
    try:
        with loose.writing() as connection:
            found = format_of(connection)
            _check(found, known)
            backup = None
            if found not in (0, known.format):
                backup = _copy(database.path, known.format)
            _migrate(connection, known, f"{known.format:04d}")
            if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
                raise StorageError("the workbench cannot be brought to the new format: rows point at nothing")
            return backup
    finally:
        loose.close()


def downgrade_database(database: Database, number: int, migrations: Migrations | None = None) -> None:
    """Take a workbench back to an older format; 0 takes every table away."""
    known = migrations or Migrations()
    with database.writing() as connection:
        _migrate(connection, known, f"{number:04d}" if number else "base")


def format_of(connection: Connection) -> int:
    """Return the format of the workbench there, 0 where there is none.

    Raises:
        RefusedError: If a SQLite file holds another program's tables.
    """
    names = set(inspect(connection).get_table_names())
    if VERSION_TABLE in names:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608
        return int(found) if found else 0
    if names and connection.dialect.name == "sqlite":
        raise RefusedError("the file holds another program's tables", hint="name a file of its own")
    return 0


def backups_of(path: Path) -> list[Path]:
    """Return the copies that migrations left beside a workbench."""
    return sorted(path.parent.glob(f"{path.name}{BACKUP_MARK}*"))


def _check(found: int, known: Migrations) -> None:
    if found > known.format:
        raise RefusedError(
            f"a newer findback made this workbench: its format is {found}, this one knows {known.format}",
            hint="install the newer findback",
        )


def _migrate(connection: Connection, migrations: Migrations, target: str) -> None:
    # Alembic takes half a second to import, and an up-to-date workbench does not need it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations.folder).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(map(str, migrations.versions)).replace("%", "%%"))
    config.attributes["connection"] = connection
    if target == "base" or int(target) < format_of(connection):
        command.downgrade(config, target)
    else:
        command.upgrade(config, target)


def _copy(path: Path, number: int) -> Path:
    """Copy a SQLite workbench beside itself, as it is now, with mode 0600."""
    copy = path.with_name(f"{path.name}{BACKUP_MARK}{number}")
    with storage_errors(copy):
        copy.unlink(missing_ok=True)
        os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy
