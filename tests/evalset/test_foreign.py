"""Sets as other tools write them: what is read, what is left out and said so, and what is refused with its line."""

import json
from pathlib import Path
from typing import Any

import pytest

from findback.errors import DataError, UsageError
from findback.evalset.format import ReadOptions, SetFormat
from findback.evalset.formats import argilla, elasticsearch, label_studio, langfuse, opensearch, ranx, rre
from findback.evalset.open import open_set
from findback.model.question import Question, QuestionSet


def write(path: Path, value: Any) -> Path:
    """Write JSON, one key a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), "utf-8")
    return path


def grades(question: Question) -> dict[str, int]:
    """Return grades by document."""
    return {judgement.doc: judgement.grade for judgement in question.judged or ()}


def faults_of(path: Path, formats: dict[str, SetFormat], **how: Any) -> list[tuple[int | None, str]]:
    """Return line and message of everything that is wrong with a file."""
    with pytest.raises(DataError) as error:
        open_set(path, formats=formats, **how)
    return [(fault.line, fault.message) for fault in error.value.faults]


def test_opensearch_files_are_read_as_they_are(data: Path, formats: dict[str, SetFormat]) -> None:
    """The 150 queries of the query set are unlabelled, the 6,678 judgements come with grades by their order."""
    queries = open_set(data / "ubi" / "esci_us_queryset.json", formats=formats)
    assert (queries.format, len(queries), queries.questions[0].query) == ("opensearch", 150, "t towels kitchen")
    assert not any(question.judged for question in queries.questions)
    judged = open_set(data / "ubi" / "esci_us_judgments.json", formats=formats)
    assert sum(len(question.judged or ()) for question in judged.questions) == 6678
    assert grades(judged.questions[0])["B07NCQWCQS"] == 3
    assert grades(judged.questions[0])["B07QLRTGVQ"] == 2
    assert any("0 is 0, 1 is 1, 10 is 2, 100 is 3" in note for note in judged.notes)
    both = open_set(data / "ubi", formats=formats)
    assert [question.query for question in both.questions] == [question.query for question in queries.questions]
    assert sum(len(question.judged or ()) for question in both.questions) == 6678


def test_given_grades_win_over_order(data: Path) -> None:
    """Where the user says what ratings mean, nothing is told by order."""
    options = ReadOptions(grades={"100": 3, "10": 1, "1": 0, "0": 0})
    read = opensearch.read(data / "ubi" / "esci_us_judgments.json", options)
    assert grades(read.questions[0])["B07QLRTGVQ"] == 1
    assert not any("by their order" in note for note in read.notes)


def test_ratings_between_steps_are_refused(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Clicks turned into many fractions are no grades: each is a fault with its line, until grades are given."""
    ratings = [{"docId": f"d{n}", "rating": f"0.{n}5"} for n in range(6)]
    body = {"type": "UBI_JUDGMENT", "judgmentRatings": [{"query": "why", "ratings": ratings}]}
    found = faults_of(write(tmp_path / "j.json", body), formats)
    assert len(found) == 6
    assert found[0][0] == 7
    assert found[0][1].startswith("judgmentRatings[0].ratings[0]: grade must be a whole number from 0 to 3")


