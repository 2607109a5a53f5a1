"""Messages by mapping: the shipped ones, and one's own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders.chats import (
    discord_channel,
    discord_message,
    mattermost_export,
    mattermost_post,
    write_json,
    write_lines,
    zulip_message,
    zulip_realm,
)
from findback.errors import DataError, SettingsError
from findback.model.thread import Thread
from findback.sources import mapped, shelf
from findback.sources.format import Reading, Source, SourceOptions
from findback.sources.mapped import MappedMessages

EVERY = (mapped.discord, mapped.mattermost, mapped.zulip, mapped.messages)


def read(source: MappedMessages, path: Path, **options: object) -> tuple[list[Thread], Reading]:
    reading = source.read(path, SourceOptions(**options))  # type: ignore[arg-type]
    assert reading.threads is not None
    return list(reading.threads), reading


@pytest.mark.parametrize("source", EVERY, ids=lambda source: source.name)
def test_mapped_readers_keep_the_contract_of_sources(source: MappedMessages, tmp_path: Path):
    """Each has everything a source must have, and recognises nothing in rubbish."""
    assert isinstance(source, Source)
    (tmp_path / "x.json").write_bytes(b"\x00{")
    assert source.recognise(tmp_path) is None
    assert source.recognise(tmp_path / "x.json") is None


def test_discord_replies_make_threads_and_forum_posts_are_files(tmp_path: Path):
    """Replies chain to their first message; a thread is a file of its own whose category is its channel."""
    asked = discord_message("1", "11", 0, "where is the vpn page?")
    answered = discord_message(
        "2", "12", 1, "<@!11> see [it](https://docs.example.org/vpn)", reference={"messageId": "1"}
    )
    thanked = discord_message("3", "11", 2, "thx", reference={"messageId": "2"})
    pinned = discord_message("4", "11", 3, "", type="ChannelPinnedMessage")
    bot = discord_message("5", "99", 4, "welcome")
    write_json(tmp_path / "help.json", discord_channel([asked, answered, thanked, pinned, bot]))
    post = [discord_message("8", "13", 0, "printer dies"), discord_message("9", "12", 5, "unplug it")]
    forum = {"identity": "900", "name": "Printer", "kind": "GuildPublicThread", "category": "questions"}
    write_json(tmp_path / "post.json", discord_channel(post, **forum))
    direct = discord_channel([discord_message("20", "11", 0, "psst")], identity="600", kind="DirectTextChat")
    write_json(tmp_path / "dm.json", direct)
    assert mapped.discord.recognise(tmp_path)
    threads, reading = read(mapped.discord, tmp_path)
    assert [(thread.id, thread.title, [message.text for message in thread.messages]) for thread in threads] == [
        ("400:900", "Printer", ["printer dies", "unplug it"]),
        ("500:1", None, ["where is the vpn page?", answered["content"], "thx"]),
        ("500:5", None, ["welcome"]),
    ]
    assert [thread.help_channel for thread in threads] == [True, True, True]
    reply = threads[1].messages[1]
    assert [(mark.kind, mark.value) for mark in reply.marks] == [
        ("user", "11"),
        ("link", "https://docs.example.org/vpn"),
    ]
    assert reply.links[0].url == "https://docs.example.org/vpn"
    assert reply.at.isoformat() == "2026-09-01T09:01:00+00:00"
    assert threads[2].messages[0].actor == "bot"
    assert reading.skipped.counts == {"notices of the system": 1, "messages in direct messages": 1}
    assert ("11", ("user11", "Nick 11")) in [(person.id, person.names) for person in reading.people]


def test_messages_that_do_not_fit_in_memory_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On disk or in memory, threads, copies and replies are the same; private channels never get there."""
    asked = mattermost_post(
        "help", "ida", 1_788_253_200_000, "vpn?", {"user": "bo", "message": "wiki", "create_at": 1_788_253_260_000}
    )
    core = mattermost_post("core", "bo", 1_788_253_200_000, "secret plan")
    other = mattermost_post("help", "ida", 1_788_953_200_000, "printer?")
    path = write_lines(tmp_path / "import.jsonl", mattermost_export([asked, core, other, asked]))
    held, first = read(mapped.mattermost, path)
    put: list[str] = []
    kept = shelf.Shelf.put
    monkeypatch.setattr(shelf.Shelf, "put", lambda self, where, record: (put.append(where), kept(self, where, record)))
    monkeypatch.setattr(shelf, "IN_MEMORY", 1)
    (tmp_path / "scratch").mkdir()
    spilled, second = read(mapped.mattermost, path, scratch=tmp_path / "scratch")
    assert spilled == held
    assert [[message.text for message in thread.messages] for thread in held] == [["vpn?", "wiki"], ["printer?"]]
    assert first.skipped.counts == second.skipped.counts
    assert second.skipped.counts == {"messages in private channels": 1, "further copies of the same message": 1}
    assert set(put) == {"acme/help"}


