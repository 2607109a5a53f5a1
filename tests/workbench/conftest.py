"""A workbench on each database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from findback.workbench.open import open_workbench
from findback.workbench.store import Workbench

CHECK = "c0ffee"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return str(tmp_path / "private" / "workbench.db")


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
