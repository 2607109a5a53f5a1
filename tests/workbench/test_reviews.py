"""What reviews, reservations and undoing promise on every database."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from builders.candidates import NOON, candidate, digest, line, text
from findback.errors import MissingError, RefusedError, UsageError
from findback.model.case import Judgement
from findback.model.review import Review, SpanDecision
from findback.workbench.false_positives import FalsePositive
from findback.workbench.faults import ConflictError
from findback.workbench.listing import CandidateFilters
from findback.workbench.queue import Turn
from findback.workbench.reviews import MOST_REVISIONS, ReviewConflictError, Saved, SaveOptions, StoredReview
from findback.workbench.rows import StoredCandidate
from findback.workbench.state import State
from findback.workbench.store import Workbench

MINUTE = timedelta(minutes=1)
EVERYTHING = CandidateFilters()
Q = digest("q")


def rule(stored: StoredCandidate, reviews: Sequence[StoredReview]) -> State:
    """Submitted by one: second opinion; by two: ready; else whether anybody began."""
    done = sum(one.stage == "submitted" for one in reviews)
    if done:
        return "ready" if done > 1 else "second-opinion"
    return "in-review" if any(one.review != Review() for one in reviews) else "new"


def by(reviewer: str, revision: int, stage: str = "draft", **fields: object) -> SaveOptions:
    return SaveOptions(reviewer=reviewer, role="reviewer", stage=stage, revision=revision, **fields)


def judged(document: str, grade: int = 3, **fields: object) -> Review:
    return Review(judged=(Judgement(doc=document, grade=grade, found_by="pool"),), **fields)


@pytest.fixture
def asked(workbench: Workbench) -> Workbench:
    workbench.put([candidate("q", replies=[line("r", "bo", text("ask {} there", "cy"), 5)])], now=NOON)
    return workbench


def test_a_review_comes_back_as_it_was_saved(asked: Workbench) -> None:
    """Every revision is kept whole, with NUL and emoji in it; the state of the candidate follows."""
    first = Review(note="odd \x00 😀 ⟦", wording="vague")
    second = judged("docs/ü.md", spans=(SpanDecision(place="query", start=0, end=5, type="PERSON", action="redact"),))
    assert asked.save_review(Q, first, by("ana", 0), now=NOON, rule=rule) == Saved(1, "in-review", 2)
    assert asked.save_review(Q, second, by("ana", 1, "submitted"), now=NOON, rule=rule) == Saved(2, "second-opinion", 3)
    (stored,) = asked.reviews_of(Q)
    assert (stored.review, stored.reviewer, stored.stage, stored.revision) == (second, "ana", "submitted", 2)
    assert [one.review for one in asked.review_history(Q, "ana")] == [second, first]
    assert asked.get(Q).state == "second-opinion"
    with pytest.raises(MissingError):
        asked.save_review(digest("nothing"), first, by("ana", 0), now=NOON)


def test_a_stale_revision_is_refused_and_shown(asked: Workbench) -> None:
    """The error carries what is stored, so that a page can show both; nothing is overwritten."""
    asked.save_review(Q, judged("a.md"), by("ana", 0), now=NOON, rule=rule)
    for stale in (0, 2):
        with pytest.raises(ReviewConflictError) as caught:
            asked.save_review(Q, judged("b.md"), by("ana", stale), now=NOON, rule=rule)
        assert caught.value.revision == 1
        assert caught.value.stored is not None
        assert caught.value.stored.review == judged("a.md")
        assert (caught.value.state, caught.value.version) == ("in-review", 2)
    # Another reviewer's review is another one.
    assert asked.save_review(Q, judged("b.md"), by("bo", 0), now=NOON, rule=rule).revision == 1


def test_the_same_request_is_answered_the_same(asked: Workbench) -> None:
    """Sent again after the network failed, it changes nothing; its id is good for one candidate."""
    asked.put([candidate("other")], now=NOON)
    first = asked.save_review(Q, judged("a.md"), by("ana", 0, request="r1"), now=NOON, rule=rule)
    asked.save_review(Q, judged("b.md"), by("ana", 1, request="r2"), now=NOON, rule=rule)
    assert asked.save_review(Q, judged("a.md"), by("ana", 0, request="r1"), now=NOON, rule=rule) == first
    assert asked.reviews_of(Q)[0].review == judged("b.md")
    assert asked.save_review(Q, judged("c.md"), by("bo", 0, request="r1"), now=NOON, rule=rule).revision == 1
    with pytest.raises(UsageError, match="another candidate"):
        asked.save_review(digest("other"), judged("a.md"), by("ana", 0, request="r1"), now=NOON, rule=rule)


def test_undo_goes_back_step_by_step(asked: Workbench) -> None:
    """Past a submission to the empty beginning, each step with the state that belongs to it; then no further."""
    asked.save_review(Q, judged("a.md"), by("ana", 0), now=NOON, rule=rule)
    asked.save_review(Q, judged("b.md"), by("ana", 1), now=NOON, rule=rule)
    asked.save_review(Q, judged("b.md"), by("ana", 2, "submitted"), now=NOON, rule=rule)
    seen = []
    for revision in (3, 4, 5):
        saved = asked.undo_review(Q, by("ana", revision), now=NOON, rule=rule)
        (stored,) = asked.reviews_of(Q)
        seen.append((saved.revision, saved.state, stored.stage, [one.doc for one in stored.review.judged]))
    assert seen == [
        (4, "in-review", "draft", ["b.md"]),
        (5, "in-review", "draft", ["a.md"]),
        (6, "new", "draft", []),
    ]
    with pytest.raises(UsageError, match="nothing to take back"):
        asked.undo_review(Q, by("ana", 6), now=NOON, rule=rule)
    # After undoing, a new change is undone to what stood before it.
    asked.save_review(Q, judged("c.md"), by("ana", 6), now=NOON, rule=rule)
    asked.undo_review(Q, by("ana", 7), now=NOON, rule=rule)
    assert asked.reviews_of(Q)[0].review == Review()


def test_undoing_ones_own_leaves_the_others(asked: Workbench) -> None:
    """With a colleague's opinion still there the candidate goes back to waiting for a second one."""
    asked.save_review(Q, judged("a.md"), by("ana", 0, "submitted"), now=NOON, rule=rule)
    assert asked.save_review(Q, judged("a.md"), by("bo", 0, "submitted"), now=NOON, rule=rule).state == "ready"
    assert asked.undo_review(Q, by("bo", 1), now=NOON, rule=rule).state == "second-opinion"
    assert [one.stage for one in asked.reviews_of(Q)] == ["submitted", "draft"]


