"""Review: what one person does, what they may see, and what two of them come to."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import NOON, candidate, digest, line, span, text
from builders.ready import portal
from findback.errors import MissingError, RefusedError, UsageError
from findback.model.candidate import Candidate, DocumentLink, RedactedSpan, RedactedText
from findback.model.case import Judgement
from findback.model.review import DroppedLink, Review, SpanDecision
from findback.model.reviewer import Reviewer
from findback.privacy.masking import HIDDEN
from findback.steps.bench import open_bench
from findback.steps.review import (
    Desk,
    QueueFilters,
    list_queue,
    next_item,
    open_item,
    progress,
    reject,
    reserve,
    save,
    settle,
    submit,
    undo,
    weekly_stack,
)
from findback.steps.reviewagreement import measure_agreement
from findback.steps.reviewasks import answer_ask, answers_of, make_ask, open_ask
from findback.steps.reviewdesk import open_desk
from findback.steps.reviewpool import find_document, pool, search_documents, show_text
from findback.steps.reviewsame import SameCount, apply_to_same, count_same
from findback.steps.reviewspans import SpanPlace
from findback.steps.reviewweek import open_week
from findback.workbench.faults import ConflictError
from findback.workbench.reviews import ReviewConflictError, Saved

ANA = Reviewer("ana", "Ana", ("reviewer",), ("public",))
BO = Reviewer("bo", "Bo", ("reviewer",), ("public",))
LEA = Reviewer("lea", "Lea", ("reviewer", "lead"), ("public", "internal"))
BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
Q = digest("q")
HOUR = timedelta(hours=1)
EVERYTHING = QueueFilters()


def gold(document: str = BADGE, grade: int = 3, **fields: object) -> Judgement:
    return Judgement(doc=document, grade=grade, found_by=fields.pop("found_by", "pool"), **fields)


def labelled(*documents: str, **fields: object) -> Review:
    return Review(**{"wording": "vague", "judged": tuple(gold(one) for one in documents), **fields})


def suggestion(start: int, end: int, kind: str = "PERSON") -> RedactedSpan:
    return RedactedSpan(start=start, end=end, type=kind, rule="names", version="1", band="suggested")


def linked(document: str, by: str = "resolver") -> DocumentLink:
    return DocumentLink(document=document, line=-1, by=by, kind="url-in-text")


@pytest.fixture
def at(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A desk at a small portal; `put` stores candidates; nothing is drawn for a second opinion."""
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        yield SimpleNamespace(desk=desk, bench=bench, put=lambda *given: bench.put(given, now=NOON))


def act(
    how: object, desk: Desk, who: Reviewer, review: Review, *, key: str = Q, revision: int = 0, now: datetime = NOON
) -> Saved:
    return how(desk, who, key, review, revision=revision, now=now)  # type: ignore[operator]


def test_one_reviewer_takes_a_candidate_from_new_to_ready(at: SimpleNamespace) -> None:
    """Opened, saved as one goes with what is missing said, submitted; undone it is on the desk again."""
    at.put(candidate("q", query="where do i lose a badge"))
    assert next_item(at.desk, ANA, EVERYTHING, now=NOON) == Q
    reserve(at.desk, ANA, Q, now=NOON)
    item = open_item(at.desk, ANA, Q, now=NOON)
    assert (item.state, item.revision, item.look, item.review) == ("new", 0, 1, Review())
    assert len(item.obstacles) == 2
    with pytest.raises(UsageError, match="wording is not said"):
        act(submit, at.desk, ANA, Review())
    assert act(save, at.desk, ANA, labelled(BADGE)).state == "in-review"
    assert open_item(at.desk, ANA, Q, now=NOON).obstacles == ()
    assert act(submit, at.desk, ANA, labelled(BADGE), revision=1) == Saved(2, "ready", 3)
    assert next_item(at.desk, ANA, EVERYTHING, now=NOON) is None
    assert undo(at.desk, ANA, Q, revision=2, now=NOON).state == "in-review"
    assert open_item(at.desk, ANA, Q, now=NOON).review == labelled(BADGE)


