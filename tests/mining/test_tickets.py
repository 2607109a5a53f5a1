"""Rules for tickets and questions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from builders.tickets import (
    KB,
    intercom_conversation,
    written,
    zendesk_audit,
    zendesk_comment,
    zendesk_solved,
    zendesk_status,
    zendesk_ticket,
)
from findback.corpus.corpus import corpus_of
from findback.mining.links import LinkResolver
from findback.mining.tickets import ANSWERED_LATER, TICKET_RULES, TicketMining, TicketRules
from findback.model.document import Document
from findback.model.hits import Span
from findback.model.thread import Link, Mark, Message, StatusChange, Thread
from findback.sources.format import SourceOptions
from findback.sources.marked import read_plain
from findback.sources.tickets.mapped import INTERCOM
from findback.sources.tickets.stackexchange import StackExchange
from findback.sources.tickets.zendesk import Zendesk

OPENED = datetime(2024, 5, 3, 8, tzinfo=UTC)


def at(hours):
    return OPENED + timedelta(hours=hours)


def document(name, created=datetime(2023, 1, 1, tzinfo=UTC)):
    return Document(id=name, text=f"text of {name}", url=f"{KB}/{name}", created=created)


DOCUMENTS = (
    document("vpn"),
    document("mail"),
    document("late", OPENED + timedelta(days=3)),
    document("undated", None),
    document("etiquette"),
)


def rules(**mining):
    resolver = LinkResolver(corpus_of(DOCUMENTS), not_knowledge=("etiquette",))
    return TicketRules(resolver, TicketMining(**mining))


def message(number, author, text="", *, hours=None, links=(), **more):
    marked = read_plain(text)
    return Message(
        id=str(number),
        author=author,
        actor=more.pop("actor", "human"),
        at=at(number if hours is None else hours),
        text=text,
        marks=more.pop("marks", marked.marks),
        links=marked.links + tuple(Link(f"{KB}/{name}") for name in links),
        **more,
    )


def closed(hours, author="ben", actor="human"):
    return StatusChange(at=at(hours), status="solved", closed=True, author=author, actor=actor)


def opened(hours):
    return StatusChange(at=at(hours), status="open", closed=False, author="ida", actor="human")


def ticket(*messages, changes=(), **more):
    given = {"id": "7", "source": "zendesk", "container": "33", "kind": "ticket", "title": "VPN", "asker": "ida"}
    return Thread(**(given | more), messages=messages, changes=changes)


ASKED = message(0, "ida", "I cannot get into the VPN")
ANSWERED = message(1, "ben", "Please read this", links=["vpn"], staff=True)


def rule_of(found):
    return [(hit.rule, hit.strength) for hit in found.rules]


def test_a_ticket_closed_with_a_link_is_a_strong_candidate():
    """The query is the asker's message, the document the one linked before it was closed."""
    found = rules().find(ticket(ASKED, ANSWERED, changes=[closed(2)]))
    assert rule_of(found) == [("ticket-link", "strong")]
    assert (found.query.text, found.query_line, found.asker, found.id) == ("I cannot get into the VPN", 0, "ida", "7")
    assert [(link.document, link.line, link.by, link.kind, link.created_before) for link in found.links] == [
        ("vpn", 1, "resolver", "url-in-text", True)
    ]
    assert [line.role for line in found.lines] == ["asker", "resolver"]
    assert (found.title.text, found.audience, found.at, found.selected_on) == ("VPN", "public", at(0), None)