def test_what_is_released_takes_no_reviews(asked: Workbench) -> None:
    """Neither a new one nor an undo; the set browser is the way."""
    asked.save_review(Q, judged("a.md"), by("ana", 0), now=NOON)
    asked.decide(Q, "ready", reviewer="ana", version=1, now=NOON)
    asked.decide(Q, "released", reviewer="ana", version=2, now=NOON)
    for act in (asked.save_review, lambda key, _, *rest, **named: asked.undo_review(key, *rest, **named)):
        with pytest.raises(UsageError, match="released"):
            act(Q, judged("b.md"), by("ana", 1), now=NOON, rule=rule)


def test_texts_that_changed_drop_what_was_said_about_them(asked: Workbench) -> None:
    """An edited message loses its decisions with a notice; one that only moved is followed."""
    decisions = (
        SpanDecision(place="query", start=0, end=5, type="OTHER", action="redact"),
        SpanDecision(place="line", position=1, start=0, end=3, type="OTHER", action="redact"),
    )
    asked.save_review(Q, Review(spans=decisions, query_line=1), by("ana", 0), now=NOON)
    between = line("between", "di", "an earlier answer", 2)
    last = line("r", "bo", text("ask {} there", "cy"), 5)
    asked.put([candidate("q", replies=[between, last])], now=NOON)
    (moved,) = asked.reviews_of(Q)
    assert [(one.place, one.position) for one in moved.review.spans] == [("query", 0), ("line", 2)]
    assert (moved.review.query_line, moved.notices) == (2, ())
    edited = line("r", "bo", text("ask {} here", "cy"), 5, edited=True)
    asked.put([candidate("q", replies=[between, edited])], now=NOON)
    (stale,) = asked.reviews_of(Q)
    assert [(one.place, one.position) for one in stale.review.spans] == [("query", 0)]
    assert stale.review.query_line == 2
    assert "1 of your decisions" in stale.notices[0]


