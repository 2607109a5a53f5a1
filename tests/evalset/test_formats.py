"""Sets in other formats: what they hold comes in, goes out, and comes back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.sets import case, question_set
from evalset.conftest import FORMATS
from findback.errors import DataError, FindbackError, MissingError, UsageError
from findback.evalset.format import ReadOptions, SetFormat, WritableFormat
from findback.evalset.formats import (
    argilla,
    autorag,
    beir,
    elasticsearch,
    ir_datasets,
    label_studio,
    langfuse,
    langsmith,
    mapped,
    mteb,
    opensearch,
    phoenix,
    quepid,
    ragas,
    ranx,
    rre,
    trec,
)
from findback.evalset.open import open_set, redact_questions
from findback.model.case import Context, Judgement
from findback.model.protocols import Redacted
from findback.model.question import Question, QuestionSet
from findback.privacy.core import CoreRedactor

TARGETS = [
    (beir, "beir"),
    (trec, "trec"),
    (quepid, "ratings.csv"),
    (ragas, "ragas.jsonl"),
    (ragas, "ragas.csv"),
    (mapped, "set.jsonl"),
    (mapped, "set.csv"),
    (mapped, "set.tsv"),
    (mapped, "set.parquet"),
    (argilla, "records.json"),
    (autorag, "autorag"),
    (autorag, "own.parquet"),
    (elasticsearch, "rank_eval.json"),
    (ir_datasets, "ir"),
    (label_studio, "tasks.json"),
    (langfuse, "items.jsonl"),
    (langsmith, "examples.jsonl"),
    (mteb, "mteb"),
    (opensearch, "opensearch"),
    (phoenix, "examples.json"),
    (quepid, "book.json"),
    (ranx, "ranx"),
    (rre, "ratings.json"),
]


def judged(doc: str, grade: int = 1, **more: Any) -> Judgement:
    """Return a judgement."""
    return Judgement(doc=doc, grade=grade, found_by=more.pop("found_by", "reviewer"), **more)


RICH = question_set(
    Question(
        id="q 1\t%20",
        query='=why does\nthe "job" hammer, the api',
        language="en",
        wording="symptom-first",
        judged=(
            judged("a b%.md", 2, anchor="It backs off,\nthen stops.", found_by="resolver"),
            judged("c.md", 1, part=2),
            judged("a b%.md", 1, part=2),
            judged("über/文書.md", 0),
        ),
        stratum="failure",
        origin="mined",
        cluster="k1",
        tags=("x", "y"),
        context=Context(locale="en-GB", filters={"product": "a"}, turns=("hello",)),
        gold_texts=("It backs off.",),
    ),
    Question(id="q2", query="-h prints nothing", judged=(), no_answer_reason="nobody wrote it"),
    Question(id="q3", query="  @home and 'quoted'", judged=None),
    Question(id="q4", query="'=guarded", judged=(judged("=d.md", 3),), unresolved=("gone.md",)),
    Question(id="q5", query="was ist das\u00a0Ding?", judged=(judged("e.md", 0),), no_answer_reason="out of scope"),
)


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
def test_round_trip_loses_nothing(tmp_path: Path, form: WritableFormat, target: str) -> None:
    """Everything a question holds comes back, by the format's own file and the side file beside it."""
    written = form.write(RICH, tmp_path / target)
    assert all(path.is_file() for path in written)
    assert written == form.places(tmp_path / target)
    assert written[-1].name.endswith(".findback-extra.jsonl")
    back = form.read(tmp_path / target, ReadOptions())
    assert back.questions == RICH.questions
    assert form.losses


def test_large_sets_share_what_is_equal(tmp_path: Path) -> None:
    """Equal judgements of a table are one object, and only what a row says counts as said."""
    (tmp_path / "t.csv").write_text("query,gold,wording\nlost badge,a.md,\nlost card,a.md,plain\nlost key,b.md,\n")
    first, second, third = mapped.read(tmp_path / "t.csv", ReadOptions()).questions
    assert first.gold[0] is second.gold[0]
    assert first.gold[0] is not third.gold[0]
    assert first.model_fields_set == {"id", "query", "judged"}
    assert second.model_fields_set == {"id", "query", "judged", "wording"}


