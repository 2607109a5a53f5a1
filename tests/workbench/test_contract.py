"""What a workbench promises on every database."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from builders.candidates import NOON, candidate, digest, full, line, searched, text
from findback.errors import MissingError, UsageError
from findback.workbench.erasure import Erased, Retention
from findback.workbench.faults import ConflictError
from findback.workbench.intake import PutCounts
from findback.workbench.listing import CandidateFilters
from findback.workbench.people import normalised
from findback.workbench.state import STATES, WAYS
from findback.workbench.store import Workbench
from findback.workbench.watermark import Watermark

LATER = NOON + timedelta(days=1)


def keys(workbench: Workbench, **filters: object) -> list[str]:
    return [stored.candidate.key for stored in workbench.list_candidates(CandidateFilters(**filters))]


def test_a_candidate_comes_back_as_it_was_put(workbench: Workbench) -> None:
    """Every field is stored: odd characters, unknown times, spans of both bands, numbers over 32 bits."""
    given = [full(), candidate("short"), searched("log")]
    assert workbench.put(given, now=NOON) == PutCounts(new=3)
    for one in given:
        stored = workbench.get(one.key)
        assert stored.candidate == normalised(one)
        assert (stored.state, stored.version, stored.stored_at, stored.state_at) == ("new", 1, NOON, NOON)
    assert workbench.get(full().key).candidate.asker_hmac == digest("ana")


def test_putting_the_same_again_changes_nothing(workbench: Workbench) -> None:
    """The second time all are unchanged: no new version, no new date."""
    given = [full(), *(candidate(f"q{n}") for n in range(7))]
    workbench.put(given, now=NOON, batch=3)
    before = workbench.list_candidates()
    assert workbench.put(given, now=LATER, batch=5) == PutCounts(unchanged=8)
    assert workbench.list_candidates() == before


def test_the_same_from_another_export_only_moves_the_reference(workbench: Workbench) -> None:
    """A candidate read from a newer file names that file, and is not called updated."""
    workbench.put([candidate("q", file="old.zip", offset=1)], now=NOON)
    assert workbench.put([candidate("q", file="new.zip", offset=9)], now=LATER) == PutCounts(unchanged=1)
    stored = workbench.get(digest("q"))
    assert (stored.candidate.file, stored.candidate.offset, stored.version) == ("new.zip", 9, 1)


def test_new_replies_update_what_is_undecided(workbench: Workbench) -> None:
    """A reply written since is added, the version grows, and state and first date stay."""
    workbench.put([candidate("q"), candidate("other")], now=NOON)
    workbench.decide(digest("q"), "in-review", reviewer="rev", version=1, now=NOON)
    more = candidate("q", replies=[line("r", "bo", "here it is", 5)])
    assert workbench.put([more, candidate("other")], now=LATER) == PutCounts(updated=1, unchanged=1)
    stored = workbench.get(digest("q"))
    assert [one.body.text for one in stored.candidate.thread] == ["where is the page about q?", "here it is"]
    assert (stored.state, stored.version, stored.stored_at, stored.updated_at) == ("in-review", 3, NOON, LATER)


def test_an_older_export_takes_nothing_away(workbench: Workbench) -> None:
    """An export that ends earlier, read later, leaves the longer thread as it is."""
    workbench.put([candidate("q", replies=[line("r", "bo", "here it is", 5)])], now=NOON)
    assert workbench.put([candidate("q")], now=LATER) == PutCounts(unchanged=1)
    assert len(workbench.get(digest("q")).candidate.thread) == 2


@pytest.mark.parametrize("state", ["ready", "rejected", "released"])
def test_decided_candidates_stay_as_they_were_decided(workbench: Workbench, state: str) -> None:
    """Whatever a later export says about it."""
    workbench.put([candidate("q")], now=NOON)
    version = 1
    for step in ("ready", "released") if state == "released" else (state,):
        version = workbench.decide(digest("q"), step, reviewer="rev", version=version, now=NOON)
    before = workbench.get(digest("q"))
    more = candidate("q", replies=[line("r", "bo", "here it is", 5)])
    assert workbench.put([more], now=LATER) == PutCounts(kept_decided=1)
    assert workbench.get(digest("q")) == before


def test_overlapping_exports_in_one_call_do_not_double(workbench: Workbench) -> None:
    """The same question twice is one candidate with what both say, in one batch or over two."""
    longer = candidate("q", replies=[line("r", "bo", "here it is", 5)])
    assert workbench.put([candidate("q"), longer], now=NOON) == PutCounts(new=1, merged=1)
    given = [candidate("p"), candidate("x"), candidate("p", replies=[line("s", "bo", "there", 5)]), candidate("x")]
    assert workbench.put(given, now=NOON, batch=2) == PutCounts(new=2, merged=2)
    assert [len(one.candidate.thread) for one in workbench.list_candidates()] == [2, 2, 1]


def test_what_reviewers_said_to_spans_outlives_an_update(workbench: Workbench) -> None:
    """A decided suggestion in an unchanged text is still decided after a new reply came."""
    asked = full()
    workbench.put([asked], now=NOON)
    workbench.decide(asked.key, "in-review", reviewer="rev", version=1, now=NOON)
    with workbench._database.deciding() as connection:
        connection.execute(
            sql(
                "UPDATE findback_spans SET decision = 'keep', reviewer = 1 WHERE band = 'suggested' AND place = 'query'"
            )
        )
    more = asked.model_copy(update={"thread": (*asked.thread, line("r3", "bo", "one more", 9))})
    assert workbench.put([more], now=LATER) == PutCounts(updated=1)
    with workbench._database.reading() as connection:
        kept = connection.execute(sql("SELECT place, begins, ends FROM findback_spans WHERE decision = 'keep'")).all()
    assert [tuple(row) for row in kept] == [("query", 0, 3)]


def test_lists_filter_and_go_on_where_they_ended(workbench: Workbench) -> None:
    """Each filter narrows by its own axis; pages neither repeat nor skip."""
    given = [candidate(f"q{n}", language="en" if n % 2 else "de") for n in range(5)]
    given += [searched("log", audience="private", stratum="control", container_hmac=digest("logs"))]
    workbench.put(given, now=NOON)
    workbench.reject(digest("q0"), "spam", reviewer="rev", version=1, now=NOON)
    assert keys(workbench) == [one.key for one in given]
    assert keys(workbench, states=("rejected",)) == [digest("q0")]
    assert keys(workbench, sources=("opensearch",)) == [digest("log")]
    assert keys(workbench, rules=("zero-result", "cue")) == [digest("log")]
    assert keys(workbench, audiences=("private", "direct")) == [digest("log")]
    assert keys(workbench, audiences=()) == []
    assert keys(workbench, strata=("control",)) == [digest("log")]
    assert keys(workbench, containers=(digest("logs"),)) == [digest("log")]
    assert keys(workbench, languages=("en",)) == [digest("q1"), digest("q3")]
    assert keys(workbench, documents=("docs/none.md",)) == []
    pages, after = [], 0
    while page := workbench.list_candidates(limit=4, after=after):
        pages.append([one.candidate.key for one in page])
        after = page[-1].number
    assert pages == [[one.key for one in given[:4]], [one.key for one in given[4:]]]
    counts = workbench.count(CandidateFilters(sources=("slack",)))
    assert counts == {**dict.fromkeys(STATES, 0), "new": 4, "rejected": 1}


def test_a_candidate_is_found_by_the_beginning_of_its_key(workbench: Workbench) -> None:
    """As long as no other begins so; what is not there is said to be missing."""
    workbench.put([candidate("q", key="ab12"), candidate("p", key="ab34"), candidate("r", key="a%")], now=NOON)
    assert workbench.get("ab1").candidate.key == "ab12"
    assert workbench.get("a%").candidate.key == "a%"
    with pytest.raises(UsageError, match="several"):
        workbench.get("ab")
    for absent in ("ab5", "", "%", "a_"):
        with pytest.raises(MissingError):
            workbench.get(absent)


@pytest.mark.parametrize("before", STATES)
def test_states_lead_where_they_may(workbench: Workbench, before: str) -> None:
    """Every way is open that is named, every other is refused and changes nothing."""
    for after in STATES:
        name = f"{before}-{after}"
        workbench.put([candidate(name)], now=NOON)
        version = 1
        path = {"new": (), "released": ("ready", "released")}.get(before, (before,))
        for step in path:
            version = workbench.decide(digest(name), step, reviewer="rev", version=version, now=NOON)
        if after in WAYS[before]:
            assert workbench.decide(digest(name), after, reviewer="rev", version=version, now=LATER) == version + 1
            assert workbench.get(digest(name)).state_at == LATER
        else:
            with pytest.raises(UsageError, match="cannot become"):
                workbench.decide(digest(name), after, reviewer="rev", version=version, now=LATER)
            assert workbench.get(digest(name)).version == version


def test_who_decides_on_an_older_version_is_told(open_again: Callable[..., Workbench]) -> None:
    """Two reviewers on one item: the second learns the state and version it has now, and nothing is lost."""
    first, second = open_again(), open_again()
    first.put([candidate("q")], now=NOON)
    first.decide(digest("q"), "ready", reviewer="one", version=1, now=NOON)
    with pytest.raises(ConflictError) as caught:
        second.reject(digest("q"), "spam", reviewer="two", version=1, now=NOON)
    assert (caught.value.state, caught.value.version) == ("ready", 2)
    assert second.get(digest("q")).state == "ready"
    with pytest.raises(MissingError):
        second.decide("nowhere", "ready", reviewer="two", version=1, now=NOON)


def test_decisions_and_events_say_who_and_when(workbench: Workbench) -> None:
    """The event log holds states and counts; the reason stands with the decision only."""
    workbench.put([candidate("q")], now=NOON)
    workbench.reject(digest("q"), "asked by a canary", reviewer="rev", version=1, now=LATER)
    events = workbench.events()
    assert [(one.kind, one.candidate, one.reviewer) for one in events] == [
        ("put", None, None),
        ("decide", digest("q"), "rev"),
    ]
    assert events[0].details == {"new": 1, "updated": 0}
    assert events[1].details == {"before": "new", "after": "rejected", "version": 2}
    assert events[1].at == LATER
    assert workbench.events(after=events[0].number) == events[1:]
    assert [one.text for one in workbench.texts() if one.place == "reason"] == ["asked by a canary"]


@pytest.mark.parametrize("change", ["UPDATE findback_events SET kind = 'x'", "DELETE FROM findback_events"])
def test_the_event_log_only_grows(workbench: Workbench, change: str) -> None:
    """The database itself refuses to change or delete an event."""
    workbench.put([candidate("q")], now=NOON)
    with pytest.raises(DBAPIError, match="only grows"), workbench._database.deciding() as connection:
        connection.execute(sql(change))
    assert len(workbench.events()) == 1


def test_people_and_channels_that_objected_are_kept_out(workbench: Workbench) -> None:
    """What is stored of them goes, what comes later is counted and not stored; others' questions stand."""
    by_ana = candidate("a", "ana")
    to_bo = candidate("b", "bo", [line("r", "ana", "ana knows", 4), line("s", "cy", "cy too", 5)])
    in_hr = candidate("h", "cy", container_hmac=digest("hr"))
    log = searched("l", "ana")
    workbench.put([by_ana, to_bo, in_hr, log], now=NOON)
    assert workbench.exclude("person", digest("ana"), now=LATER) == Erased(candidates=2, lines=1)
    assert workbench.exclude("container", digest("hr"), now=LATER) == Erased(candidates=1)
    again = [by_ana, to_bo, in_hr, log, candidate("new", "ana"), candidate("new2", "bo", container_hmac=digest("hr"))]
    assert workbench.put(again, now=LATER) == PutCounts(unchanged=1, excluded=5)
    (kept,) = workbench.list_candidates()
    assert [one.body.text for one in kept.candidate.thread] == ["where is the page about b?", "cy too"]


