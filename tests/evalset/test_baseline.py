"""Baselines: what is kept of a run, and how it is read back."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.comparisons import question
from findback.errors import DataError, MissingError, UsageError
from findback.evalset.baseline import (
    Baseline,
    BaselineCase,
    BaselineHead,
    JudgedRank,
    baseline_file,
    is_baseline,
    key_of,
    key_of_labels,
    list_baselines,
    read_baseline,
    write_baseline,
)
from findback.evalset.gatelooks import GateLook, add_gate_look, count_past_year, read_gate_looks
from findback.evalset.withdrawal import withdraw_from_lines
from findback.model.case import Judgement

MADE = datetime(2024, 6, 3, 7, 30, tzinfo=UTC)
HEAD = BaselineHead(
    release=3,
    set="0" * 64,
    heading="release 3",
    retriever="bm25",
    primary="RR@10",
    depth=100,
    findback="1.2",
    made=MADE,
)
LABELS = "0123456789abcdef"


def kept(case: str, rank: int | None = 1) -> BaselineCase:
    return BaselineCase(case=case, labels=LABELS, ranks=(JudgedRank(doc=key_of("a.md"), rank=rank),), returned=10)


def test_a_baseline_reads_back(tmp_path: Path) -> None:
    """What is written is read back, sorted by case, under the file's name."""
    made = Baseline("main", HEAD, (kept("c2", None), kept("c1")))
    read = read_baseline(write_baseline(baseline_file(tmp_path, "main"), made))
    assert read == Baseline("main", HEAD, (kept("c1"), kept("c2", None)))
    assert (tmp_path / "baselines" / "main.jsonl").is_file()


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    """The order in which cases come changes nothing."""
    one = write_baseline(tmp_path / "one.jsonl", Baseline("x", HEAD, (kept("c1"), kept("c2"))))
    other = write_baseline(tmp_path / "other.jsonl", Baseline("x", HEAD, (kept("c2"), kept("c1"))))
    assert one.read_bytes() == other.read_bytes()


def test_every_fault_is_named_with_its_line(tmp_path: Path) -> None:
    """A bad rank, an unknown key and a case that stands there twice are three faults with their lines."""
    file = write_baseline(tmp_path / "b.jsonl", Baseline("b", HEAD, (kept("c1"), kept("c2"))))
    lines = file.read_text().splitlines()
    lines[1] = lines[1].replace('"rank":1', '"rank":0')
    lines += [json.dumps(json.loads(lines[2]) | {"colour": 1}), lines[2]]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        read_baseline(file)
    assert [(fault.line, fault.message.split("`")[-1].strip()) for fault in caught.value.faults] == [
        (2, "must be at least 1"),
        (4, "is not a known key"),
        (5, "its case stands there twice"),
    ]


@pytest.mark.parametrize("content", ["", "\n", '{"format":2}\n', "no json\n"])
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    """An empty file, a later format and no JSON are no baseline; a missing file is said to be missing."""
    file = tmp_path / "b.jsonl"
    file.write_text(content)
    with pytest.raises(DataError, match="is no baseline"):
        read_baseline(file)
    assert not is_baseline(file)
    with pytest.raises(MissingError):
        read_baseline(tmp_path / "other.jsonl")


@pytest.mark.parametrize("name", ["", "3", "../main", "a/b", "a.b", "-x", "a" * 101, "ä"])
def test_names_are_plain(tmp_path: Path, name: str) -> None:
    """A name is no path, and cannot be taken for a release's number."""
    with pytest.raises(UsageError, match="is no name for a baseline"):
        baseline_file(tmp_path, name)


def test_listed_are_published_ones_alone(tmp_path: Path) -> None:
    """What a nightly look saw is no published baseline."""
    for name in ("main", "main.last-night"):
        write_baseline(baseline_file(tmp_path, name), Baseline(name, HEAD, ()))
    assert list_baselines(tmp_path) == ["main"]
    assert list_baselines(tmp_path / "nowhere") == []


def test_labels_are_told_apart_by_document_grade_and_part() -> None:
    """Another document, grade or part is another label; who found it, and in which order they stand, is not."""

    def labels(*judged: tuple[str, int, int], found_by: str = "reviewer") -> str:
        made = tuple(Judgement(doc=doc, grade=grade, part=part, found_by=found_by) for doc, grade, part in judged)
        return key_of_labels(question(1, judged=made))

    first = labels(("a", 3, 1), ("b", 1, 2))
    assert first == labels(("b", 1, 2), ("a", 3, 1), found_by="resolver")
    assert len({first, labels(("a", 3, 1)), labels(("a", 2, 1), ("b", 1, 2)), labels(("a", 3, 1), ("b", 1, 1))}) == 4


def look(at: datetime) -> GateLook:
    return GateLook(
        at=at,
        set="release 3",
        retriever="bm25",
        config_digest="",
        baseline="main",
        alarm=0.001,
        tests=2,
        cases=80,
        difference=-0.01,
        lower=-0.03,
        upper=0.01,
        verdict="pass",
        findback="1.2",
    )


def test_looks_only_grow_and_a_year_of_them_counts(tmp_path: Path) -> None:
    """Each look is one more line; those of the 365 days before count."""
    days = (400, 365, 364, 1)
    for number, ago in enumerate(days, start=1):
        assert add_gate_look(tmp_path, look(MADE - timedelta(days=ago))) == number
    looks = read_gate_looks(tmp_path)
    assert len(looks) == 4
    assert count_past_year(looks, MADE) == 2


def test_a_damaged_ledger_is_refused(tmp_path: Path) -> None:
    """A line that is no look stops the gate: the budget would be wrong."""
    add_gate_look(tmp_path, look(MADE))
    with (tmp_path / "gate.jsonl").open("a") as file:
        file.write('{"format":1,"at":"2024-06-03T07:30:00"}\n')
    with pytest.raises(DataError, match=r"gate\.jsonl has faults"):
        read_gate_looks(tmp_path)


def test_a_withdrawn_case_leaves_a_baseline_that_reads(tmp_path: Path) -> None:
    """Withdrawal takes a case's line out, and nothing else."""
    file = write_baseline(baseline_file(tmp_path, "main"), Baseline("main", HEAD, (kept("c1"), kept("c2"))))
    assert withdraw_from_lines(file, {"c1"}) == 1
    assert read_baseline(file) == Baseline("main", HEAD, (kept("c2"),))