def test_clean_questions_are_kept_as_they_are() -> None:
    """Redaction looks at a repeated text once, still counts each of its places, and copies only what it changes."""
    asked: list[str] = []
    core = CoreRedactor()

    class Counting:
        version = core.version

        def redact(self, text: str) -> Redacted:
            """Remember what was asked."""
            asked.append(text)
            return core.redact(text)

    address = "bob@" + "example.org"
    clean = [Question(id=f"q{n}", query=f"lost badge {n}", cluster="door", judged=()) for n in range(3)]
    dirty = [Question(id=f"d{n}", query=f"mail {address}", cluster="door") for n in range(2)]
    done, counts, notes = redact_questions((*clean, *dirty), Counting())
    assert all(after is before for after, before in zip(done, clean, strict=False))
    assert [question.query for question in done[3:]] == ["mail ⟦EMAIL_1⟧"] * 2
    assert counts == {"EMAIL": 2}
    assert "2 queries altered" in notes[0]
    assert asked.count("door") == 1
    assert asked.count(f"mail {address}") == 1


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip())
)
JUDGEMENTS = st.builds(Judgement, doc=TEXTS, grade=st.integers(0, 3), part=st.just(1), found_by=st.just("import"))


@st.composite
def sets(draw: st.DrawFn) -> QuestionSet:
    """Return sets with any ids, queries and documents."""
    queries = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    ids = draw(st.lists(TEXTS, min_size=len(queries), max_size=len(queries), unique=True))
    questions = []
    for id_, query in zip(ids, queries, strict=True):
        rows = draw(st.none() | st.lists(JUDGEMENTS, max_size=3, unique_by=lambda judgement: judgement.doc))
        reason = "nothing there" if rows is not None and not any(row.grade for row in rows) else None
        questions.append(
            Question(id=id_, query=query, judged=None if rows is None else tuple(rows), no_answer_reason=reason)
        )
    return question_set(*questions)


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
@settings(max_examples=30, deadline=None)
@given(questions=sets())
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, form: WritableFormat, target: str, questions: QuestionSet
) -> None:
    """Ids and queries with blanks, line ends, quotes, formulas and percent signs come back as they were."""
    folder = tmp_path_factory.mktemp("set")
    form.write(questions, folder / target)
    assert form.read(folder / target, ReadOptions()).questions == questions.questions


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
def test_written_sets_are_recognised(
    tmp_path: Path, formats: dict[str, SetFormat], form: WritableFormat, target: str
) -> None:
    """What a format wrote is taken for that format, and the notes say why."""
    form.write(RICH, tmp_path / target)
    opened = open_set(tmp_path / target, formats=formats)
    assert opened.format == form.name
    assert opened.notes[0].startswith(f"read as {form.name}: ")
    assert len(opened.sha256 or "") == 64