def test_a_purged_person_is_gone_and_stays_gone(workbench: Workbench) -> None:
    """Their questions and lines go, mentions forget who they are, and nothing of it comes back."""
    asked = candidate("a", "ana", [line("x", "bo", "an answer", 2)])
    other = full("b").model_copy(update={"asker_hmac": digest("zoe")})
    workbench.put([asked, other], now=NOON)
    workbench.decide(other.key, "ready", reviewer="rev", version=1, now=NOON)
    erased = workbench.purge(person_hmac=[digest("bo"), digest("bo@example.org")], now=LATER)
    assert erased == Erased(candidates=0, lines=2, mentions=3)
    stored = workbench.get(other.key)
    assert [one.author_hmac for one in stored.candidate.thread] == [digest("ana"), None]
    assert stored.candidate.cue_line is None
    assert [(link.document, link.line) for link in stored.candidate.links] == [("docs/a b.md", -1), ("docs/ü.md", -1)]
    assert stored.candidate.query.text == other.query.text
    assert stored.candidate.query.spans[0].value_hmac is None
    assert (stored.state, stored.version) == ("ready", 3)
    assert len(workbench.get(asked.key).candidate.thread) == 1
    assert workbench.put([asked, other, candidate("later", "bo")], now=LATER) == PutCounts(
        unchanged=1, kept_decided=1, purged=1
    )
    assert workbench.purge(person_hmac=digest("ana"), now=LATER).candidates == 1
    assert workbench.put([asked], now=LATER) == PutCounts(purged=1)
    assert digest("bo") not in str(workbench.list_candidates())