def test_only_one_reviewer_has_a_candidate(asked: Workbench) -> None:
    """Others are told until when and not by whom; the time over, or let go of, it is free again."""
    asked.put([candidate("other")], now=NOON)
    until = asked.reserve(Q, "ana", now=NOON, minutes=30).until
    assert until == NOON + 30 * MINUTE
    with pytest.raises(ConflictError, match="until 12:30") as caught:
        asked.reserve(Q, "bo", now=NOON + 29 * MINUTE, minutes=30)
    assert "ana" not in str(caught.value)
    assert asked.next_key(EVERYTHING, Turn("bo", NOON)) == digest("other")
    assert asked.next_key(EVERYTHING, Turn("ana", NOON)) == Q
    assert asked.reserve(Q, "ana", now=NOON + MINUTE, minutes=30).until == NOON + 31 * MINUTE
    assert asked.reserve(Q, "bo", now=NOON + 31 * MINUTE, minutes=30).reviewer == "bo"
    asked.release_reservation(Q, "ana")
    with pytest.raises(ConflictError):
        asked.reserve(Q, "ana", now=NOON + 32 * MINUTE, minutes=30)
    asked.release_reservation(Q, "bo")
    assert asked.reserve(Q, "ana", now=NOON + 32 * MINUTE, minutes=30).reviewer == "ana"
    with pytest.raises(UsageError):
        asked.reserve(Q, "ana", now=NOON, minutes=0)


def test_saving_keeps_the_candidate_and_submitting_lets_go(asked: Workbench) -> None:
    """A draft holds it for longer; whoever lost the reservation can still save, and takes it from nobody."""
    asked.save_review(Q, judged("a.md"), by("ana", 0, hold_until=NOON + 30 * MINUTE), now=NOON)
    assert asked.next_key(EVERYTHING, Turn("bo", NOON)) is None
    asked.reserve(Q, "bo", now=NOON + 31 * MINUTE, minutes=30)
    late = NOON + 32 * MINUTE
    assert asked.save_review(Q, judged("b.md"), by("ana", 1, hold_until=late + 30 * MINUTE), now=late).revision == 2
    assert asked.next_key(EVERYTHING, Turn("bo", late)) == Q
    asked.save_review(Q, judged("b.md"), by("bo", 0, "submitted"), now=late, rule=rule)
    assert asked.next_key(EVERYTHING, Turn("ana", late)) == Q


def test_next_passes_over_what_is_done(asked: Workbench) -> None:
    """Not what one submitted, not what is decided; at the end it begins again; filters and audiences hold."""
    asked.put([candidate("b"), candidate("c", audience="private"), candidate("d")], now=NOON)
    turn = Turn("ana", NOON)
    public = CandidateFilters(audiences=("public",))
    order, after = [], None
    for _ in range(4):
        after = asked.next_key(public, turn, after=after)
        order.append(after)
    assert order == [Q, digest("b"), digest("d"), Q]
    asked.save_review(Q, judged("a.md"), by("ana", 0, "submitted"), now=NOON, rule=rule)
    asked.reject(digest("b"), "spam", reviewer="bo", version=1, now=NOON)
    assert asked.next_key(public, turn) == digest("d")
    assert asked.next_key(public, Turn("bo", NOON)) == Q
    assert asked.next_key(public, turn, after=digest("d")) is None
    assert asked.next_key(CandidateFilters(audiences=()), turn) is None