def test_edits_of_the_exported_file_win(tmp_path: Path) -> None:
    """A grade changed by hand in the exported CSV is the grade, and the side file's anchor stays."""
    question = Question(id="q1", query="why", judged=(judged("a.md", 1, anchor="It stops."),), wording="vague")
    path = tmp_path / "ratings.csv"
    quepid.write(question_set(question), path)
    path.write_text(path.read_text("utf-8").replace("a.md,1", "a.md,3"), "utf-8")
    back = quepid.read(path, ReadOptions()).questions[0]
    assert back.wording == "vague"
    assert back.judged == (judged("a.md", 3, anchor="It stops."),)


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    """Write rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def beir_folder(folder: Path, qrels: str) -> Path:
    """Return a BEIR folder with two queries."""
    write_lines(folder / "queries.jsonl", {"_id": "q1", "text": "why"}, {"_id": "q2", "text": "how"})
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(qrels, "utf-8")
    return folder


def test_beir_keeps_queries_without_judgements(tmp_path: Path) -> None:
    """A query without a row in the qrels is unlabelled, not dropped; a header is not needed."""
    folder = beir_folder(tmp_path / "b", "q1\ta b.md\t1\n")
    questions = beir.read(folder, ReadOptions()).questions
    assert [(q.id, q.answer) for q in questions] == [("q1", "one"), ("q2", None)]
    assert questions[0].gold[0].doc == "a b.md"


def test_beir_faults_come_together(tmp_path: Path) -> None:
    """Fractional, huge and missing scores, unknown queries and short rows are all named with their lines."""
    scores = ["q1\ta\t0.5", "q1\tb\t1e9", "q9\ta\t1", "q1\tc", "q2\td\tnan", "q2\te\t7", "q1\tf\t1", "q1\tf\t2"]
    rows = "\n".join(["query-id\tcorpus-id\tscore", *scores, ""])
    folder = beir_folder(tmp_path / "b", rows)
    with pytest.raises(DataError) as error:
        beir.read(folder, ReadOptions())
    assert sorted(fault.line or 0 for fault in error.value.faults) == [2, 3, 4, 5, 6, 7, 9]
    kept = beir.read(folder, ReadOptions(skip_bad=True))
    assert kept.skipped == 7
    assert any(note.startswith("7 bad rows left out") for note in kept.notes)


def test_other_scales_are_mapped(tmp_path: Path) -> None:
    """Grades of another scale are refused until they are said to mean grades from 0 to 3."""
    folder = beir_folder(tmp_path / "b", "q1\ta\t10\nq2\tb\t0.5\n")
    with pytest.raises(DataError, match="above 3"):
        beir.read(folder, ReadOptions())
    with pytest.raises(UsageError, match="cannot mean 9"):
        ReadOptions(grades={"10": 9})
    options = ReadOptions(grades={"10": 3, "0.5": 1})
    assert [q.gold[0].grade for q in beir.read(folder, options).questions] == [3, 1]


def test_classic_topics_are_read(tmp_path: Path) -> None:
    """Tagged topics give their number and title; negative grades are 0."""
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "topics.301-302").write_text(
        "<top>\n<num> Number: 301\n<title> International\n Crime\n<desc> Description:\nx\n</top>\n"
        "<top>\n<num> Number: 302\n<title> Polio\n<narr> Narrative:\ny\n</top>\n",
        "utf-8",
    )
    (folder / "qrels.txt").write_text("301 0 CR93E-1282 1\n302 0 FT-9 -1\n", "utf-8")
    questions = trec.read(folder, ReadOptions()).questions
    assert [(q.id, q.query) for q in questions] == [("301", "International Crime"), ("302", "Polio")]
    assert [q.answer for q in questions] == ["one", "no-answer"]


def test_quepid_guard_is_undone(tmp_path: Path) -> None:
    """The blank Quepid puts before a formula is taken away; a query without ratings is unlabelled."""
    path = tmp_path / "case.csv"
    path.write_text("query,docid,rating\n -h prints nothing,a.md,3.0\n-h prints nothing,b.md,0\nq,,", "utf-8")
    questions = quepid.read(path, ReadOptions()).questions
    assert [(q.query, q.answer) for q in questions] == [("-h prints nothing", "one"), ("q", None)]
    assert [j.grade for j in questions[0].judged or ()] == [3, 0]


def test_quepid_cannot_hold_one_query_twice(tmp_path: Path) -> None:
    """Two questions with the same query are refused, since Quepid joins by text; nothing is written."""
    pair = question_set(Question(id="a", query="why"), Question(id="b", query="why"))
    with pytest.raises(DataError, match="same query"):
        quepid.write(pair, tmp_path / "r.csv")
    assert not list(tmp_path.iterdir())


def test_quepid_book_takes_the_median(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """A book has a column a judge: the lower median of their ratings counts, and unrated rows are unlabelled."""
    path = tmp_path / "book.csv"
    path.write_text("query,docid,Ada Ek,Anonymous,Bo Ek\nwhy,a.md,3,0,2\nwhy,b.md,0,1,\nhow,c.md,,,\n", "utf-8")
    opened = open_set(path, formats=formats)
    assert opened.format == "quepid"
    assert [[(j.doc, j.grade) for j in q.judged or ()] for q in opened.questions] == [[("a.md", 2), ("b.md", 0)], []]
    assert opened.questions[1].judged is None


def test_ragas_gold_is_text(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Ragas rows give gold as text from JSON Lines and from the Python lists of its CSV, and are generated."""
    row = {
        "user_input": "How long may retries take?",
        "reference_contexts": ["Retries cap at 5 minutes", 'It\'s "final"'],
        "reference": "5 minutes",
        "synthesizer_name": "single_hop_specific_query_synthesizer",
    }
    lines = write_lines(tmp_path / "r.jsonl", row)
    table = tmp_path / "r.csv"
    cell = repr(row["reference_contexts"]).replace('"', '""')
    table.write_text(
        f'user_input,reference_contexts,reference,synthesizer_name\nHow long may retries take?,"{cell}",x,s\n', "utf-8"
    )
    for path in (lines, table):
        opened = open_set(path, formats=formats)
        assert opened.format == "ragas"
        assert opened.questions[0].gold_texts == ("Retries cap at 5 minutes", 'It\'s "final"')
        assert opened.questions[0].origin == "generated"
        assert opened.questions[0].judged is None


