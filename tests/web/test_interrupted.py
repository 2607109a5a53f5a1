"""What somebody wrote is not lost when a login ends, a form is old, or the disk refuses."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from builders.forms import csrf_of, send
from builders.hostile import HOSTILE
from findback.web.site import Site

WROTE = 'a long reason\nof two lines, with "quotes" & <b>marks</b>'


def key_of(site: Site) -> str:
    return next(one.candidate.key for one in site.bench.list_candidates() if "from home" in one.candidate.query.text)


def fields_of(page: str) -> list[tuple[str, str]]:
    """Return the hidden fields of the one form of a page."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page.split("<main")[1])
    return [(html.unescape(name), html.unescape(value)) for name, value in found]


def test_a_form_from_before_a_new_login_can_be_sent_again(team_client: Any, team_site: Site) -> None:
    """It is not taken as it is; the page shows what it holds, and sends all of it with the token of this login."""
    key = key_of(team_site)
    old = csrf_of(team_client("reviewer"))
    again = team_client("reviewer")
    fields = {"csrf": old, "do": "later", "reason": WROTE, "revision": "0", "request": "r1"}
    refused = again.post(f"/items/{key}?strata=failure", data=fields)
    assert refused.status_code == 403
    assert "Send it again?" in refused.text
    assert f'action="/items/{key}?strata=failure"' in refused.text
    assert "<b>marks" not in refused.text
    assert team_site.bench.reviews_of(key) == []
    kept = dict(fields_of(refused.text))
    assert kept == {**fields, "csrf": csrf_of(again)}
    assert again.post(f"/items/{key}?strata=failure", data=kept).status_code == 303
    assert team_site.bench.reviews_of(key)[0].review.later_reason == WROTE


def test_only_a_form_of_this_site_is_offered_again(client: TestClient, site: Site) -> None:
    """Another site's form, a program's, and one without fields are refused and nothing else."""
    key = key_of(site)
    fields = {"csrf": "old", "do": "later", "reason": HOSTILE}
    foreign = client.post(f"/items/{key}", data=fields, headers={"origin": "https://example.org"})
    program = client.post(f"/items/{key}", data=fields, headers={"accept": "application/json"})
    empty = client.post(f"/items/{key}")
    for answer in (foreign, program, empty):
        assert answer.status_code == 403
        assert "Send it again?" not in answer.text
    assert "fb-x" not in re.sub(r"&lt;.*?&gt;", "", client.post(f"/items/{key}", data=fields).text)


def test_whoever_was_logged_out_is_told_that_nothing_was_saved(team_client: Any, team_site: Site, clock: Any) -> None:
    """A form sent after half an hour without use is answered with what to do, and is no way into the page."""
    key = key_of(team_site)
    ana = team_client("reviewer")
    token = csrf_of(ana)
    clock.move(minutes=31)
    answer = ana.post(f"/items/{key}", data={"csrf": token, "do": "later", "reason": WROTE, "revision": 0})
    assert answer.status_code == 401
    assert "nothing was saved: log in in another tab" in answer.text
    assert team_site.bench.reviews_of(key) == []


@contextmanager
def read_only(site: Site) -> Iterator[None]:
    """Let the database refuse every change, as on a disk that is full or read-only."""
    engine = site.bench._database.engine

    def refuse(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE")):
            raise OperationalError("", {}, Exception("attempt to write a readonly database"))

    event.listen(engine, "before_cursor_execute", refuse)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", refuse)


def test_a_disk_that_refuses_lets_people_read(client: TestClient, site: Site, clock: Any) -> None:
    """Pages open and say what is wrong; what is sent is answered with 507, and saved once the disk works again."""
    key = key_of(site)
    assert client.get(f"/items/{key}").status_code == 200
    token = csrf_of(client)
    clock.move(minutes=2)
    with read_only(site):
        page = client.get(f"/items/{key}")
        assert page.status_code == 200
        assert 'role="alert"' in page.text
        assert client.get("/queue").status_code == 200
        fields = {"csrf": token, "do": "wording-vague", "revision": 0}
        assert client.post(f"/items/{key}", data=fields).status_code == 507
    assert client.post(f"/items/{key}", data=fields).status_code == 303
    assert site.bench.reviews_of(key)[0].review.wording == "vague"


@pytest.mark.parametrize("until", ["0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59", "9999-99-99", "%00"])
def test_a_sitting_that_ends_nowhere_has_not_begun(client: TestClient, site: Site, until: str) -> None:
    """A moment that no clock shows is as good as none, on the way to the next candidate as well."""
    assert client.get(f"/week?until={until}").status_code == 200
    key = key_of(site)
    sent = send(client, f"/items/{key}?week={until}", do="reject", reason="x", revision=0)
    assert sent.status_code == 303


def test_an_address_with_hundreds_of_fields_leads_on(client: TestClient, site: Site) -> None:
    """Filters nobody has are no filters: the next candidate comes all the same."""
    many = "&".join(f"a{number}=1" for number in range(300))
    sent = send(client, f"/items/{key_of(site)}?{many}", do="reject", reason="x", revision=0)
    assert sent.status_code == 303
