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
