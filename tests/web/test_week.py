"""The page of the week: what stands beside the stack, and for whom."""

import re
from collections.abc import Callable
from datetime import timedelta

from fastapi.testclient import TestClient

from builders.candidates import candidate, digest, span
from findback.evalset.cases import read_cases
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.review import submit
from findback.steps.week import WeekRequest, plan_week
from findback.web.site import Site

Client = Callable[..., TestClient]


def doubt(site: Site, why: str) -> str:
    case = read_cases(site.workspace.evalset / "cases.jsonl")[0]
    site.bench.add_case_change(case.id, "questioned", role="lead", now=site.now(), why=why)
    return case.id


def test_the_page_shows_texts_beside_the_stack(client: TestClient, site: Site) -> None:
    """A doubted case is there with its words and a link; owner, drift and flags are said in sentences."""
    case = doubt(site, "wrong page")
    query = next(one.query for one in read_cases(site.workspace.evalset / "cases.jsonl") if one.id == case)
    page = client.get("/week").text
    assert re.search(rf'<a href="/cases/{case}">{re.escape(query)}</a>', page)
    assert "somebody doubts it" in page
    assert "Nobody is named as owner" in page
    assert "was not compared" in page
    assert "No flag was counted yet." in page
    plan_week(site.workspace, WeekRequest(), now=site.now())
    assert "cannot be told with this many" in client.get("/week").text


def test_a_skipped_week_is_said(client: TestClient, site: Site) -> None:
    """Candidates that waited through whole weeks make these skipped, in words and in the table."""
    site.bench.put([candidate("old")], now=site.now() - timedelta(days=22))
    page = client.get("/week").text
    assert "3 of the last 3 whole weeks were skipped, the last 3 in a row" in page
    assert page.count("<td>skipped</td>") == 3


def test_the_stack_follows_expected_value(client: TestClient, site: Site) -> None:
    """After the flags comes what was asked most, however late it came in."""
    site.bench.put(
        [
            candidate("often", query="sauna opening hours", asked="20+"),
            candidate("flag", query="heliport booking form", origin="flagged"),
        ],
        now=site.now(),
    )
    listed = re.findall(r"<li>([^<]+?)(?: <span class=\"chip\">flag</span>)?</li>", client.get("/week").text)
    assert listed[:2] == ["heliport booking form", "sauna opening hours"]


def test_only_a_lead_sees_that_opinions_differ(team_client: Client, team_site: Site) -> None:
    """Two reviewers name other documents for one candidate: it stands on the lead's page, and on no reviewer's."""
    key = digest("org")
    named = candidate("org", query="is ⟦ORG_1⟧ allowed in the lab")
    span_of_org = span(3, 10, type="ORG")
    query = named.query.model_copy(update={"spans": (span_of_org,)})
    team_site.bench.put(
        [named.model_copy(update={"query": query, "thread": (), "query_line": -1})], now=team_site.now()
    )
    for name, document in (("ana", "howto/badge.md"), ("bo", "policies/leave.md")):
        review = Review(wording="vague", judged=(Judgement(doc=document, grade=3, found_by="reviewer"),))
        who = Reviewer(name, None, ("reviewer",), ("public",))
        submit(team_site.desk, who, key, review, revision=0, now=team_site.now())
    lead = team_client("lead", name="lea").get("/week").text
    beside = lead[lead.index("Opinions that differ") :]
    assert f'<a href="/items/{key}">' in beside
    assert "allowed in the lab" in beside
    assert "Opinions that differ" not in team_client("reviewer", name="cy").get("/week").text