def test_a_second_look_comes_when_it_is_due(asked: Workbench) -> None:
    """Only for what waits for a second opinion, only after the time, and only where second looks are asked for."""
    asked.save_review(Q, judged("a.md"), by("ana", 0, "submitted"), now=NOON, rule=rule)
    day = timedelta(days=1)
    assert asked.next_key(EVERYTHING, Turn("ana", NOON + day, second_look_before=None)) is None
    assert asked.next_key(EVERYTHING, Turn("ana", NOON + day - MINUTE, second_look_before=NOON - MINUTE)) is None
    assert asked.next_key(EVERYTHING, Turn("ana", NOON + day, second_look_before=NOON)) == Q
    asked.save_review(Q, judged("a.md"), by("ana", 0, "submitted", look=2), now=NOON + day, rule=rule)
    assert asked.get(Q).state == "ready"


def test_disagreements_wait_for_leads(asked: Workbench) -> None:
    """With two opinions that differ nobody else is given it, and it is listed as a disagreement."""

    def always(stored: StoredCandidate, reviews: Sequence[StoredReview]) -> State:
        return "second-opinion"

    for reviewer, document in (("ana", "a.md"), ("bo", "b.md")):
        asked.save_review(Q, judged(document), by(reviewer, 0, "submitted"), now=NOON, rule=always)
    assert asked.next_key(EVERYTHING, Turn("cy", NOON)) is None
    assert asked.next_key(EVERYTHING, Turn("cy", NOON, settles=True)) == Q
    assert asked.count(CandidateFilters(disagreement=True))["second-opinion"] == 1
    assert asked.count(CandidateFilters(disagreement=False))["second-opinion"] == 0
    progress = asked.progress(EVERYTHING, "ana", now=NOON + MINUTE)
    assert (progress.second_opinions, progress.disagreements) == (0, 1)


def test_progress_tells_nothing_about_one_other_person(asked: Workbench) -> None:
    """Between two people a total would tell one the other's; from three on there is one."""
    asked.put([candidate("b")], now=NOON)
    asked.save_review(Q, judged("a.md"), by("ana", 0, "submitted"), now=NOON, rule=rule)
    asked.save_review(digest("b"), judged("a.md"), by("bo", 0, "submitted"), now=NOON, rule=rule)
    shown = asked.progress(EVERYTHING, "ana", now=NOON + MINUTE)
    assert (shown.own_day, shown.own_week, shown.team_week) == (1, 1, None)
    asked.save_review(digest("b"), judged("a.md"), by("cy", 0, "submitted"), now=NOON, rule=rule)
    assert asked.progress(EVERYTHING, "ana", now=NOON + MINUTE).team_week == 3
    assert asked.progress(EVERYTHING, "ana", now=NOON + timedelta(days=2)).own_day == 0
    assert asked.others_since("ana", NOON - MINUTE)
    assert not asked.others_since("ana", NOON)


def test_filters_by_wording_and_answer_go_by_what_one_may_know(asked: Workbench) -> None:
    """One's own reviews, and everybody's of what is decided; a colleague's opinion on what is open tells nothing."""
    review = Review(no_answer_reason="nothing there", wording="vague")
    asked.save_review(Q, review, by("ana", 0, "submitted"), now=NOON, rule=rule)

    def found(reviewer: str | None, **filters: object) -> int:
        return len(asked.list_candidates(CandidateFilters(reviewer=reviewer, **filters)))

    assert [found(who, wordings=("vague",)) for who in ("ana", "bo", None)] == [1, 0, 1]
    assert [found(who, answers=("no-answer",)) for who in ("ana", "bo", None)] == [1, 0, 1]
    asked.save_review(Q, review, by("bo", 0, "submitted"), now=NOON, rule=rule)
    assert [found(who, wordings=("vague",)) for who in ("ana", "bo", "cy")] == [1, 1, 1]
    assert found("cy", wordings=("plain",)) == 0


