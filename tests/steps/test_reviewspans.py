"""Decisions on words: whatever a reviewer says, placeholders are all that ever changes in a question."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.candidates import candidate, digest, line, span, text
from findback.errors import UsageError
from findback.model.candidate import Candidate, RedactedSpan, RedactedText
from findback.model.hits import Span
from findback.model.review import Review, SpanDecision
from findback.privacy.masking import HIDDEN
from findback.steps.reviewitem import split_text, view_texts
from findback.steps.revieworiginal import find_original
from findback.steps.reviewspans import (
    Numbers,
    SpanPlace,
    check_decisions,
    decide_text,
    decisions_on,
    is_only_decided,
    sort_suggestions,
)
from findback.text.placeholders import find_placeholders, is_only_redacted, list_faults, write_placeholder

LETTERS = "ab é́😀👩‍💻 ⁉\n\tß\u202e"


def decide(
    place: str, start: int, end: int, action: str = "redact", kind: str = "PERSON", **more: object
) -> SpanDecision:
    return SpanDecision(place=place, start=start, end=end, type=kind, action=action, **more)


def asked(body: RedactedText, *replies: RedactedText) -> Candidate:
    return candidate("q", query=body, replies=[line(f"r{n}", "bo", one, n + 1) for n, one in enumerate(replies)])


def result_of(one: Candidate, *decisions: SpanDecision) -> str:
    check_decisions(one, decisions)
    return decide_text(one.query, decisions, Numbers(one, digest)).text


@st.composite
def redacted(draw: st.DrawFn) -> tuple[str, list[Span], RedactedText]:
    """A raw text, what redaction took of it, and the stored text with suggestions."""
    pieces = draw(st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=5))
    raw, stored, taken, spans = "", "", [], []
    for number, piece in enumerate(pieces):
        if number:
            value = draw(st.text("xyab ", min_size=1, max_size=4))
            taken.append(Span(len(raw), len(raw) + len(value)))
            raw += value
            written = write_placeholder("PERSON", draw(st.integers(1, 3)))
            spans.append(span(len(stored), len(stored) + len(written)))
            stored += written
        at = len(stored)
        raw += piece
        stored += piece
        if len(piece) > 1 and draw(st.booleans()):
            spans.append(
                RedactedSpan(start=at, end=at + len(piece) - 1, type="ORG", rule="n", version="1", band="suggested")
            )
    return raw, taken, RedactedText(text=stored, spans=tuple(spans), raw_hmac=digest(raw))


@st.composite
def decided(draw: st.DrawFn) -> tuple[str, list[Span], RedactedText, list[SpanDecision]]:
    """The same with random decisions, those that do not fit left out."""
    raw, taken, body = draw(redacted())
    one = asked(body)
    kept: list[SpanDecision] = []
    for _ in range(draw(st.integers(0, 5))):
        action = draw(st.sampled_from(["redact", "keep", "restore"]))
        if action == "redact":
            if not body.text:
                continue
            start = draw(st.integers(0, len(body.text) - 1))
            new = decide(
                "query",
                start,
                draw(st.integers(start + 1, len(body.text))),
                kind=draw(st.sampled_from(["PERSON", "ORG"])),
            )
        else:
            band = "suggested" if action == "keep" else "applied"
            found = [at for at in body.spans if at.band == band]
            if not found:
                continue
            at = draw(st.sampled_from(found))
            order = [s for s in body.spans if s.band == "applied"]
            original = raw[slice(*taken[order.index(at)])] if action == "restore" else None
            new = decide("query", at.start, at.end, action, at.type, original=original)
        try:
            check_decisions(one, [*kept, new])
        except UsageError:
            continue
        kept.append(new)
    return raw, taken, body, kept


@settings(max_examples=300, deadline=None)
@given(decided())
def test_raw_minus_spans_is_the_result_minus_placeholders(made: tuple) -> None:
    """Also after the reviewer's own redactions, and with words given back: nothing else ever changes."""
    raw, taken, body, decisions = made
    one = asked(body)
    result = decide_text(body, decisions, Numbers(one))
    assert is_only_decided(body, decisions, result)
    assert list_faults(result.text) == []
    # What the result hides of the raw text: redaction's spans without those given back, and the reviewer's own.
    order = [at for at in body.spans if at.band == "applied"]
    to_raw = dict(zip([(at.start, at.end) for at in order], taken, strict=True))

    def raw_place(place: int) -> int:
        before = [
            (at.end - at.start) - (to_raw[at.start, at.end].end - to_raw[at.start, at.end].start)
            for at in order
            if at.end <= place
        ]
        return place - sum(before)

    given_back = {(d.start, d.end) for d in decisions if d.action == "restore"}
    own = [Span(raw_place(d.start), raw_place(d.end)) for d in decisions if d.action == "redact"]
    hidden = [
        s
        for at, s in to_raw.items()
        if at not in given_back and not any(o.start <= s.start and s.end <= o.end for o in own)
    ]
    assert is_only_redacted(raw, sorted([*hidden, *own]), result.text)


