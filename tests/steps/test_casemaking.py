"""From reviews to cases: what comes out is sound, whatever reviewers did and on whichever server."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.candidates import NOON, candidate, digest, line, text
from builders.ready import portal
from findback.errors import FindbackError
from findback.evalset.checks import PlacedCase, check_cases
from findback.model.candidate import Candidate, DocumentLink, RedactedSpan, RedactedText
from findback.model.case import Context, Judgement
from findback.model.review import DroppedLink, Review, SpanDecision
from findback.model.reviewer import Reviewer
from findback.privacy.core import CoreRedactor
from findback.privacy.masking import HIDDEN
from findback.steps.bench import open_bench
from findback.steps.casemaking import BenchCases
from findback.steps.review import open_desk, open_item, reject, save, settle, submit, undo
from findback.steps.reviewasks import answer_ask, make_ask
from findback.steps.reviewspans import published_place, sort_suggestions, texts_of
from findback.text.placeholders import strip_placeholders
from findback.workspace import Workspace

ANA = Reviewer("ana", None, ("reviewer",), ("public",))
BO = Reviewer("bo", None, ("reviewer",), ("public",))
LEA = Reviewer("lea", None, ("reviewer", "lead"), ("public",))
BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
Q = digest("q")


def gold(document: str = BADGE, grade: int = 3, **fields: object) -> Judgement:
    return Judgement(doc=document, grade=grade, found_by="pool", **fields)


def labelled(*judged: Judgement, **fields: object) -> Review:
    return Review(**{"wording": "vague", "judged": judged, **fields})


def suggested(words: str, *parts: str, kind: str = "PERSON") -> RedactedText:
    spans = [
        RedactedSpan(start=at, end=at + len(part), type=kind, rule="names", version="1", band="suggested")
        for part in parts
        if (at := words.index(part)) >= 0
    ]
    return RedactedText(text=words, spans=tuple(spans), raw_hmac=digest(words))


@pytest.fixture
def at(tmp_path: Path) -> Iterator[SimpleNamespace]:
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    with open_bench(workspace) as bench, open_desk(workspace, bench) as desk:
        cases = BenchCases(
            bench,
            desk.key,
            desk.settings,
            CoreRedactor(),
            reviewer="lea",
            documents=desk.documents,
            moment=lambda: NOON,
        )
        yield SimpleNamespace(desk=desk, bench=bench, cases=cases, put=lambda *given: bench.put(given, now=NOON))


def hand_in(at: SimpleNamespace, who: Reviewer, review: Review, name: str = "q") -> str:
    return str(submit(at.desk, who, digest(name), review, revision=0, now=NOON).state)


def test_a_case_says_what_the_review_says(at: SimpleNamespace) -> None:
    """Field by field: the redacted words, gold by part, what the resolver named and nobody counts as grade 0."""
    link = DocumentLink(document=VPN, line=-1, by="resolver", kind="url-in-text")
    body = suggested("i asked Ana Roth about a lost badge and time off", "Ana Roth")
    at.put(
        candidate("q", query=body, links=(link,), seen_on="2024-05", asked="2-4", selected_on="portal", language="en")
    )
    review = labelled(
        gold(LEAVE, 2, part=2),
        gold(BADGE, 3, anchor="blocked at the  reception desk"),
        dropped=(DroppedLink(document=VPN, reason="about something else"),),
        spans=(SpanDecision(place="query", start=8, end=16, type="PERSON", action="redact"),),
        context=Context(locale="en"),
        tags=("cards",),
        not_visible=True,
    )
    assert hand_in(at, ANA, review) == "ready"
    (ready,) = at.cases.collect()
    assert ready.obstacles == ()
    case = ready.case
    assert case.query == "i asked ⟦PERSON_1⟧ about a lost badge and time off"
    assert [(one.doc, one.grade, one.part, one.found_by) for one in case.judged] == [
        (BADGE, 3, 1, "pool"),
        (LEAVE, 2, 2, "pool"),
        (VPN, 0, 1, "resolver"),
    ]
    assert (case.answer, case.wording, case.labelled_by, case.confirmations) == ("cross-doc", "vague", "reviewer", 0)
    assert (case.rule, case.source, case.stratum, case.selected_on) == ("link-thanks", "slack", "failure", "portal")
    assert (case.seen_on, case.asked, case.language, case.split) == ("2024-05", "2-4", "en", "dev")
    assert (case.redaction.types, case.tags) == (("PERSON",), ("cards", "asker-could-not-open"))
    assert case.context == Context(locale="en")
    assert case.cluster == case.id
    (again,) = at.cases.collect()
    assert again == ready


def test_confirmations_count_everybody_who_agrees(at: SimpleNamespace) -> None:
    """A second reviewer and a resolver who was asked; one who says otherwise does not count."""
    at.put(candidate("q"))
    for documents in ([BADGE], [LEAVE]):
        answer_ask(at.desk, make_ask(at.desk, LEA, Q, now=NOON), documents, None, now=NOON)
    dropped = (DroppedLink(document=LEAVE, reason="holidays"),)
    hand_in(at, ANA, labelled(gold(), dropped=dropped))
    hand_in(at, BO, labelled(gold(grade=2), dropped=dropped))
    (ready,) = at.cases.collect()
    assert ready.case.confirmations == 2
    assert ready.case.judged[0].grade == 3


def test_a_leads_decision_is_the_one_that_counts(at: SimpleNamespace) -> None:
    """Settled after a disagreement, it is labelled by a lead and confirmed by who agreed with them."""
    at.put(candidate("q"))
    hand_in(at, ANA, labelled(gold(BADGE)))
    assert hand_in(at, BO, labelled(gold(LEAVE))) == "second-opinion"
    assert at.cases.collect() == []
    settle(at.desk, LEA, Q, labelled(gold(LEAVE)), revision=0, now=NOON)
    (ready,) = at.cases.collect()
    assert (ready.case.labelled_by, ready.case.confirmations, ready.case.judged[0].doc) == ("lead", 1, LEAVE)


def test_a_question_without_an_answer_says_why_and_whether_somebody_should_write_one(at: SimpleNamespace) -> None:
    """Its judged documents are all grade 0."""
    at.put(candidate("q", language=None, seen_on=None))
    hand_in(
        at, ANA, Review(wording="plain", judged=(gold(grade=0),), no_answer_reason="not written", document_wanted=True)
    )
    (ready,) = at.cases.collect()
    assert (ready.case.answer, ready.case.no_answer_reason, ready.case.tags) == (
        "no-answer",
        "not written",
        ("document-wanted",),
    )
    assert (ready.case.seen_on, ready.case.language) == ("2024-05", "en")


def test_what_no_longer_holds_is_not_released(at: SimpleNamespace) -> None:
    """A chosen message that was erased, a document gone from the corpus: named, and no case."""
    at.put(candidate("q", replies=[line("r", "cy", "how do i lose a badge", 1)]), candidate("b"))
    hand_in(at, ANA, labelled(gold(), query_line=1))
    hand_in(at, ANA, labelled(gold()), "b")
    at.bench.purge(person_hmac=digest("cy"), now=NOON)
    ready = {one.key: one for one in at.cases.collect()}
    assert ready[Q].case is None
    assert any("no longer there" in one for one in ready[Q].obstacles)
    assert ready[digest("b")].case is not None
    assert HIDDEN not in repr(ready)


WORDS = ["lost badge", "Ana", "Bo Lee", "😀", "e\u0301va", "vpn", "Acme", "time off", "bo@x", "\u202eodd", " "]
DOCUMENTS = [BADGE, LEAVE, VPN, "gone.md"]


@st.composite
def bodies(draw: st.DrawFn) -> RedactedText:
    """A text with placeholders and suggestions."""
    words, spans = "", []
    for piece in draw(st.lists(st.sampled_from([*WORDS, "P", "S"]), min_size=1, max_size=6)):
        at = len(words)
        if piece == "P":
            words += f"⟦PERSON_{draw(st.integers(1, 3))}⟧ "
            spans.append(
                RedactedSpan(start=at, end=len(words) - 1, type="PERSON", rule="r", version="1", band="applied")
            )
        elif piece == "S":
            words += "Cy Acme "
            kind = draw(st.sampled_from(["PERSON", "ORG"]))
            spans.append(RedactedSpan(start=at, end=len(words) - 1, type=kind, rule="r", version="1", band="suggested"))
        else:
            words += f"{piece} "
    return RedactedText(text=words, spans=tuple(spans), raw_hmac=digest(words))


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    made = []
    for n in range(draw(st.integers(1, 3))):
        linked = draw(st.lists(st.sampled_from(DOCUMENTS), max_size=2, unique=True))
        links = tuple(DocumentLink(document=one, line=-1, by="resolver", kind="url-in-text") for one in linked)
        replies = [line(f"r{n}-{m}", "bo", draw(bodies()), m + 1) for m in range(draw(st.integers(0, 2)))]
        made.append(candidate(f"q{n}", query=draw(bodies()), replies=replies, links=links))
    return made


@st.composite
def changes(draw: st.DrawFn) -> dict[str, object]:
    """Something a reviewer says, sensible or not."""
    kind = draw(
        st.sampled_from(["judge", "judge", "none", "span", "keep", "wording", "line", "drop", "clear", "anchor"])
    )
    document = draw(st.sampled_from(DOCUMENTS))
    return {
        "kind": kind,
        "document": document,
        "grade": draw(st.integers(0, 3)),
        "part": draw(st.integers(1, 2)),
        "start": draw(st.integers(0, 40)),
        "length": draw(st.integers(1, 25)),
        "type": draw(st.sampled_from(["PERSON", "ORG", "SECRET"])),
        "position": draw(st.sampled_from([None, 0, 1])),
    }


def changed(review: Review, one: Candidate, change: dict[str, object]) -> Review:
    kind = change["kind"]
    update: dict[str, object] = {}
    if kind in ("judge", "anchor"):
        others = [j for j in review.judged if j.doc != change["document"]]
        anchor = "lost badge" if kind == "anchor" else None
        new = Judgement(
            doc=change["document"], grade=change["grade"], part=change["part"], found_by="pool", anchor=anchor
        )
        update = {"judged": (*others, new), "no_answer_reason": None}
    elif kind == "none":
        update = {"judged": tuple(j for j in review.judged if j.grade == 0), "no_answer_reason": "nobody wrote it"}
    elif kind in ("span", "keep"):
        place, position = published_place(one, review)
        body = texts_of(one).get((place, position), one.query)
        if kind == "keep":
            found = [s for s in body.spans if s.band == "suggested"]
            start, end = (found[0].start, found[0].end) if found else (0, 1)
        else:
            start, end = change["start"], change["start"] + change["length"]
        new_span = SpanDecision(
            place=place,
            position=position,
            start=start,
            end=end,
            type=change["type"],
            action="keep" if kind == "keep" else "redact",
        )
        update = {"spans": (*review.spans, new_span)}
    elif kind == "wording":
        update = {"wording": "plain"}
    elif kind == "line":
        update = {"query_line": change["position"]}
    elif kind == "drop":
        update = {"dropped": (*review.dropped, DroppedLink(document=change["document"], reason="no"))}
    else:
        update = {"unrateable_reason": None, "later_reason": None, "spans": ()}
    return review.model_copy(update=update)


STEPS = st.tuples(
    st.sampled_from(["change", "change", "change", "submit", "submit", "undo", "reject", "finish", "finish"]),
    st.integers(0, 2),
    st.sampled_from([ANA, BO, LEA]),
    st.integers(0, 1),
    changes(),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(candidates(), st.lists(STEPS, min_size=5, max_size=40))
def test_whatever_reviewers_do_the_cases_are_sound(
    tmp_path_factory: pytest.TempPathFactory, given_: list, steps: list
) -> None:
    """Random decisions on two servers over one database: every case passes the checks and holds nothing undecided."""
    workspace: Workspace = portal(tmp_path_factory.mktemp("portal"), "[review]\noverlap = 0.3\n")
    with open_bench(workspace) as first, open_bench(workspace) as second:
        first.put(given_, now=NOON)
        with open_desk(workspace, first) as one, open_desk(workspace, second) as two:
            desks = [one, two]
            for turn, (how, which, who, server, change) in enumerate(steps):
                key = given_[which % len(given_)].key
                now = NOON + timedelta(hours=turn * 3)
                item = open_item(desks[server], who, key, now=now)
                candidate_ = given_[which % len(given_)]
                named = {"revision": item.revision, "now": now}
                try:
                    if how == "change":
                        save(desks[server], who, key, changed(item.review, candidate_, change), **named)
                    elif how == "submit":
                        submit(desks[server], who, key, item.review, **named)
                    elif how == "undo":
                        undo(desks[server], who, key, **named)
                    elif how == "reject":
                        reject(desks[server], who, key, "no question", **named)
                    else:
                        submit(desks[server], who, key, finished(item.review, candidate_, item.evidence), **named)
                except FindbackError:
                    continue
            found = [
                BenchCases(
                    desk.bench,
                    desk.key,
                    desk.settings,
                    CoreRedactor(),
                    reviewer="lea",
                    documents=desk.documents,
                    moment=lambda: NOON,
                ).collect()
                for desk in desks
            ]
            assert found[0] == found[1]
            assert first.count() == second.count()
            assert all(ready.obstacles == () for ready in found[0])
            cases = [ready.case for ready in found[0]]
            assert check_cases([PlacedCase(n, case) for n, case in enumerate(cases, 1)], redactor=CoreRedactor()) == []
            for ready in found[0]:
                stored = first.get(ready.key).candidate
                reviews = [r for r in first.reviews_of(ready.key) if r.stage == "submitted"]
                leads = [r for r in reviews if r.role == "lead"]
                review = (leads or reviews)[0].review
                place = published_place(stored, review)
                decisions = [d for d in review.spans if (d.place, d.position) == place]
                assert sort_suggestions(texts_of(stored)[place], decisions)[0] == ()
                kept = "".join(strip_placeholders(ready.case.query).split())
                assert set(kept) <= set(texts_of(stored)[place].text)


def finished(review: Review, one: Candidate, evidence: tuple[str, ...]) -> Review:
    """What a diligent reviewer makes of a draft: every suggestion redacted, the evidence dropped or taken."""
    place = published_place(one, review)
    body = texts_of(one).get(place, one.query)
    mine = [d for d in review.spans if (d.place, d.position) == place]
    open_ = sort_suggestions(body, mine)[0]
    more = tuple(
        SpanDecision(
            place=place[0],
            position=place[1],
            start=body.spans[n].start,
            end=body.spans[n].end,
            type=body.spans[n].type,
            action="redact",
        )
        for n in open_
    )
    dropped = tuple(DroppedLink(document=document, reason="no") for document in evidence if document != BADGE)
    return Review(
        query_line=review.query_line,
        spans=(*review.spans, *more),
        wording="vague",
        judged=(gold(BADGE),),
        dropped=dropped,
    )


def test_text_builder_is_what_mining_gives() -> None:
    """The builder's placeholders stand where its spans say."""
    body = text("a {}", "bo")
    assert body.text[body.spans[0].start : body.spans[0].end] == "⟦PERSON_1⟧"
