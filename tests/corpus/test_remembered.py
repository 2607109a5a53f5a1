"""What is kept of a release's corpus comes back as it was, and holds no text."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from findback.corpus.corpus import corpus_of
from findback.corpus.remembered import KEPT, Remembered, list_remembered, load_remembered, save_remembered
from findback.corpus.snapshot import take_snapshot
from findback.errors import DataError, MissingError
from findback.model.document import Document
from findback.text.runs import WordHashes

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TEXT = "the harbour opens at dawn and closes at dusk"


def remembered() -> Remembered:
    hashes = WordHashes()
    snapshot = take_snapshot(corpus_of([Document("é/a.md", TEXT), Document("b.md", "nothing")]), now=NOW)
    runs = {"é/a.md": hashes.hash_runs(TEXT), "empty.md": hashes.hash_runs("")}
    return Remembered(snapshot, runs, np.unique(hashes.hash_words(TEXT.split())))


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    """Snapshot, runs of golds and words are the same after saving; golds without words have none."""
    saved = remembered()
    save_remembered(saved, tmp_path, 3)
    loaded = load_remembered(tmp_path, 3)
    assert loaded.snapshot == saved.snapshot
    assert {name: runs.tolist() for name, runs in loaded.golds.items()} == {
        name: runs.tolist() for name, runs in saved.golds.items()
    }
    assert loaded.words.tolist() == saved.words.tolist()
    assert list_remembered(tmp_path) == [3]


def test_no_text_is_kept(tmp_path: Path) -> None:
    """No word of the documents stands in the files, which nobody else may read."""
    save_remembered(remembered(), tmp_path, 1)
    for file in tmp_path.iterdir():
        assert b"harbour" not in file.read_bytes()
        assert file.stat().st_mode & 0o777 == 0o600


def test_old_ones_go(tmp_path: Path) -> None:
    """Ten releases are kept; what was kept of older ones goes when a new one comes."""
    for number in range(1, KEPT + 3):
        save_remembered(remembered(), tmp_path, number)
    assert list_remembered(tmp_path) == list(range(3, KEPT + 3))
    assert len(list(tmp_path.iterdir())) == 2 * KEPT


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    """Nothing kept, half a file, another format and another kind of file are errors that name the file."""
    with pytest.raises(MissingError):
        load_remembered(tmp_path, 1)
    save_remembered(remembered(), tmp_path, 1)
    arrays = tmp_path / "release-1.npz"
    whole = arrays.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", b"text"):
        arrays.write_bytes(damage)
        with pytest.raises(DataError, match=r"release-1\.npz"):
            load_remembered(tmp_path, 1)
    with arrays.open("wb") as file:
        np.savez(file, format=np.array([99]))
    with pytest.raises(DataError, match="format"):
        load_remembered(tmp_path, 1)


def test_no_damage_is_more_than_damage(tmp_path: Path) -> None:
    """A byte changed anywhere is an error that names the file, or changes nothing that could be told."""
    save_remembered(remembered(), tmp_path, 1)
    arrays = tmp_path / "release-1.npz"
    whole = arrays.read_bytes()
    said = 0
    for place in range(len(whole)):
        for value in (0, 255, whole[place] ^ 1):
            arrays.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            try:
                load_remembered(tmp_path, 1)
            except DataError:
                said += 1
    assert said > len(whole)


@pytest.mark.parametrize(
    "edited",
    [
        {"id_lengths": np.array([1.5])},
        {"run_lengths": np.array([1])},
        {"ids": np.frombuffer(b"\xff" * 20, np.uint8)},
        {"words": np.array([1.5])},
        {"words": np.array(3, np.uint64)},
        {"runs": np.array(["x"])},
    ],
)
def test_arrays_of_another_kind_are_damage(tmp_path: Path, edited: dict[str, np.ndarray]) -> None:
    """Lengths, names and numbers that do not fit together are an error that names the file."""
    save_remembered(remembered(), tmp_path, 1)
    arrays = tmp_path / "release-1.npz"
    with np.load(BytesIO(arrays.read_bytes())) as stored:
        kept = {name: stored[name] for name in stored.files}
    with arrays.open("wb") as file:
        np.savez(file, **(kept | edited))
    with pytest.raises(DataError, match=r"release-1\.npz"):
        load_remembered(tmp_path, 1)