def test_what_stands_in_the_way_is_said(at: SimpleNamespace) -> None:
    """Each check of a case, while one works; a rejection needs none of it, but a reason."""
    query = RedactedText(text="ask Ana about badges", spans=(suggestion(4, 7),), raw_hmac="h")
    at.put(candidate("q", query=query, links=(linked(LEAVE),)))
    named = DroppedLink(document=LEAVE, reason="about holidays")

    def said(**fields: object) -> str:
        with pytest.raises(UsageError) as caught:
            act(submit, at.desk, ANA, Review(**{"wording": "plain", "dropped": (named,), **fields}))
        return str(caught.value)

    keep = SpanDecision(place="query", start=4, end=7, type="PERSON", action="keep")
    assert "1 suggested redaction(s)" in said(judged=(gold(),))
    assert "suggested" not in said(spans=(keep,))
    assert "no document answers it yet" in said(spans=(keep,))
    assert "take one of them back" in said(spans=(keep,), judged=(gold(),), no_answer_reason="none")
    assert "parts count from 1" in said(spans=(keep,), judged=(gold(part=2),))
    assert "no such wording" in said(spans=(keep,), judged=(gold(),), wording="shouted")
    assert "not in the corpus" in said(spans=(keep,), judged=(gold("gone.md"),))
    assert "not in its document" in said(spans=(keep,), judged=(gold(anchor="a sentence from elsewhere"),))
    assert "neither an answer nor dropped" in said(spans=(keep,), judged=(gold(),), dropped=())
    assert "holds what looks like EMAIL" in said(spans=(keep,), no_answer_reason="ask bo@example.org")
    assert "holds what looks like EMAIL" in said(spans=(keep,), judged=(gold(),), tags=("bo@example.org",))
    everything = SpanDecision(place="query", start=0, end=20, type="OTHER", action="redact")
    assert "leaves no word" in said(spans=(everything,), judged=(gold(),))
    with pytest.raises(UsageError, match="more than is kept"):
        act(save, at.desk, ANA, Review(tags=tuple(f"t{n}" for n in range(21))))
    with pytest.raises(UsageError, match="needs a reason"):
        reject(at.desk, ANA, Q, " ", revision=0, now=NOON)
    assert reject(at.desk, ANA, Q, "a joke", revision=0, now=NOON).state == "rejected"
    assert undo(at.desk, ANA, Q, revision=1, now=NOON).state == "new"


def test_candidates_of_other_audiences_are_not_there(at: SimpleNamespace) -> None:
    """They look like a key that never was, are in no count and never come next; other roles see no text."""
    at.put(candidate("q", audience="internal"), candidate("b"))
    errors = []
    for key in (Q, digest("never")):
        with pytest.raises(MissingError) as caught:
            open_item(at.desk, ANA, key, now=NOON)
        errors.append(str(caught.value).replace(key[:12], ""))
    assert errors[0] == errors[1]
    for how in (save, submit):
        with pytest.raises(MissingError):
            act(how, at.desk, ANA, labelled(BADGE))
    with pytest.raises(MissingError):
        reserve(at.desk, ANA, Q, now=NOON)
    page = list_queue(at.desk, ANA, EVERYTHING)
    assert ([row.key for row in page.rows], page.counts["new"], page.total) == ([digest("b")], 1, 1)
    assert list_queue(at.desk, LEA, EVERYTHING).total == 2
    assert next_item(at.desk, ANA, EVERYTHING, now=NOON, after=digest("b")) is None
    assert [row.key for row in weekly_stack(at.desk, ANA, now=NOON)] == [digest("b")]
    for roles in (("privacy",), ("admin",), ("reporter",), ()):
        with pytest.raises(RefusedError):
            open_item(at.desk, Reviewer("x", None, roles, ("public", "internal")), Q, now=NOON)
        with pytest.raises(RefusedError):
            list_queue(at.desk, Reviewer("x", None, roles, ("public",)), EVERYTHING)


def test_two_windows_do_not_overwrite_each_other(at: SimpleNamespace) -> None:
    """The second is told what is stored; sent again with the same id, the first is answered as before."""
    at.put(candidate("q"))
    first = save(at.desk, ANA, Q, labelled(BADGE), revision=0, now=NOON, request_id="a1")
    with pytest.raises(ReviewConflictError) as caught:
        act(save, at.desk, ANA, labelled(LEAVE))
    assert caught.value.stored is not None
    assert caught.value.stored.review == labelled(BADGE)
    assert save(at.desk, ANA, Q, labelled(BADGE), revision=0, now=NOON, request_id="a1") == first


def test_a_colleague_is_not_given_what_one_works_on(at: SimpleNamespace) -> None:
    """Reserved while one saves, free for others after the minutes the settings say."""
    at.put(candidate("q"))
    act(save, at.desk, ANA, labelled(BADGE))
    with pytest.raises(ConflictError):
        reserve(at.desk, BO, Q, now=NOON)
    assert next_item(at.desk, BO, EVERYTHING, now=NOON) is None
    assert next_item(at.desk, BO, EVERYTHING, now=NOON + HOUR) == Q


