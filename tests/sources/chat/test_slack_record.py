"""Day files of Slack, read field by field where they are as Slack writes them, and whole where they are not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from builders.slack import small_export, stamp
from findback.errors import DataError
from findback.model.thread import Thread
from findback.sources.chat import slack
from findback.sources.chat.slack_record import Record, make_records, open_value, read_day
from findback.sources.format import Reading, SourceOptions

FULL: dict[str, Any] = {
    "type": "message",
    "ts": stamp(0),
    "thread_ts": stamp(0),
    "user": "U1AAAA",
    "text": "where is the größte guide? \U0001f600",
    "team": "T1",
    "user_profile": {"real_name": "Ida Torvund"},
    "blocks": [{"type": "rich_text", "elements": []}],
    "reactions": [{"name": "eyes", "users": ["U2BBBB"]}],
    "edited": {"ts": stamp(5)},
    "files": [{"name": "a.pdf"}],
    "attachments": [{"from_url": "https://docs.example.org/a"}],
}


def read_file(folder: Path, raw: bytes, **options: Any) -> tuple[list[Thread], Reading]:
    """Return what an export of one day file gives."""
    export = small_export()
    export.files["help-network/2026-09-01.json"] = raw
    reading = slack.read(export.write(folder), SourceOptions(**options))
    return list(reading.threads or ()), reading


def find_faults(folder: Path, raw: bytes) -> list[tuple[int | None, str]]:
    """Return lines and messages of what is wrong with an export of one day file."""
    with pytest.raises(DataError) as caught:
        read_file(folder, raw)
    assert {fault.path.rpartition("/")[2] for fault in caught.value.faults} == {"2026-09-01.json"}
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_what_is_not_needed_yet_is_not_taken_apart():
    """Blocks, profiles and the like stay as they are written, and hold the same once they are opened."""
    (record,) = read_day(orjson.dumps([FULL]))
    later = ("user_profile", "blocks", "reactions", "edited", "files", "attachments")
    assert {type(getattr(record, name)) for name in later} == {msgspec.Raw}
    assert {name: open_value(getattr(record, name)) for name in later} == {name: FULL[name] for name in later}
    assert (record.ts, record.thread_ts, record.user, record.text) == (
        FULL["ts"], FULL["thread_ts"], "U1AAAA", FULL["text"],
    )  # fmt: skip
    assert (record.bot_id, record.hidden, record.message) == (None, None, None)


@pytest.mark.parametrize("written", [orjson.dumps, lambda day: json.dumps(day, indent=1).encode()])
def test_both_ways_of_reading_give_the_same_threads(tmp_path: Path, written: Any):
    """A message without its usual types has its whole file parsed, and nothing else in it reads differently."""
    quick, _ = read_file(tmp_path / "quick", written([FULL]))
    odd, _ = read_file(tmp_path / "odd", written([FULL, {"ts": stamp(9000), "user": "U2BBBB", "text": 5}]))
    (message,) = quick[0].messages
    assert (message.edited, message.reactions[0].authors, message.extras) == (True, ("U2BBBB",), ("a.pdf",))
    assert [link.url for link in message.links] == ["https://docs.example.org/a"]
    assert odd[0].messages == (replace(message, place=odd[0].messages[0].place),)
    assert [thread.messages[0].text for thread in odd] == [FULL["text"], ""]


@pytest.mark.parametrize(
    "odd",
    [
        {"user": {"id": "U2BBBB"}}, {"thread_ts": ["x"]}, {"bot_id": 7}, {"hidden": "yes"}, {"username": ["x"]},
        {"subtype": ["x"]}, {"subtype": {}}, {"deleted_ts": 5, "subtype": "message_deleted"}, {"ts": 1788247568.3225},
        {"files": "x", "attachments": 5, "reactions": {"a": 1}, "edited": True, "user_profile": [1], "blocks": 5},
    ],
)  # fmt: skip
def test_fields_of_the_wrong_type_cost_no_other_message(tmp_path: Path, odd: dict[str, Any]):
    """Whatever one message holds, those beside it are read; it is read or counted itself."""
    strange = {"ts": stamp(9000), "user": "U2BBBB", "text": "strange", **odd}
    threads, reading = read_file(tmp_path, orjson.dumps([FULL, strange]))
    assert threads[0].messages[0].text == FULL["text"]
    told = [thread for thread in threads if thread.messages[-1].text == "strange"]
    assert len(told) + sum(reading.skipped.counts.values()) == (0 if "deleted_ts" in odd else 1)


@pytest.mark.parametrize("value", [None, 5, "words", [], True])
def test_what_is_no_message_is_named_by_its_place(tmp_path: Path, value: Any):
    """Entries that are no objects are faults with their number; the others are read."""
    raw = orjson.dumps([FULL, value, {"text": "no time stamp"}])
    assert find_faults(tmp_path, raw) == [(None, "message 2: no object"), (None, "message 3: no time stamp (ts)")]
    assert len(read_file(tmp_path, raw, skip_bad=True)[0]) == 1


@pytest.mark.parametrize("field", ["text", "team", "blocks"])
@pytest.mark.parametrize(
    "value", [b'"\xff"', b'"\xed\xa0\x80"', b'"\\ud800"', b'"\x01"', b"NaN", b"01", b"[1,]", b"[" * 200_000]
)
def test_broken_json_is_a_fault_wherever_it_stands(tmp_path: Path, field: str, value: bytes):
    """Bad encodings, lone surrogates, numbers and nesting are found in fields that are read, skipped or put off."""
    raw = b'[{"ts": "1788238800.0",\n "%s": %s}]' % (field.encode(), value)
    ((line, message),) = find_faults(tmp_path, raw)
    # What is not even UTF-8 has no lines yet.
    assert line == (1 if value[1] > 127 else 2)
    assert message.startswith("not JSON: ")


def test_numbers_too_large_are_faults_of_the_message_that_is_read(tmp_path: Path):
    """A number no parser takes costs its message where it is needed, and nothing where it is not."""
    message = orjson.dumps(FULL)
    huge = message.replace(b'"a.pdf"', b"1e999")
    unread = message.replace(b'"T1"', b"1e999").replace(b'"Ida Torvund"', b"9" * 400)
    ((line, said),) = find_faults(tmp_path, b"[%s,%s]" % (huge, unread))
    assert line is None
    assert said.startswith("message 1: not JSON: ")
    threads, _ = read_file(tmp_path, b"[%s,%s]" % (huge, unread), skip_bad=True)
    assert [message.text for message in threads[0].messages] == [FULL["text"]]


def test_the_last_of_two_equal_keys_counts_both_ways():
    """Keys written twice mean the same, whether a file is parsed as a whole or not."""
    raw = b'[{"ts": "1.0", "text": "first", "text": "second", "edited": 1, "edited": {"ts": "2"}%s}]'
    (quick,), (whole,) = read_day(raw % b""), read_day(raw % b', "user": 5')
    assert (quick.text, whole.text, open_value(quick.edited), whole.edited) == (
        "second", "second", {"ts": "2"}, {"ts": "2"},
    )  # fmt: skip


@pytest.mark.parametrize("way", [[], [5]])
def test_null_is_the_same_as_nothing(tmp_path: Path, way: list[Any]):
    """Exporters that write every field read like those that leave out what is empty: here, joined by time."""
    nulls = dict.fromkeys(("subtype", "bot_id", "reactions", "edited", "files", "attachments", "hidden", "blocks"))
    talk = [{"ts": stamp(number), "user": "U1AAAA", "text": f"vpn {number}?"} for number in range(3)]
    plain, _ = read_file(tmp_path / "plain", orjson.dumps(talk))
    full, _ = read_file(tmp_path / "full", orjson.dumps([nulls | one for one in talk] + way), skip_bad=True)
    assert full[0].messages == tuple(
        replace(message, place=there.place) for message, there in zip(plain[0].messages, full[0].messages, strict=True)
    )
    assert (len(full), full[0].kind) == (1, "gap")


def test_a_page_of_messages_and_other_values_are_told_apart():
    """A day may lie in `messages`; anything else stays what it is."""
    assert read_day(b'{"messages": [{"ts": "1.0"}]}') == [Record(ts="1.0")]
    assert read_day(b'{"not": "a list"}') == {"not": "a list"}
    assert make_records([{"ts": 1, "more": 2}, None]) == [Record(ts=1), None]  # type: ignore[arg-type]
