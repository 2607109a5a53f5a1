"""Cases, links to resolvers, logins, tokens and jobs, on every database."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from builders.candidates import NOON, candidate, digest, line
from findback.errors import MissingError, UsageError
from findback.workbench.asks import AskAnswer
from findback.workbench.cases import KnownCase
from findback.workbench.store import Workbench
from findback.workbench.tokens import digest_token

HOUR = timedelta(hours=1)


def test_a_candidate_has_one_case_id_for_good(workbench: Workbench) -> None:
    """Asked again it is the same; ids are random, and never one that is taken."""
    workbench.put([candidate(name) for name in "abc"], now=NOON)
    keys = [digest(name) for name in "abc"]
    first = workbench.assign_case_ids(keys[:2], now=NOON)
    again = workbench.assign_case_ids(keys, now=NOON + HOUR)
    assert {key: again[key] for key in keys[:2]} == first
    ids = [again[key].case_id for key in keys]
    assert len(set(ids)) == 3
    assert all(len(one) == 11 and one[0] == "c" and one.isalnum() and one.islower() for one in ids)
    with pytest.raises(MissingError):
        workbench.assign_case_ids([digest("never")], now=NOON)
    assert {one.case_id for one in workbench.cases()} == set(ids)


def test_candidates_of_one_thread_are_one_cluster(workbench: Workbench) -> None:
    """Whichever message they share, in one call or later; also after the thread of the first was dropped."""
    shared = line("shared", "bo", "see the page", 5)
    workbench.put([candidate("a", replies=[shared]), candidate("b", replies=[shared]), candidate("c")], now=NOON)
    found = workbench.assign_case_ids([digest("a"), digest("c")], now=NOON)
    later = workbench.assign_case_ids([digest("b")], now=NOON + HOUR)[digest("b")]
    assert found[digest("a")].cluster == found[digest("a")].case_id == later.cluster
    assert later.cluster != later.case_id
    assert found[digest("c")].cluster == found[digest("c")].case_id
    for version, state in ((1, "ready"), (2, "released")):
        workbench.decide(digest("a"), state, reviewer="rev", version=version, now=NOON)
    workbench.sweep_retention(NOON + timedelta(days=31))
    mate = candidate("d", replies=[line("a", "ana", "where is the page about a?", 0)])
    workbench.put([mate], now=NOON + timedelta(days=32))
    known = workbench.assign_case_ids([digest("d")], now=NOON + timedelta(days=32))[digest("d")]
    assert known.cluster == found[digest("a")].case_id


def test_a_release_is_written_down_once(workbench: Workbench) -> None:
    """Ready candidates become released, the number and split are kept for life; unknown ids are passed over."""
    workbench.put([candidate("a"), candidate("b")], now=NOON)
    known = workbench.assign_case_ids([digest("a"), digest("b")], now=NOON)
    workbench.decide(digest("a"), "ready", reviewer="rev", version=1, now=NOON)
    released = {known[digest("a")].case_id: "holdout", known[digest("b")].case_id: "dev", "cxxxxxxxxxx": "dev"}
    assert workbench.mark_released(released, 3, reviewer="lea", now=NOON) == 1
    assert workbench.mark_released(dict.fromkeys(released, "dev"), 4, reviewer="lea", now=NOON) == 0
    (kept,) = workbench.cases([digest("a")])
    assert kept == KnownCase(digest("a"), known[digest("a")].case_id, known[digest("a")].cluster, 3, "holdout")
    assert workbench.get(digest("a")).state == "released"
    assert workbench.get(digest("b")).state == "new"


def test_what_happened_to_a_case_is_kept_in_roles(workbench: Workbench) -> None:
    """Newest first, with what was and what is; withdrawn, only that it happened."""
    workbench.put([candidate("a")], now=NOON)
    known = workbench.assign_case_ids([digest("a")], now=NOON)[digest("a")]
    workbench.add_case_change(known.case_id, "released", role="lead", now=NOON, reviewer="zoe", after={"query": "q\0"})
    workbench.add_case_change(known.case_id, "judged", role="lead", now=NOON, why="moved", before={"a": 1}, after={})
    workbench.add_case_change("cother", "retired", role="lead", now=NOON)
    changes = workbench.case_changes(known.case_id)
    assert [(one.what, one.why, one.role, one.before, one.after) for one in changes] == [
        ("judged", "moved", "lead", {"a": 1}, {}),
        ("released", None, "lead", None, {"query": "q\0"}),
    ]
    assert "zoe" not in repr(changes)
    assert len(workbench.case_changes()) == 3
    with pytest.raises(UsageError):
        workbench.add_case_change("c", "judged", role="lead", now=NOON, why="x" * 1_000_001)
    assert workbench.forget_cases([known.case_id], now=NOON) == 1
    assert [(one.what, one.why, one.before, one.after) for one in workbench.case_changes(known.case_id)] == [
        ("judged", None, None, None),
        ("released", None, None, None),
    ]
    with pytest.raises(MissingError):
        workbench.get(digest("a"))
    assert workbench.put([candidate("a")], now=NOON).purged == 1
    # The id stays known, so that the case can be withdrawn everywhere.
    assert workbench.cases([digest("a")])[0].case_id == known.case_id


def test_a_link_is_good_for_one_answer_in_its_time(workbench: Workbench) -> None:
    """Used, over and forged look alike; only the digest of the token is in the database."""
    workbench.put([candidate("a")], now=NOON)
    token = workbench.add_ask(digest("a"), reviewer="lea", now=NOON, until=NOON + HOUR)
    assert workbench.ask(token, now=NOON).candidate == digest("a")
    answer = AskAnswer(documents=("docs/ü.md",), note="the second one")
    assert workbench.answer_ask(token, answer, now=NOON).answer == answer
    over = workbench.add_ask(digest("a"), reviewer="lea", now=NOON, until=NOON + HOUR)
    for stale, moment in ((token, NOON), (over, NOON + HOUR), (token[:-1], NOON)):
        with pytest.raises(MissingError, match="not valid, or no longer"):
            workbench.answer_ask(stale, answer, now=moment)
    assert [one.answer for one in workbench.asks_of(digest("a"))] == [answer, None]
    with pytest.raises(MissingError):
        workbench.add_ask(digest("never"), reviewer="lea", now=NOON, until=NOON + HOUR)
    with pytest.raises(UsageError):
        workbench.add_ask(digest("a"), reviewer="lea", now=NOON, until=NOON)
    with pytest.raises(UsageError, match="20 links"):
        for _ in range(20):
            workbench.add_ask(digest("a"), reviewer="lea", now=NOON, until=NOON + HOUR)


def test_a_link_is_answered_once_by_two_at_once(open_again: Callable[..., Workbench]) -> None:
    """On two servers at the same moment: one answer is kept, the other is told."""
    benches = [open_again(), open_again()]
    benches[0].put([candidate("a")], now=NOON)
    gate = threading.Barrier(2)
    kept: list[str] = []
    tokens = [benches[0].add_ask(digest("a"), reviewer="lea", now=NOON, until=NOON + HOUR) for _ in range(8)]

    def work(bench: Workbench, who: str) -> None:
        for token in tokens:
            gate.wait()
            try:
                bench.answer_ask(token, AskAnswer(note=who), now=NOON)
                kept.append(who)
            except MissingError:
                continue

    jobs = [threading.Thread(target=work, args=pair) for pair in zip(benches, ("ana", "bo"), strict=True)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(kept) == 8


def test_sessions_end_by_time_by_idleness_and_by_hand(workbench: Workbench) -> None:
    """What the page remembers comes back; a changed login takes the place of the old one."""
    workbench.put_session("d1", {"state": "x"}, reviewer=None, now=NOON, until=NOON + HOUR)
    workbench.put_session("d1", {"roles": ["lead"], "odd": "\0😀"}, reviewer="lea", now=NOON, until=NOON + 12 * HOUR)
    idle = timedelta(minutes=30)
    found = workbench.session("d1", now=NOON, idle_since=NOON - idle)
    assert found is not None
    assert (found.reviewer, found.content) == ("lea", {"roles": ["lead"], "odd": "\0😀"})
    assert workbench.session("d1", now=NOON + idle, idle_since=NOON) is None
    workbench.touch_session("d1", now=NOON + idle / 2)
    assert workbench.session("d1", now=NOON + idle, idle_since=NOON) is not None
    assert workbench.session("d1", now=NOON + 12 * HOUR, idle_since=NOON) is None
    workbench.put_session("d2", {}, reviewer="lea", now=NOON, until=NOON + HOUR)
    workbench.put_session("d3", {}, reviewer="bo", now=NOON, until=NOON + HOUR)
    assert workbench.end_sessions_of("lea") == 2
    assert workbench.session("d2", now=NOON, idle_since=NOON - idle) is None
    assert workbench.clear_sessions(now=NOON + HOUR, idle_since=NOON - idle) == 1
    workbench.end_session("d3")
    with pytest.raises(UsageError):
        workbench.put_session("d4", {"groups": ["x" * 30_000]}, reviewer="bo", now=NOON, until=NOON + HOUR)


def test_api_tokens_are_shown_once_and_can_be_revoked(workbench: Workbench) -> None:
    """Each for its scopes and time; the database holds a digest; somebody else's cannot be revoked by number."""
    token = workbench.add_api_token("ci", reviewer="lea", scopes={"lead"}, now=NOON, until=NOON + HOUR)
    found = workbench.api_token(token, now=NOON)
    assert found is not None
    assert (found.name, found.reviewer, found.scopes) == ("ci", "lea", frozenset({"lead"}))
    assert found.roles == frozenset()
    workbench.remember_reviewer("lea", name="Lea", roles=("lead", "admin"), now=NOON)
    assert workbench.api_token(token, now=NOON).roles == frozenset({"lead"})  # type: ignore[union-attr]
    assert workbench.api_token(token + "x", now=NOON) is None
    assert workbench.api_token(token, now=NOON + HOUR) is None
    with workbench._database.reading() as connection:
        stored = repr(connection.exec_driver_sql("SELECT * FROM findback_api_tokens").all())
    assert token not in stored
    assert digest_token(token) in stored
    with pytest.raises(MissingError):
        workbench.revoke_api_token(found.number, now=NOON, reviewer="bo")
    workbench.revoke_api_token(found.number, now=NOON, reviewer="lea")
    assert workbench.api_token(token, now=NOON) is None
    assert [one.revoked_at for one in workbench.api_tokens("lea")] == [NOON]
    assert workbench.api_tokens("bo") == []
    for name, until in (("", NOON + HOUR), ("x" * 101, NOON + HOUR), ("late", NOON)):
        with pytest.raises(UsageError):
            workbench.add_api_token(name, reviewer="lea", scopes=(), now=NOON, until=until)


