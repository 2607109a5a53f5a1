"""Asking whoever solved it."""

import re
from typing import Any

from fastapi.testclient import TestClient

from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from findback.web.site import Site


def key_of(site: Site, words: str) -> str:
    return next(one.candidate.key for one in site.bench.list_candidates() if words in one.candidate.query.text)


def link_for(client: TestClient, key: str) -> str:
    """Make a link and return its path; it is shown in the answer alone."""
    answer = send(client, f"/items/{key}/ask")
    assert answer.status_code == 200
    found = re.search(r'value="http://127\.0\.0\.1(/ask/[^"]+)"', answer.text)
    assert found is not None
    return found[1]


def test_a_link_asks_one_question_once(client: TestClient, site: Site) -> None:
    """The resolver sees the question alone, names what helped, and the link is used up."""
    key = key_of(site, "from home")
    path = link_for(client, key)
    page = client.get(path).text
    assert "cant get in from home since monday" in page
    assert "try this" not in page
    done = send(client, path, helped="some", documents="howto/vpn.md\n\n", note="mail ana@example.org")
    assert done.status_code == 200
    (ask,) = site.bench.asks_of(key)
    assert ask.answer is not None
    assert ask.answer.documents == ("howto/vpn.md",)
    assert "ana@example.org" not in (ask.answer.note or "")
    assert client.get(path).status_code == 404
    assert send(client, path, helped="none").status_code == 404


def test_none_of_them_is_an_answer(client: TestClient, site: Site) -> None:
    """An empty list needs 'no document did'; what is no document is refused, and what was typed stays."""
    key = key_of(site, "from home")
    path = link_for(client, key)
    assert send(client, path, helped="some").status_code == 422
    wrong = send(client, path, helped="some", documents="https://elsewhere.example.org/x", note="mine")
    assert wrong.status_code == 422
    assert "mine" in wrong.text
    assert send(client, path, helped="none").status_code == 200
    assert site.bench.asks_of(key)[0].answer.documents == ()  # type: ignore[union-attr]


def test_a_link_runs_out(client: TestClient, site: Site, clock: Any) -> None:
    """After a week it is answered like one that never was."""
    path = link_for(client, key_of(site, "from home"))
    clock.move(days=8)
    client.cookies.clear()
    assert client.get(path).status_code == 404
    assert client.get("/ask/nothing").status_code == 404


def test_a_team_answers_behind_its_login(team_client: Any, team_site: Site) -> None:
    """Who holds a link logs in first; any role may then answer; only leads make links."""
    key = key_of(team_site, "from home")
    lead, reporter, stranger = team_client("lead"), team_client("reporter", name="bo"), team_client()
    assert send(team_client("reviewer", name="cy"), f"/items/{key}/ask").status_code == 403
    path = link_for(lead, key)
    sent = stranger.get(path)
    assert (sent.status_code, sent.headers["location"]) == (303, f"/login?next={path}")
    assert stranger.post(path, data={"helped": "none"}).status_code == 401
    assert "from home" in reporter.get(path).text
    assert send(reporter, path, helped="none").status_code == 200


def test_other_sites_cannot_answer(client: TestClient, site: Site) -> None:
    """A form of another site is refused even though the page is open."""
    path = link_for(client, key_of(site, "from home"))
    answer = client.post(path, data={"helped": "none"}, headers={"origin": "https://evil.example.org"})
    assert answer.status_code == 403


def test_hostile_texts_are_inert(client: TestClient, site: Site) -> None:
    """Odd characters of a question, and markup typed into the form, come out as text."""
    path = link_for(client, key_of(site, "escape"))
    assert_inert(client.get(path).text)
    answer = send(client, path, helped="some", documents=HOSTILE, note=HOSTILE)
    assert answer.status_code == 422
    assert_inert(answer.text)