def test_mattermost_lines_hold_whole_threads(tmp_path: Path):
    """Replies lie inside their post; private channels and direct posts are skipped; secrets of users are not read."""
    replies = [
        {"user": "bo", "message": "see https://docs.example.org/vpn", "create_at": 1_788_253_260_000, "edit_at": 1},
        {"user": "ida", "message": "thx", "create_at": 1_788_253_320_000, "edit_at": 0},
    ]
    lines = mattermost_export(
        [
            mattermost_post("help", "ida", 1_788_253_200_000, "vpn?", *replies),
            mattermost_post("core", "bo", 1_788_253_200_000, "secret plan"),
            {"type": "direct_post", "direct_post": {"channel_members": ["ida", "bo"], "user": "bo", "message": "psst"}},
        ]
    )
    path = write_lines(tmp_path / "import.jsonl", lines)
    assert mapped.mattermost.recognise(path)
    threads, reading = read(mapped.mattermost, path)
    (thread,) = threads
    assert (thread.container, thread.container_name, thread.help_channel) == ("acme/help", "Help desk", True)
    assert [(message.author, message.text, message.edited) for message in thread.messages] == [
        ("ida", "vpn?", False),
        ("bo", "see https://docs.example.org/vpn", True),
        ("ida", "thx", False),
    ]
    assert thread.messages[1].links[0].url == "https://docs.example.org/vpn"
    assert reading.skipped.counts == {"messages in direct messages": 1, "messages in private channels": 1}
    assert [(person.id, person.mails, person.gone) for person in reading.people] == [
        ("ida", ("ida@example.org",), False),
        ("bo", ("bo@example.org",), True),
    ]


