"""Stored runs: what is written is read, whole or not at all, and nothing else is taken for one."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from findback.errors import DataError, MissingError, StorageError
from findback.evalset.runs import FORMAT, MAGIC, load_run, read_run_summary, save_run
from findback.measure.scoring import score
from findback.model.gold import Judged, make_gold
from findback.model.hits import Answer, Hit, Span
from findback.model.run import Run, RunBuilder


def full_run() -> Run:
    """Return a run that has everything a run can have."""
    builder = RunBuilder("mine", kind="http", direction="lower")
    hits = (Hit("b", 0.5, "some text", Span(3, 12)), Hit("ü a", None), Hit("b", 0.75, "more", None))
    builder.add("q1", Answer(hits, exhausted=True), latency=12.5)
    builder.fail("q2", "timeout", latency=1000.0)
    builder.skip("q3", "audience")
    builder.add("q4\n", Answer((), abstained=True))
    return builder.build(depth=100, created="2031-02-03T04:05:06+00:00", config_digest="c0ffee", system_digest="5eed")


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    """Every field and every result survives."""
    run, path = full_run(), tmp_path / "run"
    save_run(run, path)
    back = load_run(path)
    for name in Run.__dataclass_fields__:
        ours, theirs = getattr(run, name), getattr(back, name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype, name
            np.testing.assert_array_equal(ours, theirs)
        else:
            assert ours == theirs, name
    assert back.hits(0) == run.hits(0)
    assert (back.reason_of(1), back.reason_of(2), back.reason_of(0)) == ("timeout", "audience", None)


def test_an_empty_run_comes_back(tmp_path: Path) -> None:
    """A run nobody asked anything is still a run."""
    save_run(RunBuilder("none").build(), tmp_path / "run")
    back = load_run(tmp_path / "run")
    assert (len(back), len(back.documents), back.starts.tolist()) == (0, 0, [0])


def test_a_stored_run_scores_as_the_one_in_memory(tmp_path: Path) -> None:
    """Mapped arrays cannot be written to, and need not be."""
    save_run(full_run(), tmp_path / "run")
    gold = make_gold(("q1", "q2", "q3", "q4\n"), [Judged(q, "ü a") for q in ("q1", "q2", "q3", "q4\n")])
    values = [score(run, gold, ["RR"])["RR"].values for run in (full_run(), load_run(tmp_path / "run"))]
    np.testing.assert_array_equal(*values)
    assert values[0][[0, 3]].tolist() == [0.5, 0.0]


def test_a_summary_is_read_without_the_arrays(tmp_path: Path) -> None:
    """Name, questions, errors, depth and time."""
    save_run(full_run(), tmp_path / "run")
    assert read_run_summary(tmp_path / "run") == {
        "retriever": "mine",
        "questions": 4,
        "failed": 1,
        "depth": 100,
        "created": "2031-02-03T04:05:06+00:00",
    }


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    """Runs hold passages and ids: mode 0600, and nothing is left beside."""
    save_run(full_run(), tmp_path / "run")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_failing_disk_leaves_the_old_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renaming is the last thing that happens."""
    save_run(full_run(), tmp_path / "run")
    before = (tmp_path / "run").read_bytes()

    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StorageError, match="no space left"):
        save_run(RunBuilder("new").build(), tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_another_format_is_refused_by_its_number(tmp_path: Path) -> None:
    """A run of a later findback is not half understood."""
    save_run(full_run(), tmp_path / "run")
    text = (tmp_path / "run").read_bytes()
    (tmp_path / "run").write_bytes(text.replace(b'"format": 1', b'"format": 7', 1))
    for read in (load_run, read_run_summary):
        with pytest.raises(DataError, match=f"is a run of format 7; this findback reads {FORMAT}"):
            read(tmp_path / "run")


def damaged(text: bytes) -> dict[str, bytes]:
    """Return what can happen to a file, by name."""
    begin = len(MAGIC) + 8
    length = int.from_bytes(text[len(MAGIC) : begin], "little")
    header = json.loads(text[begin : begin + length])

    def with_header(**changes: object) -> bytes:
        new = json.dumps({**header, **changes}).encode()
        return MAGIC + len(new).to_bytes(8, "little") + new + text[begin + length :]

    arrays = header["arrays"]
    return {
        "empty": b"",
        "cut off": text[: begin + length + 8],
        "cut off in the header": text[: begin + 10],
        "another file": b"q1 Q0 d 1 2 t\n",
        "a list": MAGIC + (2).to_bytes(8, "little") + b"[]",
        "arrays missing": with_header(arrays={k: v for k, v in arrays.items() if k != "codes"}),
        "array beyond the end": with_header(arrays={**arrays, "codes": [10**9, 3]}),
        "negative place": with_header(arrays={**arrays, "codes": [-10, 3]}),
        "too few codes": with_header(arrays={**arrays, "codes": [arrays["codes"][0], 2]}),
        "unknown order": with_header(order="random"),
        "unknown direction": with_header(direction="up"),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "cut off",
        "cut off in the header",
        "another file",
        "a list",
        "arrays missing",
        "array beyond the end",
        "negative place",
        "too few codes",
        "unknown order",
        "unknown direction",
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, kind: str) -> None:
    """Whatever happened to it, the error names the file and nothing is read out of bounds."""
    save_run(full_run(), tmp_path / "run")
    text = damaged((tmp_path / "run").read_bytes())[kind]
    (tmp_path / "broken").write_bytes(text)
    with pytest.raises(DataError, match="broken") as raised:
        load_run(tmp_path / "broken")
    assert raised.value.hint


@pytest.mark.parametrize(
    "header",
    [
        b'{"format": 1}',
        b'{"format": 1, "name": 7, "questions": "many", "failed": 0, "depth": null, "created": null}',
        b'{"format": 1, "name": "a", "questions": [], "failed": 0, "depth": null, "created": null, "arrays": []}',
        b"[" * 200_000,
        b'{"format": 1, "questions": ' + b"9" * 5_000 + b"}",
    ],
    ids=["nothing in it", "other kinds", "lists", "deep", "digits"],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: bytes) -> None:
    """A header that says too little, or something else, is damage to whoever reads it."""
    (tmp_path / "broken").write_bytes(MAGIC + len(header).to_bytes(8, "little") + header)
    for read in (load_run, read_run_summary):
        with pytest.raises(DataError, match="broken"):
            read(tmp_path / "broken")


def test_places_beyond_all_numbers_are_damage(tmp_path: Path) -> None:
    """An array said to lie where no file reaches is damage, not an OverflowError."""
    save_run(full_run(), tmp_path / "run")
    text = (tmp_path / "run").read_bytes()
    begin = len(MAGIC) + 8
    length = int.from_bytes(text[len(MAGIC) : begin], "little")
    header = json.loads(text[begin : begin + length])
    for arrays in ({**header["arrays"], "codes": [10**30, 3]}, [], {"codes": 3}):
        new = json.dumps({**header, "arrays": arrays}).encode()
        (tmp_path / "run").write_bytes(MAGIC + len(new).to_bytes(8, "little") + new + text[begin + length :])
        with pytest.raises(DataError, match="do not fit together"):
            load_run(tmp_path / "run")


def test_a_pipe_is_no_run(tmp_path: Path) -> None:
    """What is no regular file is refused at once instead of waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        for read in (load_run, read_run_summary):
            with pytest.raises(DataError, match="not a regular file"):
                read(tmp_path / name)


def test_codes_out_of_range_are_refused(tmp_path: Path) -> None:
    """A document number that no document has is damage, not an IndexError later."""
    run = full_run()
    run.codes[0] = 9
    save_run(run, tmp_path / "run")
    with pytest.raises(DataError, match="do not fit together"):
        load_run(tmp_path / "run")


def test_a_run_that_is_not_there_is_missing(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(MissingError, match="there is no run"):
        load_run(tmp_path / "run")