@settings(max_examples=200, deadline=None)
@given(decided())
def test_a_text_is_shown_in_stretches_without_gaps(made: tuple) -> None:
    """Together they cover the stored text once; nothing the reviewer redacts is seen, masked or not."""
    _, _, body, decisions = made
    for masked in (True, False):
        segments = split_text(body, decisions, masked=masked)
        assert [one.start for one in segments] == [0, *(one.end for one in segments)][: len(segments)]
        assert (segments[-1].end if segments else 0) == len(body.text)
        for one in segments:
            assert one.text == body.text[one.start : one.end] or one.hidden or one.kind == "restore"
            assert one.hidden == (one.kind == "redact" or (masked and one.kind == "suggested"))
        undecided, _ = sort_suggestions(body, decisions)
        assert sum(one.kind == "suggested" for one in segments) == len(undecided)


def test_a_selection_takes_exactly_its_characters() -> None:
    """Emoji of several code points, combining marks and a family joined by zero-width joiners."""
    body = text("ask Zoë 👩‍👩‍👧 or e\u0301va now")
    one = asked(body)
    start = body.text.index("Zoë")
    end = body.text.index(" now")
    assert result_of(one, decide("query", start, end)) == "ask ⟦PERSON_1⟧ now"
    middle = body.text.index("👩")
    assert result_of(one, decide("query", middle, middle + 1)) == "ask Zoë ⟦PERSON_1⟧\u200d👩\u200d👧 or e\u0301va now"
    mark = body.text.index("\u0301")
    assert result_of(one, decide("query", mark, mark + 1)) == "ask Zoë 👩‍👩‍👧 or e⟦PERSON_1⟧va now"


def test_numbers_go_on_from_the_threads_own() -> None:
    """A new value gets the next number of its type over all texts, the same value the same, a known one its own."""
    body = text("{} or Bo, bo, Cy or Ana", "dee")
    one = asked(body, text("{} and {} wrote", "dee", "eve"))
    at = {word: body.text.index(word) for word in ("Bo", "bo,", "Cy", "Ana")}
    decisions = [decide("query", at["Bo"], at["Bo"] + 2), decide("query", at["bo,"], at["bo,"] + 2)]
    decisions += [decide("query", at["Cy"], at["Cy"] + 2), decide("query", at["Ana"], at["Ana"] + 3, kind="ORG")]
    assert result_of(one, *decisions) == "⟦PERSON_1⟧ or ⟦PERSON_3⟧, ⟦PERSON_3⟧, ⟦PERSON_4⟧ or ⟦ORG_1⟧"
    # "eve" has number 2 in a reply: the workbench's digest knows her again.
    body = text("{} or Eve", "dee")
    one = asked(body, text("{} and {} wrote", "dee", "eve"))
    start = body.text.index("Eve")
    assert result_of(one, decide("query", start, start + 3)) == "⟦PERSON_1⟧ or ⟦PERSON_2⟧"


@pytest.mark.parametrize(
    ("decisions", "fault"),
    [
        ([decide("query", 0, 3), decide("query", 2, 4)], "overlaps"),
        ([decide("query", 0, 3), decide("query", 0, 3)], "overlaps"),
        ([decide("query", 6, 11)], "cuts a placeholder"),
        ([decide("query", 0, 99)], "outside"),
        ([decide("query", 3, 3 + 1, kind="NONSENSE")], "no such type"),
        ([decide("query", 0, 3, "keep")], "for a suggestion"),
        ([decide("query", 0, 3, "restore", original="Bo")], "for a placeholder"),
        ([decide("query", 4, 14, "restore")], "the server puts it there"),
        ([decide("query", 0, 3, original="Bo")], "the server puts it there"),
        ([decide("query", 4, 14, "restore", original="a⟦b")], "looks like a placeholder"),
        ([decide("title", 0, 3)], "no such text"),
        ([decide("line", 0, 3, position=7)], "no such text"),
        ([decide("query", 1, 1 + 1)] * 501, "at most 500"),
    ],
)
def test_what_does_not_fit_is_refused(decisions: list[SpanDecision], fault: str) -> None:
    """Overlaps, halves of placeholders, places that are not there, actions for something else."""
    one = asked(text("ask {} please", "bo"))
    with pytest.raises(UsageError, match=fault):
        check_decisions(one, decisions)


