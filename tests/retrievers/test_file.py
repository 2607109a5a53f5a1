"""Runs recorded elsewhere."""

import json

import pytest

from findback.errors import DataError, MissingError, SettingsError
from findback.model.hits import Hit, Span
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.retrievers.asking import ask_all
from findback.retrievers.file import FileRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.contract import documents, run_closing, search


def make(folder, name, content, **own):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return FileRetriever.build("old", RetrieverSettings(kind="file", path=name, **own), Surroundings(base=folder))


def ask(retriever, *pairs, depth=10):
    queries = [(question, Query(text)) for question, text in pairs]
    return run_closing(retriever, lambda: ask_all(retriever, queries, depth=depth))


def faults(folder, name, content, **own):
    with pytest.raises(DataError) as caught:
        ask(make(folder, name, content, **own), ("q1", "x"))
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_a_trec_run_is_ordered_by_its_scores(tmp_path):
    """The rank column and the order of lines count for nothing, as in trec_eval; tabs are separators too."""
    run = ask(make(tmp_path, "a.trec", "q1 Q0 low 1 1.5 tag\nq1\tQ0\thigh\t9\t3e1\ttag\n\n"), ("q1", "?")).run
    assert documents(run, 0) == ["high", "low"]
    assert run.order == "score"


def test_a_ranx_run_is_ordered_by_its_scores(tmp_path):
    """An object of documents and scores by question; a question with nothing found was answered."""
    content = json.dumps({"q1": {"low": 1, "high": 2.5}, "q2": {}}, indent=2)
    run = ask(make(tmp_path, "a.json", content), ("q1", "?"), ("q2", "?")).run
    assert (documents(run, 0), documents(run, 1)) == (["high", "low"], [])
    assert run.order == "score"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"q1": {"d": "x"}, "q2": 7}', (None, "question 1: not an object of documents and scores")),
        ('{"q1":\n {"d": NaN}}', (2, "not valid JSON: ")),
        ("[1]", (1, "not an object of questions")),
    ],
)
def test_faults_of_a_ranx_run(tmp_path, content, fault):
    """What is no run of ranx is refused, with the line where the JSON is broken."""
    line, message = faults(tmp_path, "a.json", content)[0]
    assert line == fault[0]
    assert message.startswith(fault[1])


def test_equal_scores_are_left_as_ties(tmp_path):
    """The run says that only scores order it, and keeps the whole tied block beyond the depth."""
    run = ask(make(tmp_path, "a.run", "q1 Q0 b 1 2 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 2 t\n"), ("q1", "?"), depth=2).run
    assert run.order == "score"
    assert sorted(documents(run, 0)) == ["a", "b", "c"]


def test_lower_scores_may_be_better(tmp_path):
    """Distances: the smallest comes first."""
    run = ask(make(tmp_path, "a.trec", "q1 Q0 far 1 9 t\nq1 Q0 near 2 1 t\n", scores="lower"), ("q1", "?")).run
    assert documents(run, 0) == ["near", "far"]
    assert run.direction == "lower"


def test_encoded_ids_are_decoded_where_said(tmp_path):
    """`a%20b` stays as it is unless the settings say that ids are encoded."""
    line = "q%201 Q0 a%20b.md 1 1 t\n"
    assert documents(ask(make(tmp_path, "a.trec", line), ("q%201", "?")).run, 0) == ["a%20b.md"]
    assert documents(ask(make(tmp_path, "a.trec", line, encoded=True), ("q 1", "?")).run, 0) == ["a b.md"]


def test_jsonl_keeps_its_order_and_its_passages(tmp_path):
    """One answer a line, by id or by query text; without scores the order is given."""
    lines = [
        {"query_id": "q1", "query": "one", "hits": [{"id": "b", "passage": "p", "start": 0, "end": 1}, "a"]},
        {"query": "two", "hits": [["x y", 1.0]]},
        {"id": "q3", "hits": []},
        {"id": "q4", "abstain": True},
    ]
    retriever = make(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines)))
    asked = ask(retriever, ("q1", "?"), ("q2", "two"), ("q3", "?"), ("q4", "?"), ("q5", "?"))
    run = asked.run
    assert run.hits(0) == (Hit("b", None, "p", Span(0, 1)), Hit("a"))
    assert run.order == "given"
    assert documents(run, 1) == ["x y"]
    assert documents(run, 2) == []
    assert run.abstained is not None
    assert run.abstained.tolist() == [False, False, False, True]
    assert asked.missing == ("q5",)
    assert run.queries == ("q1", "q2", "q3", "q4")


