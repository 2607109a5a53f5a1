"""The set browser."""

import re
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient

from builders.forms import assert_inert, send
from builders.hostile import HOSTILE, SCRIPT
from findback.evalset.cases import read_cases, write_cases
from findback.evalset.release import list_numbers
from findback.model.case import Case
from findback.steps.casechange import digest_case
from findback.steps.release import ReleaseRequest, release
from findback.web.site import Site

FIRST, GAP = "c0000000000", "c0000000020"


def head(site: Site) -> dict[str, Case]:
    return {case.id: case for case in read_cases(site.workspace.evalset / "cases.jsonl")}


def label(case: Case, **changes: Any) -> dict[str, Any]:
    """What the form of a case sends when nothing in it was changed."""
    rows = case.judged
    return {
        "do": "label",
        "seen": digest_case(case),
        "why": "looked again",
        "doc": [one.doc for one in rows],
        "grade": [str(one.grade) for one in rows],
        "part": [str(one.part) for one in rows],
        "anchor": [one.anchor or "" for one in rows],
        "found_by": [one.found_by for one in rows],
        "reason": case.no_answer_reason or "",
        "wording": case.wording,
        **changes,
    }


def test_filters_let_through_what_they_name(client: TestClient, site: Site) -> None:
    """By answer, by words of question or document, and by status; counts are over the other filters."""
    page = client.get("/cases", params={"answer": "no-answer"}).text
    assert "3 cases" in page
    assert "renew the parking permit" in page
    assert FIRST not in page
    assert "2 cases" in client.get("/cases", params={"words": "PARKING"}).text
    assert "2 cases" in client.get("/cases", params={"words": "howto/vpn.md"}).text
    assert "1 case<" in client.get("/cases", params={"words": FIRST}).text
    assert "None fits these filters" in client.get("/cases", params={"status": "retired"}).text


def test_nobody_is_told_which_cases_are_held_out(client: TestClient, site: Site) -> None:
    """Neither the list, nor a case, nor its history says on which side of the split a case is."""
    cases = [one.model_copy(update={"split": "holdout"}) for one in head(site).values()]
    write_cases(site.workspace.evalset / "cases.jsonl", cases)
    site.bench.add_case_change(FIRST, "judged", role="lead", now=site.now(), before={"split": "holdout"})
    for path in ("/cases", f"/cases/{FIRST}", "/v1/releases"):
        page = client.get(path).text
        assert "holdout" not in page.replace("holdout_clusters", ""), path
    assert client.get("/cases", params={"split": "holdout"}).status_code == 422


def test_a_lead_changes_judgements(client: TestClient, site: Site) -> None:
    """The head has the new label, the history says what, when, why and in which role, and the query is as it was."""
    before = head(site)[FIRST]
    wanted = label(before, doc=["howto/vpn.md"], grade=["3"], part=["1"], anchor=["enrol the device certificate"])
    wanted["found_by"] = ["reviewer"]
    assert send(client, f"/cases/{FIRST}", **wanted).status_code == 303
    after = head(site)[FIRST]
    assert [(one.doc, one.grade, one.anchor) for one in after.gold] == [
        ("howto/vpn.md", 3, "enrol the device certificate")
    ]
    assert (after.query, after.labelled_by, after.confirmations) == (before.query, "lead", 0)
    page = client.get(f"/cases/{FIRST}").text
    assert "looked again" in page
    assert "2026-03-02 09:00 · lead" in page
    assert f"{before.gold[0].doc}: grade 3" in page
    (change,) = site.bench.case_changes(FIRST)
    assert (change.what, change.role) == ("judged", "lead")


def test_the_next_release_takes_a_change(client: TestClient, site: Site) -> None:
    """What was changed or retired here passes every check of a release; the older releases are as they were."""
    cases = head(site)
    gone = label(cases[FIRST], doc=[], grade=[], part=[], anchor=[], found_by=[], reason="it moved away", wanted="yes")
    assert send(client, f"/cases/{FIRST}", **gone).status_code == 303
    retired = {"do": "retired", "seen": digest_case(cases[GAP]), "why": "nobody asks that any more"}
    assert send(client, f"/cases/{GAP}", **retired).status_code == 303
    made = release(site.workspace, ReleaseRequest(message="third"))
    assert (made.number, made.obstacles) == (3, ())
    assert (made.diff.relabelled, made.diff.retired) == ((FIRST,), (GAP,))
    assert head(site)[FIRST].tags == ("document-wanted",)
    assert list_numbers(site.workspace.evalset) == [1, 2, 3]


