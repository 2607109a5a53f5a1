"""Tickets by a mapping of fields."""

import pytest

from builders.tickets import (
    KB,
    SERVICENOW_HEADER,
    freshdesk_ticket,
    intercom_conversation,
    lines_of,
    servicenow_row,
    written,
)
from findback.errors import DataError, SettingsError
from findback.model.thread import Link
from findback.sources.format import Source, SourceOptions
from findback.sources.tickets.mapped import FRESHDESK, INTERCOM, SERVICENOW, TICKETS
from findback.sources.tickets.mapping import split_journal


def read(source, path, **options):
    reading = source.read(path, SourceOptions(**options))
    return list(reading.threads), reading


def test_freshdesk_tickets_with_conversations(tmp_path):
    """Status 5 is closed, private notes are internal, outgoing replies are staff's."""
    path = written(tmp_path / "tickets.json", [freshdesk_ticket()])
    (thread,), reading = read(FRESHDESK, path)
    assert isinstance(FRESHDESK, Source)
    assert FRESHDESK.recognise(path) == "tickets with description_text and responder_id"
    assert (thread.id, thread.source, thread.asker, thread.title, thread.tags) == (
        "31",
        "freshdesk",
        "61",
        "Invoice",
        ("billing",),
    )
    assert [(m.author, m.text, m.staff, m.extras) for m in thread.messages] == [
        ("61", "Where is my invoice?", None, ()),
        ("71", "See invoices", True, ("screen.png",)),
    ]
    assert thread.messages[1].links == (Link(f"{KB}/invoices", label="invoices"),)
    assert [(c.closed, c.at.isoformat(), c.author) for c in thread.changes] == [
        (True, "2024-05-03T10:00:00+00:00", "71")
    ]
    assert reading.skipped.counts == {"internal notes": 1}
    (opened,), _ = read(FRESHDESK, path, open_audiences=frozenset({"public", "internal"}))
    assert opened.messages[2].audience == "internal"


def test_freshdesk_export_with_rows_of_their_own(tmp_path):
    """Wrapped tickets and conversations in another file are joined by ticket_id."""
    ticket = freshdesk_ticket()
    parts = [part | {"ticket_id": 31} for part in ticket.pop("conversations")]
    written(tmp_path / "tickets.json", [{"helpdesk_ticket": ticket}])
    written(tmp_path / "conversations.jsonl", lines_of([*parts, parts[0] | {"ticket_id": 99}]))
    written(tmp_path / "contacts.json", {"contacts": [{"id": 61, "name": "Ida Okafor", "email": "ida@example.org"}]})
    (thread,), reading = read(FRESHDESK, tmp_path)
    assert [m.text for m in thread.messages] == ["Where is my invoice?", "See invoices"]
    assert [(p.id, p.names, p.mails) for p in reading.people] == [("61", ("Ida Okafor",), ("ida@example.org",))]
    assert reading.skipped.counts == {"internal notes": 1, "messages whose ticket is not in the export": 1}


def test_intercom_conversations(tmp_path):
    """Epochs are UTC; bot, note and close parts are told apart; what the assistant used is a citation."""
    path = written(tmp_path / "c.json", {"conversations": [intercom_conversation()]})
    (thread,), reading = read(INTERCOM, path)
    assert INTERCOM.recognise(path) == "conversations with source and conversation_parts"
    assert [(m.author, m.actor, m.text, m.staff) for m in thread.messages] == [
        ("u1", "human", "What is the upload limit?", False),
        ("fin", "bot", "See this", False),
        ("a1", "human", "It is in limits", True),
    ]
    assert thread.messages[0].at.isoformat() == "2024-05-03T08:00:00+00:00"
    assert [(c.closed, c.author, c.actor) for c in thread.changes] == [(True, "a1", "human")]
    assert thread.attached == (Link(f"{KB}/wrong", "citation", "Wrong"),)
    assert [(p.id, p.mails) for p in reading.people] == [
        ("u1", ()),
        ("fin", ("fin@example.org",)),
        ("a1", ("a1@example.org",)),
    ]
    assert reading.skipped.counts == {"internal notes": 1}


def test_an_assistants_part_is_an_agents(tmp_path):
    """A part written by an AI agent is neither a person's nor a plain bot's."""
    conversation = intercom_conversation()
    conversation["conversation_parts"]["conversation_parts"][0]["author"]["from_ai_agent"] = True
    (thread,), _ = read(INTERCOM, written(tmp_path / "c.json", [conversation]))
    assert thread.messages[1].actor == "agent"