def test_what_is_given_back_is_kept_while_the_review_is_submitted(asked: Workbench) -> None:
    """Undone or changed, it no longer counts; secrets and checksummed identifiers are never given back."""
    value = FalsePositive("h" * 64, "PERSON", "names")
    give = {"false_positives": lambda _, review: [value] if review.judged else []}
    asked.save_review(Q, judged("a.md"), by("ana", 0, **give), now=NOON)
    assert asked.false_positives() == frozenset()
    asked.save_review(Q, judged("a.md"), by("ana", 1, "submitted", **give), now=NOON)
    assert asked.false_positives() == {value}
    asked.undo_review(Q, by("ana", 2, **give), now=NOON)
    assert asked.false_positives() == frozenset()
    for kind in ("SECRET", "IBAN", "CARD", "NATIONAL_ID"):
        give = {"false_positives": lambda *_, kind=kind: [value._replace(type=kind)]}
        with pytest.raises(RefusedError, match="never given back"):
            asked.save_review(Q, judged("a.md"), by("ana", 3, "submitted", **give), now=NOON)
    assert asked.reviews_of(Q)[0].revision == 3


def test_revisions_are_bounded(asked: Workbench) -> None:
    """The oldest go; the newest stay and undo works among them."""
    for revision in range(MOST_REVISIONS + 3):
        asked.save_review(Q, judged(f"{revision}.md"), by("ana", revision), now=NOON)
    history = asked.review_history(Q, limit=10_000)
    assert len(history) == MOST_REVISIONS
    assert history[-1].revision == 4
    with pytest.raises(UsageError, match="not kept"):
        huge = Review(judged=tuple(Judgement(doc="d" * 4000, grade=0, found_by="pool") for _ in range(300)))
        asked.save_review(Q, huge, by("ana", MOST_REVISIONS + 3), now=NOON)


def test_two_servers_over_one_database_agree(open_again: Callable[..., Workbench]) -> None:
    """Threads of two workbenches save the same reviews at once: each revision once, none lost, state as by rule."""
    first, second = open_again(), open_again()
    first.put([candidate("q")], now=NOON)
    saved: list[tuple[str, int]] = []
    refused: list[str] = []

    def work(bench: Workbench, reviewer: str) -> None:
        for turn in range(15):
            own = [one for one in bench.reviews_of(Q) if one.reviewer == reviewer]
            revision = own[0].revision if own else 0
            try:
                done = bench.save_review(Q, judged(f"{turn}.md"), by(reviewer, revision), now=NOON, rule=rule)
                saved.append((reviewer, done.revision))
            except ReviewConflictError:
                refused.append(reviewer)

    jobs = [threading.Thread(target=work, args=(bench, who)) for bench in (first, second) for who in ("ana", "bo")]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(saved) + len(refused) == 60
    for who in ("ana", "bo"):
        numbers = sorted(revision for reviewer, revision in saved if reviewer == who)
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(first.review_history(Q, who)) == len(numbers)
    assert first.reviews_of(Q) == second.reviews_of(Q)
    assert first.get(Q).state == "in-review"


def test_opinions_at_the_same_moment_both_count(open_again: Callable[..., Workbench]) -> None:
    """Submitted on two servers at once, the second one sees the first: the candidate is ready, every time."""
    benches = [open_again(), open_again()]
    benches[0].put([candidate(f"q{n}") for n in range(10)], now=NOON)
    gate = threading.Barrier(2)

    def work(bench: Workbench, reviewer: str) -> None:
        for n in range(10):
            gate.wait()
            bench.save_review(digest(f"q{n}"), judged("a.md"), by(reviewer, 0, "submitted"), now=NOON, rule=rule)

    jobs = [threading.Thread(target=work, args=pair) for pair in zip(benches, ("ana", "bo"), strict=True)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert benches[0].count()["ready"] == 10


def test_only_one_of_two_servers_reserves(open_again: Callable[..., Workbench]) -> None:
    """Asked at the same moment, one gets it and the other is told."""
    benches = [open_again(), open_again()]
    benches[0].put([candidate(f"q{n}") for n in range(10)], now=NOON)
    gate = threading.Barrier(2)
    got: list[str] = []

    def work(bench: Workbench, reviewer: str) -> None:
        for n in range(10):
            gate.wait()
            try:
                got.append(bench.reserve(digest(f"q{n}"), reviewer, now=NOON, minutes=5).key)
            except ConflictError:
                continue

    jobs = [threading.Thread(target=work, args=pair) for pair in zip(benches, ("ana", "bo"), strict=True)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert sorted(got) == sorted(digest(f"q{n}") for n in range(10))
