"""What every test may use."""

import os
from pathlib import Path

import pytest

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