def test_chroma_shape_is_read(data: Path, formats: dict[str, SetFormat]) -> None:
    """Chroma's questions give their corpus as gold and each reference as an anchor."""
    opened = open_set(data / "chroma" / "questions.csv", formats=formats)
    assert opened.format == "mapped"
    assert len(opened.questions) == 472
    first = opened.questions[0]
    assert [j.doc for j in first.gold] == ["state_of_the_union"] * 2
    assert (first.gold[0].anchor or "").startswith("My administration announced we’re cutting")


def test_ubuntu_shape_is_read(data: Path, formats: dict[str, SetFormat]) -> None:
    """Ubuntu's `gold` is an id, and its `context`, a conversation, is not taken for gold text."""
    opened = open_set(data / "ubuntu" / "queries.jsonl", formats=formats)
    assert len(opened.questions) == 348
    assert len({q.gold[0].doc for q in opened.questions}) == 118
    assert not any(q.gold_texts for q in opened.questions)
    assert "columns not read: label, helper_key, context" in opened.notes


def test_autorag_parquet_is_read(data: Path, formats: dict[str, SetFormat]) -> None:
    """AutoRAG's Parquet gives ten questions with ids and gold."""
    pytest.importorskip("pyarrow")
    opened = open_set(data / "autorag-en" / "qa_data_sample.parquet", formats=formats)
    assert len(opened.questions) == 10
    assert opened.questions[0].id == "1oy5tc"
    assert opened.questions[0].gold[0].doc == "5b957791-3c7b-4f29-a410-8d005a538855"


def test_lists_in_lists_are_parts(tmp_path: Path) -> None:
    """Inner lists hold alternatives, the outer one parts that are all needed."""
    path = write_lines(tmp_path / "a.jsonl", {"query": "q", "retrieval_gt": [["a", "b"], ["c"]]})
    question = mapped.read(path, ReadOptions()).questions[0]
    assert [(j.doc, j.part) for j in question.gold] == [("a", 1), ("b", 1), ("c", 2)]
    assert question.answer == "cross-doc"


def test_objects_as_gold(tmp_path: Path) -> None:
    """A passage object gives its document, and its text as the anchor."""
    row = {"question": "q", "positive_ctxs": [{"title": "T", "text": "It stops here.", "passage_id": 7}]}
    question = mapped.read(write_lines(tmp_path / "a.jsonl", row), ReadOptions()).questions[0]
    assert question.gold == (judged("7", anchor="It stops here.", found_by="import"),)


def test_conversation_is_not_gold(tmp_path: Path) -> None:
    """A column named `context` that repeats the questions is not read as gold, and a note says so."""
    rows = [{"query": f"why {n}", "context": ["hello", f"why {n}"]} for n in range(3)]
    path = write_lines(tmp_path / "a.jsonl", *rows)
    plain = mapped.read(path, ReadOptions())
    assert not any(q.gold_texts for q in plain.questions)
    assert any("repeats the question in 3 of 3 rows" in note for note in plain.notes)


