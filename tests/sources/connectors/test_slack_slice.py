"""A stretch of a channel: what in it is news, where its edges may cut, and what is gone from it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from findback.sources.connectors.batch import Line, Waiting
from findback.sources.connectors.slack_gone import find_gone
from findback.sources.connectors.slack_slice import Slice, drop_edges, sort_messages, write_stamp

START = datetime(2026, 9, 1, tzinfo=UTC)
SECONDS = START.timestamp()


def at(minutes: float) -> str:
    return write_stamp(START + timedelta(minutes=minutes))


def message(minutes: float, **more: Any) -> dict[str, Any]:
    return {"ts": at(minutes), "user": "U1", "text": "x"} | more


def stretch(*messages: dict[str, Any], hours: float | None = 10) -> Slice:
    taken = Slice(SECONDS, None if hours is None else SECONDS + 3600 * hours)
    taken.add_page(messages)
    return taken


def test_only_threads_with_news_are_read() -> None:
    """A thread is read for a late reply, an edit, or a question that waits; of the others only the replies count."""
    taken = stretch(
        message(0, reply_count=2, latest_reply=at(5)),
        message(10, reply_count=1, latest_reply=at(500)),
        message(20, reply_count=3, latest_reply=at(25), edited={"ts": at(501)}),
        message(30, reply_count=4, latest_reply=at(35)),
        message(40, thread_ts=at(-9000), subtype="thread_broadcast"),
        message(450, thread_ts=at(-8000), subtype="thread_broadcast"),
        message(50),
    )
    wanted = list(sort_messages(taken, SECONDS + 400 * 60, lambda ts: ts == at(30)))
    assert wanted == [at(10), at(20), at(30), at(-8000)]
    assert taken.quiet == 2
    assert list(taken.messages) == [at(50)]


def test_unanswered_questions_are_looked_at_until_silence_tells() -> None:
    """For eight days what nobody else answered is read again: only then is it known that it got no answer."""
    messages = (
        message(0),
        message(10, reply_count=1, reply_users=["U1"], latest_reply=at(12)),
        message(20, reply_count=2, reply_users=["U1", "U2"], latest_reply=at(22)),
    )
    for days, wanted, fresh in ((7, [at(10)], {at(0)}), (9, [], set())):
        taken = stretch(*messages)
        assert list(sort_messages(taken, SECONDS + 86_400 * days, lambda _: False)) == wanted
        assert taken.fresh == fresh


def test_everything_is_news_at_first() -> None:
    """Where nothing was read before, every thread is."""
    taken = stretch(message(0, reply_count=2, latest_reply=at(5)), message(9, reply_count=0))
    assert list(sort_messages(taken, None, lambda _: False)) == [at(0)]
    assert list(taken.messages) == [at(9)]


def test_mark_is_what_the_first_page_saw() -> None:
    """Replies that come while further pages are read must not be taken for read."""
    taken = stretch(message(100), message(90, reply_count=1, latest_reply=at(150)), hours=None)
    taken.add_page([message(80, reply_count=1, latest_reply=at(160))])
    assert taken.newest == SECONDS + 150 * 60


def test_talk_at_the_end_is_left_to_the_next_stretch() -> None:
    """Messages less than an hour apart up to the end are left out, and the next stretch begins with the first."""
    taken = stretch(message(0), message(500), message(550), message(590))
    list(sort_messages(taken, None, lambda _: False))
    assert drop_edges(taken, head=False, tail=True) == START + timedelta(minutes=500)
    assert list(taken.messages) == [at(0)]


def test_silence_at_the_end_cuts_nothing() -> None:
    """With an hour of silence before the end, the end is the edge."""
    taken = stretch(message(0), message(530))
    list(sort_messages(taken, None, lambda _: False))
    assert drop_edges(taken, head=False, tail=True) is None
    assert len(taken.messages) == 2


def test_talk_that_never_stops_is_cut_at_the_end() -> None:
    """A channel that is never silent for an hour is still read."""
    taken = stretch(*(message(minutes) for minutes in range(0, 600, 50)))
    list(sort_messages(taken, None, lambda _: False))
    assert drop_edges(taken, head=False, tail=True) is None
    assert len(taken.messages) == 12


def test_talk_the_beginning_cut_is_left_out() -> None:
    """What goes on from before the stretch was read whole in an earlier run; half of it would be another question."""
    taken = stretch(message(30), message(80), message(200))
    list(sort_messages(taken, None, lambda _: False))
    drop_edges(taken, head=True, tail=False)
    assert list(taken.messages) == [at(200)]


def test_long_talk_at_the_beginning_is_not_lost() -> None:
    """Of talk that never stops only as much is left out as one conversation may have."""
    taken = stretch(*(message(minutes) for minutes in range(0, 2500, 10)), hours=None)
    list(sort_messages(taken, None, lambda _: False))
    drop_edges(taken, head=True, tail=False)
    assert len(taken.messages) == 50


def test_threads_are_not_cut_at_edges() -> None:
    """What has answers in a thread stays whole, however near an edge."""
    taken = stretch(message(595, reply_count=1, latest_reply=at(700)))
    list(sort_messages(taken, None, lambda _: False))
    taken.add_thread([message(595, reply_count=1), message(700, thread_ts=at(595))])
    assert drop_edges(taken, head=True, tail=True) is None
    assert len(taken.messages) == 2


def waiting(*minutes: float) -> Waiting:
    lines = tuple(Line(f"#{at(one)}", START + timedelta(minutes=one)) for one in minutes)
    return Waiting(lines[0], lines)


def gone(taken: Slice, one: Waiting, thread: list[dict[str, Any]] | None = None) -> dict[str, list[str]]:
    asked: list[str] = []

    def replies(ts: str) -> list[dict[str, Any]]:
        asked.append(ts)
        return thread or []

    found = find_gone(taken, {"key": one}, START, "#{}".format, replies)
    return found | ({"asked": asked} if asked else {})


def test_missing_lines_are_gone() -> None:
    """Of a question that is there, the lines are gone that are not."""
    assert gone(stretch(message(0), message(5)), waiting(0, 5, 6)) == {"key": [f"#{at(6)}"]}
    assert gone(stretch(message(0), message(5)), waiting(0, 5)) == {}


def test_tombstone_is_no_message() -> None:
    """What Slack leaves of a deleted message with answers counts as deleted."""
    taken = stretch(message(0, subtype="tombstone"), message(5))
    assert gone(taken, waiting(0, 5)) == {"key": [f"#{at(0)}"]}


def test_question_nothing_was_met_of_is_asked_for() -> None:
    """Only once asked for by itself does a question count as deleted; its thread may not have been read."""
    assert gone(stretch(message(300)), waiting(0)) == {"key": [f"#{at(0)}"], "asked": [at(0)]}
    there = [message(0, thread_ts=at(-500)), message(4, thread_ts=at(-500))]
    assert gone(stretch(message(300)), waiting(0, 4), there) == {"asked": [at(0), at(-500)]}


def test_question_older_than_the_stretch_is_not_judged() -> None:
    """A question that began before what was read cannot be missed in it."""
    assert gone(stretch(message(300)), waiting(-1, 5)) == {}
