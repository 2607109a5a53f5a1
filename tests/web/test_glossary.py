"""The glossary's page: terms that were accepted, and proposed ones a lead decides about."""

from datetime import UTC, datetime

from fastapi.testclient import TestClient

from builders.forms import assert_inert, csrf_of, send
from builders.hostile import HOSTILE
from findback.evalset.glossary import read_glossary
from findback.model.glossary import Effect, Proposal, Proposals
from findback.steps.glossary_kept import keep_proposals, load_proposals, read_refused
from findback.web.site import Site

MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAIRS = (("wifi", "wireless network"), ("moneybox", "payroll"), ("paperjam", "printer"))


def propose(site: Site, *pairs: tuple[str, str], release: int | None = 2, made: datetime = MADE) -> None:
    """Keep proposals as a run of `glossary suggest` leaves them."""
    effect = Effect(cases=3, better=2, worse=0, gain=0.0125)
    proposals = tuple(
        Proposal(
            number=number,
            when=when,
            add=add,
            kind="nickname",
            source="alignment",
            cases=("c0000000000", "c0000000001"),
            examples=("how do i get wifi", "no wifi upstairs"),
            clusters=2,
            golds=2,
            strength=4.0,
            lift=3.0,
            own=effect,
            others=effect,
        )
        for number, (when, add) in enumerate(pairs, 1)
    )
    keep_proposals(
        site.workspace,
        Proposals(
            made=made,
            workspace="portal",
            heading="release 2",
            release=release,
            corpus="docs",
            corpus_digest="0" * 64,
            language="en",
            measured_on="bm25",
            metric="RR@10",
            label="RR@10",
            below=0.3,
            questions=12,
            used=6,
            left_out={},
            dropped={},
            proposals=proposals,
        ),
    )


def decide(client: TestClient, **numbers: list[int]):
    return client.post("/glossary", data={"csrf": csrf_of(client), "made": MADE.isoformat(), **numbers})


def test_a_lead_accepts_one_term_and_refuses_another(client: TestClient, site: Site) -> None:
    """The accepted one stands in glossary.toml with its evidence, the refused one is remembered, the third waits."""
    propose(site, *PAIRS)
    page = client.get("/glossary").text
    assert "wifi → wireless network" in page
    assert "+0.0250" in page
    assert 'href="/cases/c0000000000">how do i get wifi' in page
    assert decide(client, accept=[1], refuse=[2]).status_code == 303
    (term,) = read_glossary(site.workspace.evalset / "glossary.toml").terms
    assert (term.when, term.add, term.release, term.accepted_by) == ("wifi", "wireless network", 2, "lead")
    assert read_refused(site.workspace) == {("moneybox", "payroll")}
    assert [one.when for one in load_proposals(site.workspace).proposals] == ["paperjam"]
    page = client.get("/glossary").text
    assert "No term was accepted yet" not in page
    assert page.index("paperjam → printer") < page.index("wifi → wireless network")


def test_numbers_of_an_older_list_decide_nothing(client: TestClient, site: Site) -> None:
    """Where other terms were proposed meanwhile, the page says so and shows these."""
    propose(site, ("parking", "garage"), made=MADE.replace(hour=13))
    answer = decide(client, accept=[1])
    assert answer.status_code == 409
    assert "nothing was decided" in answer.text
    assert "parking → garage" in answer.text
    assert not (site.workspace.evalset / "glossary.toml").exists()


def test_what_cannot_be_accepted_says_why(client: TestClient, site: Site) -> None:
    """Nothing chosen, one term both ways, an unknown number, and terms of unreleased questions."""
    propose(site, *PAIRS)
    for numbers, said in (
        ({}, "say which terms"),
        ({"accept": [1], "refuse": [1]}, "cannot be accepted and refused"),
        ({"accept": [9]}, "is none of the 3 proposed terms"),
    ):
        answer = decide(client, **numbers)
        assert (answer.status_code, said in answer.text) == (422, True), said
    propose(site, *PAIRS, release=None)
    answer = decide(client, accept=[1])
    assert answer.status_code == 422
    assert "never reviewed and released" in answer.text
    assert not (site.workspace.evalset / "glossary.toml").exists()


def test_others_look_and_a_lead_decides(team_client, team_site: Site) -> None:
    """A reviewer and a reporter see the terms without the means to decide; a guard of privacy sees none."""
    propose(team_site, *PAIRS)
    for role in ("reporter", "reviewer"):
        page = team_client(role, name=role).get("/glossary")
        assert "wifi → wireless network" in page.text
        assert 'name="accept"' not in page.text
        assert "/glossary/suggest" not in page.text
    assert 'name="accept"' in team_client("lead").get("/glossary").text
    assert team_client("privacy").get("/glossary").status_code == 403


def test_terms_are_looked_for_by_a_job(client: TestClient) -> None:
    """Before it nothing was proposed; after it the list is there, be it empty."""
    assert "No terms have been proposed yet" in client.get("/glossary").text
    job = send(client, "/glossary/suggest").headers["location"]
    client.app.state.worker.work_once()  # type: ignore[attr-defined]
    assert "0 terms are proposed" in client.get(job).text
    assert "Nothing waits for a decision" in client.get("/glossary").text


def test_hostile_terms_are_inert(client: TestClient, site: Site) -> None:
    """What stands in a term, an example or a heading runs nowhere."""
    propose(site, (HOSTILE.replace("\x00", "")[:100], "x"))
    assert_inert(client.get("/glossary").text)