def delicate(name: str = "q") -> Candidate:
    body = text("is {} allowed to lose badges", "acme")
    spans = tuple(one.model_copy(update={"type": "ORG"}) for one in body.spans)
    written = body.text.replace("PERSON", "ORG").replace("lose badges", "lose a lot of badges")
    return candidate(
        name,
        query=RedactedText(text=written, spans=(spans[0].model_copy(update={"end": spans[0].end - 3}),), raw_hmac="h"),
    )


def test_secrets_and_customers_get_a_second_opinion_blind(at: SimpleNamespace) -> None:
    """The second reviewer sees nothing of the first until they submit; agreeing, it is ready; both then see both."""
    at.put(delicate())
    assert act(submit, at.desk, ANA, labelled(BADGE, note="hers alone")).state == "second-opinion"
    assert next_item(at.desk, ANA, EVERYTHING, now=NOON) is None
    assert next_item(at.desk, BO, EVERYTHING, now=NOON) == Q
    item = open_item(at.desk, BO, Q, now=NOON)
    assert (item.opinions, item.review, item.second_opinion, item.revision) == ((), Review(), True, 0)
    assert "hers alone" not in repr(item)
    assert "ana" not in repr(item)
    assert act(submit, at.desk, BO, labelled(BADGE)).state == "ready"
    shown = open_item(at.desk, BO, Q, now=NOON).opinions
    assert [(one.label, one.own, one.review.note) for one in shown] == [
        ("first", False, "hers alone"),
        ("second", True, None),
    ]


@pytest.mark.parametrize(
    "other",
    [
        labelled(LEAVE),
        Review(wording="vague", no_answer_reason="nothing written"),
        labelled(BADGE, spans=(SpanDecision(place="query", start=0, end=2, type="OTHER", action="redact"),)),
    ],
)
def test_opinions_that_differ_go_to_a_lead(at: SimpleNamespace, other: Review) -> None:
    """On the document, on whether there is one, or on the words: a lead settles it with both in sight."""
    at.put(delicate(), candidate("b"))
    act(submit, at.desk, ANA, labelled(BADGE))
    assert act(submit, at.desk, BO, other).state == "second-opinion"
    assert list_queue(at.desk, LEA, QueueFilters(disagreement=True)).total == 1
    assert next_item(at.desk, ANA, QueueFilters(states=("second-opinion",)), now=NOON) is None
    assert next_item(at.desk, LEA, QueueFilters(states=("second-opinion",)), now=NOON) == Q
    item = open_item(at.desk, LEA, Q, now=NOON)
    assert (item.look, item.disagreement, [one.review for one in item.opinions]) == (3, True, [labelled(BADGE), other])
    with pytest.raises(RefusedError):
        act(settle, at.desk, ANA, labelled(BADGE), revision=1)
    with pytest.raises(UsageError, match="nothing to settle"):
        act(settle, at.desk, LEA, labelled(BADGE), key=digest("b"))
    assert act(settle, at.desk, LEA, labelled(BADGE, LEAVE)).state == "ready"
    assert [one.role for one in at.bench.reviews_of(Q)] == ["reviewer", "reviewer", "lead"]
    assert undo(at.desk, LEA, Q, revision=1, now=NOON).state == "second-opinion"


def test_a_single_reviewer_looks_twice_a_day_apart(at: SimpleNamespace) -> None:
    """Not before 24 hours, blind to their own first look, and not while a colleague reviews too."""
    at.put(delicate(), candidate("b"))
    act(submit, at.desk, ANA, labelled(BADGE, note="first"))
    later = NOON + 24 * HOUR
    assert next_item(at.desk, ANA, QueueFilters(states=("second-opinion",)), now=later - HOUR) is None
    assert open_item(at.desk, ANA, Q, now=later - HOUR).look == 1
    assert next_item(at.desk, ANA, QueueFilters(states=("second-opinion",)), now=later) == Q
    item = open_item(at.desk, ANA, Q, now=later)
    assert (item.look, item.review, item.opinions, item.revision) == (2, Review(), (), 0)
    assert "first" not in repr(item)
    act(submit, at.desk, BO, labelled(BADGE), key=digest("b"), now=later)
    assert open_item(at.desk, ANA, Q, now=later + HOUR).look == 1
    assert next_item(at.desk, ANA, QueueFilters(states=("second-opinion",)), now=later + HOUR) is None
    much_later = later + timedelta(days=40)
    assert act(submit, at.desk, ANA, labelled(BADGE), now=much_later).look == 2
    assert at.bench.get(Q).state == "ready"