def test_what_was_purged_by_channel_or_as_rejected_does_not_come_back(workbench: Workbench) -> None:
    """By channel also what is new there; of the rejected only those that were."""
    given = [candidate("a"), candidate("b"), candidate("c", container_hmac=digest("old"))]
    workbench.put(given, now=NOON)
    workbench.reject(digest("a"), "spam", reviewer="rev", version=1, now=NOON)
    assert workbench.purge(rejected=True, now=LATER) == Erased(candidates=1)
    assert workbench.purge(container_hmac=digest("old"), now=LATER) == Erased(candidates=1)
    given += [candidate("d", container_hmac=digest("old")), candidate("e")]
    assert workbench.put(given, now=LATER) == PutCounts(new=1, unchanged=1, purged=3)
    assert keys(workbench) == [digest("b"), digest("e")]
    with pytest.raises(UsageError):
        workbench.purge(now=LATER)


def test_retention_runs_by_state(workbench: Workbench) -> None:
    """Undecided 90 days, rejected 30, threads 30 days after release; to the day, and not back again."""
    replies = [line("r", "bo", "here it is", 5)]
    given = [candidate(name, replies=replies) for name in ("undecided", "review", "rejected", "ready", "released")]
    workbench.put(given, now=NOON)
    day = NOON + timedelta(days=10)
    workbench.decide(digest("review"), "in-review", reviewer="rev", version=1, now=day)
    workbench.reject(digest("rejected"), "spam", reviewer="rev", version=1, now=day)
    for name in ("ready", "released"):
        workbench.decide(digest(name), "ready", reviewer="rev", version=1, now=day)
    workbench.decide(digest("released"), "released", reviewer="rev", version=2, now=day)
    second = timedelta(seconds=1)
    assert workbench.sweep_retention(day + timedelta(days=30) - second) == Erased()
    assert workbench.sweep_retention(day + timedelta(days=30)) == Erased(candidates=1, lines=2)
    released = workbench.get(digest("released"))
    assert (released.candidate.thread, released.candidate.query_line) == ((), -1)
    assert released.candidate.query == given[-1].query
    assert released.context_dropped_at == day + timedelta(days=30)
    assert workbench.sweep_retention(NOON + timedelta(days=90) - second) == Erased()
    assert workbench.sweep_retention(NOON + timedelta(days=90)) == Erased(candidates=1)
    assert workbench.sweep_retention(NOON + timedelta(days=99)) == Erased()
    assert workbench.sweep_retention(NOON + timedelta(days=99), Retention(undecided=80)) == Erased(candidates=1)
    assert workbench.put(given, now=NOON + timedelta(days=99)) == PutCounts(purged=3, kept_decided=2)
    assert keys(workbench) == [digest("ready"), digest("released")]
    assert workbench.get(digest("released")).candidate.thread == ()


