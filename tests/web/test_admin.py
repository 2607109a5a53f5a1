"""The pages of those who guard privacy and those who run the page."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from builders.candidates import candidate
from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from findback.web.site import Site
from findback.workspace import PLACES


def put_of(site: Site, name: str, person: str) -> str:
    """Store a question that a person asked, whose id the workbench's key digests; return its key."""
    made = candidate(name, None).model_copy(update={"asker_hmac": site.desk.key.hmac(person)})
    first = made.thread[0].model_copy(update={"author_hmac": site.desk.key.hmac(person)})
    site.bench.put([made.model_copy(update={"thread": (first,)})], now=site.now())
    return made.key


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
    done = send(client, "/privacy/purge", person=" U0777 \n", sure="yes")
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
    page = send(client, "/privacy/purge", person="U0777", sure="yes").text
    assert f"findback withdraw {case_id} --reason" in page


def test_who_objected_is_kept_out(client: TestClient, site: Site) -> None:
    """What they asked is gone, and storing it again brings nothing back."""
    key = put_of(site, "leave", "U0777")
    assert "Done: 1 " in send(client, "/privacy/exclude", person="U0777").text
    put_of(site, "leave", "U0777")
    assert key not in [one.candidate.key for one in site.bench.list_candidates()]
    assert send(client, "/privacy/exclude", channel="no-source").status_code == 422
    assert "nothing is stored under what was named" in send(client, "/privacy/exclude", person="nobody here").text


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