def test_a_random_share_is_reviewed_twice(tmp_path: Path) -> None:
    """About the share the settings say; the same candidates every time one asks."""
    workspace = portal(tmp_path, "[review]\noverlap = 0.5\n")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        bench.put([candidate(f"q{n}") for n in range(60)], now=NOON)
        due = [open_item(desk, ANA, digest(f"q{n}"), now=NOON).second_opinion for n in range(60)]
        assert 15 < sum(due) < 45
        assert due == [open_item(desk, BO, digest(f"q{n}"), now=NOON).second_opinion for n in range(60)]


def test_a_review_that_waits_says_why_and_comes_to_others(at: SimpleNamespace) -> None:
    """It needs labels; a colleague can give them, and their opinion alone then counts."""
    at.put(candidate("q"))
    assert act(submit, at.desk, ANA, Review(later_reason="the plant manager knows")).state == "needs-labels"
    assert next_item(at.desk, ANA, EVERYTHING, now=NOON) is None
    assert next_item(at.desk, BO, EVERYTHING, now=NOON) == Q
    assert act(submit, at.desk, BO, labelled(BADGE)).state == "ready"


def test_documents_are_pooled_without_rank_and_in_an_order_of_ones_own(at: SimpleNamespace) -> None:
    """Links and what retrievers find, the resolver's as evidence at grade 3; stable for one, shuffled between two."""
    at.put(candidate("q", query="lost badge at the reception desk", links=(linked(LEAVE), linked(VPN, "other"))))
    item = open_item(at.desk, ANA, Q, now=NOON)
    shown = pool(at.desk, ANA, item)
    assert {LEAVE, VPN, BADGE} <= {one.document for one in shown}
    assert [(one.document, one.grade, one.graded) for one in shown if one.evidence] == [(LEAVE, 3, False)]
    assert shown == pool(at.desk, ANA, item)
    orders = {
        tuple(one.document for one in pool(at.desk, Reviewer(f"r{n}", None, ("reviewer",), ("public",)), item))
        for n in range(8)
    }
    assert len(orders) > 1
    assert not {"rank", "score", "system"} & set(shown[0]._fields)
    found = search_documents(at.desk, item, "annual leave calendar")
    assert found[0].document == LEAVE
    assert find_document(at.desk, item, "howto/vpn.md").document == VPN  # type: ignore[union-attr]
    assert find_document(at.desk, item, "https://elsewhere.example.net/x") is None
    assert "reception" in show_text(at.desk, BADGE).text
    with pytest.raises(MissingError):
        show_text(at.desk, "../secret")
    with pytest.raises(UsageError):
        search_documents(at.desk, item, " ")


def test_how_documents_were_found_is_for_the_server_to_say(at: SimpleNamespace) -> None:
    """Whatever a client sends: the resolver's is the resolver's, and nothing else can pass for it."""
    at.put(candidate("q", links=(linked(LEAVE),)))
    sent = Review(judged=(gold(LEAVE, found_by="pool"), gold(BADGE, found_by="resolver"), gold(VPN, found_by="pool")))
    act(save, at.desk, ANA, sent)
    kept = open_item(at.desk, ANA, Q, now=NOON).review.judged
    assert [one.found_by for one in kept] == ["resolver", "reviewer", "pool"]
    with pytest.raises(UsageError, match="not known here"):
        forged = SpanDecision(place="query", start=0, end=5, type="PERSON", action="restore", original="anything")
        act(save, at.desk, ANA, Review(spans=(forged,)), revision=1)