def test_jobs_wait_run_stop_and_are_taken_over(workbench: Workbench) -> None:
    """Oldest first, each by one worker; one not heard of is taken over with what it did; the first end counts."""
    numbers = [workbench.add_job("evaluate", {"depth": n}, reviewer="lea", now=NOON) for n in range(3)]
    first = workbench.start_job(now=NOON, stale_before=NOON - HOUR)
    assert first is not None
    assert (first.number, first.state, first.request, first.reviewer) == (numbers[0], "running", {"depth": 0}, "lea")
    assert workbench.beat_job(first.number, done=5, total=10, now=NOON)
    workbench.cancel_job(numbers[1], now=NOON)
    assert workbench.job(numbers[1]).state == "cancelled"
    second = workbench.start_job(now=NOON, stale_before=NOON - HOUR)
    assert second is not None
    assert second.number == numbers[2]
    assert workbench.start_job(now=NOON, stale_before=NOON - HOUR) is None
    workbench.cancel_job(second.number, now=NOON)
    assert not workbench.beat_job(second.number, done=1, total=None, now=NOON)
    workbench.finish_job(second.number, "cancelled", now=NOON)
    workbench.finish_job(second.number, "done", now=NOON)
    assert workbench.job(second.number).state == "cancelled"
    again = workbench.start_job(now=NOON + HOUR, stale_before=NOON + HOUR / 2)
    assert again is not None
    assert (again.number, again.done, again.total) == (first.number, 5, 10)
    workbench.finish_job(again.number, "failed", now=NOON + HOUR, error="engine")
    assert [(one.number, one.state, one.error) for one in workbench.jobs(reviewer="lea", limit=1)] == [
        (numbers[2], "cancelled", None)
    ]
    assert workbench.jobs(reviewer="bo") == []
    with pytest.raises(MissingError):
        workbench.job(999)


def test_a_job_is_started_by_one_of_two_servers(open_again: Callable[..., Workbench]) -> None:
    """Asked at the same moment, each job goes to one of them."""
    benches = [open_again(), open_again()]
    for _ in range(10):
        benches[0].add_job("x", {}, reviewer=None, now=NOON)
    started: list[int] = []

    def work(bench: Workbench) -> None:
        while (job := bench.start_job(now=NOON, stale_before=NOON - HOUR)) is not None:
            started.append(job.number)

    jobs = [threading.Thread(target=work, args=(bench,)) for bench in benches]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(started) == len(set(started)) == 10


def test_a_reviewers_name_and_roles_are_those_of_the_last_login(workbench: Workbench) -> None:
    """Written down once for each person."""
    workbench.remember_reviewer("lea", name="Lea", roles=("reviewer",), now=NOON)
    workbench.remember_reviewer("lea", name="Lea L.", roles=("lead", "admin"), now=NOON)
    with workbench._database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT subject, name FROM findback_reviewers").all()
    assert [tuple(row) for row in rows] == [("lea", "Lea L.")]
