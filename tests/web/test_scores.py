"""Scores over time, misses and the report."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from builders.forms import assert_inert, send
from builders.hostile import HOSTILE, refilled
from findback.evalset.cases import read_cases
from findback.model.evaluation import Evaluation
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.kept import keep
from findback.steps.scoreboard import list_scores
from findback.web.pages.scores import picture
from findback.web.site import Site
from findback.workspace import Workspace


@pytest.fixture
def scored(workspace: Workspace) -> list[str]:
    """Evaluations of release 1 and 2, and one of the holdout of 2; their ids, newest first."""
    first = evaluate(workspace, EvaluateRequest(release=1))
    second = evaluate(workspace, EvaluateRequest(release=2))
    made = second.set.model_copy(update={"heading": "release 2, holdout, look 1"})
    blind = tuple(one.model_copy(update={"miss_examples": ()}) for one in second.retrievers)
    later = second.made + timedelta(minutes=1)
    keep(workspace, second.model_copy(update={"set": made, "retrievers": blind, "made": later}))
    assert first.made < second.made
    return list(list_scores(workspace).evaluations)


def test_scores_stand_by_release_and_over_time(client: TestClient, scored: list[str]) -> None:
    """Each evaluation has a row per search system with its interval; the newest is first, by type below."""
    assert len(scored) == 3
    page = client.get("/scores").text
    assert page.index("release 2, holdout, look 1") < page.index('<td data-label="exam">release 1')
    assert "RR@10" in page
    assert "(n 12)" in page
    assert '<img src="/scores/chart.svg?' in page
    older = client.get("/scores", params={"evaluation": scored[2]}).text
    assert "By type: release 1" in older
    for bad in ("20260101T000000Z", "../../etc/passwd", "evaluation-x", "%00"):
        assert client.get("/scores", params={"evaluation": bad}).status_code == 404, bad


def test_the_chart_is_a_picture_that_cannot_run(client: TestClient, scored: list[str]) -> None:
    """The SVG comes as its own response under a policy that lets nothing in, with colours for dark pages."""
    answer = client.get("/scores/chart.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert 'xmlns="http://www.w3.org/2000/svg"' in answer.text
    assert "prefers-color-scheme:dark" in answer.text
    assert "<script" not in answer.text
    assert picture("<svg><g/></svg>").endswith("</style><g/></svg>")


def test_the_report_is_a_page_of_its_own(client: TestClient, scored: list[str]) -> None:
    """It may not run, send or be framed, and holds the evaluation that was asked for."""
    answer = client.get("/scores/report", params={"evaluation": scored[2]})
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "allow-" not in policy
    assert "release 1" in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_miss_leads_to_its_case_with_the_doubt_put_in(client: TestClient, site: Site, scored: list[str]) -> None:
    """'Also right' on what came instead opens the case with that document graded, and changes nothing by itself."""
    evaluation = scored[1]
    page = client.get("/scores/misses", params={"evaluation": evaluation}).text
    assert "Gold is wrong" in page
    found = next(one for one in list_scores(site.workspace).points if one.evaluation == evaluation)
    assert found.misses > 0
    before = (site.workspace.evalset / "cases.jsonl").read_bytes()
    case = read_cases(site.workspace.evalset / "cases.jsonl")[0]
    doubt = {"document": "policies/travel.md", "said": "also-right", "retriever": "bm25"}
    answer = send(client, f"/cases/{case.id}/doubt", **doubt)
    assert answer.headers["location"] == f"/cases/{case.id}#label"
    assert 'value="policies/travel.md"' in client.get(f"/cases/{case.id}").text
    (change,) = site.bench.case_changes(case.id)
    assert (change.what, change.after) == ("questioned", doubt)
    assert (site.workspace.evalset / "cases.jsonl").read_bytes() == before
    assert "No miss here" in client.get("/scores/misses", params={"evaluation": scored[0]}).text


def test_questions_of_other_sets_have_no_buttons(client: TestClient, site: Site, scored: list[str]) -> None:
    """A miss whose question is no case of the set is shown, and cannot be doubted here."""
    kept = evaluate(site.workspace, EvaluateRequest(set=site.workspace.root / "asked.jsonl"))
    assert any(one.miss_examples for one in kept.retrievers)
    page = client.get("/scores/misses", params={"evaluation": list_scores(site.workspace).evaluations[1]}).text
    assert "Also right" not in page


def test_scoring_is_a_job(client: TestClient, site: Site) -> None:
    """The button scores the newest release; the page of the job leads to the scores."""
    assert "Nothing was scored yet" in client.get("/scores").text
    location = send(client, "/scores").headers["location"]
    client.app.state.worker.work_once()  # type: ignore[attr-defined]
    assert "scored on release 2" in client.get(location).text
    assert "release 2" in client.get("/scores").text


def test_hostile_texts_are_inert(client: TestClient, site: Site, scored: list[str]) -> None:
    """An evaluation with markup, NULs and reordering marks in every text breaks no page and runs nowhere."""
    kept: Evaluation = evaluate(site.workspace, EvaluateRequest())
    skip = frozenset({"primary", "set.heading", "retrievers.groups.scores.metric", "tokenizer", "findback"})
    bad = refilled(kept, lambda path: HOSTILE, skip=skip)
    keep(site.workspace, bad.model_copy(update={"made": kept.made + timedelta(days=1)}))
    newest = list_scores(site.workspace).evaluations[0]
    assert_inert(client.get("/scores").text)
    assert_inert(client.get("/scores/misses", params={"evaluation": newest}).text)
    for answer in (client.get("/scores/chart.svg"), client.get("/scores/report", params={"evaluation": newest})):
        assert answer.status_code == 200
        assert "<script" not in answer.text
        assert not set("\u202e\x00") & set(answer.text)
