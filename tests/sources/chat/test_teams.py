"""Microsoft Teams messages from Graph."""

from pathlib import Path

import pytest

from builders.chats import CHANNEL, CHAT, teams_channel, teams_mention, teams_message, write_json, write_lines
from findback.errors import DataError
from findback.model.thread import Thread
from findback.sources import shelf
from findback.sources.chat import teams
from findback.sources.format import Reading, Source, SourceOptions


def read(path: Path, **options: object) -> tuple[list[Thread], Reading]:
    reading = teams.read(path, SourceOptions(**options))  # type: ignore[arg-type]
    assert reading.threads is not None
    return list(reading.threads), reading


SAFE = "https://eur02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fdocs.example.org%2Fvpn&amp;data=05"
QUESTION = teams_message("1", "u1", 0, "<p>where is the vpn&nbsp;page?</p>", subject="VPN")
ANSWER = teams_message(
    "2",
    "u2",
    5,
    f'<p><at id="0">Name of u1</at> see <a href="{SAFE}">the page</a></p><attachment id="a"></attachment>',
    replyToId="1",
    mentions=[teams_mention(0, "u1")],
    attachments=[{"id": "a", "name": "notes.docx", "contentUrl": "https://files.example.org/notes"}],
    reactions=[{"reactionType": "✅", "user": {"user": {"id": "u1"}}}],
    lastModifiedDateTime="2026-09-01T10:00:00Z",
)


def test_the_module_keeps_the_contract_of_sources():
    """The reader has everything a source must have."""
    assert isinstance(teams, Source)


