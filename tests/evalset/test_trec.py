"""TREC text: read fast and slow alike, faults with their line, ids written reversibly."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findback.errors import DataError, MissingError
from findback.evalset import trec, trec_lines
from findback.evalset.trec import (
    decode_id,
    encode_id,
    qrels_lines,
    read_qrels,
    read_run,
    run_lines,
    topic_lines,
)
from findback.evalset.trec_fast import read_plain_run
from findback.evalset.trec_ids import IdCoder
from findback.evalset.trec_tokens import parse_numbers, split_block
from findback.model.gold import Judged, make_gold
from findback.model.hits import Answer, Hit
from findback.model.run import Run, RunBuilder


def results(run: Run) -> dict[str, list[tuple[str, float]]]:
    """Return a run's rows as text."""
    return {
        name: [
            (run.documents[int(run.codes[row])], float(run.scores[row]))
            for row in range(int(run.starts[at]), int(run.starts[at + 1]))
        ]
        for at, name in enumerate(run.queries)
        if run.scores is not None
    }


def write(folder: Path, text: str | bytes, name: str = "run.txt") -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


PLAIN = "q1 Q0 b 1 2.5 tag\nq1 Q0 a 2 -1 tag\nq2 Q0 a 1 .5 tag\n"
EXPECTED = {"q1": [("b", 2.5), ("a", -1.0)], "q2": [("a", 0.5)]}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(" ", "\t"),
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        PLAIN.replace(" ", "   "),
        PLAIN.replace("tag\n", "tag and more\n\n"),
        PLAIN.rstrip("\n"),
        "q1 Q0 b 1 2.5 tag\nq2 Q0 a 1 .5 tag\nq1 Q0 a 2 -1 tag\n",
        PLAIN.replace("2.5", "25e-1"),
    ],
)
def test_every_way_to_write_a_run_is_read_fast(tmp_path: Path, text: str) -> None:
    """Tabs, CRLF, a byte order mark, further columns, queries in pieces: the same run, never read slowly."""
    run = read_plain_run(write(tmp_path, text))
    assert run is not None
    assert results(run) == EXPECTED
    assert (run.name, run.order, run.direction) == ("tag", "score", "higher")


def test_gzipped_runs_are_read(tmp_path: Path) -> None:
    """Compression is told by the first bytes, not by the name."""
    assert results(read_run(write(tmp_path, gzip.compress(PLAIN.encode()))).run) == EXPECTED


def test_a_cut_off_gzip_file_is_a_fault(tmp_path: Path) -> None:
    """Half an archive is not half a run."""
    path = write(tmp_path, gzip.compress(PLAIN.encode())[:-12])
    with pytest.raises(DataError, match="ends too early or is damaged"):
        read_run(path)