def test_servicenow_csv(tmp_path):
    """KB numbers are links, journals become messages, work notes are internal, close notes the resolver's."""
    path = written(tmp_path / "incident.csv", SERVICENOW_HEADER + "\n" + servicenow_row() + "\n")
    (thread,), reading = read(SERVICENOW, path)
    assert SERVICENOW.recognise(path) == "incidents with number, short_description and state"
    assert [(m.author, m.text, m.staff) for m in thread.messages] == [
        ("Ida Okafor", "The printer on floor 3 is offline", None),
        ("Ben Sorel", "Please try a restart", True),
        ("Ben Sorel", "Solved with KB0000042", True),
    ]
    assert thread.messages[2].links == (Link("KB0000042"),)
    assert [(c.status, c.closed, c.author) for c in thread.changes] == [("Closed", True, "Ben Sorel")]
    assert (thread.id, thread.container, thread.asker) == ("INC0010001", "Printing", "Ida Okafor")
    assert [person.names for person in reading.people] == [("Ida Okafor",), ("Ben Sorel",)]
    assert reading.skipped.counts == {"internal notes": 1}


def test_servicenow_json_with_value_pairs_and_the_join_table(tmp_path):
    """Display values are what people see; attached articles come from m2m_kb_task beside."""

    def pair(shown):
        return {"display_value": shown, "value": "0a1b"}

    row = {
        "number": pair("INC0010002"),
        "short_description": pair("Mail full"),
        "description": pair(""),
        "caller_id": pair("Ida Okafor"),
        "opened_at": pair("2024-05-03 08:00:00"),
        "state": pair("Resolved"),
    }
    written(tmp_path / "incident.json", {"records": [row]})
    written(
        tmp_path / "m2m_kb_task.json", {"records": [{"task": pair("INC0010002"), "kb_knowledge": pair("KB0000007")}]}
    )
    (thread,), _ = read(SERVICENOW, tmp_path)
    assert [m.text for m in thread.messages] == ["Mail full"]
    assert thread.attached == (Link("KB0000007", "structured-attach"),)
    assert thread.changes[0].closed


def test_localised_headers_semicolons_and_windows_1252(tmp_path):
    """A German Excel export reads like any other, and that it is no UTF-8 is noted."""
    text = (
        "Nummer;Kurzbeschreibung;Beschreibung;Anrufer;Geöffnet;Status\r\n"
        "INC1;Drucker;Gerät gestört;Ida Ökafor;03.05.2024 08:00:00;Geschlossen\r\n"
    )
    path = written(tmp_path / "i.csv", text.encode("cp1252"))
    (thread,), reading = read(SERVICENOW, path)
    assert (thread.messages[0].text, thread.asker) == ("Gerät gestört", "Ida Ökafor")
    assert thread.messages[0].at.isoformat() == "2024-05-03T08:00:00+00:00"
    assert thread.changes[0].closed
    assert reading.notes == [f"{path} is not UTF-8 and was read as Windows-1252"]


@pytest.mark.parametrize(
    ("others", "expected", "noted"),
    [
        ("13/05/2024 08:00:00", "2024-06-05", False),
        ("05/13/2024 08:00:00", "2024-05-06", False),
        ("01/02/2024 08:00:00", "2024-06-05", True),
    ],
)
def test_one_clear_date_tells_the_order_of_all(tmp_path, others, expected, noted):
    """05/06/2024 means what the rest of the export means; where nothing tells, that is noted."""
    rows = [
        servicenow_row(opened_at="05/06/2024 08:00:00", resolved_at="", number="INC1"),
        servicenow_row(opened_at=others, resolved_at="", number="INC2"),
    ]
    path = written(tmp_path / "i.csv", "\n".join([SERVICENOW_HEADER, *rows]) + "\n")
    threads, reading = read(SERVICENOW, path)
    assert threads[0].messages[0].at.date().isoformat() == expected
    assert bool(reading.notes) is noted