def test_messages_that_do_not_fit_in_memory_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On disk or in memory, threads and copies are the same; direct messages never get there."""
    chat = [teams_message(f"d{number}", "u1", number, "<p>psst</p>", chatId=CHAT) for number in range(3)]
    write_lines(tmp_path / "messages.jsonl", [ANSWER, *chat, QUESTION, ANSWER])
    write_json(tmp_path / "channels.json", {"value": [teams_channel()]})
    held, first = read(tmp_path)
    put: list[str] = []
    kept = shelf.Shelf.put
    monkeypatch.setattr(shelf.Shelf, "put", lambda self, where, record: (put.append(where), kept(self, where, record)))
    monkeypatch.setattr(shelf, "IN_MEMORY", 1)
    (tmp_path / "scratch").mkdir()
    spilled, second = read(tmp_path, scratch=tmp_path / "scratch")
    assert spilled == held
    assert len(held[0].messages) == 2
    assert first.skipped.counts == second.skipped.counts
    assert second.skipped.counts == {"messages in direct messages": 3, "further copies of the same message": 1}
    assert set(put) == {CHANNEL}


def test_a_channel_thread_with_html_mentions_and_wrapped_links(tmp_path: Path):
    """Root and replies meet; names of people become marks, wrapped links are unwrapped, a reaction is no edit."""
    write_json(tmp_path / "messages.json", {"@odata.context": "x", "value": [ANSWER, QUESTION]})
    write_json(tmp_path / "channels.json", {"value": [teams_channel()]})
    assert teams.recognise(tmp_path)
    threads, reading = read(tmp_path)
    (thread,) = threads
    assert (thread.id, thread.title, thread.container_name, thread.help_channel) == (
        f"{CHANNEL}:1",
        "VPN",
        "Help desk",
        True,
    )
    assert [message.text for message in thread.messages] == ["where is the vpn\xa0page?", "Name of u1 see the page"]
    answer = thread.messages[1]
    assert [(mark.kind, mark.value) for mark in answer.marks] == [
        ("user", "u1"),
        ("link", "https://docs.example.org/vpn"),
    ]
    assert [link.url for link in answer.links] == ["https://docs.example.org/vpn", "https://files.example.org/notes"]
    assert answer.extras == ("notes.docx",)
    assert answer.reactions == (("✅", ("u1",)),)
    assert not answer.edited
    assert [(person.id, person.names) for person in reading.people] == [
        ("u2", ("Name of u2",)),
        ("u1", ("Name of u1",)),
    ]
    assert answer.at.isoformat() == "2026-09-01T09:05:00.123000+00:00"


def test_channels_nothing_is_known_of_are_private(tmp_path: Path):
    """Messages do not say who could read a channel: it is read when listed as standard, or when named."""
    path = write_lines(tmp_path / "teams.jsonl", [QUESTION, ANSWER])
    threads, reading = read(path)
    assert threads == []
    assert reading.skipped.counts == {"messages in channels whose audience the export does not say": 2}
    assert reading.notes
    assert [thread.audience for thread in read(path, channels=(CHANNEL,))[0]] == ["private"]
    write_json(tmp_path / "with" / "m.json", [QUESTION])
    write_json(tmp_path / "with" / "c.json", [teams_channel("private")])
    assert read(tmp_path / "with")[1].skipped.counts == {"messages in private channels": 1}


def test_chats_have_no_threads_and_are_read_only_when_opened(tmp_path: Path):
    """Chats are direct messages; opened, their messages are joined by time."""
    chat = [teams_message(str(n), f"u{n % 2}", n, f"line {n}", chatId=CHAT) for n in range(3)]
    late = teams_message("9", "u1", 0, "later", chatId=CHAT, createdDateTime="2026-09-01T12:00:00Z")
    path = write_json(tmp_path / "chat.json", {"value": [*chat, late]})
    assert read(path)[1].skipped.counts == {"messages in direct messages": 4}
    threads, _ = read(path, open_audiences=frozenset({"direct"}))
    assert [(thread.kind, thread.audience, len(thread.messages)) for thread in threads] == [
        ("gap", "direct", 3),
        ("thread", "direct", 1),
    ]


def test_copies_deleted_messages_and_notices_are_counted(tmp_path: Path):
    """Exports by person repeat messages; deleted ones and the system's own are left out; programs are told apart."""
    values = [
        QUESTION,
        QUESTION | {"lastModifiedDateTime": "2026-09-01T11:00:00Z", "lastEditedDateTime": "2026-09-01T11:00:00Z"},
        teams_message("3", "u2", 6, "gone", replyToId="1", deletedDateTime="2026-09-01T10:00:00Z"),
        teams_message("4", "u2", 7, "<systemEventMessage/>", messageType="systemEventMessage"),
        teams_message("5", None, 8, "automatic", replyToId="1"),
    ]
    threads, reading = read(write_json(tmp_path / "m.json", values), channels=(CHANNEL,))
    (thread,) = threads
    assert [(message.actor, message.edited) for message in thread.messages] == [("human", True), ("bot", False)]
    assert reading.skipped.counts == {
        "further copies of the same message": 1,
        "deleted messages": 1,
        "notices of the system": 1,
    }


def test_replies_without_their_root_say_so(tmp_path: Path):
    """A root outside the export leaves its replies behind."""
    (thread,) = read(write_json(tmp_path / "m.json", [ANSWER]), channels=(CHANNEL,))[0]
    assert thread.parent_missing


def test_broken_messages_are_faults(tmp_path: Path):
    """What has no id, no place or no time is named with its file, and left out on request."""
    values = [
        QUESTION,
        {"messageType": "message", "body": {}},
        teams_message("7", "u1", 0, "x", createdDateTime="soon"),
    ]
    path = write_json(tmp_path / "m.json", values)
    with pytest.raises(DataError) as caught:
        read(path, channels=(CHANNEL,))
    assert [fault.path for fault in caught.value.faults] == [str(path)] * 2
    threads, reading = read(path, channels=(CHANNEL,), skip_bad=True)
    assert len(threads) == 2
    assert reading.skipped.counts["records that cannot be read"] == 2
    with pytest.raises(DataError, match="no Teams message"):
        read(write_json(tmp_path / "other.json", [{"a": 1}]))