@pytest.mark.parametrize(
    ("messages", "changes", "expected"),
    [
        ([ASKED, ANSWERED], [], None),
        ([ASKED, ANSWERED], [closed(0.5)], None),
        ([ASKED, message(1, "ben", "done", staff=True)], [closed(2)], None),
        ([ASKED, message(1, "ida", "I found it", links=["vpn"])], [closed(2)], None),
        ([ASKED, message(1, "ben", "x", links=["etiquette"], staff=True)], [closed(2)], None),
        ([ASKED, message(1, "cc", "me too", links=["vpn"], staff=False)], [closed(2)], None),
        ([ASKED, message(1, "bot", "auto", links=["vpn"], actor="bot")], [closed(2)], None),
        ([ASKED, message(1, "fin", "auto", links=["vpn"], actor="agent")], [closed(2)], None),
        ([ASKED, ANSWERED, message(2, "ben", "and this", staff=True)], [closed(3)], "medium"),
        ([ASKED, message(1, "ben", "x", links=["undated"], staff=True)], [closed(2)], "medium"),
        ([ASKED, ANSWERED], [closed(2), opened(3), closed(4)], "weak"),
        ([ASKED, ANSWERED], [closed(2), opened(3)], "weak"),
        ([ASKED, replace(ANSWERED, at=at(3.5))], [closed(2), opened(3), closed(4)], "strong"),
        ([ASKED, ANSWERED], [closed(2, None, "system")], "weak"),
        ([ASKED, ANSWERED], [closed(2), closed(99, None, "system")], "strong"),
        ([ASKED, ANSWERED], [StatusChange(at=None, status="closed", closed=True)], "strong"),
    ],
)
def test_what_a_link_is_worth_depends_on_who_when_and_what_followed(messages, changes, expected):
    """Later links, own links, programs' links and links of etiquette count nothing; reopening makes a link weak."""
    found = rules().find(ticket(*messages, changes=changes))
    assert (rule_of(found) if found else None) == ([("ticket-link", expected)] if expected else None)


def test_a_document_written_after_the_question_is_no_gold():
    """It is evidence that nothing answered then; an older document beside it stays gold."""
    late = ticket(ASKED, message(1, "ben", "now documented", links=["late"], staff=True), changes=[closed(99)])
    found = rules().find(late)
    assert rule_of(found) == [("no-answer", "medium")]
    assert found.rules[0].evidence == "answered later: the document was written 3 days after the question"
    assert found.no_answer_hint == ANSWERED_LATER
    assert [(link.document, link.created_before) for link in found.links] == [("late", False)]
    both = rules().find(ticket(ASKED, message(1, "ben", "x", links=["late", "vpn"], staff=True), changes=[closed(99)]))
    assert rule_of(both) == [("ticket-link", "strong")]
    assert both.no_answer_hint is None
    assert {(link.document, link.created_before) for link in both.links} == {("late", False), ("vpn", True)}


def test_what_the_system_attached_is_strongest():
    """A structured attachment needs no link in a text; what an assistant cited is no gold."""
    attached = (Link(f"{KB}/mail", "structured-attach"), Link(f"{KB}/vpn", "citation"))
    found = rules().find(ticket(ASKED, attached=attached))
    assert rule_of(found) == [("attach", "strong")]
    assert [(link.document, link.kind, link.by, link.line) for link in found.links] == [
        ("mail", "structured-attach", "other", -1),
        ("vpn", "citation", "agent", -1),
    ]
    assert found.selected_on == "zendesk-assistant"
    assert rules().find(ticket(ASKED, attached=attached[1:])) is None


def test_accepted_answers_with_a_known_link_count():
    """Another's answer is strong, the asker's own weak, one without a known document none; all are counted."""
    question = {"kind": "question", "source": "stackexchange", "title": "How do I reach the VPN?", "accepted": "1"}
    judge = rules()
    found = judge.find(ticket(ASKED, ANSWERED, **question))
    assert rule_of(found) == [("accepted", "strong")]
    assert [(link.kind, link.by) for link in found.links] == [("accepted-answer", "resolver")]
    own = judge.find(ticket(ASKED, message(1, "ida", "got it", links=["vpn"]), **question))
    assert rule_of(own) == [("accepted", "weak")]
    unknown = message(1, "ben", "https://elsewhere.example.org/x")
    assert judge.find(ticket(ASKED, unknown, **question)) is None
    assert judge.find(ticket(ASKED, message(1, "ben", "just do it"), **question)) is None
    assert (judge.counts["accepted answers"], judge.counts["accepted answers with a link"]) == (4, 3)


def test_nobody_is_not_the_same_as_nobody_else():
    """With the asker's account deleted, another nameless author is not taken for the asker."""
    question = {"kind": "question", "title": "How?", "accepted": "1", "asker": None}
    found = rules().find(ticket(replace(ASKED, author=None), replace(ANSWERED, author=None), **question))
    assert [line.role for line in found.lines] == ["asker", "resolver"]
    assert rule_of(found) == [("accepted", "strong")]


