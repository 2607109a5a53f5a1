"""Records put aside by channel, in memory and on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findback.errors import RefusedError, StorageError
from findback.sources import shelf
from findback.sources.shelf import Shelf


def fill(folder: Path | None, records: int = 30) -> Shelf:
    held = Shelf("export.json", folder)
    for number in range(records):
        held.put(f"C{number % 3}", {"number": number, "text": "é" * 100})
    return held


def numbers(taken: Iterator[tuple[str, Iterator[Any]]]) -> dict[str, list[int]]:
    return {channel: [record["number"] for record in records] for channel, records in taken}


@pytest.mark.parametrize("memory", [1, 1000, 1 << 20])
def test_records_come_back_by_channel_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int):
    """Whether each record, some of them or none went to disk: three channels of ten, none lost, none moved."""
    monkeypatch.setattr(shelf, "IN_MEMORY", memory)
    held = fill(tmp_path)
    assert len(held) == 3
    assert numbers(held.take()) == {f"C{first}": list(range(first, 30, 3)) for first in range(3)}


def test_what_lies_on_disk_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The file cannot be found while it is used, so that a killed process leaves nothing behind."""
    monkeypatch.setattr(shelf, "IN_MEMORY", 1)
    held = fill(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert sum(map(len, numbers(held.take()).values())) == 30


def test_more_than_may_be_held_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without a folder all of it has a limit; with one, a single channel has."""
    monkeypatch.setattr(shelf, "WITHOUT_DISK", 2_000)
    with pytest.raises(RefusedError, match=r"export\.json has more than .* of messages") as caught:
        fill(None)
    assert "--dry-run" in (caught.value.hint or "")
    monkeypatch.setattr(shelf, "OF_ONE", 2_000)
    with pytest.raises(RefusedError, match="of one channel, C0") as caught:
        fill(tmp_path)
    assert "shorter stretches" in (caught.value.hint or "")


def test_a_disk_that_refuses_is_said_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder that is not there is an error of storage that names it."""
    monkeypatch.setattr(shelf, "IN_MEMORY", 1)
    with pytest.raises(StorageError, match="gone"):
        fill(tmp_path / "gone")