def test_the_query_cannot_be_changed(client: TestClient, site: Site) -> None:
    """A form that names the query, the split or the origin is refused as a whole."""
    for name in ("query", "split", "origin", "language"):
        answer = send(client, f"/cases/{FIRST}", **label(head(site)[FIRST]), **{name: "other words"})
        assert answer.status_code == 422, name
    assert site.bench.case_changes(FIRST) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grade": ["0"]}, "no document answers it"),
        ({"reason": "nothing does"}, "take one of them back"),
        ({"doc": ["howto/gone.md"]}, "not in the corpus"),
        ({"anchor": ["words that stand nowhere"]}, "not in its document"),
        ({"wording": "lyrical"}, "no such wording"),
        ({"why": " "}, "say why"),
        ({}, "nothing would change"),
        ({"grade": []}, "not whole"),
        ({"grade": ["0"], "reason": "ask ana@example.org"}, "EMAIL"),
    ],
)
def test_what_does_not_hold_is_refused_and_stays_in_the_form(
    client: TestClient, site: Site, changes: dict[str, Any], said: str
) -> None:
    """The page says what stands in the way; head and history are as they were."""
    before = (site.workspace.evalset / "cases.jsonl").read_bytes()
    answer = send(client, f"/cases/{FIRST}", **label(head(site)[FIRST], **changes))
    assert answer.status_code == 422
    assert said in unescape(answer.text)
    assert (site.workspace.evalset / "cases.jsonl").read_bytes() == before
    assert site.bench.case_changes(FIRST) == []


def test_two_windows_do_not_overwrite_each_other(client: TestClient, site: Site) -> None:
    """The second of two changes that saw the same case is answered 409, with its own words still in the form."""
    seen = head(site)[FIRST]
    assert send(client, f"/cases/{FIRST}", **label(seen, grade=["2"])).status_code == 303
    late = send(client, f"/cases/{FIRST}", **label(seen, grade=["1"], why="my own reason"))
    assert late.status_code == 409
    assert "my own reason" in late.text
    assert head(site)[FIRST].gold[0].grade == 2


def test_a_search_keeps_what_stands_in_the_form(client: TestClient, site: Site) -> None:
    """Documents that were found stand below what was judged, not judged yet; nothing was saved."""
    answer = send(client, f"/cases/{FIRST}", **label(head(site)[FIRST], do="search", search="tunnel certificate"))
    assert answer.status_code == 200
    assert re.findall(r'name="doc" value="([^"]+)"', answer.text)[:2] == [head(site)[FIRST].gold[0].doc, "howto/vpn.md"]
    assert 'value="looked again"' in answer.text
    by_id = send(client, f"/cases/{FIRST}", **label(head(site)[FIRST], do="search", search="howto/badge.md"))
    assert 'value="howto/badge.md"' in by_id.text
    assert site.bench.case_changes(FIRST) == []


def test_a_doubt_waits_for_a_lead(team_client: Any, team_site: Site) -> None:
    """A reviewer's doubt changes no label; a lead finds it in the form, and either saves it or leaves it."""
    reviewer, lead = team_client("reviewer"), team_client("lead", name="bo")
    before = head(team_site)
    doubt = {"document": "howto/badge.md", "said": "also-right", "why": "it says so in its first line"}
    assert send(reviewer, f"/cases/{FIRST}/doubt", **doubt).status_code == 303
    assert head(team_site) == before
    assert "1 label is doubted" in reviewer.get("/cases").text
    assert "1 case<" in lead.get("/cases", params={"questioned": "yes"}).text
    page = lead.get(f"/cases/{FIRST}").text
    assert "it says so in its first line" in page
    assert re.findall(r'name="found_by" value="([^"]+)"', page) == ["resolver", "item-analysis"]
    assert "issuer" not in page
    assert send(reviewer, f"/cases/{FIRST}", do="keep", why="no").status_code == 403
    assert send(lead, f"/cases/{FIRST}", do="keep", why="it is about another badge").status_code == 303
    assert "doubted" not in lead.get("/cases").text
    wrong = {"document": before[FIRST].gold[0].doc, "said": "also-right"}
    assert send(reviewer, f"/cases/{FIRST}/doubt", **wrong).status_code == 422


