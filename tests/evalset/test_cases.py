"""findback's own format: the same cases give the same bytes, and every fault is found at once."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.sets import case
from findback.errors import DataError, MissingError, StorageError
from findback.evalset.cases import case_line, read_cases, write_cases
from findback.privacy.core import CoreRedactor

GOLD = {"doc": "a.md", "grade": 2, "found_by": "reviewer"}


def faults_of(error: pytest.ExceptionInfo[DataError]) -> list[tuple[int | None, str]]:
    """Return line and message of each fault."""
    return [(fault.line, fault.message) for fault in error.value.faults]


def test_written_cases_come_back(tmp_path: Path) -> None:
    """Cases are sorted by id, and reading gives exactly what was written."""
    path = tmp_path / "cases.jsonl"
    write_cases(path, [case(2), case(1)])
    assert read_cases(path) == (case(1), case(2))


def test_keys_stand_in_order_and_unset_ones_are_left_out() -> None:
    """A line has the keys of the design in their order, nothing optional that is unset, and ends in LF."""
    assert case_line(case(1)) == (
        b'{"format":1,"id":"c0000000001","query":"why does job 1 hammer the api","language":"en",'
        b'"wording":"plain","judged":[{"doc":"runbooks/ingest.md","grade":2,"part":1,"found_by":"reviewer"}],'
        b'"origin":"mined","stratum":"failure","cluster":"k1","split":"dev","status":"active",'
        b'"labelled_by":"reviewer","confirmations":1,"seen_on":"2024-03","asked":"2-4",'
        b'"redaction":{"types":[],"ruleset":"core-1"},"tags":[]}\n'
    )


def test_order_of_filters_does_not_change_bytes() -> None:
    """Two cases whose filters differ only in order are the same bytes."""
    one = case(1, context={"filters": {"b": "1", "a": "2"}})
    other = case(1, context={"filters": {"a": "2", "b": "1"}})
    assert one == other
    assert case_line(one) == case_line(other)


@settings(max_examples=50, deadline=None)
@given(st.permutations([case(number) for number in range(5)]))
def test_order_of_cases_does_not_change_bytes(tmp_path_factory: pytest.TempPathFactory, cases: list[Any]) -> None:
    """Whatever the order they are given in, the same cases are the same file."""
    folder = tmp_path_factory.mktemp("cases")
    write_cases(folder / "a.jsonl", cases)
    write_cases(folder / "b.jsonl", reversed(cases))
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judged": []}, "there is no gold and no `no_answer_reason`"),
        ({"no_answer_reason": "nobody wrote it"}, "`no_answer_reason` is given, but there is gold"),
        ({"judged": [GOLD, GOLD | {"part": 3}]}, "parts 1, 3: parts count from 1 without gaps"),
        ({"judged": [GOLD, GOLD]}, "`judged[1]` judges a document twice for one part"),
        ({"judged": [GOLD, GOLD | {"grade": 0, "part": 1}]}, "has grade 0, but the document is gold as well"),
        ({"judged": [GOLD, GOLD | {"doc": "b", "grade": 0, "anchor": "a b"}]}, "anchor, but grade 0"),
        ({"judged": [GOLD | {"anchor": "…"}]}, "has an anchor without a word"),
        ({"query": "   "}, "`query` holds only blanks"),
        ({"root": "cabcdefghij"}, "`root` is given, but the origin is mined"),
        ({"origin": "paraphrase"}, "`root` is missing"),
        ({"origin": "paraphrase", "root": "cabcdefghij"}, "`root` cabcdefghij is no case of this set"),
        ({"origin": "generated"}, "`filter` is missing"),
        (
            {"origin": "generated", "filter": {"leak": 0.36, "measure": "leak"}},
            "`filter.leak` is 0.36, above the limit",
        ),
        ({"filter": {"leak": 0.1, "measure": "leak"}}, "`filter` is given, but the origin is mined"),
        ({"status": "retired"}, "`retired_because` is missing"),
        ({"query": "mail ⟦email_1⟧"}, "`query` has a malformed placeholder: character"),
        ({"query": "mail ⟦EMAIL_1⟧"}, "`redaction.types` does not name the types"),
        ({"query": "mail bo@example.org"}, "`query` holds what looks like EMAIL"),
        ({"judged": [GOLD | {"anchor": "write to bo@example.org"}]}, "`judged[0].anchor` holds what looks like EMAIL"),
        ({"tags": ["bo@example.org"]}, "`tags[0]` holds what looks like EMAIL"),
        ({"context": {"turns": ["I am bo@example.org"]}}, "`context.turns[0]` holds what looks like EMAIL"),
        ({"context": {"filters": {"owner": "bo@example.org"}}}, "`context.filters value 1` holds what looks like"),
    ],
)
def test_each_check_has_its_sentence(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Each rule of the design is checked when writing, with a sentence that never repeats the value."""
    with pytest.raises(DataError) as error:
        write_cases(tmp_path / "cases.jsonl", [case(1, **changes)], redactor=CoreRedactor())
    assert message in str(error.value)
    assert "bo@example.org" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_paraphrase_takes_everything_over(tmp_path: Path) -> None:
    """A paraphrase that agrees with its root passes; each field that differs is named."""
    path = tmp_path / "cases.jsonl"
    root = case(1)
    same = {"origin": "paraphrase", "root": root.id, "cluster": "k1"}
    write_cases(path, [root, case(2, **same)])
    with pytest.raises(DataError) as error:
        write_cases(path, [root, case(2, **same | {"cluster": "k2", "wording": "vague", "split": "holdout"})])
    assert [fault.message.split(": ")[1].split(" ")[0] for fault in error.value.faults] == [
        "`wording`",
        "`cluster`",
        "`split`",
    ]


