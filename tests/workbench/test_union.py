"""Two readings of one question, told together."""

from itertools import permutations

import pytest

from builders.candidates import candidate, digest, line, span, text
from findback.model.candidate import DocumentLink, RedactedText, RuleHit
from findback.text.placeholders import find_placeholders
from findback.workbench.people import without_people
from findback.workbench.union import renumber, unite


def thread(one: object) -> list[str]:
    return [line.body.text for line in one.thread]


def test_half_threads_are_joined_in_the_order_they_were_written() -> None:
    """Each export saw replies the other lacks; the cue, the links and the query follow their lines."""
    first = candidate("q", replies=[line("r1", "bo", "one", 1), line("r4", "bo", "four", 4)], cue_line=2)
    link = DocumentLink(document="a.md", line=1, by="resolver", kind="url-in-text")
    second = candidate("q", replies=[line("r2", "cy", "two", 2), line("r4", "bo", "four", 4)], links=(link,))
    united = unite(first, second)
    assert thread(united) == ["where is the page about q?", "one", "two", "four"]
    assert (united.query_line, united.cue_line) == (0, 3)
    assert united.links == (link.model_copy(update={"line": 2}),)


def test_the_order_of_exports_does_not_decide_which_lines_there_are() -> None:
    """Three overlapping halves in any order, and once more, give the same lines."""
    parts = [
        candidate("q", replies=[line(f"r{n}", "bo", f"reply {n}", n) for n in numbers])
        for numbers in ((1, 2), (2, 3), (5,))
    ]
    for order in permutations(parts):
        united = order[0]
        for part in (*order[1:], *order):
            united = unite(united, part)
        assert thread(united)[1:] == ["reply 1", "reply 2", "reply 3", "reply 5"]


def test_one_person_stays_one_placeholder() -> None:
    """A newcomer's numbers are changed to the stored ones: known by value, new ones next, places moved along."""
    first = candidate("q", replies=[line("r1", "bo", text("{} and {}", *("cy", "di")), 1)])
    body = text("ping {}, {}, {}", "zoe", "di", "zoe")
    longer = RedactedText(
        text=body.text + " end", spans=(*body.spans, span(5, 15, band="suggested"), span(38, 41)), raw_hmac="raw"
    )
    united = unite(first, candidate("q", replies=[line("r2", "bo", longer, 2)]))
    new = united.thread[2].body
    assert thread(united)[1:] == ["⟦PERSON_1⟧ and ⟦PERSON_2⟧", "ping ⟦PERSON_3⟧, ⟦PERSON_2⟧, ⟦PERSON_3⟧ end"]
    assert [(one.start, one.end) for one in new.spans] == [(5, 15), (17, 27), (29, 39), (5, 15), (38, 41)]


def test_places_move_when_a_number_grows_a_digit() -> None:
    """Spans after a longer placeholder start later, those around it end later."""
    body = RedactedText(
        text="x ⟦IP_1⟧ y", spans=(span(0, 1), span(2, 8, type="IP"), span(9, 10), span(0, 10)), raw_hmac="r"
    )
    moved = renumber(body, {("IP", 1): 10})
    assert moved.text == "x ⟦IP_10⟧ y"
    assert [(one.start, one.end) for one in moved.spans] == [(0, 1), (2, 9), (10, 11), (0, 11)]
    assert renumber(body, {}) is body


def test_placeholders_without_a_value_keep_apart() -> None:
    """A host of one export is not taken for the host of another, unless it stands in the same message."""
    shared = RedactedText(text="see ⟦HOST_1⟧", raw_hmac="same")
    first = candidate("q", replies=[line("r1", "bo", shared, 1), line("r3", "bo", "only here", 3)])
    again = shared.model_copy(update={"text": "see ⟦HOST_2⟧"})
    other = RedactedText(text="⟦HOST_1⟧ or ⟦HOST_2⟧", raw_hmac="other")
    united = unite(first, candidate("q", replies=[line("r1", "bo", again, 1), line("r2", "bo", other, 2)]))
    assert thread(united)[1:] == ["see ⟦HOST_1⟧", "⟦HOST_2⟧ or ⟦HOST_1⟧", "only here"]


def test_an_edited_message_replaces_the_unedited_one_only() -> None:
    """Whichever export is read first, the edited form is kept, in the query too."""
    old = candidate("q", query="where was it", replies=[line("r1", "bo", "first", 1)])
    new = candidate("q", query="where is it")
    new = new.model_copy(update={"thread": (new.thread[0].model_copy(update={"edited": True}),)})
    for united in (unite(old, new), unite(unite(old, new), old), unite(new, old), unite(unite(new, old), new)):
        assert thread(united) == ["where is it", "first"]
        assert united.query.text == "where is it"


def test_a_lack_is_believed_only_of_both_halves() -> None:
    """An export that ends early says nobody answered; one with the answer knows better."""
    answer = line("r1", "bo", "here", 1)
    lack = RuleHit(rule="no-answer", strength="weak")
    thanks = RuleHit(rule="link-thanks", strength="strong")
    early = candidate("q", rules=(lack,), no_answer_hint="no reply in 3 days")
    late = candidate("q", replies=[answer], rules=(thanks,))
    for united in (unite(early, late), unite(late, early)):
        assert united.rules == (thanks,)
        assert united.no_answer_hint is None
    half = candidate("q", replies=[line("r2", "cy", "hm", 2)], rules=(lack, thanks))
    assert unite(half, late).rules == (thanks,)
    other = candidate("q", replies=[line("r3", "cy", "hm hm", 3)], rules=(lack,))
    assert {hit.rule for hit in unite(half, other).rules} == {"no-answer", "link-thanks"}


def test_a_reading_that_knows_all_lines_replaces_the_other() -> None:
    """Newer rules of redaction and mining come with it."""
    old = candidate("q", rules=(RuleHit(rule="cue", strength="weak"),))
    new = candidate("q", replies=[line("r1", "bo", "here", 1)], asked="2-4")
    assert unite(old, new) == new
    assert unite(old, old) == old


@pytest.mark.parametrize("people", [{"bo"}, {"bo", "cy"}, {"nobody"}])
def test_without_people_is_done_once(people: set[str]) -> None:
    """Doing it again changes nothing; whom it does not concern it returns as they are."""
    one = candidate(
        "q", "ana", [line("r1", "bo", text("hi {}", "cy"), 1), line("r2", "cy", "hm", 2)], cue_line=2, merged=1
    )
    hmacs = {digest(person) for person in people}
    without = without_people(one, hmacs)
    assert without_people(without, hmacs) == without
    assert (without == one) == (people == {"nobody"})
    assert not hmacs & {line.author_hmac for line in without.thread}
    assert without.cue_line == {1: 1, 2: None}.get(len(people) if people != {"nobody"} else 0, 2)
    assert all(find_placeholders(line.body.text) or "⟦" not in line.body.text for line in without.thread)