def test_jsonl_with_one_result_a_line(tmp_path):
    """Lines of one question are joined, in the order of the file or of their ranks."""
    lines = [
        {"query_id": "q1", "doc_id": "b", "rank": 2},
        {"query_id": "q2", "doc_id": "z", "score": 2.0},
        {"query_id": "q1", "doc_id": "a", "rank": 1},
    ]
    run = ask(make(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines))), ("q1", "?"), ("q2", "?")).run
    assert (documents(run, 0), documents(run, 1)) == (["a", "b"], ["z"])


def test_csv_with_any_of_three_delimiters_a_bom_and_crlf(tmp_path):
    """Columns are found by name; quoted cells hold delimiters and line ends."""
    for delimiter in ",;\t":
        rows = ["query;doc_id;score", '"what; is\nit";"a;b";2', '"what; is\nit";c;1']
        content = "\ufeff" + "\r\n".join(row.replace(";", delimiter) for row in rows)
        run = ask(make(tmp_path, "run.csv", content), ("q", f"what{delimiter} is\nit")).run
        assert documents(run, 0) == [f"a{delimiter}b", "c"]
        assert run.order == "score"


def test_scores_that_contradict_the_order_do_not_order(tmp_path):
    """A table whose order is not that of its scores keeps its order."""
    run = ask(make(tmp_path, "run.csv", "qid,doc,score\nq1,a,1\nq1,b,2\n"), ("q1", "?")).run
    assert documents(run, 0) == ["a", "b"]
    assert run.order == "given"


def test_an_id_wins_over_a_text(tmp_path):
    """The same text under another id is another question."""
    lines = [
        {"query_id": "q1", "query": "x", "hits": ["by text"]},
        {"query_id": "q2", "query": "x2", "hits": ["by id"]},
    ]
    run = ask(make(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines))), ("q2", "x"), ("new", "x")).run
    assert (documents(run, 0), documents(run, 1)) == (["by id"], ["by text"])


def test_every_fault_of_a_trec_run_is_listed(tmp_path):
    """Columns, NaN, infinity, words, NUL and broken UTF-8, each with its line."""
    content = (
        b"q1 Q0 a 1 1 t\nq1 Q0 a b 1 1 t\nq1 Q0 a 1 nan t\nq1 Q0 a 1 1e999 t\nq1 Q0 a 1 high t\n"
        b"q1 Q0 a\0 1 1 t\nq1 Q0 \xff 1 1 t\n"
    )
    assert faults(tmp_path, "a.trec", content) == [
        (2, "7 columns, not 6 (query, Q0, document, rank, score, tag)"),
        (3, "the score is not a finite number"),
        (4, "the score is not a finite number"),
        (5, "the score is not a finite number"),
        (6, "a NUL byte"),
        (7, "not UTF-8 at byte 7"),
    ]


def test_every_fault_of_a_jsonl_run_is_listed(tmp_path):
    """Truncated JSON, another type, no question, no document, an answer given twice."""
    lines = [
        '{"query_id": "q1", "hits": ["a"]}',
        '{"query_id": "q1", "hits": [',
        "[1]",
        '{"hits": ["a"]}',
        '{"query_id": "q2", "score": 1}',
        '{"query_id": "q1", "hits": ["b"]}',
        '{"query_id": "q3", "hits": [{"name": "x"}]}',
    ]
    found = faults(tmp_path, "run.jsonl", "\n".join(lines))
    assert [line for line, _ in found] == [2, 3, 4, 5, 6, 7]
    assert found[0][1].startswith("not valid JSON")
    assert found[2][1].startswith("no question")