def test_zulip_topics_are_threads_and_a_check_mark_resolves_them(tmp_path: Path):
    """Streams come by two joins; a topic keeps its id when it is resolved; people who left are in the roster."""
    write_json(tmp_path / "realm.json", zulip_realm())
    messages = [
        zulip_message(1, 11, 2, "vpn drops", "where is the **vpn** page?"),
        zulip_message(2, 12, 2, "✔ vpn drops", "https://docs.example.org/vpn"),
        zulip_message(3, 13, 2, "other", "automatic"),
        zulip_message(4, 11, 3, "plan", "secret"),
        zulip_message(5, 11, 1, "", "psst"),
        zulip_message(6, 11, 4, "", "psst all"),
    ]
    write_json(tmp_path / "messages-000001.json", {"zerver_message": messages, "zerver_usermessage": []})
    assert mapped.zulip.recognise(tmp_path)
    threads, reading = read(mapped.zulip, tmp_path)
    assert [(thread.id, thread.container_name, thread.title, len(thread.messages)) for thread in threads] == [
        ("2:vpn drops", "help", "vpn drops", 2),
        ("2:other", "help", "other", 1),
    ]
    assert [change.closed for change in threads[0].changes] == [True]
    assert threads[1].messages[0].actor == "bot"
    assert reading.skipped.counts["messages in private channels"] == 1
    assert reading.skipped.counts["messages in direct messages"] == 2
    assert [(person.names, person.gone) for person in reading.people] == [
        (("Ida Torvund",), False),
        (("Bo Quiroz",), True),
        (("Notifier",), False),
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_any_program_is_read_by_a_mapping_of_ones_own(tmp_path: Path, suffix: str):
    """Rows of a table or of JSON become threads where the mapping says which field is which."""
    rows = [
        {
            "nr": "1",
            "who": "ida",
            "when": "2026-09-01 09:00:00",
            "words": "vpn page?",
            "room": "r1",
            "under": "",
        },
        {"nr": "2", "who": "bo", "when": "2026-09-01 09:05:00", "words": "here", "room": "r1", "under": "1"},
    ]
    path = tmp_path / f"chat.{suffix}"
    if suffix == "csv":
        path.write_text("nr;who;when;words;room;under\n" + "".join(";".join(row.values()) + "\n" for row in rows))
    elif suffix == "jsonl":
        write_lines(path, rows)
    else:
        write_json(path, rows)
    mapping = {"id": "nr", "author": "who", "at": "when", "text": "words", "container": "room", "reply_to": "under"}
    threads, _ = read(mapped.messages, path, mapping=mapping, channels=("r1",))
    assert [[message.text for message in thread.messages] for thread in threads] == [["vpn page?", "here"]]
    assert threads[0].messages[1].at.isoformat() == "2026-09-01T09:05:00+00:00"


def test_parquet_rows_are_messages(tmp_path: Path):
    """Typed columns are read as they are: times of the file's own kind, whole numbers as ids, nulls as nothing."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    asked = datetime(2026, 9, 1, 9, tzinfo=UTC)
    rows = [
        {"id": 1, "author": "ida", "at": asked, "text": "vpn page?", "channel": "help", "reply_to": None},
        {
            "id": 2,
            "author": "bo",
            "at": asked + timedelta(minutes=5),
            "text": "see https://docs.example.org/vpn",
            "channel": "help",
            "reply_to": 1,
        },
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "chat.parquet")
    threads, _ = read(mapped.messages, tmp_path / "chat.parquet", channels=("help",))
    assert [[(one.id, one.author, one.at) for one in thread.messages] for thread in threads] == [
        [("1", "ida", asked), ("2", "bo", asked + timedelta(minutes=5))]
    ]
    assert threads[0].messages[1].links[0].url == "https://docs.example.org/vpn"
    assert threads[0].messages[1].place.offset == 1


def test_a_mapping_that_makes_no_sense_is_refused(tmp_path: Path):
    """Unknown parts, unknown audiences and missing fields are said before anything is read."""
    path = write_json(tmp_path / "m.json", [])
    for mapping in ({"persons.id": "x"}, {"audiences.open": "everybody"}, {"text": ""}):
        with pytest.raises(SettingsError):
            read(mapped.messages, path, mapping=mapping)
    with pytest.raises(DataError, match="no messages"):
        read(mapped.messages, path)
    with pytest.raises(SettingsError, match="no mapping named"):
        mapped.load_mapping("smoke-signals")


def test_messages_without_a_place_or_a_time_are_faults(tmp_path: Path):
    """They are named with their file; the good ones are kept on request."""
    rows = [{"id": "1", "author": "a", "at": 1, "text": "x"}, {"author": "a", "text": "y", "channel": "c"}]
    path = write_lines(tmp_path / "m.jsonl", [*rows, {"id": "2", "author": "a", "at": 1, "text": "ok", "channel": "c"}])
    with pytest.raises(DataError) as caught:
        read(mapped.messages, path)
    assert len(caught.value.faults) == 2
    threads, _ = read(mapped.messages, path, skip_bad=True, channels=("c",))
    assert [thread.messages[0].text for thread in threads] == ["ok"]