def test_the_same_value_elsewhere_is_decided_at_once(at: SimpleNamespace) -> None:
    """Suggestions by their words, what was applied by its digest; each in one's own draft, undone by itself."""
    at.put(
        candidate("q", query=RedactedText(text="ask Ana now", spans=(suggestion(4, 7),), raw_hmac="1")),
        candidate("b", query=RedactedText(text="ana knows", spans=(suggestion(0, 3),), raw_hmac="2")),
        candidate("c", query=RedactedText(text="Ana?", spans=(suggestion(0, 3),), raw_hmac="3"), audience="private"),
        candidate("d", query=text("where is {}", "cy"), replies=[line("r", "bo", text("ask {}", "cy"), 1)]),
        candidate("e", query=text("{} said so", "cy")),
    )
    where = SpanPlace("query", 0, 4, 7)
    assert count_same(at.desk, ANA, Q, where) == SameCount(2, 1)
    decision = SpanDecision(place="query", start=4, end=7, type="PERSON", action="redact")
    assert apply_to_same(at.desk, ANA, Q, decision, now=NOON) == (2, 1, 0)
    other = open_item(at.desk, ANA, digest("b"), now=NOON)
    assert [(one.start, one.end, one.action) for one in other.review.spans] == [(0, 3, "redact")] * 2
    assert other.state == "new"
    assert apply_to_same(at.desk, ANA, Q, decision, now=NOON) == (0, 0, 0)
    assert undo(at.desk, ANA, digest("b"), revision=1, now=NOON).revision == 2
    held = at.bench.get(digest("e")).candidate.query.spans[0]
    place = SpanPlace("query", 0, held.start, held.end)
    assert count_same(at.desk, ANA, digest("e"), place) == SameCount(3, 1)
    retype = SpanDecision(place="query", start=held.start, end=held.end, type="ORG", action="redact")
    assert apply_to_same(at.desk, ANA, digest("e"), retype, now=NOON) == (3, 1, 0)
    with pytest.raises(UsageError, match="one by one"):
        apply_to_same(at.desk, ANA, digest("e"), retype.model_copy(update={"action": "restore"}), now=NOON)
    with pytest.raises(UsageError, match="nothing exactly there"):
        count_same(at.desk, ANA, Q, SpanPlace("query", 0, 0, 3))


def test_what_any_reviewer_redacts_is_masked_in_lists_and_for_resolvers(at: SimpleNamespace) -> None:
    """A name the rules missed, redacted in two drafts that overlap, shows on no list and in no link."""
    at.put(candidate("q", query="ask Noor Berg about badges"))
    for who, start, end in ((ANA, 4, 8), (BO, 6, 13)):
        found = SpanDecision(place="query", start=start, end=end, type="PERSON", action="redact")
        act(save, at.desk, who, Review(spans=(found,)))
    expected = f"ask {HIDDEN} about badges"
    assert [row.query for row in list_queue(at.desk, LEA, EVERYTHING).rows] == [expected]
    assert [row.query for row in weekly_stack(at.desk, LEA, now=NOON + HOUR)] == [expected]
    assert open_ask(at.desk, make_ask(at.desk, LEA, Q, now=NOON), now=NOON).query.text == expected


def test_a_resolver_answers_one_question_once(at: SimpleNamespace) -> None:
    """By a link a lead makes; they see the masked question alone, and their document is then evidence."""
    query = RedactedText(text="ask Ana about badges", spans=(suggestion(4, 7),), raw_hmac="h")
    at.put(candidate("q", query=query, replies=[line("r", "bo", "a secret reply", 1)]))
    with pytest.raises(RefusedError):
        make_ask(at.desk, ANA, Q, now=NOON)
    token = make_ask(at.desk, LEA, Q, now=NOON, days=7)
    view = open_ask(at.desk, token, now=NOON)
    assert view.query.text == f"ask {HIDDEN} about badges"
    assert "secret reply" not in repr(view)
    with pytest.raises(UsageError, match="no document of the corpus"):
        answer_ask(at.desk, token, ["nowhere.md"], None, now=NOON)
    answer_ask(at.desk, token, [BADGE], "ask me: bo@example.org", now=NOON + HOUR)
    for stale, moment in (
        (token, NOON + HOUR),
        ("forged", NOON),
        (make_ask(at.desk, LEA, Q, now=NOON), NOON + 169 * HOUR),
    ):
        with pytest.raises(MissingError, match="not valid, or no longer"):
            open_ask(at.desk, stale, now=moment)
        with pytest.raises(MissingError, match="not valid, or no longer"):
            answer_ask(at.desk, stale, [], None, now=moment)
    item = open_item(at.desk, ANA, Q, now=NOON)
    assert item.evidence == {BADGE: "resolver"}
    assert item.answers[0].note == "ask me: ⟦EMAIL_1⟧"
    keep = SpanDecision(place="query", start=4, end=7, type="PERSON", action="keep")
    with pytest.raises(UsageError, match="neither an answer nor dropped"):
        act(submit, at.desk, ANA, labelled(LEAVE, spans=(keep,)))
    assert len(answers_of(at.desk, LEA, Q)) == 2
    assert token not in repr(at.bench.events())


