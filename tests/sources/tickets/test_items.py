"""Records of JSON files, one at a time."""

import io
import json
import random

import pytest

from findback.model.thread import Skipped
from findback.sources.faults import Faults
from findback.sources.tickets import items
from findback.sources.tickets.items import Items, is_lines


def taken(raw, *envelopes):
    faults, skipped = Faults(), Skipped()
    found = list(Items(io.BytesIO(raw), "f.json", faults, skipped, envelopes=frozenset(envelopes)))
    return found, [str(fault) for fault in faults.found], skipped.counts


def test_arrays_envelopes_and_single_objects_give_records():
    """Items say which array held them; an envelope's other fields come as a record of their own."""
    found, faults, _ = taken(b'\xef\xbb\xbf{"tickets": [{"id": 1}, {"id": 2, "tickets": []}],\n "count": 2}', "tickets")
    assert [(item.array, item.value) for item in found] == [
        ("tickets", {"id": 1}),
        ("tickets", {"id": 2, "tickets": []}),
        (None, {"count": 2}),
    ]
    assert faults == []
    found, _, _ = taken(b'{"id": 3, "tickets": [{"id": 4}]}', "tickets")
    assert [item.value for item in found] == [{"id": 3, "tickets": [{"id": 4}]}]


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_pieces_of_any_size_give_the_same_records(monkeypatch, chunk):
    """Values, lines and offsets do not depend on where a read ends."""
    monkeypatch.setattr(items, "_CHUNK", chunk)
    chance = random.Random(3)
    for _ in range(100):
        rows = [
            {
                "id": number,
                "t": "".join(chance.choice('a"\\{}[],:\n é') for _ in range(chance.randint(0, 20))),
                "v": chance.choice([None, 1.5, True, [1, [2]], {"q": {}}]),
            }
            for number in range(chance.randint(0, 4))
        ]
        raw = json.dumps({"tickets": rows, "n": 12}, indent=chance.choice([None, 1])).encode()
        found, faults, _ = taken(raw, "tickets")
        assert [item.value for item in found if item.array] == rows
        assert faults == []
        for item in found:
            if item.array:
                assert raw[item.offset : item.offset + 1] == b"{"
                assert item.line == raw.count(b"\n", 0, item.offset) + 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'[{"a": 1}\n{"b": 2}]', "f.json:2: no comma between two items of an array"),
        (b'{"a":, "b": 1}', "f.json:1: a field or item has no value"),
        (b'\n{"a" 1}', "f.json:2: no colon after a field's name"),
        (b'{"a": 1\n "b": 2}', "f.json:2: no comma between two fields of an object"),
        (b"{1: 2}", "f.json:1: a field has no name in quotation marks"),
        (b"[1]", "f.json:1: a JSON int where an object is expected"),
        (b'[{"a": nul}]', "f.json:1: not valid JSON"),
        (b'{"a": "x', "f.json:1: the file ends inside a record: it is not whole"),
        (b"[", "f.json:1: the file ends inside an array: it is not whole"),
        (b"hello", "f.json:1: is no JSON record"),
        (b"[" * 100_000, "f.json:1: the file ends inside a record"),
        (b"[" * 200 + b"]" * 200, "f.json:1: nested deeper than 100 levels"),
    ],
)
def test_what_makes_no_sense_is_one_fault_with_its_line(raw, message):
    """Reading ends there without an exception."""
    _, faults, _ = taken(raw)
    assert len(faults) == 1
    assert faults[0].startswith(message)


def test_a_record_that_is_too_long_is_counted_and_passed_over(monkeypatch):
    """Its bytes are never held together, and lines after it still count."""
    monkeypatch.setattr(items, "MOST_ITEM", 1_000)
    monkeypatch.setattr(items, "_CHUNK", 64)
    found, faults, counts = taken(b'[{"id": 1},\n{"x": "' + b'y\\"' * 2_000 + b'"},\n{"id": 2}]')
    assert [(item.value, item.line) for item in found] == [({"id": 1}, 1), ({"id": 2}, 3)]
    assert (faults, counts) == ([], {items.TOO_LONG: 1})


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b'{"a": 1}\n{"b": 2}\n', "x.json", True),
        (b'{"a": 1}\n', "x.json", False),
        (b'{\n"a": 1}\n', "x.json", False),
        (b"[{}]\n[{}]", "x.json", False),
        (b"anything", "x.NDJSON", True),
    ],
)
def test_lines_are_told_from_documents(head, name, expected):
    """Two objects on two lines, or the file's name, say that it is one record a line."""
    assert is_lines(head, name) is expected
