"""Flags in the workbench: counted together, each with a link of its own, gone with their candidate."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import func, inspect, select, text

from builders.candidates import NOON, digest, line, searched
from findback.model.candidate import Candidate
from findback.workbench.flags import MOST_LINES, PutFlag
from findback.workbench.migration import FORMAT, Migrations, format_of
from findback.workbench.store import Workbench
from findback.workbench.tables import FLAGS

DAY = timedelta(days=1)


def flagged(name: str, note: str | None = None, **fields: object) -> Candidate:
    thread = () if note is None else (line(f"note {note}", None, note, None, role="asker"),)
    made = searched(name, None, query="where is the mixer?", **fields)
    return made.model_copy(update={"thread": thread, "source": "widget", "origin": "flagged"})


def bucket(count: int) -> str:
    return "2-4" if count > 1 else "1"


def put(workbench: Workbench, candidate: Candidate, same: str = "s", now=NOON, since=NOON - DAY) -> PutFlag:  # type: ignore[no-untyped-def]
    kept = workbench.put_flag(candidate, same, since=since, bucket=bucket, now=now)
    assert kept is not None
    return kept


def links(workbench: Workbench) -> int:
    with workbench._database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(FLAGS)) or 0


def test_like_flags_count_as_one_and_each_sender_has_a_link(workbench: Workbench) -> None:
    """Three senders, one candidate asked 2-4 times, three tokens that lead to it; a new version only for new words."""
    first = put(workbench, flagged("a"))
    second = put(workbench, flagged("b", "the big one"), now=NOON + DAY, since=NOON)
    third = put(workbench, flagged("c", "the big one"), now=NOON + DAY, since=NOON)
    assert [one.new for one in (first, second, third)] == [True, False, False]
    (stored,) = workbench.list_candidates()
    assert (stored.candidate.asked, stored.candidate.merged, stored.version) == ("2-4", 2, 2)
    assert [one.body.text for one in stored.candidate.thread] == ["the big one"]
    assert {workbench.flagged(one.token) for one in (first, second, third)} == {digest("a")}
    assert len({first.token, second.token, third.token}) == 3
    assert workbench.flagged("nothing") is None


def test_other_words_or_a_later_time_make_another_flag(workbench: Workbench) -> None:
    """What makes flags one is the digest, within the time."""
    put(workbench, flagged("a"))
    assert put(workbench, flagged("b"), same="other").new
    assert put(workbench, flagged("c"), now=NOON + 3 * DAY, since=NOON + DAY).new
    assert len(workbench.list_candidates()) == 3


def test_what_was_decided_stays_and_still_counts_who_asks(workbench: Workbench) -> None:
    """A flag like a rejected one brings nothing back, and its sender learns the same."""
    first = put(workbench, flagged("a"))
    workbench.reject(first.key, "no question", reviewer="bo", version=1, now=NOON)
    again = put(workbench, flagged("b", "more"))
    assert (again.new, again.key) == (False, first.key)
    stored = workbench.get(first.key)
    assert (stored.state, stored.candidate.thread, stored.candidate.asked) == ("rejected", (), "2-4")


def test_sentences_around_one_flag_are_bounded(workbench: Workbench) -> None:
    """However many send the same words with another sentence, so many are kept."""
    for number in range(MOST_LINES + 5):
        put(workbench, flagged(f"f{number}", f"sentence {number}"))
    (stored,) = workbench.list_candidates()
    assert len(stored.candidate.thread) == MOST_LINES
    assert links(workbench) == MOST_LINES + 5


def test_links_go_with_their_flag(workbench: Workbench) -> None:
    """Purged, swept or forgotten: no row of a link stays, and its token opens nothing."""
    purged = put(workbench, flagged("a", "a note", container_hmac=digest("page")))
    old = put(workbench, flagged("b"), same="other", now=NOON - 100 * DAY)
    workbench.purge(container_hmac=digest("page"), now=NOON)
    assert workbench.flagged(purged.token) is None
    assert workbench.flagged(old.token) == old.key
    workbench.sweep_retention(NOON)
    assert (workbench.flagged(old.token), links(workbench)) == (None, 0)
    # The same words may come again: another person asks.
    assert put(workbench, flagged("c", container_hmac=digest("elsewhere"))).new


def test_a_place_that_objected_sends_nothing_in(workbench: Workbench) -> None:
    """Neither a candidate nor a link is kept."""
    workbench.exclude("container", digest("page"), now=NOON)
    given = flagged("a", container_hmac=digest("page"))
    assert workbench.put_flag(given, "s", since=NOON, bucket=bucket, now=NOON) is None
    assert (workbench.list_candidates(), links(workbench)) == ([], 0)


def test_the_log_says_that_a_flag_came_and_no_more(workbench: Workbench) -> None:
    """Its way and how many there are of it; no word of it and nothing of a link."""
    kept = put(workbench, flagged("a", "the big one"))
    event = workbench.newest_events(limit=1)[0]
    assert (event.kind, event.candidate, dict(event.details)) == ("flag", kept.key, {"via": "widget", "flags": 1})


@pytest.mark.parametrize("earlier", range(1, FORMAT))
def test_a_workbench_of_every_earlier_format_takes_flags(open_again: Callable[..., Workbench], earlier: int) -> None:
    """What it holds stays, and a flag and its link are kept from then on."""
    old = open_again(migrations=Migrations(format=earlier))
    values = {
        "key": digest("q"), "format": 1, "state": "new", "version": 1, "source": "slack",
        "container_hmac": digest("help"), "audience": "public", "query_line": -1, "origin": "mined",
        "stratum": "failure", "asked": "1", "merged": 0,
        "stored_at": NOON, "updated_at": NOON, "state_at": NOON,
    }  # fmt: skip
    with old._database.writing() as connection:
        assert format_of(connection) == earlier
        assert FLAGS.name not in inspect(connection).get_table_names()
        names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
        connection.execute(text(f"INSERT INTO findback_candidates ({names}) VALUES ({marks})"), values)
        connection.execute(
            text(
                "INSERT INTO findback_texts (candidate, place, position, text, raw_hmac)"
                " SELECT id, 'query', 0, 'where is it?', 'x' FROM findback_candidates"
            )
        )
    old.close()
    new = open_again()
    kept = put(new, flagged("a"))
    assert [one.candidate.query.text for one in new.list_candidates()] == ["where is it?", "where is the mixer?"]
    assert new.flagged(kept.token) == digest("a")