def test_suggestions_are_decided_by_keeping_or_redacting_some_of_them() -> None:
    """Accepted, widened, shrunk, retyped or kept; one that is not touched stays undecided."""
    words = "ask Ana Roth at Acme"
    spans = (
        RedactedSpan(start=4, end=12, type="PERSON", rule="names", version="1", band="suggested"),
        RedactedSpan(start=16, end=20, type="ORG", rule="names", version="1", band="suggested"),
    )
    body = RedactedText(text=words, spans=spans, raw_hmac="h")
    one = asked(body)
    cases = [
        ([decide("query", 4, 12)], "ask ⟦PERSON_1⟧ at Acme", (1,)),
        ([decide("query", 0, 12)], "⟦PERSON_1⟧ at Acme", (1,)),
        ([decide("query", 4, 7)], "ask ⟦PERSON_1⟧ Roth at Acme", (1,)),
        ([decide("query", 4, 12, kind="USER")], "ask ⟦USER_1⟧ at Acme", (1,)),
        ([decide("query", 4, 12, "keep"), decide("query", 16, 20, kind="ORG")], "ask Ana Roth at ⟦ORG_1⟧", ()),
        ([], words, (0, 1)),
    ]
    for decisions, expected, undecided in cases:
        assert result_of(one, *decisions) == expected
        assert decide_text(body, decisions, Numbers(one)).undecided == undecided


def test_the_thread_is_masked_until_it_is_opened() -> None:
    """Suggestions show in the query alone; in a line once it is opened; in another message once it is the query."""
    hidden = RedactedText(
        text="ask Ana Roth",
        spans=(RedactedSpan(start=4, end=12, type="PERSON", rule="names", version="1", band="suggested"),),
        raw_hmac="h",
    )
    one = candidate("q", query=hidden, replies=[line("r", "bo", hidden, 1)], title=hidden)
    query, title, thread = view_texts(one, Review())
    assert (query.text, query.undecided, query.is_query) == ("ask Ana Roth", 1, True)
    assert title is not None
    assert [title.text, *(view.text for view in thread)] == [f"ask {HIDDEN}"] * 3
    assert view_texts(one, Review(), {("line", 1)})[2][1].text == "ask Ana Roth"
    query, _, thread = view_texts(one, Review(query_line=1))
    assert (query.position, query.place, query.text) == (1, "line", "ask Ana Roth")
    assert thread[0].text == f"ask {HIDDEN}"


@settings(max_examples=300, deadline=None)
@given(redacted())
def test_an_original_is_what_stood_there_or_nothing(made: tuple) -> None:
    """Where the words between placeholders do not tell for certain, nothing is given: never another stretch."""
    raw, taken, body = made
    applied = [at for at in body.spans if at.band == "applied"]
    for at, place in zip(applied, taken, strict=True):
        found = find_original(body, raw, SpanPlace("query", 0, at.start, at.end))
        assert found in (None, raw[place.start : place.end])


def test_an_original_is_found_where_the_words_around_it_tell() -> None:
    """One name between words; two that are joined by a blank cannot be told apart."""
    body = text("ask {} or {} please", "minh", "bo")
    places = [found.span for found in find_placeholders(body.text)]
    words = [find_original(body, "ask Minh Tran or Bo please", SpanPlace("query", 0, *at)) for at in places]
    assert words == ["Minh Tran", "Bo"]
    joined = text("ask {} {} please", "minh", "bo")
    places = [found.span for found in find_placeholders(joined.text)]
    assert [find_original(joined, "ask Minh Tran Bo please", SpanPlace("query", 0, *at)) for at in places] == [
        None,
        None,
    ]
    assert find_original(body, "something else", SpanPlace("query", 0, *places[0])) is None


def test_decisions_belong_to_their_text() -> None:
    """Those on one line are not those on another."""
    review = Review(spans=(decide("line", 0, 1, position=1), decide("line", 0, 1, position=2), decide("query", 0, 1)))
    assert decisions_on(review, ("line", 2)) == (review.spans[1],)


def test_people_are_counted_together() -> None:
    """A retyped placeholder keeps its number among names, mentions and addresses; other types count for themselves."""
    body = text("{} or {} or Bo", "dee", "eve")
    one = asked(body)
    second = find_placeholders(body.text)[1].span
    start = body.text.index("Bo")
    retype = decide("query", *second, kind="USER")
    assert result_of(one, retype, decide("query", start, start + 2, kind="EMAIL")) == (
        "⟦PERSON_1⟧ or ⟦USER_2⟧ or ⟦EMAIL_3⟧"
    )
    assert result_of(one, decide("query", *second, kind="ORG")) == "⟦PERSON_1⟧ or ⟦ORG_1⟧ or Bo"