def test_small_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and ids that cross block ends are whole."""
    lines = [f"q{at // 7} Q0 a-rather-long-document-id-{at * 37 % 101} 1 {at}.25 tag\n" for at in range(300)]
    path = write(tmp_path, "".join(lines))
    whole = read_run(path).run
    monkeypatch.setattr(trec_lines, "BLOCK", 50)
    pieces = read_run(path).run
    assert results(whole) == results(pieces)
    assert len(whole.documents) == 101


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2", "ünï", "q-long-long-long-long"]),
            st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=20),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=40,
        unique_by=lambda row: (row[0], row[1]),
    )
)
def test_the_fast_and_the_slow_reader_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]
) -> None:
    """Whatever ids and scores there are, both give the same run, scores to the last bit."""
    text = "".join(f"{query} Q0 {document} 0 {value!r} t\n" for query, document, value in rows)
    path = write(tmp_path_factory.mktemp("runs"), text)
    fast = read_plain_run(path)
    slow, skipped = trec._read_slow(path, skip_bad=False)
    assert fast is not None
    assert skipped == 0
    assert fast.documents == slow.documents
    assert results(fast) == results(slow)


def test_plain_numbers_are_exact_and_others_are_left(tmp_path: Path) -> None:
    """Each number is the double `float` gives; what is not plain is named."""
    texts = ["0", "-0", "1.", ".5", "-12.0625", "123456789.123456", "9007199254740991", "0.00000000000001",
             "00012.50", "12345678", "1234567.8", "123456789"]  # fmt: skip
    odd = ["1e5", "nan", "+1", "1.2.3", "--1", "-", ".", "12a", "9007199254740993", "0.1234567890123456789"]
    block = split_block("".join(f"{text}\n" for text in texts + odd).encode(), 1)
    assert block is not None
    values, left = parse_numbers(block.letters, block.starts[:, 0], block.ends[:, 0])
    assert values[: len(texts)].tolist() == [float(text) for text in texts]
    assert math.copysign(1, values[1]) == -1
    assert left.tolist() == list(range(len(texts), len(texts + odd)))


def test_ids_get_numbers_in_order_of_appearance() -> None:
    """Ids of every length, new and known in one block and over blocks, growing the table several times."""
    coder, known = IdCoder(), {}
    for turn in range(30):
        ids = [f"{'x' * (at % 40)}{(at * 7919 + turn) % 1500}" for at in range(900)]
        block = split_block("".join(f"{one}\n" for one in ids).encode(), 1)
        assert block is not None
        numbers = coder.number(block.letters, block.starts[:, 0], block.ends[:, 0])
        assert numbers.tolist() == [known.setdefault(one, len(known)) for one in ids]
    assert coder.names() == tuple(known)
    names, places = coder.sorted_names()
    assert list(names) == sorted(known)
    assert [names[int(place)] for place in places] == list(known)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\tdoc\t1", "3 columns: a run has six (query Q0 document rank score tag); this looks like a tab-"),
        ("q1 0 doc 1", "this looks like judgements (qrels)"),
        ('{"query": "q1"}', "this looks like JSON"),
        ("q1,doc,1,0.5,a", "this looks like CSV"),
        ("q1 Q0 my doc 1", "5 columns"),
        ("q1 Q0 x 1 NaN t", "the score 'NaN' is not a finite number"),
        ("q1 Q0 x 1 1e999 t", "the score '1e999' is not a finite number"),
        ("q1 Q0 x 1 1_0 t", "the score '1_0' is not a finite number"),
        ("q1 Q0 x 1 high t", "the score 'high' is not a finite number"),
        ("q1 Q0 b 1 2 t", "document 'b' stands there twice for query 'q1'"),
        ("q1 Q0 x\0 1 2 t", "there is a NUL byte"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    """The fault names file and line and says what the line looks like; skipping leaves the good lines."""
    path = write(tmp_path, PLAIN + "\n" + line + "\nq3 Q0 c 1 1 t\n")
    with pytest.raises(DataError) as raised:
        read_run(path)
    (fault,) = raised.value.faults
    assert (fault.path, fault.line) == (str(path), 5)
    assert message in fault.message
    read, skipped = read_run(path, skip_bad=True)
    assert results(read) == {**EXPECTED, "q3": [("c", 1.0)]}
    assert skipped == 1


def test_all_faults_are_collected(tmp_path: Path) -> None:
    """One reading shows everything that is wrong."""
    with pytest.raises(DataError) as raised:
        read_run(write(tmp_path, "a b\nq Q0 d 1 x t\n" + PLAIN + "c\n"))
    assert [fault.line for fault in raised.value.faults] == [1, 2, 6]
    assert raised.value.hint


def test_bytes_that_are_not_utf8_are_a_fault(tmp_path: Path) -> None:
    """An id in another encoding is named by line and byte."""
    with pytest.raises(DataError) as raised:
        read_run(write(tmp_path, PLAIN.encode() + b"q9 Q0 caf\xe9 1 1 t\n"))
    assert (raised.value.faults[0].line, raised.value.faults[0].message) == (4, "byte 10 is not UTF-8")


def test_huge_scores_and_long_ids_are_fine(tmp_path: Path) -> None:
    """1e308 orders like any score; an id of a thousand letters is read the slow way."""
    long = "x" * 1000
    run = read_run(write(tmp_path, f"q Q0 {long} 1 1e308 t\nq Q0 b 2 -1e308 t\n")).run
    assert results(run) == {"q": [(long, 1e308), ("b", -1e308)]}


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_run_is_refused(tmp_path: Path, text: str) -> None:
    """No results is no run."""
    with pytest.raises(DataError, match="holds no results"):
        read_run(write(tmp_path, text))


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    """A path that is not there is missing, a folder is no file."""
    with pytest.raises(MissingError, match="there is no file"):
        read_run(tmp_path / "nothing")
    with pytest.raises(DataError, match="is a folder"):
        read_run(tmp_path)


def test_judgements_are_read_with_their_grades(tmp_path: Path) -> None:
    """Negative grades stay; a repeated line is the same judgement; each document is a part of its own."""
    gold = read_qrels(write(tmp_path, "\ufeffq1 0 a 1\r\nq1 0 b -1\r\nq1 0 a 1\r\nq2 0 a 0\r\n"))
    assert (gold.queries, gold.documents) == (("q1", "q2"), ("a", "b"))
    assert gold.grade.tolist() == [1, -1, 0]
    assert len(set(gold.part[:2].tolist())) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\tdoc\t1", "this looks like BEIR's tab-separated judgements"),
        ("q1 0 a 2", "document 'a' has two grades for query 'q1'"),
        ("q1 0 x 0.5", "the grade '0.5' is not a whole number"),
        ("q1 0 x 100000", "the grade '100000' is not a whole number up to 1000"),
        ("q1 Q0 x 1 2.5 t", "6 columns, and judgements have four: this looks like a run"),
        ("q1 0 my doc 1", "an id with a space?"),
    ],
)
def test_a_bad_judgement_is_named_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    """The fault says what the line looks like; skipping leaves the good ones."""
    path = write(tmp_path, "q1 0 a 1\n" + line + "\n")
    with pytest.raises(DataError) as raised:
        read_qrels(path)
    assert raised.value.faults[0].line == 2
    assert message in raised.value.faults[0].message
    assert len(read_qrels(path, skip_bad=True).grade) == 1


@given(st.text(min_size=1))
def test_encoded_ids_survive_every_reader(identity: str) -> None:
    """Any id, encoded, is one token of UTF-8, and decodes to itself."""
    encoded = encode_id(identity)
    encoded.encode("utf-8")
    assert encoded.split() == [encoded]
    assert decode_id(encoded) == identity


def test_what_is_no_encoding_is_left_alone() -> None:
    """A percent sign of another tool does not break reading."""
    assert [decode_id(text) for text in ("100%", "%zz", "%FF", "a%20b")] == ["100%", "%zz", "%FF", "a b"]


def test_a_run_written_is_read_back_in_the_same_order(tmp_path: Path) -> None:
    """Ties, passages and odd ids: scores fall strictly, so that scores alone keep the order."""
    builder = RunBuilder("mine")
    hits = [("my doc", 1.0), ("a%b", 1.0), ("my doc", 1.0), ("z\n", 1.0), ("ü", 7.0)]
    builder.add("q 1", Answer(tuple(Hit(document, value) for document, value in hits)))
    builder.add("q2", Answer(()))
    text = "".join(run_lines(builder.build(), tag="my run"))
    assert [line.split()[4] for line in text.splitlines()] == ["4", "3", "2", "1"]
    run = read_run(write(tmp_path, text), decode=True, name="mine").run
    assert run.queries == ("q 1",)
    assert [hit.document for hit in run.hits(0)] == ["my doc", "a%b", "z\n", "ü"]


def test_judgements_written_are_read_back(tmp_path: Path) -> None:
    """Ids with blanks come back; a document of two parts is written once with its better grade."""
    rows = [Judged("q 1", "a doc", 1, 1), Judged("q 1", "a doc", 3, 2), Judged("q 1", "b", 0)]
    gold = make_gold(("q 1", "empty"), rows)
    text = "".join(qrels_lines(gold))
    assert text == "q%201 0 a%20doc 3\nq%201 0 b 0\n"
    read = read_qrels(write(tmp_path, text), decode=True)
    assert (read.queries, read.documents, read.grade.tolist()) == (("q 1",), ("a doc", "b"), [3, 0])


def test_topics_are_one_line_each() -> None:
    """Line breaks and tabs inside a query cannot make two topics of it."""
    assert list(topic_lines({"q 1": "two\n lines\tand a tab"})) == ["q%201\ttwo lines and a tab\n"]


def test_reading_a_run_keeps_every_row_of_the_real_one(data: Path) -> None:
    """trec_eval's unordered test run: 1,500 rows, three queries, the two spellings of blanks."""
    run = read_run(data / "trec_eval" / "results.test").run
    assert (len(run), len(run.codes)) == (3, 1500)
    assert np.diff(run.starts).tolist() == [500, 500, 500]
    trunc = read_run(data / "trec_eval" / "results.trunc").run
    assert trunc.queries == ("301", "303")
