"""What the queue opens on, where one goes from it, and how much a decision asks of the database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import event

from builders.forms import send
from findback.web.site import Site
from findback.web.turns import parse_filters, read_filters, write_filters
from findback.workbench.tokens import digest_token


def key_of(site: Site, words: str) -> str:
    return next(one.candidate.key for one in site.bench.list_candidates() if words in one.candidate.query.text)


def current(page: str) -> list[str]:
    """Return which states the page says it shows."""
    return re.findall(r'aria-current="true">([a-z ]+) <span', page)


def test_the_queue_opens_on_what_is_still_to_do(client: TestClient, site: Site) -> None:
    """What is decided is a click away, by its state or with all; the counts are those of everything."""
    door, home = key_of(site, "lost my card"), key_of(site, "from home")
    assert send(client, f"/items/{door}", do="reject", reason="no question", revision=0).status_code == 303
    page = client.get("/queue").text
    assert current(page) == ["to do"]
    assert f"/items/{home}" in page
    assert f"/items/{door}" not in page
    assert '>rejected <span class="count">1<' in page
    every = client.get("/queue?show=all").text
    assert current(every) == ["all"]
    assert f"/items/{door}?show=all" in every
    assert re.search(r'href="/queue\?show=all"[^>]*>all <span class="count">3<', page)
    rejected = client.get("/queue?states=rejected").text
    assert current(rejected) == ["rejected"]
    assert f"/items/{home}" not in rejected


def test_a_queue_without_work_says_what_comes_next(client: TestClient, site: Site) -> None:
    """When all is decided it is not called empty: a lead is led to the release."""
    for one in site.bench.list_candidates():
        send(client, f"/items/{one.candidate.key}", do="reject", reason="no question", revision=0)
    page = client.get("/queue").text
    assert "Nothing is left to do." in page
    assert '<a href="/releases">release</a>' in page
    assert "No candidate fits these filters." in client.get("/queue?sources=nowhere").text


def test_the_next_page_says_what_became_of_the_one_before(client: TestClient, site: Site) -> None:
    """On the next candidate, at the end of the queue and of a sitting; in the title too, which is read first."""
    keys = [one.candidate.key for one in site.bench.list_candidates()]
    for number, key in enumerate(keys):
        sent = send(client, f"/items/{key}?strata=failure", do="reject", reason="no question", revision=0)
        there = sent.headers["location"]
        assert there.startswith("/items/" if number < len(keys) - 1 else "/queue?strata=failure&")
        page = client.get(there).text
        (said,) = re.findall(r'<p [^>]*role="status" data-outcome><span>(.*?)</span>', page)
        assert said == "The one before is rejected."
        assert f"<title>{said} " in page
        assert f'href="/items/{key}?strata=failure"' in page
    week = client.get(f"/week?until=2026-03-02T09:20:00%2B00:00&before={keys[0]}").text
    assert "The one before is rejected." in week
    assert "data-outcome" not in client.get("/queue?before=nothing").text


def test_what_one_may_not_see_became_nothing(team_client: Any, team_site: Site) -> None:
    """A key of another audience in the address tells nothing, not even that there is such a candidate."""
    key = key_of(team_site, "lost my card")
    assert "data-outcome" in team_client("reviewer").get(f"/queue?before={key}").text
    with team_site.bench._database.deciding() as connection:
        connection.exec_driver_sql("UPDATE findback_candidates SET audience = 'private'")
    assert "data-outcome" not in team_client("reviewer").get(f"/queue?before={key}").text


def test_filters_survive_their_address(site: Site) -> None:
    """What an address says is what its filters mean; nonsense, and very many fields, mean nothing."""
    asked = parse_filters("states=ready&states=new&age=-7&suggestions=yes&before=x&show=all")
    assert write_filters(asked) == "states=ready&states=new&suggestions=yes&show=all&age=-7"
    assert read_filters(parse_filters(""), site).states == ("new", "in-review", "needs-labels", "second-opinion")
    assert read_filters(parse_filters("show=all"), site).states == ()
    assert write_filters(parse_filters("states=nowhere&age=7")) == ""
    assert write_filters(parse_filters("&".join(f"a{n}=1" for n in range(500)))) == ""


@contextmanager
def counted(site: Site) -> Iterator[list[str]]:
    """Collect what the database is asked."""
    asked: list[str] = []
    engine = site.bench._database.engine

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_a_decision_asks_little_of_the_database(client: TestClient, site: Site) -> None:
    """What a page needs is read once: a change, and the page after it, take a few dozen statements."""
    key = key_of(site, "from home")
    client.get(f"/items/{key}")
    most = {"change": 26, "page": 22, "submit": 46}
    with counted(site) as asked:
        sent = send_as(client, site, key, do="wording-plain", revision=0)
    assert sent.status_code == 303
    assert len(asked) <= most["change"], asked
    with counted(site) as asked:
        client.get(f"/items/{key}")
    assert len(asked) <= most["page"], asked
    with counted(site) as asked:
        sent = send_as(client, site, key, do="submit", revision=1)
    assert sent.status_code == 303
    assert len(asked) <= most["submit"], asked


def send_as(client: TestClient, site: Site, key: str, **form: Any) -> Any:
    """Send a form with its token already at hand, and the id of its request."""
    cookie = client.cookies[site.cookie]
    csrf = site.bench.session(digest_token(cookie), now=site.now(), idle_since=site.now().replace(year=2000))
    assert csrf is not None
    data = {"csrf": csrf.content["csrf"], "request": f"r-{form['do']}", **form}
    return client.post(f"/items/{key}", data=data)
