"""Erasing people and candidates reaches what reviewers said about them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from builders.candidates import NOON, candidate, digest, line, span, text
from findback.model.candidate import RedactedText
from findback.model.review import Review, SpanDecision
from findback.workbench.asks import AskAnswer
from findback.workbench.reviews import SaveOptions
from findback.workbench.store import Workbench

Q = digest("q")
LATER = NOON + timedelta(days=1)


def by(revision: int, stage: str = "draft") -> SaveOptions:
    return SaveOptions(reviewer="rev", role="reviewer", stage=stage, revision=revision)


def decide(place: str, position: int, start: int, end: int, action: str = "redact", **more: object) -> SpanDecision:
    return SpanDecision(place=place, position=position, start=start, end=end, type="PERSON", action=action, **more)


def contents(workbench: Workbench) -> str:
    with workbench._database.reading() as connection:
        rows = connection.execute(sql("SELECT content, basis FROM findback_reviews")).all()
        asks = connection.execute(sql("SELECT answer FROM findback_asks")).all()
        changes = connection.execute(sql("SELECT why, before, after FROM findback_case_changes")).all()
    return repr([*rows, *asks, *changes])


def test_what_was_said_about_a_purged_persons_lines_goes(workbench: Workbench) -> None:
    """In every revision; decisions on other lines move along with them; a chosen message that is gone is told."""
    named = text("ask {} there", "cy")
    replies = [line("r1", "cy", named, 1), line("r2", "bo", named, 2)]
    workbench.put([candidate("q", replies=replies)], now=NOON)
    at = named.spans[0]
    on_hers = decide("line", 1, at.start, at.end, "restore", original="canary Cy")
    on_his = decide("line", 2, 0, 3)
    workbench.save_review(Q, Review(spans=(on_hers, on_his), query_line=1), by(0), now=NOON)
    workbench.save_review(Q, Review(spans=(on_hers, on_his), query_line=2), by(1), now=NOON)
    assert contents(workbench).count("canary Cy") == 2
    workbench.purge(person_hmac=digest("cy"), now=LATER)
    assert "canary Cy" not in contents(workbench)
    assert digest("r1") not in contents(workbench)
    (now,) = workbench.reviews_of(Q)
    assert [(one.position, one.start, one.end) for one in now.review.spans] == [(1, 0, 3)]
    assert (now.review.query_line, now.notices) == (1, ())
    first = workbench.review_history(Q)[-1]
    assert first.review.query_line is None
    assert "no longer there" in first.notices[-1]


def test_a_purged_persons_name_is_no_longer_given_back(workbench: Workbench) -> None:
    """Where a reviewer took their name for none: the placeholder stands again, in texts of others too."""
    named = text("is {} the name of a page", "will")
    workbench.put([candidate("q", "ana", query=named)], now=NOON)
    at = named.spans[0]
    given = decide("query", 0, at.start, at.end, "restore", original="canary Will")
    workbench.save_review(Q, Review(spans=(given,), wording="plain"), by(0), now=NOON)
    workbench.purge(person_hmac=digest("will"), now=LATER)
    assert "canary Will" not in contents(workbench)
    (now,) = workbench.reviews_of(Q)
    assert (now.review.spans, now.review.wording) == ((), "plain")


@pytest.mark.parametrize("how", ["person", "container", "rejected", "expired", "case"])
def test_nothing_said_about_an_erased_candidate_stays(open_again: Callable[..., Workbench], how: str, url: str) -> None:
    """Reviews, answers and the history of its case, whichever way it goes; not a byte of them in the file."""
    workbench = open_again()
    workbench.put([candidate("q", "ana"), candidate("other", "zoe")], now=NOON)
    workbench.save_review(Q, Review(note="canary note"), by(0), now=NOON)
    workbench.save_review(digest("other"), Review(note="kept note"), by(0), now=NOON)
    token = workbench.add_ask(Q, reviewer="lea", now=NOON, until=LATER)
    workbench.answer_ask(token, AskAnswer(note="canary answer"), now=NOON)
    workbench.reserve(Q, "rev", now=NOON, minutes=5)
    known = workbench.assign_case_ids([Q], now=NOON)[Q]
    workbench.add_case_change(known.case_id, "judged", role="lead", now=NOON, why="canary why", after={"q": "canary q"})
    assert contents(workbench).count("canary") == 4
    if how == "rejected":
        workbench.reject(Q, "canary reason", reviewer="rev", version=1, now=NOON)
    purge = {
        "person": lambda: workbench.purge(person_hmac=digest("ana"), now=LATER),
        "container": lambda: workbench.purge(container_hmac=digest("help"), now=LATER),
        "rejected": lambda: workbench.purge(rejected=True, now=LATER),
        "expired": lambda: workbench.sweep_retention(NOON + timedelta(days=91)),
        "case": lambda: workbench.forget_cases([known.case_id], now=LATER),
    }
    purge[how]()
    assert "canary" not in contents(workbench)
    assert [one.what for one in workbench.case_changes(known.case_id)] == ["judged"]
    assert workbench.cases([Q]) == [known]
    if how in ("person", "rejected", "case"):
        assert "kept note" in contents(workbench)
    if workbench.path is not None:
        files = [one for one in workbench.path.parent.iterdir() if one.is_file()]
        assert not any(b"canary" in one.read_bytes() for one in files)


def test_threads_that_retention_took_take_their_decisions_along(workbench: Workbench) -> None:
    """What was said about the question stays."""
    workbench.put([candidate("q", replies=[line("r", "bo", "a reply", 1)])], now=NOON)
    spans = (decide("query", 0, 0, 5), decide("line", 1, 0, 1))
    workbench.save_review(Q, Review(spans=spans), by(0, "submitted"), now=NOON)
    workbench.decide(Q, "ready", reviewer="rev", version=1, now=NOON)
    workbench.decide(Q, "released", reviewer="rev", version=2, now=NOON)
    workbench.sweep_retention(NOON + timedelta(days=31))
    assert workbench.reviews_of(Q)[0].review.spans == spans[:1]
    assert digest("r") not in contents(workbench)


def test_what_reviewers_wrote_is_among_the_texts_to_look_through(workbench: Workbench) -> None:
    """Notes, reasons, anchors, words given back and answers; names of documents and types are none."""
    odd = RedactedText(text="⟦PERSON_1⟧ page", spans=(span(0, 10),), raw_hmac="h")
    workbench.put([candidate("q", query=odd)], now=NOON)
    given = decide("query", 0, 0, 10, "restore", original="Grafana")
    review = Review(note="see my note", no_answer_reason="nobody wrote it", spans=(given,), wording="plain")
    workbench.save_review(Q, review, by(0), now=NOON)
    token = workbench.add_ask(Q, reviewer="lea", now=NOON, until=LATER)
    workbench.answer_ask(token, AskAnswer(documents=("docs/a.md",), note="the old one"), now=NOON)
    said = {one.text for one in workbench.texts() if one.place in ("review", "answer")}
    assert said == {"see my note", "nobody wrote it", "Grafana", "the old one"}
