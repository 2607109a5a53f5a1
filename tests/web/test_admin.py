"""The pages of those who guard privacy and those who run the page."""

import json
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from builders.candidates import candidate
from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from builders.pagesettings import GROUPS
from builders.programs import make_program
from findback.places import PLACES
from findback.steps.erase import ErasureOrder, PurgeRequest, order_purge
from findback.web import jobs, work
from findback.web.oidc import Claims
from findback.web.sessions import keep_claims, local_visitor, start_session
from findback.web.site import Site


def put_of(site: Site, name: str, person: str) -> str:
    """Store a question that a person asked, whose id the workbench's key digests; return its key."""
    made = candidate(name, None).model_copy(update={"asker_hmac": site.desk.key.hmac(person)})
    first = made.thread[0].model_copy(update={"author_hmac": site.desk.key.hmac(person)})
    site.bench.put([made.model_copy(update={"thread": (first,)})], now=site.now())
    return made.key


def ask(client: Any, path: str, **form: Any) -> Any:
    """Send a form, and look where the answer leads."""
    sent = send(client, path, **form)
    assert sent.status_code == 303
    return client.get(sent.headers["location"])


def test_the_log_has_no_texts(team_client: Any, team_site: Site) -> None:
    """Events come newest first with counts; no query, no reason, and no name beside a review."""
    lead, guard = team_client("lead"), team_client("privacy", name="gail")
    key = next(
        one.candidate.key for one in team_site.bench.list_candidates() if "from home" in one.candidate.query.text
    )
    for do, revision in (("grade-3", 0), ("wording-vague", 1), ("submit", 2)):
        form = {"do": do, "document": "howto/vpn.md", "revision": revision}
        assert send(lead, f"/items/{key}", **form).status_code == 303
    page = guard.get("/privacy").text
    assert '<td data-label="what">review</td>' in page
    assert "from home" not in page
    assert "howto/vpn.md" not in page
    assert "issuer ana" not in page
    assert page.index(">review<") < page.index(">put<")
    for name, place in PLACES.items():
        assert name in page
        assert place.content.split(":")[0].split(",")[0] in page


def test_the_log_goes_back_in_pages(client: TestClient, site: Site) -> None:
    """A hundred events stand on a page; the link leads to those before."""
    for number in range(120):
        given = {"scopes": ("reviewer",), "now": site.now(), "until": site.now().replace(year=2030)}
        site.bench.add_api_token(f"t{number}", reviewer=f"p{number // 40}", **given)
    page = client.get("/privacy").text
    before = re.search(r"/privacy\?before=(\d+)", page)
    assert before is not None
    assert page.count('data-label="what"') == 100
    assert 0 < client.get(f"/privacy?before={before[1]}").text.count('data-label="what"') < 100
    assert client.get("/privacy?before=x").status_code == 422


def test_a_person_is_erased_for_good(client: TestClient, site: Site) -> None:
    """Asked and ticked, what they asked is gone, and their name is nowhere in the answer or the log."""
    key = put_of(site, "leave", "U0777")
    refused = send(client, "/privacy/purge", person="U0777")
    assert refused.status_code == 422
    assert site.bench.get(key) is not None
    done = ask(client, "/privacy/purge", person=" U0777 \n", sure="yes")
    assert "Done: 1 " in done.text
    assert key not in [one.candidate.key for one in site.bench.list_candidates()]
    assert "U0777" not in done.text
    assert "U0777" not in client.get("/privacy").text
    assert send(client, "/privacy/purge", sure="yes").status_code == 422


def test_an_erasure_says_what_the_published_set_still_holds(client: TestClient, site: Site) -> None:
    """The case that an erased question became is named, with the command that withdraws it."""
    key = put_of(site, "leave", "U0777")
    case_id = site.bench.assign_case_ids([key], now=site.now())[key].case_id
    site.bench.mark_released({case_id: "dev"}, 1, reviewer="noor", now=site.now())
    page = ask(client, "/privacy/purge", person="U0777", sure="yes").text
    assert f"findback withdraw {case_id} --reason" in page


