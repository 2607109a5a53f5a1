"""Pages nobody has written."""

import csv
import io

from fastapi.testclient import TestClient

from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from findback.evalset.cases import read_cases, write_cases
from findback.web.site import Site


def test_themes_stand_with_how_often_they_were_asked(client: TestClient) -> None:
    """Two questions share the word parking and were asked at least seven times; the third stands alone."""
    page = client.get("/gaps").text
    assert "3 questions in 2 themes that no document answers" in page
    assert "<h2>parking</h2>" in page
    assert "2 questions, asked at least 7 times" in page
    assert page.index("parking garage closed at night?") < page.index("who feeds the aquarium fish")


def test_the_nearest_documents_come_from_a_job(client: TestClient) -> None:
    """Before the job nothing is said about documents; after it those that share words are named."""
    assert "nearest:" not in client.get("/gaps").text
    send(client, "/gaps")
    client.app.state.worker.work_once()  # type: ignore[attr-defined]
    page = client.get("/gaps").text
    assert "no document shares a word with it" in page
    assert "Look again for the nearest documents" in page


def test_the_list_is_a_file_too(client: TestClient) -> None:
    """Markdown and CSV are downloads; the CSV has a row per question."""
    answer = client.get("/gaps/file", params={"format": "csv"})
    assert answer.headers["content-disposition"] == 'attachment; filename="gaps.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["case"] for row in rows] == ["c0000000021", "c0000000020", "c0000000022"]
    assert client.get("/gaps/file").text.startswith("# Pages nobody has written")
    assert client.get("/gaps/file", params={"format": "xlsx"}).status_code == 422


def test_hostile_texts_are_inert(client: TestClient, site: Site) -> None:
    """Neither the page nor Markdown nor a spreadsheet runs what stands in a question or a reason."""
    path = site.workspace.evalset / "cases.jsonl"
    cases = list(read_cases(path))
    at = next(at for at, case in enumerate(cases) if case.id == "c0000000022")
    words = HOSTILE.replace("\x00", "")
    cases[at] = cases[at].model_copy(update={"query": f"=cmd()|{words}", "no_answer_reason": words})
    write_cases(path, cases)
    assert_inert(client.get("/gaps").text)
    assert "<script" not in client.get("/gaps/file").text
    rows = list(csv.DictReader(io.StringIO(client.get("/gaps/file", params={"format": "csv"}).text)))
    assert all(not row["question"].startswith("=") for row in rows)
    for form in ("md", "csv"):
        written = client.get("/gaps/file", params={"format": form}).text
        assert "\x1b" in words
        assert "\u202e" in words
        assert not [c for c in written if c < " " and c != "\n"]
        assert not set("\x7f\x85\u202e\u2066\ufeff") & set(written)
