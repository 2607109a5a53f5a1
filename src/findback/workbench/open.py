"""Opening a workbench: made when it is not there, brought to today's format, refused with a wrong key."""

from pathlib import Path

from findback.errors import StorageError
from findback.workbench.database import PATIENCE, Database, connect_database
from findback.workbench.faults import quietly
from findback.workbench.key import check_key
from findback.workbench.migration import Migrations, upgrade_database
from findback.workbench.scrub import is_scrub_pending, scrub_database
from findback.workbench.store import Workbench


@quietly("open the workbench")
def open_workbench(
    url_or_path: str | Path,
    *,
    key_check: str,
    patience: float = PATIENCE,
    migrations: Migrations | None = None,
) -> Workbench:
    """Open the private database, and make it where there is none.

    Args:
        url_or_path: Path of a SQLite file, or postgresql://….
        key_check: Digest of a constant made with the workbench's key; the same key gives the same.
        patience: Seconds to wait for another process.
        migrations: Those to run; findback's own when None.

    Raises:
        SettingsError: If the workbench was made with another key, or the address is of no known kind.
        RefusedError: If a newer findback made it, another program did, or others may enter its folder.
        StorageError: If the disk or the server refuses.
        MissingLibraryError: If PostgreSQL's library is missing.
    """
    database = connect_database(url_or_path, patience=patience)
    try:
        backup = upgrade_database(database, migrations)
        with database.deciding() as connection:
            check_key(connection, key_check)
            pending = is_scrub_pending(connection)
        if pending:
            _finish_scrub(database)
    except BaseException:
        database.close()
        raise
    return Workbench(database, backup=backup)


def _finish_scrub(database: Database) -> None:
    """Overwrite what an interrupted erasure left, unless somebody still reads: then it waits."""
    try:
        scrub_database(database)
    except StorageError:
        return