def test_an_erasure_that_takes_long_goes_on_without_anybody(
    client: TestClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that loads itself says how it stands; what it was asked with names nobody, and is forgotten at the end."""
    key = put_of(site, "leave", "U0777")
    go_on = threading.Event()

    def slow(*given: Any) -> Any:
        go_on.wait(20)
        return work._erase(*given)

    kind, result, _ = work.WORK["erase"]
    monkeypatch.setattr(jobs, "WORK", {**work.WORK, "erase": (kind, result, slow)})
    monkeypatch.setattr(jobs, "SOON", 0.1)
    page = ask(client, "/privacy/purge", person="U0777", sure="yes")
    assert 'http-equiv="refresh"' in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "Texts are being erased" in client.get("/privacy").text
    (job,) = site.bench.jobs()
    assert "U0777" not in json.dumps(job.request)
    assert site.desk.key.hmac("U0777") in job.request["ids"]
    assert client.get(f"/jobs/{job.number}").status_code == 404
    assert f"/jobs/{job.number}" not in client.get("/jobs").text
    assert send(client, f"/privacy/jobs/{job.number}/cancel").status_code == 422
    go_on.set()
    assert client.app.state.worker.wait_for(job.number, 20).state == "done"  # type: ignore[attr-defined]
    assert "Done: 1 " in client.get(f"/privacy?job={job.number}").text
    assert site.bench.job(job.number).request == {}
    assert key not in [one.candidate.key for one in site.bench.list_candidates()]


def test_an_erasure_can_be_cancelled_before_it_begins(client: TestClient, site: Site) -> None:
    """One that waits for its turn does nothing once it is taken back, and nobody else can take it back."""
    put_of(site, "leave", "U0777")
    me = local_visitor().subject
    order = ErasureOrder(rejected=True).model_dump(mode="json", exclude_defaults=True)
    other = site.bench.add_job("erase", order, reviewer="somebody", now=site.now())
    number = site.bench.add_job("erase", order, reviewer=me, now=site.now())
    assert "It waits for its turn" in client.get("/privacy").text
    assert send(client, f"/privacy/jobs/{other}/cancel").status_code == 404
    assert client.get(f"/privacy?job={other}").status_code == 404
    assert "nothing was erased" in ask(client, f"/privacy/jobs/{number}/cancel").text
    assert site.bench.job(number).request == {}


def test_an_erasure_goes_on_at_the_next_server(client: TestClient, site: Site, clock: Any) -> None:
    """One whose server was killed in the middle is done by another, once nothing was heard of it for a minute."""
    key = put_of(site, "leave", "U0777")
    order = order_purge(site.bench, site.desk.key, PurgeRequest(person=("U0777",)))
    values = order.model_dump(mode="json", exclude_defaults=True)
    number = site.bench.add_job("erase", values, reviewer="gail", now=site.now(), running=True)
    worker = jobs.Worker(site)
    assert not worker.work_once()
    clock.move(seconds=61)
    assert worker.work_once()
    assert site.bench.job(number).state == "done"
    assert key not in [one.candidate.key for one in site.bench.list_candidates()]


def test_who_objected_is_kept_out(client: TestClient, site: Site) -> None:
    """What they asked is gone, and storing it again brings nothing back."""
    key = put_of(site, "leave", "U0777")
    assert "Done: 1 " in ask(client, "/privacy/exclude", person="U0777").text
    put_of(site, "leave", "U0777")
    assert key not in [one.candidate.key for one in site.bench.list_candidates()]
    assert send(client, "/privacy/exclude", channel="no-source").status_code == 422
    assert "nothing is stored under what was named" in ask(client, "/privacy/exclude", person="nobody here").text


def test_a_token_is_shown_once_and_works_until_it_is_revoked(client: TestClient, site: Site) -> None:
    """The new token opens what its roles may, no page shows it again, and revoked it opens nothing."""
    made = send(client, "/tokens", name="nightly", scopes=["reviewer"], days=7).text
    token = re.search(r'aria-label="The new token"', made) and re.search(r'value="([\w-]{40,})" size', made)
    assert token
    assert token[1] not in client.get("/tokens").text
    program = TestClient(client.app, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {token[1]}"})
    assert program.get("/v1/queue").status_code == 200
    assert program.get("/privacy").status_code == 403
    number = site.bench.api_tokens()[0].number
    assert send(client, f"/tokens/{number}/revoke").status_code == 303
    assert program.get("/v1/queue").status_code == 401
    assert "revoked" in client.get("/tokens").text
    assert send(client, "/tokens/999/revoke").status_code == 404


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "x"}, "at least one role"),
        ({"name": " ", "scopes": ["reviewer"]}, "needs a name"),
        ({"name": "x" * 150, "scopes": ["reviewer"]}, "at most 100"),
        ({"name": "x", "scopes": ["root"]}, "scopes"),
        ({"name": "x", "scopes": ["reviewer"], "days": 4_000}, "days"),
    ],
)
def test_tokens_that_make_no_sense_are_refused(client: TestClient, values: dict[str, Any], said: str) -> None:
    """The answer says what is wrong."""
    answer = send(client, "/tokens", **values)
    assert answer.status_code == 422
    assert said in answer.text


def test_nobody_hands_out_what_they_do_not_have(team_client: Any) -> None:
    """Somebody who only runs the page cannot make a token of a lead."""
    admin = team_client("admin")
    assert send(admin, "/tokens", name="x", scopes=["lead"]).status_code == 422
    assert send(admin, "/tokens", name="x", scopes=["admin"]).status_code == 200


def test_hostile_names_are_inert(client: TestClient) -> None:
    """A token's name is shown as text."""
    assert send(client, "/tokens", name=HOSTILE[:90], scopes=["reviewer"]).status_code == 200
    page = client.get("/tokens").text
    assert_inert(page)
    assert "&lt;script&gt;" in page


def test_a_token_can_do_no_more_than_its_owner_can_now(team_client: Any, team_site: Site) -> None:
    """What a login takes from its owner is taken from the token until one gives it back; nobody's opens nothing."""
    team_client("admin", "reviewer", "lead", name="ana")
    token = team_site.bench.add_api_token(
        "ci", reviewer="issuer ana", scopes=("reviewer",), now=team_site.now(), until=team_site.now().replace(year=2030)
    )
    program = team_client(name="nobody")
    program.headers["authorization"] = f"Bearer {token}"
    assert program.get("/v1/queue").status_code == 200
    for roles, status in ((("reporter",), 401), (("lead",), 401), ((), 401), (("reviewer", "privacy"), 200)):
        start_session(team_site, Claims("issuer ana", "ana", tuple(GROUPS[role] for role in roles)))
        assert program.get("/v1/queue").status_code == status, roles
    stranger = team_site.bench.add_api_token(
        "x", reviewer="issuer bo", scopes=("reviewer",), now=team_site.now(), until=team_site.now().replace(year=2030)
    )
    program.headers["authorization"] = f"Bearer {stranger}"
    assert program.get("/v1/queue").status_code == 401


def test_a_token_with_two_roles_keeps_the_one_its_owner_still_has(team_client: Any, team_site: Site) -> None:
    """Of a reviewer's and a lead's token a former lead's does a reviewer's work; the list of tokens says so."""
    token = make_program(team_site, "reviewer", "lead", name="issuer ana")
    start_session(team_site, Claims("issuer ana", "ana", (GROUPS["reviewer"],)))
    program = team_client(name="nobody")
    program.headers["authorization"] = f"Bearer {token}"
    assert program.get("/v1/queue").status_code == 200
    assert program.get("/agreement").status_code == 403
    page = team_client("admin", name="root").get("/tokens").text
    assert "lead, reviewer <span" in page
    assert "(of these now: reviewer)" in page


def test_groups_that_are_read_again_count_for_tokens_too(team_client: Any, team_site: Site) -> None:
    """Who loses a group while they are logged in loses it for their programs as well."""
    token = make_program(team_site, "reviewer", name="issuer ana")
    session = start_session(team_site, Claims("issuer ana", "ana", (GROUPS["reviewer"],)))
    keep_claims(team_site, session, Claims("issuer ana", "ana", ()), until=team_site.now() + timedelta(hours=1))
    program = team_client(name="nobody")
    program.headers["authorization"] = f"Bearer {token}"
    assert program.get("/v1/queue").status_code == 401