def test_what_a_refresh_found_waits_for_a_lead(client: TestClient, site: Site) -> None:
    """Its reasons are shown, a new document is nobody's search result, and a lead may leave the label as it is."""
    lost = {"said": "stale", "stale": ["vanished-terms"]}
    site.bench.add_case_change(FIRST, "questioned", role="lead", now=site.now(), why="a word left", after=lost)
    page = client.get(f"/cases/{FIRST}").text
    assert "To be looked at:</strong> a word left" in page
    assert send(client, f"/cases/{FIRST}", do="keep", why="people still say it").status_code == 303
    assert "Leave it as it is" not in client.get(f"/cases/{FIRST}").text
    new = {"said": "also-right", "document": "howto/badge.md", "stale": ["superseded"]}
    site.bench.add_case_change(FIRST, "questioned", role="lead", now=site.now(), why="a newer page", after=new)
    page = client.get(f"/cases/{FIRST}").text
    assert re.findall(r'name="found_by" value="([^"]+)"', page) == ["resolver", "reviewer"]


def test_paraphrases_follow_their_root(client: TestClient, site: Site) -> None:
    """A root's new label is its paraphrase's too; the paraphrase itself has no form for one."""
    root = head(site)[FIRST]
    copy = root.model_copy(update={"id": "c0000000099", "origin": "paraphrase", "root": FIRST, "query": "other words"})
    write_cases(site.workspace.evalset / "cases.jsonl", [*head(site).values(), copy])
    assert send(client, f"/cases/{FIRST}", **label(root, grade=["1"])).status_code == 303
    assert head(site)["c0000000099"].gold[0].grade == 1
    assert 'value="label"' not in client.get("/cases/c0000000099").text
    answer = send(client, "/cases/c0000000099", **label(head(site)["c0000000099"], grade=["3"]))
    assert answer.status_code == 422


def test_withdrawing_erases_it_everywhere(client: TestClient, site: Site) -> None:
    """The query is gone from head and releases, a tombstone stays, and the page lists what was done."""
    query = head(site)[FIRST].query
    assert send(client, f"/cases/{FIRST}/withdraw", reason="they asked for it").status_code == 422
    done = send(client, f"/cases/{FIRST}/withdraw", reason="they asked for it", sure="yes")
    assert done.status_code == 200
    assert "releases 1, 2" in done.text
    for file in site.workspace.evalset.rglob("*.jsonl"):
        assert query not in file.read_text("utf-8"), file
    assert head(site)[FIRST].status == "withdrawn"
    assert query not in client.get(f"/cases/{FIRST}").text


def test_hostile_texts_are_inert(client: TestClient, site: Site) -> None:
    """Markup, template syntax and reordering marks in every text of a case and its history come out as plain text."""
    changed = head(site)[FIRST].model_copy(
        update={
            "query": HOSTILE.replace("\x00", ""),
            "source": HOSTILE[:180],
            "no_answer_reason": None,
            "tags": (SCRIPT,),
        }
    )
    write_cases(site.workspace.evalset / "cases.jsonl", [*(c for c in head(site).values() if c.id != FIRST), changed])
    after = {"document": SCRIPT, "said": "also-right", "judged": [{"doc": SCRIPT, "grade": SCRIPT}]}
    site.bench.add_case_change(FIRST, HOSTILE, role="lead", now=site.now(), why=HOSTILE, before=after, after=after)
    site.bench.add_case_change(FIRST, "questioned", role="lead", now=site.now(), why=HOSTILE, after=after)
    for path in ("/cases", f"/cases/{FIRST}"):
        page = client.get(path).text
        assert_inert(page)
        assert "{{7*7}}" in page
    typed = send(client, f"/cases/{FIRST}", **label(changed, why=HOSTILE, search=HOSTILE, do="search"))
    assert_inert(typed.text)


def test_a_case_that_is_not_there_is_missing(client: TestClient) -> None:
    """Any other id, however it is written, is answered 404."""
    for case_id in ("c9999999999", "nothing", "..%2F..%2Fetc", "%00", "c" * 3_000):
        assert client.get(f"/cases/{case_id}").status_code == 404, case_id


def test_a_document_is_read_in_full(client: TestClient) -> None:
    """The text of a judged document opens from the case; what is no document is missing."""
    page = client.get(f"/cases/{FIRST}/document", params={"id": "howto/vpn.md"}).text
    assert "enrol the device certificate" in page
    assert client.get(f"/cases/{FIRST}/document", params={"id": "../findback.toml"}).status_code == 404
    assert client.get(f"/cases/{FIRST}/document").status_code == 422
