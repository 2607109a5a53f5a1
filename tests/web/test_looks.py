"""Looking at a case again without knowing why."""

import re
from typing import Any

from fastapi.testclient import TestClient

from builders.forms import assert_inert, send
from builders.hostile import HOSTILE, SCRIPT
from findback.evalset.cases import read_cases
from findback.model.case import Case
from findback.steps.casechange import digest_case
from findback.steps.caselist import list_questioned
from findback.steps.lookagain import ask_for_look
from findback.web.site import Site

FIRST, OTHER = "c0000000000", "c0000000001"
POOL = {"howto/badge.md": ("a", "b"), "policies/leave.md": ("a",)}


def head(site: Site) -> dict[str, Case]:
    return {case.id: case for case in read_cases(site.workspace.evalset / "cases.jsonl")}


def ask(site: Site, case: str = FIRST, **pool: Any) -> None:
    known = {one.doc for one in head(site)[case].judged}
    ask_for_look(site.bench, case, pool or {d: s for d, s in POOL.items() if d not in known}, by="ana", now=site.now())


def grades(site: Site, *gold: str) -> dict[str, Any]:
    """What the form sends where these documents answer and the others do not."""
    case = head(site)[FIRST]
    documents = [*(one.doc for one in case.judged), *(one for one in POOL if one not in {j.doc for j in case.judged})]
    given = ["3" if one in gold else "0" for one in documents]
    return {"do": "look", "seen": digest_case(case), "doc": documents, "grade": given}


def test_the_page_tells_nothing(client: TestClient, site: Site) -> None:
    """Gold and pooled documents stand alike, without grade, source or part; the history keeps labels to itself."""
    gold = head(site)[FIRST].gold[0].doc
    label = {"judged": [{"doc": gold, "grade": 3}]}
    site.bench.add_case_change(FIRST, "judged", role="lead", now=site.now(), why="x", before=label, after=label)
    ask(site)
    page = client.get(f"/cases/{FIRST}").text
    assert "to be looked at again" in page
    assert sorted(re.findall(r'name="doc" value="([^"]+)"', page)) == sorted({gold, *POOL})
    rows = re.findall(r"<li>\s*<div class=\"title\">.*?</li>", page, re.DOTALL)
    assert len(rows) == 3
    shapes = {
        re.sub(r'(?s)<p class="extract">.*?</p>|<div class="(title|path)">.*?</div>|"[^"]*"', "", row) for row in rows
    }
    assert len({shape.strip() for shape in shapes}) == 1
    for word in ("resolver", "item-analysis", "selected", "grade 3", 'name="part"', 'name="found_by"', 'chip">found'):
        assert word not in page, word


def test_random_and_suspicious_cases_look_alike(client: TestClient, site: Site) -> None:
    """Both are listed with the same words, among the cases that wait for a lead."""
    ask(site)
    ask(site, OTHER)
    page = client.get("/cases", params={"questioned": "yes"}).text
    assert page.count('<span class="chip">look again</span>') == 2
    assert "2 cases are to be looked at again" in page
    assert "doubted" not in page
    assert "2 labels wait to be looked at" in client.get("/queue").text


def test_grades_become_the_label(client: TestClient, site: Site) -> None:
    """What is new says how it was found, what kept its grade stays as it was, and the case waits no longer."""
    ask(site)
    gold = head(site)[FIRST].gold[0].doc
    assert send(client, f"/cases/{FIRST}", **grades(site, gold, "howto/badge.md")).status_code == 303
    after = {one.doc: (one.grade, one.found_by) for one in head(site)[FIRST].judged}
    assert after == {
        gold: (3, "resolver"),
        "howto/badge.md": (3, "item-analysis"),
        "policies/leave.md": (0, "item-analysis"),
    }
    assert list_questioned(site.bench) == {}
    assert 'value="label"' in client.get(f"/cases/{FIRST}").text


def test_what_was_chosen_stays_where_something_is_missing(client: TestClient, site: Site) -> None:
    """A document without a grade is named as missing, and the other grades still stand in the form."""
    ask(site)
    form = grades(site, "howto/badge.md")
    form["grade"][0] = ""
    answer = send(client, f"/cases/{FIRST}", **form)
    assert answer.status_code == 422
    assert "grade every document" in answer.text
    assert answer.text.count('value="0" selected') + answer.text.count('value="3" selected') == 2
    assert FIRST in list_questioned(site.bench)


def test_a_look_is_a_leads(team_client: Any, team_site: Site) -> None:
    """A reviewer may not answer it, and nobody can where nobody asked."""
    reviewer, lead = team_client("reviewer"), team_client("lead", name="bo")
    gold = head(team_site)[FIRST].gold[0].doc
    assert send(lead, f"/cases/{FIRST}", **grades(team_site, gold)).status_code == 422
    ask(team_site)
    assert send(reviewer, f"/cases/{FIRST}", **grades(team_site, gold)).status_code == 403
    stale = {**grades(team_site, gold), "seen": "0" * 64}
    assert send(lead, f"/cases/{FIRST}", **stale).status_code == 409
    assert send(lead, f"/cases/{FIRST}", **grades(team_site, gold)).status_code == 303


def test_hostile_documents_are_inert(client: TestClient, site: Site) -> None:
    """Ids of documents that a system returned stand as text."""
    ask(site, **{SCRIPT: ("a",), HOSTILE[:180].replace("\x00", ""): (SCRIPT,)})
    assert_inert(client.get(f"/cases/{FIRST}").text)
