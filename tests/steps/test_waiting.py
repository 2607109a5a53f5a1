"""Waiting for asynchronous work."""

import pytest

from findback.steps.waiting import wait_for


class Large:
    """A result whose representation takes too long to be made."""

    def __repr__(self) -> str:
        raise AssertionError("somebody wrote it out")


async def give(result: object) -> object:
    """Return the result."""
    return result


def test_results_are_not_written_out() -> None:
    """The result comes back, and nothing on the way asks for its representation."""
    large = Large()
    assert wait_for(give(large)) is large


def test_errors_come_through() -> None:
    """What the work raises is raised."""

    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        wait_for(fail())