def test_opensearch_entries_and_answers(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Lines of a query set, and what the server answers for a stored list, are read as well."""
    lines = tmp_path / "set.ndjson"
    lines.write_text('{"queryText": "a", "referenceAnswer": "x"}\n{"queryText": "b"}\n', "utf-8")
    assert [q.query for q in open_set(lines, formats=formats).questions] == ["a", "b"]
    stored = {"judgmentRatings": [{"query": "a", "ratings": [{"docId": "d", "rating": "2.0"}]}]}
    answer = write(tmp_path / "stored.json", {"hits": {"hits": [{"_id": "x", "_source": stored}]}})
    opened = open_set(answer, formats=formats)
    assert (opened.format, grades(opened.questions[0])) == ("opensearch", {"d": 2})


def request(identity: str, body: dict[str, Any], **ratings: int) -> dict[str, Any]:
    """Return one request of a rank_eval body."""
    rated = [{"_index": "docs", "_id": doc, "rating": rating} for doc, rating in ratings.items()]
    return {"id": identity, **body, "ratings": rated}


def test_rank_eval_queries_are_found(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """The text comes from match clauses, a bool's must, a retriever, or a template's parameters; filters are not it."""
    match = {"match": {"body": "one"}}
    long = {"bool": {"must": [{"multi_match": {"query": "two", "fields": ["a"]}}], "filter": [{"term": {"x": "no"}}]}}
    rrf = {"retriever": {"rrf": {"retrievers": [{"standard": {"query": {"match": {"t": {"query": "three"}}}}}]}}}
    bodies = [
        {"request": {"query": match}},
        {"request": {"query": long}},
        {"request": rrf},
        {"template_id": "t", "params": {"query_string": "four", "field": "title"}},
    ]
    requests = [request(f"q{n}", body, d=1) for n, body in enumerate(bodies)]
    path = write(tmp_path / "r.json", {"requests": requests, "metric": {"recall": {"k": 10}}})
    opened = open_set(path, formats=formats)
    assert opened.format == "elasticsearch"
    assert [q.query for q in opened.questions] == ["one", "two", "three", "four"]


def test_rank_eval_faults_have_lines(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Two texts, no text, an id used twice and a bad rating are named together; a path says which text it is."""
    two = {"request": {"query": {"bool": {"should": [{"match": {"a": "x"}}, {"match": {"b": "y"}}]}}}}
    none = {"request": {"query": {"match_all": {}}}}
    one = {"request": {"query": {"match": {"a": "x"}}}}
    requests = [request("q1", two, d=1), request("q2", none, d=1), request("q3", one, d=9), request("q3", one)]
    path = write(tmp_path / "r.json", {"requests": requests})
    found = dict(faults_of(path, formats))
    lines = path.read_text("utf-8").splitlines()
    assert [line for line in found if line is not None and not lines[line - 1].strip().startswith(("{", '"'))] == []
    said = " ".join(found.values())
    for piece in ("2 texts could be the query", "no text to search for", "the id is used twice", "above 3"):
        assert piece in said
    chosen = write(tmp_path / "one.json", {"requests": requests[:1]})
    path_to = "$.request.query.bool.should[1].match.b"
    opened = open_set(chosen, formats=formats, columns={"query": path_to})
    assert (opened.format, opened.questions[0].query) == ("elasticsearch", "y")


def test_rank_eval_written_is_what_the_engine_takes(tmp_path: Path) -> None:
    """Every request names the one template, its parameters and an index for each rating; ids are unique."""
    asked = Question(id="q1", query='a "b"', judged=())
    path = tmp_path / "r.json"
    elasticsearch.write(QuestionSet(name="s", kind="unreleased set", questions=(asked,)), path)
    body = json.loads(path.read_text("utf-8"))
    assert list(body) == ["templates", "metric", "requests"]
    assert body["requests"] == [{"id": "q1", "template_id": "search", "params": {"query": 'a "b"'}, "ratings": []}]
    assert body["templates"][0]["id"] == "search"


def test_rre_groups_are_clusters(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Wordings of one group share its documents and are one cluster; gains may stand by document or by grade."""
    group = {
        "name": "badges",
        "queries": [{"placeholders": {"$query": "lost badge"}}, {"placeholders": {"$query": "badge gone"}}],
        "relevant_documents": {"a": {"gain": 3}, "b": {"gain": 1}},
    }
    alone = {"queries": [{"placeholders": {"$query": "vpn"}}], "relevant_documents": {"2": ["c", "d"]}}
    path = write(tmp_path / "r.json", {"index": "i", "topics": [{"description": "t", "query_groups": [group, alone]}]})
    opened = open_set(path, formats=formats)
    assert opened.format == "rre"
    assert [(q.query, grades(q), q.cluster) for q in opened.questions] == [
        ("lost badge", {"a": 3, "b": 1}, "group-1"),
        ("badge gone", {"a": 3, "b": 1}, "group-1"),
        ("vpn", {"c": 2, "d": 2}, None),
    ]
    written = rre.write(opened, tmp_path / "again.json")[0]
    topic = json.loads(written.read_text("utf-8"))["topics"][0]
    assert [len(one["queries"]) for one in topic["query_groups"]] == [2, 1]


def test_quepid_writes_for_rre_flat(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Quepid's flat form of RRE's ratings is read, each query with documents of its own; what is none is a fault."""
    queries = [{"placeholders": {"$query": "star trek"}, "relevant_documents": {"1": ["193"], "2": ["157"]}}]
    path = write(tmp_path / "q.json", {"id_field": "id", "index": "m", "queries": queries})
    assert grades(open_set(path, formats=formats).questions[0]) == {"193": 1, "157": 2}
    broken = [*queries, {"placeholders": {}, "relevant_documents": {}}, {"placeholders": {"$query": "x"}}]
    broken[2]["relevant_documents"] = {"3": "no list"}
    path = write(tmp_path / "b.json", {"queries": broken})
    assert [message.partition(":")[0] for _, message in faults_of(path, formats)] == [
        "queries[1]",
        "queries[2].relevant_documents.3",
    ]


def test_quepid_books_and_cases(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Several people's ratings give their lower median; those put off, or marked unrateable, do not count."""
    said = [{"rating": 3.0}, {"rating": 0.0}, {"rating": 2.0}, {"rating": 1.0, "unrateable": True}]
    pairs = [
        {"query_text": "why", "doc_id": "a", "judgements": [{**one, "user_email": "bo@example.org"} for one in said]},
        {"query_text": "why", "doc_id": "b", "judgements": [{"rating": None, "judge_later": True}]},
        {"query_text": "how", "doc_id": None, "judgements": []},
    ]
    opened = open_set(write(tmp_path / "book.json", {"name": "b", "query_doc_pairs": pairs}), formats=formats)
    assert opened.format == "quepid"
    assert [(q.query, grades(q)) for q in opened.questions] == [("why", {"a": 2}), ("how", {})]
    assert any(note.startswith("2 judgements not counted") for note in opened.notes)
    assert "bo@" not in opened.model_dump_json()
    ratings = [{"doc_id": "a", "rating": 3, "user_email": "bo@example.org"}]
    case = {"case_name": "c", "queries": [{"query_text": "why", "ratings": ratings}]}
    assert grades(open_set(write(tmp_path / "case.json", case), formats=formats).questions[0]) == {"a": 3}


def test_quepid_detailed_csv(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """The detailed export is read by its longer column names; further columns are none of the judges."""
    path = tmp_path / "d.csv"
    path.write_text(
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\nT,C,1, =why,a.md,1,A,2\n", "utf-8"
    )
    opened = open_set(path, formats=formats)
    assert (opened.format, opened.questions[0].query, grades(opened.questions[0])) == ("quepid", "=why", {"a.md": 2})


def test_mteb_layouts(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Queries and qrels are found as single files and as folders of splits; the test split is read, others named."""
    pytest.importorskip("pyarrow")
    from findback.text.parquet import parquet_bytes

    for place, rows in (
        ("queries/test-00000-of-00001.parquet", [{"id": "q1", "text": "why"}, {"id": "q2", "text": "how"}]),
        ("default/test-00000-of-00001.parquet", [{"query-id": "q1", "corpus-id": "d", "score": 1}]),
        ("default/train-00000-of-00001.parquet", [{"query-id": "q9", "corpus-id": "d", "score": 1}]),
    ):
        file = tmp_path / "task" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(parquet_bytes(rows))
    opened = open_set(tmp_path / "task", formats=formats)
    assert opened.format == "mteb"
    assert [(q.id, grades(q)) for q in opened.questions] == [("q1", {"d": 1})]
    assert "splits not read: train" in opened.notes


def test_tools_with_the_same_file_names(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Queries and qrels under the same names are MTEB's or ir_datasets' by their columns, never both."""
    for name, query, document, grade in (
        ("mteb", "query-id", "corpus-id", "score"),
        ("ir-datasets", "query_id", "doc_id", "relevance"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        identity = "_id" if name == "mteb" else query
        (folder / "queries.jsonl").write_text(json.dumps({identity: "1", "text": "why"}) + "\n", "utf-8")
        (folder / "qrels.jsonl").write_text(json.dumps({query: "1", document: "d", grade: 1}) + "\n", "utf-8")
        opened = open_set(folder, formats=formats)
        assert (opened.format, grades(opened.questions[0])) == (name, {"d": 1})


def test_fields_a_format_does_not_take(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Naming a field that a format takes from nowhere else is refused with those it takes."""
    path = write(tmp_path / "r.json", {"requests": [request("q1", {"request": {"query": {"match": {"a": "x"}}}}, d=1)]})
    with pytest.raises(UsageError, match="no field is named 'gold'") as error:
        open_set(path, formats=formats, columns={"gold": "$.x"})
    assert error.value.hint == "fields: query"


def test_ir_datasets_exports(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """The JSON Lines of its command, with query_id and relevance, are read; a judged query without text is a fault."""
    folder = tmp_path / "ir"
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"query_id": "1", "text": "why"}\n', "utf-8")
    qrels = folder / "qrels.jsonl"
    qrels.write_text('{"query_id": "1", "doc_id": "d", "relevance": 2, "iteration": "0"}\n', "utf-8")
    opened = open_set(folder, formats=formats)
    assert (opened.format, grades(opened.questions[0])) == ("ir-datasets", {"d": 2})
    qrels.write_text(qrels.read_text("utf-8").replace('"1"', '"2"'), "utf-8")
    assert faults_of(folder, formats) == [(1, "query '2' is judged, but there is no such query")]


def test_ranx_needs_words(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Qrels have no words: they are read with the queries beside them, and refused without."""
    path = write(tmp_path / "x" / "qrels.json", {"q1": {"d1": 1, "d2": 0}})
    with pytest.raises(DataError, match="ids of queries and not their words"):
        open_set(path, formats=formats)
    (tmp_path / "x" / "queries.csv").write_text("query_id,text\nq1,why\nq2,how\n", "utf-8")
    for place in (path, path.parent):
        opened = open_set(place, formats=formats)
        assert opened.format == "ranx"
        assert [(q.query, grades(q)) for q in opened.questions] == [("why", {"d1": 1, "d2": 0}), ("how", {})]


def test_ranx_sees_what_stands_twice(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """A document rated twice for one query is a fault, though a JSON parser keeps only the last."""
    (tmp_path / "queries.csv").write_text("query_id,text\nq1,why\n", "utf-8")
    path = tmp_path / "qrels.json"
    path.write_text('{"q1": {"d1": 1,\n "d1": 2}}', "utf-8")
    assert [message for _, message in faults_of(path, formats)] == ["d1: 'd1' stands there twice"]


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("langsmith", {"id": "e1", "inputs": {"question": "why"}, "outputs": {"doc_ids": ["a", "b"]}}),
        ("langsmith", {"inputs": {"messages": [{"role": "user", "content": "why"}]}, "outputs": {"sources": "a"}}),
        ("langfuse", {"id": "e1", "input": "why", "expectedOutput": {"documents": ["a"]}, "status": "ACTIVE"}),
        ("langfuse", {"input": {"query": "why"}, "expectedOutput": None, "metadata": {"relevant_docs": ["a"]}}),
        ("phoenix", {"id": "e1", "input": {"q": "why"}, "output": {"answer": "x"}, "metadata": {"source": "a"}}),
    ],
)
def test_examples_are_read(tmp_path: Path, formats: dict[str, SetFormat], name: str, example: dict[str, Any]) -> None:
    """Query and documents of an example are found under the names people use, in output or metadata."""
    for path in (write(tmp_path / "a.json", [example]), tmp_path / "b.jsonl"):
        if path.suffix == ".jsonl":
            path.write_text(f"{json.dumps(example)}\n", "utf-8")
        opened = open_set(path, formats=formats)
        assert opened.format == name
        assert (opened.questions[0].query, opened.questions[0].gold[0].doc) == ("why", "a")


def test_pages_of_answers_are_read(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """What the tools' servers answer is read with its wrapping; archived items are left out and counted."""
    items = [{"id": f"i{n}", "input": "why", "expectedOutput": {"docs": ["a"]}, "status": "ACTIVE"} for n in range(2)]
    items[1]["status"] = "ARCHIVED"
    opened = open_set(write(tmp_path / "f.json", {"data": items, "meta": {"page": 1}}), formats=formats)
    assert (opened.format, [q.id for q in opened.questions]) == ("langfuse", ["i0"])
    assert "1 examples left out: archived" in opened.notes
    example = {"id": "x", "input": {"query": "why"}, "output": {"doc": "a"}, "metadata": {}}
    answer = {"data": {"dataset_id": "d", "version_id": "v", "examples": [example]}}
    opened = open_set(write(tmp_path / "p.json", answer), formats=formats)
    assert (opened.format, opened.questions[0].gold[0].doc) == ("phoenix", "a")


def test_goldens_of_others_stay_tables(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """`expected_output` alone makes no Langfuse item: other tools' goldens keep their context as gold text."""
    golden = {"input": "why", "expected_output": "because", "context": ["It stops by itself."]}
    opened = open_set(write(tmp_path / "g.json", [golden]), formats=formats)
    assert (opened.format, opened.questions[0].gold_texts) == ("mapped", ("It stops by itself.",))
    item = golden | {"dataset_name": "d", "metadata": {"source": "a"}}
    assert open_set(write(tmp_path / "i.json", [item]), formats=formats).format == "langfuse"


def test_hostile_parquet(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Ids used twice, no query, gold of another type and parts beyond count are faults of their rows."""
    pytest.importorskip("pyarrow")
    from findback.text.parquet import parquet_bytes

    rows = [
        {"qid": "1", "query": "why", "retrieval_gt": [["a"], None, ["b", "b"]]},
        {"qid": "1", "query": "how", "retrieval_gt": [["a"]]},
        {"qid": "2", "query": None, "retrieval_gt": [["a"]]},
        {"qid": "3", "query": "x\0", "retrieval_gt": []},
        {"qid": "4", "query": "many", "retrieval_gt": [[f"d{n}"] for n in range(101)]},
        {"qid": None, "query": "nobody", "retrieval_gt": None},
    ]
    path = tmp_path / "qa.parquet"
    path.write_bytes(parquet_bytes(rows))
    messages = [message for _, message in faults_of(path, formats)]
    assert messages == [
        "row 2: `qid` is used twice",
        "row 3: `query` is empty: a question needs a query",
        "row 4: `query` holds a NUL character",
        "row 5: `retrieval_gt` part must be a whole number from 1 to 99",
    ]
    kept = open_set(path, formats=formats, skip_bad=True).questions
    assert [(q.id, [(j.doc, j.part) for j in q.gold]) for q in kept] == [
        ("1", [("a", 1), ("b", 3)]),
        ("row-6", []),
    ]


def test_gold_by_path(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Where nothing known holds documents, the notes say what there is, and a JSONPath reads it."""
    example = {"inputs": {"query": "why"}, "outputs": {"trace": {"hits": [{"ref": "a"}, {"ref": "b"}]}}}
    path = write(tmp_path / "l.json", [example])
    plain = open_set(path, formats=formats)
    assert plain.questions[0].judged is None
    assert any("$.outputs.trace" in note and "--columns.gold" in note for note in plain.notes)
    opened = open_set(path, formats=formats, columns={"gold": "$.outputs.trace.hits[*].ref"})
    assert (opened.format, grades(opened.questions[0])) == ("langsmith", {"a": 1, "b": 1})


@pytest.mark.parametrize("path", ["$.outputs[?@.a]", "$.outputs[", "$..[?match(@.x, '(a+)+b')]"])
def test_paths_that_are_refused(tmp_path: Path, formats: dict[str, SetFormat], path: str) -> None:
    """A path that filters, or is none, is refused before anything is read by it."""
    file = write(tmp_path / "l.json", [{"inputs": {"query": "why"}, "outputs": {"a": 1}}])
    with pytest.raises(UsageError, match=r"cannot filter|no JSONPath"):
        open_set(file, formats=formats, columns={"gold": path})


def record(query: str, document: str | None, **more: Any) -> dict[str, Any]:
    """Return a record of Argilla as its server gives it."""
    fields = {"query": query} | ({} if document is None else {"document": document})
    return {"id": "r", "status": "completed", "fields": fields, "metadata": {}, "suggestions": [], **more}


def answer(value: Any, status: str = "submitted") -> dict[str, Any]:
    """Return one person's response."""
    return {"values": {"relevance": {"value": value}}, "status": status, "user_id": "u"}


def test_argilla_responses_are_labels(tmp_path: Path) -> None:
    """Submitted responses count by their lower median; drafts, discarded ones and a model's suggestions do not."""
    model = [{"question_name": "relevance", "value": 3, "type": "model", "agent": "m"}]
    person = [{"question_name": "relevance", "value": 2, "type": "human"}]
    records = [
        record("why", "a", responses=[answer(3), answer(1), answer(0, "draft"), answer(0, "discarded")]),
        record("why", "b", responses=[], suggestions=model),
        record("why", "c", responses=[], suggestions=person),
        record("how", None, responses=[]),
    ]
    read = argilla.read(write(tmp_path / "a.json", {"items": records}), ReadOptions())
    assert [(q.query, grades(q)) for q in read.questions] == [("why", {"a": 1, "c": 2}), ("how", {})]
    assert "2 answers not counted: skipped, or not submitted" in read.notes
    assert "1 suggestions of models not counted: they are no labels" in read.notes


def test_argilla_client_shape_and_words(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Records as the client writes them are read; words need a meaning, and two questions a name."""
    one = record("why", "a", responses={"label": [{"value": "relevant", "user_id": "u"}]}, suggestions={})
    path = write(tmp_path / "a.json", [one])
    assert "map other grades" in faults_of(path, formats)[0][1]
    opened = open_set(path, formats=formats, grades={"relevant": 2})
    assert (opened.format, grades(opened.questions[0])) == ("argilla", {"a": 2})
    both = record("why", "a", responses={"x": [{"value": 1}], "y": [{"value": 2}]}, suggestions={})
    path = write(tmp_path / "b.json", [both])
    assert "2 questions were asked" in faults_of(path, formats)[0][1]
    assert grades(open_set(path, formats=formats, columns={"grade": "y"}).questions[0]) == {"a": 2}


def task(document: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    """Return a task of Label Studio."""
    return {"data": {"query": "why", "doc_id": document}, "annotations": list(annotations), "predictions": [{}]}


def annotation(value: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return one annotation."""
    result = [{"from_name": "grade", "to_name": "q", "type": next(iter(value)), "value": value}]
    return {"result": result, "was_cancelled": False, "completed_by": 1, **more}


def test_label_studio_annotations_are_labels(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Skipped annotations and predictions do not count; where there is ground truth, it alone does."""
    tasks = [
        task("a", annotation({"choices": ["2"]}), annotation({"choices": ["0"]}, was_cancelled=True)),
        task("b", annotation({"rating": 1}), annotation({"rating": 3}, ground_truth=True)),
        task("c", {"result": [], "was_cancelled": True}),
    ]
    opened = open_set(write(tmp_path / "t.json", tasks), formats=formats)
    assert opened.format == "label-studio"
    assert grades(opened.questions[0]) == {"a": 2, "b": 3}
    assert "2 answers not counted: skipped, or not submitted" in opened.notes
    assert "3 suggestions of models not counted: they are no labels" in opened.notes


def test_rated_without_a_document(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """A rating for no document is a fault that says how to name the field."""
    lost = task("x", annotation({"rating": 1}))
    lost["data"] = {"query": "why", "seite": "a"}
    path = write(tmp_path / "t.json", [lost])
    assert "names no document" in faults_of(path, formats)[0][1]
    assert grades(open_set(path, formats=formats, columns={"gold": "data.seite"}).questions[0]) == {"a": 1}


DEEP = '{"requests": ' + "[" * 5_000 + "]" * 5_000 + "}"
HOSTILE = {
    "deep": ('{"requests": [{"ratings": [], "request": ' + '{"bool": ' * 900 + "1" + "}" * 900 + "}]}", "no text"),
    "too deep": (DEEP, "no valid JSON"),
    "huge": ('{"requests": [{"ratings": [{"_id": "d", "rating": ' + "9" * 400 + '}], "request": 1}]}', ""),
    "nan": ('{"requests": [{"ratings": NaN, "request": 1}]}', "no valid JSON"),
    "numbers": ('{"requests": 7, "a": [{"ratings": 1}]}', "requests: must be a list"),
    "strings": ('{"requests": ["x", 1, null]}', "requests[0]: must be an object"),
    "ratings": ('{"requests": [{"id": "q", "params": {"query": "x"}, "ratings": {"a": 1}}]}', "must be a list"),
    "no id": ('{"requests": [{"id": "q", "params": {"query": "x"}, "ratings": [{"rating": 1}]}]}', "id is empty"),
    "surrogate": ('{"requests": [{"id": "q", "params": {"query": "\\ud800"}, "ratings": []}]}', "no valid JSON"),
    "nul": ('{"requests": [{"id": "q", "params": {"query": "a\\u0000"}, "ratings": []}]}', "NUL"),
    "cut": ('{"requests": [{"id": "q", "params": {"quer', "no valid JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_refused(tmp_path: Path, formats: dict[str, SetFormat], name: str) -> None:
    """Deep nesting, huge numbers, NaN and wrong types are one clear fault each, never a crash."""
    text, message = HOSTILE[name]
    path = tmp_path / "r.json"
    path.write_text(text, "utf-8")
    found = faults_of(path, formats, as_="elasticsearch")
    assert any(message in said for _, said in found)
    assert all(line == 1 for line, _ in found)


def test_faults_of_lines_keep_their_lines(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """In JSON Lines a fault names the line of its file, blank lines counted."""
    path = tmp_path / "l.jsonl"
    good = json.dumps({"inputs": {"query": "why"}, "outputs": {"doc_ids": ["a"]}, "id": "1"})
    path.write_text(f"{good}\n\n{good}\n{{broken\n[]\n", "utf-8")
    found = [(line, message.partition(":")[0]) for line, message in sorted(faults_of(path, formats))]
    assert found == [(3, "the id '1' is used twice"), (4, "no valid JSON"), (5, "must be an object")]


def test_unknown_json_is_one_error(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """One JSON object over several lines that no format knows is said to be that, not a broken table."""
    with pytest.raises(DataError, match="one JSON object over several lines, in no format that is known"):
        open_set(write(tmp_path / "x.json", {"cases": [{"q": "why"}]}), formats=formats)


def test_two_that_fit_are_named(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """A file that is two formats at once is refused with both reasons, and read as the one that is named."""
    both = {"input": {"query": "why"}, "output": {"doc": "a"}, "expectedOutput": {"doc": "b"}}
    path = write(tmp_path / "x.json", [both])
    with pytest.raises(UsageError, match=r"langfuse \(.*\); phoenix \(") as error:
        open_set(path, formats=formats)
    assert "--as" in (error.value.hint or "")
    assert open_set(path, formats=formats, as_="langfuse").questions[0].gold[0].doc == "b"
    assert langfuse.recognise(path) == "items with input and expectedOutput"


def test_modules_are_their_own_formats(formats: dict[str, SetFormat]) -> None:
    """Every format says its name as it is registered."""
    from findback.evalset.open import installed_formats

    installed = installed_formats()
    assert {name: form.name for name, form in installed.items()} == {name: name for name in installed}
    assert set(formats) <= set(installed)
    assert {ranx.name, label_studio.name} <= set(installed)