def test_every_fault_of_a_csv_run_is_listed(tmp_path):
    """Missing columns, rows of another length, scores that are none."""
    assert faults(tmp_path, "a.csv", "a,b\n1,2\n")[0][0] == 1
    found = faults(tmp_path, "b.csv", "query_id,doc_id,score\nq1,a,x\nq1,b\nq1,,1\n")
    assert [line for line, _ in found] == [2, 3, 4]


@pytest.mark.parametrize("name", ["a.trec", "a.jsonl", "a.csv"])
def test_an_empty_file_is_refused(tmp_path, name):
    """Nothing in it is not the same as every query unanswered."""
    assert faults(tmp_path, name, "") == [(None, "it holds no results")]


def test_an_unknown_ending_needs_a_format(tmp_path):
    """The error names the setting."""
    with pytest.raises(DataError, match="cannot tell what"):
        ask(make(tmp_path, "run.bin", "q1 Q0 a 1 1 t"), ("q1", "?"))
    run = ask(make(tmp_path, "run.bin", "q1 Q0 a 1 1 t", format="trec"), ("q1", "?")).run
    assert documents(run, 0) == ["a"]


def test_a_missing_file_is_named(tmp_path):
    """The path is in the message."""
    with pytest.raises(MissingError, match=r"\[retrievers.old\] path: there is no file .*nothing.trec"):
        FileRetriever.build("old", RetrieverSettings(kind="file", path="nothing.trec"), Surroundings(base=tmp_path))


def test_a_search_by_text_gives_the_first_k(tmp_path):
    """As a part of a fused retriever, a recorded run answers by the words alone."""
    retriever = make(tmp_path, "run.jsonl", '{"query": "x", "hits": ["a", "b", "c"]}')
    assert [hit.document for hit in search(retriever, "x", 2).hits] == ["a", "b"]


def test_a_real_trec_run(data):
    """trec_eval's own test run: 5 queries, ties kept as ties."""
    path = data / "trec_eval" / "results.test"
    folder = Surroundings(base=path.parent)
    queries = sorted({line.split()[0] for line in path.read_text().splitlines()})
    retriever = FileRetriever.build("old", RetrieverSettings(kind="file", path=path.name), folder)
    run = ask(retriever, *((query, "?") for query in queries)).run
    lines = [line.split() for line in path.read_text().splitlines()]
    assert len(run.codes) == len(lines)
    assert run.order == "score"
    first = max((line for line in lines if line[0] == queries[0]), key=lambda line: float(line[4]))
    assert run.hits(0)[0].score == float(first[4])


@pytest.mark.parametrize("content", ["query_id,doc_id\rq1,a\rq2,b\r", "query_id,doc_id\nq1,a\rq2,b\n"])
def test_lone_carriage_returns_are_a_fault_of_their_line(tmp_path, content):
    """A CSV file with old line ends is refused with a sentence, in the header and below it."""
    (line, message), *more = faults(tmp_path, "a.csv", content)
    assert line == content.count("\n", 0, content.index("\r")) + 1
    assert message == "not valid CSV: a carriage return stands inside a line (line ends must be LF or CRLF)"
    assert not more


def test_a_home_folder_that_is_not_known_is_a_fault_of_the_setting(tmp_path):
    """`~nobody` is refused by name."""
    with pytest.raises(SettingsError, match=r"\[retrievers.old\] path: '~no-such-user-x/a.csv' starts with a home"):
        FileRetriever.build(
            "old", RetrieverSettings(kind="file", path="~no-such-user-x/a.csv"), Surroundings(base=tmp_path)
        )


def test_a_recorded_place_beyond_every_document_is_a_fault(tmp_path):
    """In JSON Lines and CSV alike."""
    said = "the place ends after character 2,147,483,647"
    row = {"query_id": "q1", "doc_id": "a", "start": 0, "end": 10**18}
    assert faults(tmp_path, "a.jsonl", json.dumps(row)) == [(1, said)]
    assert faults(tmp_path, "a.csv", f"query_id,doc_id,start,end\nq1,a,0,{10**30}\n") == [(2, said)]
