"""Many reviewers at once: they go through the queue with a browser's requests and remember what they were told."""

import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
from sqlalchemy import func, select

from builders.candidates import candidate, digest, span
from builders.portal import PAGES
from findback.model.candidate import Candidate, RedactedText
from findback.steps.reviewstate import find_state
from findback.web.site import Site
from findback.workbench.tables import CANDIDATES, DECISIONS, REVIEWERS, REVIEWS

DOCUMENTS = sorted(PAGES)
PATIENCE = 30
"""How often somebody who is asked to slow down tries again."""


class Told(NamedTuple):
    """One change that the server acknowledged."""

    reviewer: str
    key: str
    request: str
    do: str
    document: str
    seconds: float
    beside: float
    """Seconds that a bare route took for the same form; 0 where there was none."""


def make_questions(count: int) -> list[Candidate]:
    """Return plain questions, every tenth with a suggested redaction that somebody must decide."""
    made = []
    for number in range(count):
        asked = f"who knows about Rosa and thing {number}"
        suggested = (span(16, 20, band="suggested", rule="names", version="2"),) if number % 10 == 0 else ()
        body = RedactedText(text=asked, spans=suggested, raw_hmac=digest(asked))
        made.append(candidate(f"q{number}", query=body, language="en", seen_on="2026-02"))
    return made


class Person:
    """One reviewer with a browser."""

    def __init__(
        self, name: str, client: httpx2.Client, bare: httpx2.Client | None = None, *, pause: float = 0
    ) -> None:
        self.name = name
        self.told: list[Told] = []
        self.refused: list[str] = []
        """What the server would not do, with its status and what it said."""
        self._client = client
        self._bare = bare
        self._pause = pause
        self._csrf = ""
        self._revision = "0"
        self._request = ""

    def work(self) -> int:
        """Decide whatever the queue gives until it gives nothing; return how many were decided."""
        decided = 0
        self._look("/queue")
        place = self._send("/next", do="next")
        while place is not None and place.startswith("/items/"):
            page = self._look(place)
            key = urlsplit(place).path.rpartition("/")[2]
            if 'role="alert"' in page:
                place = self._send(place, do="skip")
                continue
            place = self._decide(key, page)
            decided += 1
        return decided

    def _decide(self, key: str, page: str) -> str | None:
        here, chance = f"/items/{key}", int(digest(f"{key} {self.name}")[:8], 16)
        if 'class="suggested"' in page:
            self._change(here, do="redact", place="query", start="16", end="20", type="PERSON")
        self._change(here, do="wording-plain")
        if chance % 15 == 0:
            return self._hand_in(here, do="reject", reason="it is no question")
        if chance % 15 == 1:
            self._change(here, do="no-answer", reason="nobody wrote it down")
        else:
            right = int(key[:8], 16) + (1 if chance % 15 == 2 else 0)
            self._change(here, do="grade-3", document=DOCUMENTS[right % len(DOCUMENTS)])
        return self._hand_in(here, do="submit")

    def _change(self, here: str, **form: str) -> None:
        if self._send(here, **form) is not None:
            self._look(here)

    def _hand_in(self, here: str, **form: str) -> str | None:
        place = self._send(here, **form)
        if place is not None and int(digest(here + self.name)[:8], 16) % 10 == 0:
            # The answer got lost on the way: the browser sends the same once more.
            self.told.pop()
            again = self._send(here, **form)
            place = again or place
        return place

    def _look(self, address: str) -> str:
        answer = self._ask(lambda: self._client.get(address))
        page = answer.text
        self._csrf = found[1] if (found := re.search(r'name="csrf" value="([^"]+)"', page)) else self._csrf
        self._revision = found[1] if (found := re.search(r'name="revision" value="(\d+)"', page)) else "0"
        found = re.search(r'name="request" value="([^"]+)"', page)
        self._request = found[1][:12] if found else ""
        return page

    def _send(self, address: str, **form: str) -> str | None:
        """Send a form as the page has it; return where it leads, None where it was refused."""
        request = f"{self._request}-{form['do']}"
        fields = {"csrf": self._csrf} if address == "/next" else {"revision": self._revision, "request": request}
        sent = {**fields, "csrf": self._csrf, **form}
        if address == "/next":
            sent.pop("do")
        time.sleep(random.uniform(0, 2 * self._pause))
        answer, seconds = self._timed(lambda: self._client.post(address, data=sent))
        if answer.status_code != 303:
            said = re.search(r'role="alert">(.*?)</', answer.text, re.DOTALL)
            self.refused.append(f"{answer.status_code} {form['do']}: {said[1] if said else answer.text}")
            return None
        if address.startswith("/items/") and form["do"] != "skip":
            key = urlsplit(address).path.rpartition("/")[2]
            bare = self._bare
            beside = 0.0 if bare is None else self._timed(lambda: bare.post("/", data=sent))[1]
            self.told.append(Told(self.name, key, request, form["do"], form.get("document", ""), seconds, beside))
        return answer.headers["location"]

    def _timed(self, ask: Callable[[], httpx2.Response]) -> tuple[httpx2.Response, float]:
        began = time.perf_counter()
        answer = self._ask(ask)
        return answer, time.perf_counter() - began

    def _ask(self, ask: Callable[[], httpx2.Response]) -> httpx2.Response:
        for _ in range(PATIENCE):
            answer = ask()
            if answer.status_code != 429:
                return answer
            time.sleep(1)
        return answer