def test_no_answer_case_passes(tmp_path: Path) -> None:
    """A case without an answer may hold what was seen and is no answer."""
    path = tmp_path / "cases.jsonl"
    seen = GOLD | {"grade": 0}
    write_cases(path, [case(1, judged=[seen], no_answer_reason="nobody wrote it")])
    assert read_cases(path)[0].answer == "no-answer"


def test_all_faults_come_at_once_with_lines(tmp_path: Path) -> None:
    """One reading names every bad line of a file: bad JSON, bad fields, broken rules, ids used twice."""
    path = tmp_path / "cases.jsonl"
    good = case_line(case(1)).decode()
    bad_fields = good.replace('"grade":2', '"grade":"2","colour":1').replace('"mined"', '"guessed"')
    path.write_text(f'{good}{{"format":1,\n{bad_fields}\n[1]\n{good}', "utf-8")
    with pytest.raises(DataError) as error:
        read_cases(path)
    found = faults_of(error)
    assert [line for line, _ in found] == [2, 3, 3, 3, 5, 6]
    assert found[0][1].startswith("no valid JSON: EOF while parsing")
    assert {message for line, message in found if line == 3} == {
        "`judged[0].grade` must be a whole number",
        "`judged[0].colour` is not a known key",
        "`origin` must be 'mined', 'flagged', 'generated', 'paraphrase' or 'imported'",
    }
    assert found[4][1] == "must be a JSON object"
    assert found[5][1] == "`id` c0000000001 stands on line 1 already"
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe{\x00", "the file is UTF-16"),
        (b'{"query": "caf\xe9"}\n', "byte 0xe9 at position 15 is not UTF-8"),
        (b'{"a": "\x00"}\n', "NUL byte at position 8"),
        (b'{"a": "' + b"x" * 2_100_000 + b'"}\n', "the line has more than 2,000,000 bytes"),
        (b'{"a": NaN}\n', "`id` is missing"),
        (b'{"a": "\\ud800"}\n', "no valid JSON"),
    ],
)
def test_bytes_that_are_no_cases(tmp_path: Path, content: bytes, message: str) -> None:
    """Wrong encodings, NUL bytes, endless lines and odd JSON are named with their line."""
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message.replace("`", "`")) as error:
        read_cases(path)
    assert error.value.faults[0].line == 1


def test_byte_order_mark_and_crlf_are_read(tmp_path: Path) -> None:
    """A byte order mark, CRLF and blank lines do not matter."""
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + case_line(case(1)).rstrip() + b"\r\n\r\n" + case_line(case(2)))
    assert read_cases(path) == (case(1), case(2))


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    """Nothing there, a folder, and a loop of links each say so."""
    with pytest.raises(MissingError):
        read_cases(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="is a folder"):
        read_cases(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match="loop"):
        read_cases(loop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="not a regular file"):
        read_cases(pipe)


def test_disk_that_refuses_leaves_the_old_file(tmp_path: Path) -> None:
    """When the new file cannot be put in place the target is as it was, and no half file is left."""
    target = tmp_path / "cases.jsonl"
    target.mkdir()
    (target / "kept").touch()
    with pytest.raises(StorageError, match="cannot write"):
        write_cases(target, [case(1)])
    assert [path.name for path in tmp_path.iterdir()] == ["cases.jsonl"]
    with pytest.raises(StorageError, match="cannot write"):
        write_cases(Path("/proc/findback/cases.jsonl"), [case(1)])