def test_the_real_forum_has_42_accepted_answers_with_a_link(data):
    """The rules count what the reader gives: 83 and 42."""
    judge = rules()
    for thread in StackExchange().read(data / "stackexchange", SourceOptions()).threads:
        judge.find(thread)
    assert (judge.counts["accepted answers"], judge.counts["accepted answers with a link"]) == (83, 42)


def test_duplicates_lead_to_what_the_original_led_to():
    """A known original is strong; one whose own answer is known is medium; others are counted."""
    judge = rules()
    judge.find(ticket(ASKED, ANSWERED, changes=[closed(2)], id="acme/kb#3"))
    repeated = ticket(ASKED, id="8", duplicate_of="https://github.com/acme/kb/issues/3")
    found = judge.find(repeated)
    assert rule_of(found) == [("duplicate", "medium")]
    assert [(link.document, link.kind) for link in found.links] == [("vpn", "duplicate-of")]
    known = judge.find(ticket(ASKED, id="9", duplicate_of=f"{KB}/mail"))
    assert rule_of(known) == [("duplicate", "strong")]
    assert judge.find(ticket(ASKED, id="10", duplicate_of="unheard-of")) is None
    assert judge.dropped == {"duplicates of questions that led to no known document": 1}


def test_silence_counts_only_where_the_end_of_the_export_is_known():
    """A question without a reply in fourteen days is weak evidence; a bot's reply is none."""
    alone = ticket(ASKED, message(1, "bot", "we will look", actor="bot"))
    assert rules().find(alone) is None
    assert rules(now=at(24 * 13)).find(alone) is None
    found = rules(now=at(24 * 15)).find(alone)
    assert rule_of(found) == [("no-answer", "weak")]
    assert rules(now=at(24 * 15)).find(ticket(ASKED, message(1, "ben", "hm"))) is None


def test_the_query_is_the_first_public_wording_of_who_asked():
    """An agent who opened it for somebody, quoted mail and internal notes are not the query; the text stays whole."""
    text = "Here again\n\nOn 3 May 2024, Ben wrote:\n> no\n"
    quote = (Mark(Span(12, len(text)), "quote"),)
    forwarded = message(1, "ida", "> old words only\n", marks=(Mark(Span(0, 17), "quote"),))
    thread = ticket(
        message(0, "ben", "opened for Ida", staff=True),
        forwarded,
        message(2, "ida", "secret", audience="internal"),
        message(3, "ida", text, marks=quote),
        message(4, "ben", "x", links=["vpn"], staff=True),
        changes=[closed(5)],
    )
    found = rules().find(thread)
    assert (found.query_line, found.query.text, found.query.marks) == (3, text, quote)
    assert found.audience == "internal"
    assert [line.role for line in found.lines] == ["resolver", "asker", "asker", "asker", "resolver"]


def test_a_forum_question_asks_by_its_title_unless_told_otherwise():
    """Its asker wrote the title to be found by; with `body` it is the first post, and the title stands beside."""
    question = ticket(ASKED, ANSWERED, kind="question", accepted="1")
    by_title = rules().find(question)
    assert (by_title.query.text, by_title.query_line, by_title.title) == ("VPN", -1, None)
    by_body = rules(question="body").find(question)
    assert (by_body.query_line, by_body.title.text) == (0, "VPN")


def test_a_ticket_in_which_the_asker_says_nothing_is_counted():
    """Without a person's wording there is no query."""
    judge = rules()
    assert judge.find(ticket(message(0, "ben", "by phone", staff=True), ANSWERED, changes=[closed(2)])) is None
    assert judge.dropped == {"tickets without a message of the asker": 1}


def test_canned_replies_are_capped_by_macro_and_by_wording():
    """The same document by the same macro, or the same sentence, counts five times; others are not touched."""
    judge = rules(macro_cap=2)
    canned = ticket(ASKED, ANSWERED, changes=[closed(2)], macros=frozenset({"360"}))
    assert [judge.find(canned) is not None for _ in range(4)] == [True, True, False, False]
    other = ticket(
        ASKED, message(1, "ben", "see", links=["mail"], staff=True), changes=[closed(2)], macros=frozenset({"360"})
    )
    assert judge.find(other) is not None
    assert judge.dropped == {"tickets answered by a canned reply that counted 2 times before": 2}
    worded = rules(macro_cap=2)
    sentence = f"Hello {{}},\nplease follow the steps in our guide at {KB}/vpn and write again.\nBen"
    found = [
        worded.find(ticket(ASKED, message(1, "ben", sentence.format(name), staff=True), changes=[closed(2)]))
        for name in ("Ida", "Lee", "Ana", "Jo")
    ]
    assert [one is not None for one in found] == [True, True, False, False]
    bare = rules(macro_cap=2)
    short = ticket(ASKED, message(1, "ben", f"{KB}/vpn", staff=True), changes=[closed(2)])
    assert all(bare.find(short) is not None for _ in range(4))