def test_late_columns_are_seen(tmp_path: Path) -> None:
    """A key that only the last of many rows has is read all the same."""
    rows = [{"query": f"why {n}"} for n in range(300)]
    path = write_lines(tmp_path / "a.jsonl", *rows, {"query": "how", "gold": "a.md"})
    assert mapped.read(path, ReadOptions()).questions[-1].gold[0].doc == "a.md"


def test_paths_lead_into_json_text(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """A dotted path also reads objects that a CSV keeps as JSON text."""
    path = tmp_path / "a.csv"
    path.write_text('input,expected\n"{""ask"": ""why""}","{""docs"": [""a.md"", ""b.md""]}"\n', "utf-8")
    columns = {"query": "input.ask", "gold": "expected.docs"}
    question = open_set(path, columns=columns, formats=formats).questions[0]
    assert (question.query, [j.doc for j in question.gold]) == ("why", ["a.md", "b.md"])


def test_columns_can_be_named(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Named columns win over known ones, dotted paths reach into objects, and unknown names are refused."""
    row = {"inputs": {"ask": "why"}, "query": "wrong", "page": "a.md", "kind": "vague"}
    path = write_lines(tmp_path / "a.jsonl", row)
    columns = {"query": "inputs.ask", "gold": "page", "wording": "kind"}
    question = open_set(path, columns=columns, formats=formats).questions[0]
    assert (question.query, question.gold[0].doc, question.wording) == ("why", "a.md", "vague")
    with pytest.raises(UsageError, match="no column 'pages'"):
        open_set(path, columns={"gold": "pages"}, formats=formats)
    with pytest.raises(UsageError, match="no field is named 'golds'"):
        open_set(path, columns={"golds": "page"}, formats=formats)


def test_a_column_can_name_who_asks(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Only a column the user names holds roles: one that happens to be called audience makes no context."""
    path = write_lines(tmp_path / "a.jsonl", {"query": "why", "gold": "a.md", "audience": " staff "})
    named, unnamed = (open_set(path, columns=columns, formats=formats) for columns in ({"audience": "audience"}, {}))
    assert named.questions[0].context == Context(audience="staff")
    assert unnamed.questions[0].context is None
    path = write_lines(tmp_path / "b.jsonl", {"query": "why", "gold": "a.md", "role": "r" * 201})
    with pytest.raises(DataError, match="has more than 200 characters"):
        open_set(path, columns={"audience": "role"}, formats=formats)


def test_rows_of_one_id_are_one_question(tmp_path: Path) -> None:
    """Rows with the same id and query add documents; the same document again, or another query, is a fault."""
    path = tmp_path / "a.csv"
    path.write_text("id;query;doc;grade\n1;why;a;2\n1;why;b;1\n2;how;a;\n", "utf-8")
    questions = mapped.read(path, ReadOptions()).questions
    assert [(q.id, [j.doc for j in q.gold]) for q in questions] == [("1", ["a", "b"]), ("2", [])]
    assert questions[1].judged is None
    path.write_text("id;query;doc\n1;why;a\n1;why;a\n1;how;b\n", "utf-8")
    with pytest.raises(DataError) as error:
        mapped.read(path, ReadOptions())
    assert [fault.line for fault in error.value.faults] == [3, 4]


def test_no_answer_is_said_not_guessed(tmp_path: Path) -> None:
    """An empty gold cell is unlabelled; only a column that says so makes a question without an answer."""
    rows = [
        {"query": "a", "gold": [], "is_impossible": False},
        {"query": "b", "gold": [], "is_impossible": True},
        {"query": "c", "gold": [], "type": "no-answer"},
    ]
    questions = mapped.read(write_lines(tmp_path / "a.jsonl", *rows[:2]), ReadOptions()).questions
    assert [q.answer for q in questions] == [None, "no-answer"]
    question = mapped.read(write_lines(tmp_path / "b.jsonl", rows[2]), ReadOptions()).questions[0]
    assert (question.answer, question.wording) == ("no-answer", None)


def test_own_cases_open_as_questions(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Cases open as questions; a folder whose manifest agrees is a release, one that disagrees is refused."""
    from findback.evalset.cases import write_cases
    from findback.evalset.textfile import digest_files

    folder = tmp_path / "3"
    retired = case(2, status="retired", retired_because="duplicate")
    write_cases(folder / "cases.jsonl", [case(1), retired])
    opened = open_set(folder / "cases.jsonl", formats=formats, kind="sample")
    assert (opened.kind, len(opened.questions), opened.questions[0].id) == ("sample", 1, case(1).id)
    digest = digest_files([folder / "cases.jsonl"])
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({"number": 3, "digests": {"cases.jsonl": digest}}), "utf-8")
    assert open_set(folder, formats=formats, kind="sample").heading == "release 3"
    manifest.write_text(json.dumps({"number": 3, "digests": {"cases.jsonl": "0" * 64}}), "utf-8")
    with pytest.raises(DataError, match="not release 3"):
        open_set(folder, formats=formats)


def test_everything_is_redacted_on_opening(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """Queries, gold texts, anchors, ids that are queries, and notes pass the redactor; counts say what it did."""
    mail = "bo@example.org"
    row = {
        "id": f"I am {mail}",
        "query": f"I am {mail}",
        "gold": "a.md",
        "references": [f"write to {mail}"],
        "tags": [mail],
        "wording": "plain",
        mail: 1,
    }
    path = write_lines(tmp_path / "a.jsonl", row)
    opened = open_set(path, formats=formats, redactor=CoreRedactor())
    assert mail not in opened.model_dump_json()
    assert opened.questions[0].query == "I am ⟦EMAIL_1⟧"
    assert opened.questions[0].id == "row-1"
    assert opened.redactions == {"EMAIL": 5}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", "is empty"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.csv", b"query,gold\n", "holds no rows"),
        ("a.csv", b"\xff\xfeq\x00", "UTF-16"),
        ("a.csv", b"query,gold\ncaf\xe9,a\n", ":2: byte 0xe9"),
        ("a.csv", b"query,gold\nwhy,a,b\n", ":2: 3 cells under 2 column names"),
        ("a.csv", b'query,gold\n"why,a\nhow,b\n', ":2: a quotation mark opens a cell here"),
        ("a.csv", b"query,query\nwhy,a\n", "names a column twice: query"),
        ("a.csv", b"query,gold\nwh\x00y,a\n", ":2: NUL byte"),
        ("a.csv", b"query,gold\n,a\n", "`query` is empty"),
        ("a.csv", b"colour,size\nred,1\n", "no column that looks like a query"),
        ("a.csv", b"query,gold,grade\nwhy,a,NaN\n", "grade must be a whole number"),
        ("a.csv", b"query,gold,grade\nwhy,a,1e308\n", "grade must be a whole number"),
        ("a.csv", b"query,gold,grade\nwhy,a,99999999999\n", "grade is above 3"),
        ("a.csv", b"query,gold\nwhy,\"['a', 'b\"\n", "a"),
        ("a.csv", b"query,gold\nwhy,\"['a', 'b]\"\n", "looks like a list, but cannot be read"),
        ("a.csv", b"query\n" + b"x" * 1_000_000 + b"\n", ":2: `query` has more than 100,000 characters"),
        ("a.jsonl", b'{"query": "a", "gold": "b"}\n{"query": "a', ":2: no valid JSON"),
        ("a.jsonl", b'{"query": "a"}\n{"query": NaN}\n', ":2: no valid JSON"),
        ("a.jsonl", b'{"query": "a"}\n[1]\n', ":2: must be a JSON object"),
        ("a.jsonl", b'{"query": {"x": 1}}\n', "`query` must be text"),
        ("a.jsonl", b'{"query": "a\\u0000b"}\n', "NUL"),
        ("a.jsonl", b'{"query": "a", "gold": {"x": 1}}\n', "without a document and without a text"),
        ("a.json", b'[{"query": "a"}, 3]', "row 2: must be a JSON object"),
        ("a.json", b'[{"query": "a"}', "no valid JSON"),
        ("a.parquet", b"PAR1 not really", "no Parquet file"),
        ("a.bin", bytes(range(256)) * 20, "a.bin"),
    ],
)
def test_bad_input_is_said(
    tmp_path: Path, formats: dict[str, SetFormat], name: str, content: bytes, message: str
) -> None:
    """Whatever is wrong with a file, the error names the file, the line where there is one, and what is wrong."""
    path = tmp_path / name
    path.write_bytes(content)
    if message == "a":
        assert open_set(path, formats=formats).questions[0].gold[0].doc == "['a', 'b"
        return
    with pytest.raises(DataError) as error:
        open_set(path, formats=formats)
    assert message in str(error.value)
    assert name in str(error.value)


def test_good_rows_are_kept_on_wish(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """With skip-bad the good rows stay, a broken line in a quoted cell takes only its row, the count is said."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'query,gold\nwhy,a\nbad\n"two\nli\xe9nes",b\nhow,c\n')
    opened = open_set(path, formats=formats, skip_bad=True)
    assert [q.query for q in opened.questions] == ["why", "how"]
    assert opened.skipped == 2
    assert any(note.startswith("2 bad rows left out") for note in opened.notes)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"query": "CANARY"}\n{"query": {"x": "CANARY"}, "gold": {"CANARY": 1}}\n{"query": "CANARY'),
        ("a.jsonl", '{"id": "CANARY", "query": "CANARY", "gold": "a"}\n' * 2),
        ("a.jsonl", '{"query": "CANARY", "gold": "a", "grade": "CANARY"}\n'),
        ("a.jsonl", '{"query": "CANARY", "gold": "CANARY", "no_answer": "CANARY"}\n'),
        ("a.csv", "query,gold\nCANARY,a,b\n"),
        ("a.csv", 'query,gold\n"CANARY,a\n'),
        ("a.csv", "query,docid,rating\nCANARY,a,0.5\nCANARY,CANARY,9\nCANARY,b,1\nCANARY,b,2\n,CANARY,1\n"),
        ("a.csv", 'user_input,reference_contexts\n,"[\'CANARY"\nCANARY,"[\'CANARY]"\n'),
        ("a.json", '[{"fields": {"query": "CANARY"}, "responses": [{"values": {"x": {"value": "CANARY"}}}]}]'),
        ("a.json", '[{"data": {"query": "CANARY", "doc": "CANARY", "id": {}}, "annotations": [{"result": 1}, 2]}]'),
        ("a.json", '{"requests": [{"id": "CANARY", "params": {"query": "CANARY"}, "ratings": [{"_id": "CANARY"}]}]}'),
        ("a.json", '{"judgmentRatings": [{"query": "CANARY", "ratings": [{"docId": "CANARY", "rating": "CANARY"}]}]}'),
        ("a.json", '{"queries": [{"placeholders": {"CANARY": 1}, "relevant_documents": {"CANARY": "CANARY"}}]}'),
        (
            "a.json",
            '{"query_doc_pairs": [{"query_text": "CANARY", "doc_id": "CANARY", "judgements": [{"rating": "CANARY"}]}]}',
        ),
        (
            "a.json",
            '[{"inputs": {"query": "CANARY"}, "outputs": {"documents": [{"CANARY": "CANARY"}]}, "id": "CANARY"}]',
        ),
        ("a.jsonl", '{"format": 1, "query": "CANARY", "redaction": 3, "language": "CANARY", "judged": "CANARY"}\n'),
    ],
)
def test_errors_never_repeat_values(tmp_path: Path, formats: dict[str, SetFormat], name: str, content: str) -> None:
    """Whatever is wrong, the query, the gold and other values of the file are not in the error."""
    canary = "bo.ek@example.org"
    path = tmp_path / name
    path.write_text(content.replace("CANARY", canary), "utf-8")
    with pytest.raises(DataError) as error:
        open_set(path, formats=formats, redactor=CoreRedactor())
    shown = f"{error.value} {error.value.hint} {error.value.faults} {error.value.__cause__}"
    assert "bo.ek" not in shown


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_dialects_are_read(tmp_path: Path, delimiter: str, start: bytes, end: bytes) -> None:
    """Four delimiters, a byte order mark and CRLF read alike."""
    rows = [("Question", "Doc ID"), ('"why, or; | what"', "a b"), ("'=x", "c")]
    path = tmp_path / "a.csv"
    path.write_bytes(start + end.join(delimiter.join(row).encode() for row in rows) + end)
    questions = mapped.read(path, ReadOptions()).questions
    assert [(q.query, q.gold[0].doc) for q in questions] == [("why, or; | what", "a b"), ("=x", "c")]


def test_formats_are_chosen_or_refused(tmp_path: Path, formats: dict[str, SetFormat]) -> None:
    """An unknown format's name, a folder of nothing, a missing path and a loop of links are told apart."""
    with pytest.raises(MissingError, match="no set format named 'beer'"):
        open_set(tmp_path, as_="beer", formats=formats)
    with pytest.raises(DataError, match="no questions in a format that is known"):
        open_set(tmp_path, formats=formats)
    with pytest.raises(MissingError, match="is not there"):
        open_set(tmp_path / "none.csv", formats=formats)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match="loop"):
        open_set(loop, formats=formats)


