"""Snapshots: what was there, and what became of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findback.corpus.corpus import Corpus, corpus_of
from findback.corpus.snapshot import (
    Changes,
    Snapshot,
    compare_snapshots,
    load_snapshot,
    save_snapshot,
    take_snapshot,
)
from findback.errors import DataError, MissingError, StorageError
from findback.model.document import Document

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def corpus(**texts: str) -> Corpus:
    """Return a corpus of these texts."""
    return corpus_of(Document(name, text) for name, text in texts.items())


def snapshot(**texts: str) -> Snapshot:
    """Return a snapshot of these texts."""
    return take_snapshot(corpus(**texts), now=NOW)


def test_a_snapshot_comes_back_as_it_was(tmp_path: Path) -> None:
    """Saved and loaded, a snapshot is the same, and only its owner can read it."""
    taken = snapshot(b="B", a="ä\n")
    save_snapshot(taken, tmp_path / "deep" / "s.jsonl")
    assert load_snapshot(tmp_path / "deep" / "s.jsonl") == taken
    assert taken.digest == corpus(a="ä\n", b="B").digest
    assert (tmp_path / "deep" / "s.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["s.jsonl"]


def test_changes_are_told_apart() -> None:
    """Added, changed, moved with its text, and removed."""
    old = snapshot(same="1", edited="2", leaves="3", moves="4")
    new = snapshot(same="1", edited="2b", comes="5", arrives="4")
    assert compare_snapshots(old, new) == Changes(
        added=("comes",), changed=("edited",), moved=(("moves", "arrives"),), removed=("leaves",)
    )
    assert not compare_snapshots(old, old)


def test_moves_are_one_to_one() -> None:
    """Two old copies and one new one are one move and one removal; empty pages never move by their text."""
    changes = compare_snapshots(snapshot(a="x", b="x", e="", z="z"), snapshot(c="x", f="", z="z"))
    assert changes == Changes(added=("f",), moved=(("a", "c"),), removed=("b", "e"))


def test_known_renames_count_although_the_text_changed() -> None:
    """A rename that git knows is a move, whatever became of the text."""
    changes = compare_snapshots(snapshot(a="x", z="z"), snapshot(b="y", z="z"), renames={"a": "b"})
    assert changes == Changes(moved=(("a", "b"),))


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "x", "y"]), min_size=1),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["", "x", "y"]), min_size=1),
)
def test_every_document_is_counted_once(before: dict[str, str], after: dict[str, str]) -> None:
    """Every old document is kept, changed, moved or removed, every new one moved or added, once."""
    changes = compare_snapshots(snapshot(**before), snapshot(**after))
    sources, targets = [old for old, _ in changes.moved], [new for _, new in changes.moved]
    assert sorted([*sources, *changes.removed]) == sorted(set(before) - set(after))
    assert sorted([*targets, *changes.added]) == sorted(set(after) - set(before))
    assert set(changes.changed) == {name for name in before if name in after and before[name] != after[name]}
    assert all(before[old] == after[new] for old, new in changes.moved)


def test_damage_is_found(tmp_path: Path) -> None:
    """A snapshot cut short, altered or foreign is refused with its line."""
    file = tmp_path / "s.jsonl"
    save_snapshot(snapshot(a="A", b="B"), file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    with pytest.raises(DataError) as caught:
        load_snapshot(file)
    assert [fault.line for fault in caught.value.faults] == [3]
    file.write_bytes(b"\n".join(whole.split(b"\n")[:2]))
    with pytest.raises(DataError, match="damaged"):
        load_snapshot(file)
    file.write_bytes(whole.replace(b'"format":1', b'"format":9'))
    with pytest.raises(DataError, match="format 9"):
        load_snapshot(file)
    file.write_bytes(b"")
    with pytest.raises(DataError, match="no snapshot"):
        load_snapshot(file)
    with pytest.raises(MissingError):
        load_snapshot(tmp_path / "none.jsonl")


def test_a_refusing_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Where a folder cannot be made, the error is a StorageError."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        save_snapshot(snapshot(a="A"), tmp_path / "file" / "s.jsonl")