def test_agreement_is_told_without_telling_about_one_person(at: SimpleNamespace) -> None:
    """None below 20 doubles; second looks only to the one who took them; a changed mind does not count."""
    given = [delicate(f"q{n}") for n in range(24)]
    at.put(*given)
    for n, one in enumerate(given):
        act(submit, at.desk, ANA, labelled(BADGE), key=one.key)
        if n == 18:
            assert measure_agreement(at.desk, ANA).people.answerable.kappa is None
        other = Review(wording="vague", no_answer_reason="none") if n % 3 == 0 else labelled(BADGE)
        act(submit, at.desk, BO, other, key=one.key)
    act(submit, at.desk, BO, labelled(BADGE), key=given[0].key, revision=1)
    found = measure_agreement(at.desk, ANA)
    assert found.people.answerable.agreed == pytest.approx(16 / 24)
    assert found.people.answerable.kappa == pytest.approx(0.0)
    assert found.people.top_gold.reason is not None
    assert (found.second_looks, found.second_look_count) == (None, 0)
    later = NOON + timedelta(days=60)
    at.put(delicate("alone"))
    act(submit, at.desk, ANA, labelled(BADGE), key=digest("alone"), now=later)
    act(submit, at.desk, ANA, labelled(BADGE), key=digest("alone"), now=later + 25 * HOUR)
    assert measure_agreement(at.desk, ANA).second_looks is not None
    hidden = measure_agreement(at.desk, BO)
    assert (hidden.second_looks, hidden.second_look_count) == (None, 1)
    assert hidden.reason is not None


def test_progress_counts_ones_own(at: SimpleNamespace) -> None:
    """What waits for second opinions and for leads is counted for everybody."""
    at.put(delicate(), candidate("b"))
    act(submit, at.desk, ANA, labelled(BADGE))
    act(submit, at.desk, ANA, labelled(BADGE), key=digest("b"))
    shown = progress(at.desk, ANA, now=NOON + HOUR)
    assert (shown.own_day, shown.second_opinions, shown.disagreements, shown.team_week) == (2, 1, 0, None)
    assert progress(at.desk, BO, now=NOON + HOUR).own_day == 0


def test_what_a_review_says_of_its_own_text(at: SimpleNamespace) -> None:
    """Another message can be the question; its suggestions are then the ones to decide."""
    hidden = RedactedText(text="where do Ana and i get badges", spans=(suggestion(9, 12),), raw_hmac="h")
    at.put(candidate("q", replies=[line("r", "ana", hidden, 1)]))
    review = labelled(BADGE, query_line=1)
    with pytest.raises(UsageError, match="1 suggested"):
        act(submit, at.desk, ANA, review)
    redact = SpanDecision(place="line", position=1, start=9, end=12, type="PERSON", action="redact")
    assert act(submit, at.desk, ANA, review.model_copy(update={"spans": (redact,)})).state == "ready"
    assert span(0, 1).band == "applied"


def test_a_weekly_session_counts_what_came_of_it(at: SimpleNamespace) -> None:
    """The clock runs for the minutes of the settings; at its end the sitting says what was decided since it began."""
    at.put(candidate("q"), candidate("b"))
    before = open_week(at.desk, ANA, now=NOON)
    assert (before.began, before.over, before.ends - NOON) == (None, False, timedelta(minutes=30))
    ends = before.ends.isoformat()
    act(submit, at.desk, ANA, labelled(BADGE), now=NOON + timedelta(minutes=2))
    during = open_week(at.desk, ANA, ends, now=NOON + timedelta(minutes=5))
    assert (during.began, during.over, dict(during.decided)) == (NOON, False, {"one": 1})
    assert Q not in [row.key for row in during.stack]
    after = open_week(at.desk, ANA, ends, now=NOON + timedelta(minutes=30))
    assert after.over
    assert dict(open_week(at.desk, LEA, ends, now=NOON + timedelta(minutes=5)).decided) == {}


@pytest.mark.parametrize("ends", ["", "soon", "2024-05-06", "2024-05-06T12:30:00", "9999-01-01T00:00:00+00:00"])
def test_a_weekly_session_without_a_sensible_end_has_not_begun(at: SimpleNamespace, ends: str) -> None:
    """What an address carries is not believed: a time without an offset, or far away, starts no clock."""
    assert open_week(at.desk, ANA, ends, now=NOON).began is None
