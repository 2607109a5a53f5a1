"""The account kept of one export, and what waits in it."""

from datetime import date

import pytest

from builders.tickets import written
from findback.errors import DataError
from findback.model.thread import Person, Place, Thread
from findback.sources.format import Reading, SourceOptions
from findback.sources.tickets.held import Held, HeldRecord
from findback.sources.tickets.ledger import Ledger


def open_ledger(path="export", **options):
    reading = Reading()
    return Ledger(path, SourceOptions(**options), reading), reading


def test_somebody_met_twice_stands_in_the_roster_once_with_all_names():
    """An id keeps its place; later names and addresses join it, so that each of them can be redacted."""
    ledger, reading = open_ledger()
    ledger.meet(Person("1", ("Ida",)))
    ledger.meet(Person("2", ("Bo",)))
    ledger.meet(Person("1", ("Ida", "ida-o"), ("ida@example.org",), gone=True))
    ledger.meet(Person("1", ("Ida",), phones=("+44 20 7946 0000",)))
    assert reading.people == [
        Person("1", ("Ida", "ida-o"), ("ida@example.org",), ("+44 20 7946 0000",), gone=True),
        Person("2", ("Bo",)),
    ]


def test_held_records_come_back_once_in_order_and_the_rest_is_counted():
    """What belongs to a ticket is given once; records whose ticket never came are left, also dates of tables."""
    held = Held()
    held.keep("7", {"body": "one"}, 3, Place("a.jsonl", 40))
    held.keep("8", {"body": "stray", "on": date(2024, 5, 3)}, None, Place("b.parquet", 0))
    held.keep("7", {"body": "two"}, None, Place("zip!c.json", 9), "joined")
    assert len(held) == 3
    assert held.take("7") == [
        HeldRecord("", {"body": "one"}, 3, Place("a.jsonl", 40)),
        HeldRecord("joined", {"body": "two"}, None, Place("zip!c.json", 9)),
    ]
    assert held.take("7") == []
    assert len(held) == 1
    assert held.take("8")[0].values == {"body": "stray", "on": "2024-05-03"}


def test_settling_counts_orphans_and_then_says_all_faults():
    """Orphans are counted whether or not there are faults; faults end the reading unless they may be skipped."""
    ledger, reading = open_ledger()
    ledger.held.keep("7", {}, 1, Place("a.jsonl", 0))
    ledger.faults.add("a.jsonl", 2, "id is missing")
    with pytest.raises(DataError, match="export has 1 fault"):
        ledger.settle("stray comments")
    assert reading.skipped.counts == {"stray comments": 1}
    ledger, reading = open_ledger(skip_bad=True)
    ledger.faults.add("a.jsonl", 2, "id is missing")
    ledger.settle()
    assert reading.skipped.counts == {"records that cannot be read": 1}
    assert reading.notes == ["left out: a.jsonl:2: id is missing"]


def test_members_are_opened_and_others_counted(tmp_path):
    """Files that hold no records are counted where the reading can see them."""
    written(tmp_path / "tickets.json", [])
    written(tmp_path / "logo.png", b"x")
    ledger, reading = open_ledger(tmp_path)
    with ledger.open_members() as (_, members):
        assert members == ["tickets.json"]
    assert reading.skipped.counts == {"files of other kinds": 1}


def test_a_ticket_is_admitted_once_and_only_within_scope():
    """A second ticket of one id is counted; one without a message that may be read yields nothing."""
    ledger, reading = open_ledger()
    assert [ledger.is_further("7", "older copies"), ledger.is_further("7", "older copies")] == [False, True]
    assert list(ledger.admit(None)) == []
    assert list(ledger.admit(Thread(id="7", source="jira", container="HELP"))) == []
    assert reading.skipped.counts == {
        "older copies": 1,
        "tickets and questions without a message that may be read": 1,
    }