def review_all(people: Sequence[Person]) -> None:
    """Let everybody work at once, and again until nothing is left for anybody."""
    with ThreadPoolExecutor(len(people)) as pool:
        barrier = threading.Barrier(len(people))

        def begin(person: Person) -> int:
            barrier.wait()
            return person.work()

        while sum(pool.map(begin, people)):
            pass


def check_all(site: Site, people: Sequence[Person]) -> dict[str, int]:
    """Compare what people were told with what the database holds, and return how many candidates are in each state.

    Every acknowledged change is there once, as whose and of what it was; nothing else is there; every candidate is
    in the state that follows from its reviews.
    """
    told = [one for person in people for one in person.told]
    refused = [one for person in people for one in person.refused if not one.startswith("409 ")]
    assert refused == []
    with site.bench._database.reading() as connection:
        query = (
            select(REVIEWS, REVIEWERS.c.subject, CANDIDATES.c.key)
            .join(REVIEWERS, REVIEWERS.c.id == REVIEWS.c.reviewer)
            .join(CANDIDATES, CANDIDATES.c.id == REVIEWS.c.candidate)
        )
        rows = connection.execute(query).all()
        counted = select(DECISIONS.c.candidate, func.count()).group_by(DECISIONS.c.candidate)
        moves = {row[0]: row[1] for row in connection.execute(counted)}
    stored = sorted((row.subject.partition("|")[2], row.key, row.request) for row in rows)
    assert stored == sorted((one.reviewer, one.key, one.request) for one in told)
    _check_contents(told, rows)
    counts: dict[str, int] = {}
    after = 0
    while page := site.bench.list_candidates(limit=500, after=after):
        for one in page:
            reviews = site.bench.reviews_of(one.candidate.key)
            assert one.state == find_state(one, reviews, site.desk.key, site.desk.settings.overlap)
            assert one.version == 1 + moves.get(one.number, 0)
            assert reviews
            assert all(review.stage == "submitted" for review in reviews)
            counts[one.state] = counts.get(one.state, 0) + 1
        after = page[-1].number
    return counts


def _check_contents(told: Sequence[Told], rows: Sequence[object]) -> None:
    contents = {(row.subject.partition("|")[2], row.request): row for row in rows}  # type: ignore[attr-defined]
    chosen: dict[tuple[str, str], str] = {}
    for one in told:
        row = contents[one.reviewer, one.request]
        assert row.stage == ("submitted" if one.do in ("submit", "reject") else "draft")
        if one.do == "grade-3":
            chosen[one.reviewer, one.key] = one.document
        if one.do == "submit":
            assert row.answer == ("one" if (one.reviewer, one.key) in chosen else "no-answer")
            assert chosen.get((one.reviewer, one.key), "") in row.content
        if one.do == "reject":
            assert row.answer == "unrateable"