def test_rules_can_be_switched_off():
    """Only the rules named run."""
    thread = ticket(ASKED, ANSWERED, changes=[closed(2)], attached=(Link(f"{KB}/mail", "structured-attach"),))
    assert rule_of(rules().find(thread)) == [("attach", "strong"), ("ticket-link", "strong")]
    assert rule_of(rules(rules=frozenset({"attach"})).find(thread)) == [("attach", "strong")]
    assert rules(rules=frozenset()).find(thread) is None
    assert TicketMining().rules == frozenset(TICKET_RULES)


def test_evidence_never_quotes_the_thread():
    """Numbers and names of rules only."""
    thread = ticket(ASKED, ANSWERED, message(2, "ben", "zanzibar", staff=True), changes=[closed(3), opened(4)])
    found = rules().find(thread)
    assert (
        found.rules[0].evidence
        == "1 linked before it was closed; 1 replies later than the link; reopened after the link"
    )


def test_times_without_zone_are_utc():
    """A corpus that dates its documents without a zone can be compared all the same."""
    resolver = LinkResolver(corpus_of([document("vpn", datetime(2024, 5, 3, 7))]))  # noqa: DTZ001
    found = TicketRules(resolver).find(ticket(ASKED, ANSWERED, changes=[closed(2)]))
    assert found.links[0].created_before is True


def test_from_a_zendesk_export_to_a_candidate(tmp_path):
    """Reader and rules together: the reopened ticket is weak, the note stays out unless opened."""
    again = [
        *zendesk_solved(8, f"{KB}/mail")[:2],
        zendesk_audit(
            4, 8, 501, "2024-05-03T10:00:00Z", zendesk_comment(15, 501, "no"), zendesk_status("open", "solved")
        ),
    ]
    hidden = [
        zendesk_audit(1, 9, 501, "2024-05-03T08:00:00Z", zendesk_comment(21, 501, "Where?")),
        zendesk_audit(
            2,
            9,
            900,
            "2024-05-03T09:00:00Z",
            zendesk_comment(22, 900, f'<a href="{KB}/vpn">vpn</a>', public=False),
            zendesk_status("solved", "new"),
        ),
    ]
    tickets = [zendesk_ticket(7), zendesk_ticket(8), zendesk_ticket(9)]
    written(tmp_path / "t.json", {"tickets": tickets})
    written(tmp_path / "a.json", {"audits": [*zendesk_solved(7, f"{KB}/vpn"), *again, *hidden]})

    def mined(**options):
        judge = rules()
        threads = Zendesk().read(tmp_path, SourceOptions(**options)).threads
        return {found.id: (rule_of(found), found.audience) for thread in threads if (found := judge.find(thread))}

    assert mined() == {"7": ([("ticket-link", "strong")], "public"), "8": ([("ticket-link", "weak")], "public")}
    opened_too = mined(open_audiences=frozenset({"public", "internal"}))
    assert opened_too["9"] == ([("ticket-link", "strong")], "internal")


def test_from_intercom_wrong_and_right_document_are_both_known(tmp_path):
    """What the assistant cited and what a person linked after it stand side by side."""
    resolver = LinkResolver(corpus_of([document("wrong"), document("limits")]))
    path = written(tmp_path / "c.json", [intercom_conversation()])
    (thread,) = INTERCOM.read(path, SourceOptions()).threads
    found = TicketRules(resolver).find(thread)
    assert rule_of(found) == [("ticket-link", "strong")]
    assert found.selected_on == "intercom-assistant"
    assert [(link.document, link.by, link.kind) for link in found.links] == [
        ("wrong", "bot", "url-in-text"),
        ("limits", "resolver", "url-in-text"),
        ("wrong", "agent", "citation"),
    ]
    assert found.rules[0].evidence.endswith("an assistant had cited other documents")