@pytest.mark.parametrize("name", [form.name for form in FORMATS])
def test_other_formats_by_force(tmp_path: Path, formats: dict[str, SetFormat], name: str) -> None:
    """A file forced into a format it is not is an error of ours, never a crash."""
    path = tmp_path / "x.txt"
    path.write_text("just a sentence\nand another, one\n", "utf-8")
    for target in (path, tmp_path):
        with pytest.raises((DataError, MissingError)):
            open_set(target, as_=name, formats=formats)


HOSTILE = {
    "empty": b"",
    "blank": b"\n\n\n",
    "binary": bytes(range(256)) * 8,
    "nul": b'{"_id": "q\0", "text": "a"}\nq1\t0\ta\0\t1\n',
    "utf16": "query,docid,rating\n".encode("utf-16"),
    "latin": b"query,docid,rating\ncaf\xe9,a,1\n",
    "long": b"x" * 1_000_000,
    "long-json": b'{"_id": "q1", "query": "' + b"x" * 1_000_000 + b'"}\n',
    "nested": b"[" * 100_000,
    "nested-cell": b'user_input,reference_contexts\nwhy,"' + b"[" * 50_000 + b"]" * 50_000 + b'"\n',
    "truncated": b'{"_id": "q1", "text": "wh',
    "list": b"[1, 2, 3]",
    "scalar": b"42",
    "open-quote": b'query,docid,rating\n"why,a,1\n' * 50,
    "huge-grade": b"q1 0 a 99999999999999999999\nq1\ta\t1e999\nwhy,a,inf\n",
    "ids": b'{"_id": "a b\\n\\tc", "text": "why"}\n{"_id": "a b\\n\\tc", "text": "why"}\n',
    "surrogate": b'{"_id": "q1", "text": "\\ud800"}\n',
    "terminal": b"query,docid,rating\n\x1b[31mred,\x1b]0;x\x07,1\n",
}


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_files_never_crash(
    tmp_path: Path, formats: dict[str, SetFormat], form: WritableFormat, target: str, content: str
) -> None:
    """Each file of each format, replaced by each kind of rubbish, is read or refused by an error that names it."""
    for position in range(len(form.write(RICH, tmp_path / "0" / target))):
        place = tmp_path / str(position) / target
        file = form.write(RICH, place)[position]
        file.write_bytes(HOSTILE[content])
        for skip_bad in (False, True):
            outcome = attempt(place, form.name, formats, skip_bad=skip_bad)
            if isinstance(outcome, FindbackError):
                assert outcome.exit_status == 3, outcome
                assert file.name in str(outcome) or place.name in str(outcome)
                assert "\x1b" not in str(outcome)
            else:
                assert outcome.questions


def attempt(place: Path, name: str, formats: dict[str, SetFormat], *, skip_bad: bool) -> QuestionSet | FindbackError:
    """Return the set, or the error of ours it was refused with."""
    try:
        return open_set(place, as_=name, formats=formats, skip_bad=skip_bad)
    except FindbackError as error:
        return error
