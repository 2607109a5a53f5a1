"""What every test may use."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.postgresql import make_database, run_postgresql

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: Ctrl+C would be ignored by every program that a test starts, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
    with run_postgresql() as running:
        yield running


@pytest.fixture
def postgresql_url(server: SimpleNamespace, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a database for one test, and drop it afterwards."""
    with make_database(server, f"t{abs(hash(request.node.nodeid)) % 10**12}") as url:
        yield url


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