def test_every_text_is_given_to_those_who_look_again(workbench: Workbench) -> None:
    """All places of all candidates, with spans where redaction looked, over more than one page."""
    given = [full(), *(candidate(f"q{n}", replies=[line(f"r{n}", "bo", text("hi {}", "cy"), 1)]) for n in range(450))]
    workbench.put(given, now=NOON)
    workbench.reject(digest("q0"), "spam", reviewer="rev", version=1, now=NOON)
    found = list(workbench.texts())
    assert len(found) == 10 + 450 * 4 + 1
    assert {(one.place, one.position) for one in found if one.candidate == full().key} == {
        ("query", 0),
        ("title", 0),
        *(("line", n) for n in range(3)),
        ("hint", 0),
        ("file", 0),
        ("evidence", 0),
        ("document", 0),
        ("document", 1),
    }
    assert all(one.text[one.spans[0].start : one.spans[0].end] == "⟦PERSON_1⟧" for one in found if one.text[:2] == "hi")


def test_watermarks_never_go_back(workbench: Workbench) -> None:
    """A source read from an older export keeps its newest moment."""
    assert workbench.watermark("slack") is None
    workbench.advance("slack", Watermark(LATER, "page 9"), now=LATER)
    assert workbench.advance("slack", Watermark(NOON, "page 1"), now=LATER) == Watermark(LATER, "page 9")
    assert workbench.watermark("slack") == Watermark(LATER, "page 9")
    later = Watermark(LATER + timedelta(days=1))
    assert workbench.advance("slack", later, now=LATER) == later
    assert workbench.watermark("zendesk") is None