def test_parquet_rows_are_tickets(tmp_path):
    """The same mapping reads a Parquet file."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {"number": "INC1", "short_description": "Mail", "description": "Mail is slow", "caller_id": "Ida", "state": "7"}
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "i.parquet")
    (thread,), _ = read(SERVICENOW, tmp_path / "i.parquet")
    assert (thread.id, thread.messages[0].text, thread.changes[0].closed) == ("INC1", "Mail is slow", True)


OWN = {
    "ticket.id": "Ticket ID | Nr",
    "ticket.asker": "Customer",
    "ticket.created": "Opened",
    "ticket.status": "State",
    "ticket.closed": "done",
    "opening.text": "Question",
    "messages.at": "replies",
    "messages.text": "body",
    "messages.author": "who.id",
    "messages.created": "at",
}


def test_a_users_own_mapping_reads_any_tickets(tmp_path):
    """CSV and nested JSON are read by the places given; the first place that is there counts."""
    path = written(
        tmp_path / "own.csv", "Nr,Customer,Opened,State,Question\n1,ida,2024-05-03T08:00:00Z,done,Where is it?\n"
    )
    (thread,), _ = read(TICKETS, path, mapping=OWN)
    assert (thread.id, thread.asker, thread.changes[0].closed) == ("1", "ida", True)
    nested = {
        "Ticket ID": 2,
        "Customer": "ida",
        "Opened": 1714723200,
        "State": "open",
        "Question": "Where?",
        "replies": [{"body": f"{KB}/a", "who": {"id": "ben"}, "at": 1714726800}],
    }
    (thread,), _ = read(TICKETS, written(tmp_path / "own.json", [nested]), mapping=OWN)
    assert [(m.author, m.text) for m in thread.messages] == [("ida", "Where?"), ("ben", f"{KB}/a")]


def test_mappings_that_make_no_sense_are_settings_errors(tmp_path):
    """Unknown names are listed with the known ones; what is needed is said."""
    path = written(tmp_path / "own.json", [{}])
    with pytest.raises(SettingsError, match="need a mapping"):
        TICKETS.read(path, SourceOptions())
    with pytest.raises(SettingsError, match=r"no ticket has: ticket\.colour") as raised:
        TICKETS.read(path, SourceOptions(mapping={**OWN, "ticket.colour": "c"}))
    assert "ticket.closed_at" in str(raised.value.hint)
    with pytest.raises(SettingsError, match="does not say where"):
        TICKETS.read(path, SourceOptions(mapping={"ticket.id": "id"}))


@pytest.mark.parametrize(
    ("source", "rows", "message"),
    [
        (FRESHDESK, [freshdesk_ticket(1), freshdesk_ticket(2, created_at="soon")], "created_at is no time"),
        (
            FRESHDESK,
            [freshdesk_ticket(1), freshdesk_ticket(2, subject=[1])],
            "subject is a JSON list where text is expected",
        ),
        (
            FRESHDESK,
            [freshdesk_ticket(1), freshdesk_ticket(2, conversations="x")],
            "conversations holds a JSON str where messages are expected",
        ),
        (
            INTERCOM,
            [intercom_conversation("1"), intercom_conversation("2", title="a\0")],
            "title holds a NUL character",
        ),
    ],
)
def test_wrong_fields_are_faults_with_file_and_line(tmp_path, source, rows, message):
    """Each fault says where; the good ticket is kept where bad ones may be skipped."""
    path = written(tmp_path / "t.jsonl", lines_of(rows))
    with pytest.raises(DataError) as raised:
        read(source, path)
    assert [(f.path, f.line, f.message) for f in raised.value.faults] == [(str(path), 2, message)]
    threads, _ = read(source, path, skip_bad=True)
    assert len(threads) == 1


def test_broken_csv_is_a_fault_with_its_line(tmp_path):
    """A row with too few cells, or an open quotation mark, is named by line."""
    path = written(tmp_path / "i.csv", f"{SERVICENOW_HEADER}\nINC1,too few\n{servicenow_row()}\n")
    with pytest.raises(DataError) as raised:
        read(SERVICENOW, path)
    assert [(f.line, f.message) for f in raised.value.faults] == [(2, "2 cells, and the header has 12")]
    assert len(read(SERVICENOW, path, skip_bad=True)[0]) == 1


def test_journals_are_read_oldest_first():
    """Each note has its time, author and kind; text without a heading is no note."""
    text = (
        "2024-05-03 10:00:00 - Bo (Work notes)\nb\n\n"
        "2024-05-03 09:00:00 - Ida Okafor (Additional comments)\na\nmore\n\n"
    )
    assert [note[1:] for note in split_journal(text)] == [
        ("Ida Okafor", "Additional comments", "a\nmore"),
        ("Bo", "Work notes", "b"),
    ]
    assert list(split_journal("free text")) == []


def test_other_formats_are_not_recognised(tmp_path):
    """Each mapping knows its own records only."""
    path = written(tmp_path / "t.json", [freshdesk_ticket()])
    assert [source.recognise(path) for source in (INTERCOM, SERVICENOW, TICKETS)] == [None, None, None]
    assert FRESHDESK.recognise(written(tmp_path / "x.csv", "\0\1\2")) is None
