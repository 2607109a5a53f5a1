"""Which key a workbench belongs to, and the key itself where a server shares it."""

import hmac
import secrets
from pathlib import Path

from sqlalchemy import Connection, select

from findback.errors import SettingsError, UsageError
from findback.workbench.database import PATIENCE, connect_database
from findback.workbench.faults import quietly
from findback.workbench.insertion import insert_missing
from findback.workbench.migration import upgrade_database
from findback.workbench.tables import META

CHECK = "key_check"
SHARED = "key"


def check_key(connection: Connection, key_check: str) -> None:
    """Compare a digest made with the key to the one kept; the first one given is kept.

    Raises:
        SettingsError: If the workbench was made with another key.
    """
    insert_missing(connection, META, [{"name": CHECK, "value": key_check}])
    kept = connection.scalar(select(META.c.value).where(META.c.name == CHECK)) or ""
    if not hmac.compare_digest(kept.encode(), key_check.encode()):
        raise SettingsError(
            "this workbench was made with another key",
            hint="set FINDBACK_KEY to the key it was made with; with a wrong one nothing stored would be found again",
        )


@quietly("read the workbench's key")
def shared_key(url: str, *, patience: float = PATIENCE) -> str:
    """Return the key that everyone who uses a workbench on a server shares; made when there is none.

    Returns:
        64 hexadecimal digits.

    Raises:
        UsageError: If the workbench is a file: then the key lies beside it, not in it.
    """
    database = connect_database(url, patience=patience) if not isinstance(url, Path) and "://" in url else None
    if database is None or database.path is not None:
        raise UsageError("only a workbench on a server keeps its key in the database")
    try:
        upgrade_database(database)
        with database.writing() as connection:
            insert_missing(connection, META, [{"name": SHARED, "value": secrets.token_hex(32)}])
            return str(connection.scalar(select(META.c.value).where(META.c.name == SHARED)))
    finally:
        database.close()
