"""Flags by form, and the widget's file."""

from fastapi.testclient import TestClient

from builders.flags import ORIGIN, QUERY, TOKEN, flag, flagged
from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from findback.web.site import Site

STRANGE = f"{HOSTILE} <img src=x onerror=alert(1)> \u202e {{{{7*7}}}} =cmd()"


def test_hostile_words_are_words(portal: TestClient, client: TestClient, site: Site) -> None:
    """Markup, formulas and template code in every field: shown as text, wherever flags are shown."""
    answer = flag(portal, query=STRANGE, note=STRANGE, shown=[STRANGE], page="/<script>alert(1)</script>")
    assert answer.status_code == 201
    (stored,) = flagged(site)
    for page in ("/queue", "/week", f"/items/{stored.candidate.key}", f"/flag/{answer.json()['status']}"):
        assert_inert(client.get(page).text)
    form = portal.get("/flag", params={"q": STRANGE, "page": STRANGE}, headers={"accept": "text/html"})
    assert_inert(form.text)
    assert "&lt;img src=x" in form.text


def test_a_form_needs_no_script(portal: TestClient, site: Site) -> None:
    """Filled in by a link, sent, and answered with what happens next; a mistake leaves the words in their fields."""
    page = {"accept": "text/html"}
    form = portal.get("/flag", params={"q": QUERY, "page": f"{ORIGIN}/docs?user=7"}, headers=page).text
    assert f'value="{QUERY}"' in form
    assert "names covered" in form
    assert "after 45 days" in form
    empty = portal.post("/flag", data={"query": " ", "note": "my note"}, headers=page)
    assert empty.status_code == 422
    assert "my note" in empty.text
    sent = {"query": QUERY, "note": "two\r\nlines", "page": f"{ORIGIN}/docs?user=7", "shown": ["howto/vpn.md", ""]}
    done = portal.post("/flag", data=sent, headers=page)
    assert done.status_code == 200
    (stored,) = flagged(site)
    assert (stored.candidate.source, stored.candidate.origin) == ("form", "flagged")
    assert [one.body.text for one in stored.candidate.thread] == ["two\nlines", "on the page /docs"]
    link = done.text.partition('href="/flag/')[2].partition('"')[0]
    assert portal.get(f"/flag/{link}", headers=page).status_code == 200
    again = portal.post("/flag", data=sent, headers=page)
    assert "yours counts with theirs" in again.text


def test_a_form_on_a_site_named_may_send_too(portal: TestClient, client: TestClient, site: Site) -> None:
    """With the token; from any other site, or without it, nothing is taken, whoever is logged in."""
    data = {"query": QUERY, "token": TOKEN}
    for one in (portal, client):
        assert one.post("/flag", data=data, headers={"origin": "https://evil.example"}).status_code == 403
        assert one.post("/flag", data={"query": QUERY}, headers={"origin": ORIGIN}).status_code == 403
        assert one.post("/flag", data=data, headers={"origin": "null"}).status_code == 403
    assert flagged(site) == []
    assert portal.post("/flag", data=data, headers={"origin": ORIGIN}).status_code == 200
    assert client.post("/flag", data={"query": QUERY}).status_code == 200


def test_the_form_counts_what_it_takes(portal: TestClient) -> None:
    """It has the same limits, and whoever meets them keeps their words."""
    page = {"accept": "text/html"}
    for number in range(30):
        assert portal.post("/flag", data={"query": f"page {number}"}, headers=page).status_code == 200
    answer = portal.post("/flag", data={"query": "my words"}, headers=page)
    assert (answer.status_code, "retry-after" in answer.headers) == (429, True)
    assert 'value="my words"' in answer.text
    assert flag(portal).status_code == 429


def test_the_widget_is_small_and_other_sites_may_load_it(portal: TestClient) -> None:
    """Under 6,000 bytes; a portal may name its digest, and browsers may keep it for an hour."""
    answer = portal.get("/flag.js", headers={"origin": ORIGIN})
    assert len(answer.content) < 6_000
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=3600"
    assert "set-cookie" not in answer.headers
    for word in ("cookie", "localStorage", "sessionStorage", "indexedDB", "innerHTML", "eval(", "import"):
        assert word not in answer.text


def test_an_office_behind_one_address_can_load_the_widget(portal: TestClient) -> None:
    """Far more often in a minute than strangers may try to log in."""
    assert {portal.get("/flag.js").status_code for _ in range(100)} == {200}


def test_a_logged_in_reviewer_is_nobody_when_they_flag(client: TestClient, site: Site) -> None:
    """Their session is not looked at: no name is kept, and the form's CSRF token is not asked for."""
    assert client.post("/flag", data={"query": QUERY}).status_code == 200
    assert send(client, "/flag", query="other words").status_code == 200
    assert {one.candidate.asker_hmac for one in flagged(site)} == {None}
    assert {event.reviewer for event in site.bench.newest_events() if event.kind == "flag"} == {None}


def test_a_form_may_hold_more_than_a_flag(portal: TestClient, site: Site) -> None:
    """The name of a button, and what trackers add to a link, are left out: neither costs anybody their flag."""
    data = {"query": QUERY, "token": TOKEN, "submit": "Send", "utm_source": "portal"}
    assert portal.post("/flag", data=data, headers={"origin": ORIGIN}).status_code == 200
    (stored,) = flagged(site)
    assert "utm_source" not in stored.candidate.model_dump_json()
    form = portal.get("/flag", params={"q": "vpn", "utm_source": "portal"}, headers={"accept": "text/html"})
    assert form.status_code == 200
    assert 'value="vpn"' in form.text


def test_the_page_of_a_flag_is_no_question(portal: TestClient, client: TestClient, site: Site) -> None:
    """A note may be said to be the question; the line that names the page may not."""
    flag(portal, page="/docs/mixer", note="who mends the mixer")
    (stored,) = flagged(site)
    page = client.get(f"/items/{stored.candidate.key}").text
    assert "on the page /docs/mixer" in page
    assert page.count("This is the question") == 1
