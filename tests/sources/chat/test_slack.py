"""Slack exports: every shape they come in, and every way they are broken."""

import json
import zipfile
from pathlib import Path

import pytest

from builders.slack import START, SlackExport, small_export, stamp
from findback.errors import DataError, RefusedError, StorageError
from findback.model.thread import Thread
from findback.sources import shelf
from findback.sources.archive import Limits
from findback.sources.chat import slack, slack_parts
from findback.sources.format import Reading, Source, SourceOptions
from findback.sources.opening import open_archive
from findback.sources.scope import load_excluded


def read(path: Path, **options: object) -> tuple[list[Thread], Reading]:
    reading = slack.read(path, SourceOptions(**options))  # type: ignore[arg-type]
    assert reading.threads is not None
    return list(reading.threads), reading


def test_the_module_keeps_the_contract_of_sources():
    """The reader has everything a source must have."""
    assert isinstance(slack, Source)
    assert slack.family == "chat"


def test_a_thread_holds_parent_and_replies_in_order(tmp_path: Path):
    """Parent and reply meet by thread_ts; ids stay text, times are UTC to the microsecond."""
    export = small_export()
    parent = export.post("help-network", "U1AAAA", 0.322499, "vpn drops?")
    export.post(
        "help-network", "U2BBBB", 60, "<@U1AAAA|ida> <https://docs.example.org/vpn?a=1&amp;b=2|vpn>", thread=parent
    )
    threads, reading = read(export.write(tmp_path))
    (thread,) = threads
    assert thread.id == f"C1HELP:{START}.322499"
    assert [message.author for message in thread.messages] == ["U1AAAA", "U2BBBB"]
    assert thread.messages[0].at.microsecond == 322499
    assert thread.messages[1].links[0].url == "https://docs.example.org/vpn?a=1&b=2"
    assert thread.messages[1].marks[0][1:] == ("user", "U1AAAA")
    assert thread.help_channel is True
    assert {person.id for person in reading.people} == {"U1AAAA", "U2BBBB"}


@pytest.mark.parametrize("mention", ["<@U1AAAA>", "<@U1AAAA|ida.torvund>"])
def test_both_mention_styles_are_the_same_person(tmp_path: Path, mention: str):
    """Exports of 2016 name the person inside the mention, those of today do not."""
    export = small_export()
    export.post("help-network", "U2BBBB", 0, f"ask {mention} please")
    threads, _ = read(export.write(tmp_path))
    (mark,) = threads[0].messages[0].marks
    assert (mark.kind, mark.value) == ("user", "U1AAAA")
    assert threads[0].messages[0].text[mark.span.start : mark.span.end] == mention


def test_a_zip_reads_as_its_folder(tmp_path: Path):
    """Folder, zip, and zip with everything below one folder give the same threads."""
    export = small_export()
    parent = export.post("help-network", "U1AAAA", 0, "where is the vpn page?")
    export.post("help-network", "U2BBBB", 9, "here", thread=parent)
    (tmp_path / "folder").mkdir()
    shapes = [
        export.write(tmp_path / "folder"),
        export.zip(tmp_path / "flat.zip"),
        export.zip(tmp_path / "deep.zip", below="acme export/"),
    ]
    texts = [[(t.id, [m.text for m in t.messages]) for t in read(shape)[0]] for shape in shapes]
    assert texts[0] == texts[1] == texts[2]
    assert all(slack.recognise(shape) for shape in shapes)
    (thread,) = read(shapes[1])[0]
    assert thread.messages[0].place.file == f"{shapes[1]}!help-network/2026-08-31.json"


def test_a_thread_over_a_month_end_is_one_thread(tmp_path: Path):
    """Replies in another day file, and another month, than their parent belong to it."""
    export = small_export()
    parent = export.post("help-network", "U1AAAA", 0, "who owns the gateway?")
    export.post("help-network", "U2BBBB", 86_400 * 2, "I do", thread=parent)
    folder = export.write(tmp_path)
    assert sorted(path.name for path in (folder / "help-network").iterdir()) == ["2026-08-31.json", "2026-09-02.json"]
    (thread,) = read(folder)[0]
    assert [message.text for message in thread.messages] == ["who owns the gateway?", "I do"]


def test_overlapping_snapshots_count_a_message_once_in_its_newest_wording(tmp_path: Path):
    """Two snapshots of one channel, one renamed meanwhile, meet by id; the later edit wins."""
    first, second = small_export(), SlackExport()
    parent = first.post("help-network", "U1AAAA", 0, "vpn drops")
    second.person("U1AAAA", "Ida Torvund", "ida")
    second.channel("C1HELP", "help-vpn", previous_names=["help-network"])
    edited = {"user": "U1AAAA", "ts": stamp(300)}
    second.post("help-vpn", "U1AAAA", 0, "vpn drops after ten minutes", edited=edited, thread=parent, reply_count=1)
    second.post("help-vpn", "U2BBBB", 400, "see wiki", thread=parent)
    first.write(tmp_path / "06h")
    second.write(tmp_path / "12h")
    threads, _ = read(tmp_path)
    (thread,) = threads
    assert [message.text for message in thread.messages] == ["vpn drops after ten minutes", "see wiki"]
    assert thread.messages[0].edited
    assert not thread.messages[1].edited


def test_a_broadcast_reply_is_counted_once(tmp_path: Path):
    """A reply also sent to the channel belongs to its thread; older copies of it are left out and counted."""
    export = small_export()
    parent = export.post("help-network", "U1AAAA", 0, "vpn?")
    export.post(
        "help-network", "U2BBBB", 5, "restart it", thread=parent, subtype="thread_broadcast", root={"ts": parent}
    )
    export.post("help-network", "U2BBBB", 5.5, "replied to a thread", subtype="reply_broadcast")
    threads, reading = read(export.write(tmp_path))
    assert [len(thread.messages) for thread in threads] == [2]
    assert reading.skipped.counts["copies of replies in the channel"] == 1


def test_replies_whose_parent_is_gone_say_so(tmp_path: Path):
    """A deleted parent leaves its replies, and the thread says that its first message is missing."""
    export = small_export()
    gone = stamp(0)
    export.post("help-network", "USLACKBOT", 0, "This message was deleted.", subtype="tombstone", thread=gone)
    export.post("help-network", "U2BBBB", 5, "see wiki", thread=gone)
    threads, reading = read(export.write(tmp_path))
    (thread,) = threads
    assert thread.parent_missing
    assert [message.text for message in thread.messages] == ["see wiki"]
    assert reading.skipped.counts["deleted messages"] == 1


def test_time_stamps_that_became_numbers_are_text_again(tmp_path: Path):
    """A number loses no digits that matter, and meets the replies that name it as text."""
    export = small_export()
    parent = export.post("help-network", "U1AAAA", 0.322499, "vpn?")
    export.post("help-network", "U2BBBB", 5, "wiki", thread=parent)
    export.messages["help-network"][0]["ts"] = float(parent)
    (thread,) = read(export.write(tmp_path))[0]
    assert [message.id for message in thread.messages] == [parent, stamp(5)]


def test_empty_texts_are_read_from_blocks_and_files(tmp_path: Path):
    """A message without text takes it from its blocks; file names come beside, never as its words."""
    export = small_export()
    section = {
        "type": "rich_text_section",
        "elements": [
            {"type": "text", "text": "see <this> "},
            {"type": "link", "url": "https://docs.example.org/vpn", "text": "page"},
            {"type": "user", "user_id": "U1AAAA"},
        ],
    }
    quote = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "said before"}]}
    export.post("help-network", "U2BBBB", 0, "", blocks=[{"type": "rich_text", "elements": [section, quote]}])
    export.post("help-network", "U2BBBB", 9, "", files=[{"name": "shot.png", "title": "The error"}])
    threads, _ = read(export.write(tmp_path))
    first, second = (message for thread in threads for message in thread.messages)
    assert first.text == "see <this> <https://docs.example.org/vpn|page><@U1AAAA>\n> said before"
    assert [mark.kind for mark in first.marks] == ["link", "user", "quote"]
    assert (second.text, second.extras) == ("", ("The error", "shot.png"))


def test_profiles_inside_messages_are_roster_and_never_text(tmp_path: Path):
    """user_profile repeats a name in each message: it is learned when users.json is missing, and carried nowhere."""
    export = small_export()
    del export.lists["users.json"]
    profile = {"real_name": "Ida Torvund", "display_name": "ida", "first_name": "Ida"}
    parent = export.post("help-network", "U1AAAA", 0, "vpn?", user_profile=profile)
    export.post("help-network", "U2BBBB", 5, "wiki", thread=parent)
    reading = slack.read(export.write(tmp_path), SourceOptions())
    first = next(reading.threads)
    assert [(person.id, person.names) for person in reading.people] == [("U1AAAA", ("Ida Torvund", "ida", "Ida"))]
    assert "Torvund" not in repr(first)
    assert any("users.json is missing" in note for note in reading.notes)


def test_only_public_channels_are_read_and_the_rest_is_counted(tmp_path: Path):
    """Private channels, direct messages and the shipped exclude list are skipped with their reasons."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "a")
    export.post(export.channel("G1PRIV", "core-team", file="groups.json"), "U1AAAA", 1, "b")
    export.post(export.channel("D1AAAA", "", file="dms.json", folder="D1AAAA"), "U1AAAA", 2, "c")
    export.post(export.channel("C2HRHR", "ask-hr"), "U1AAAA", 3, "d")
    export.post(export.channel("C3CHRO", "chrome"), "U1AAAA", 4, "e")
    folder = export.write(tmp_path)
    threads, reading = read(folder, exclude=load_excluded())
    assert sorted(thread.container_name for thread in threads) == ["chrome", "help-network"]
    assert reading.skipped.counts == {"private channels": 1, "direct messages": 1, "excluded channels": 1}
    opened, _ = read(folder, exclude=load_excluded(), channels=("core-team", "ask-hr", "help-*"))
    assert {thread.container_name: thread.audience for thread in opened} == {
        "core-team": "private",
        "ask-hr": "public",
        "help-network": "public",
    }


def test_a_channel_no_list_names_is_private(tmp_path: Path):
    """Without a list of channels nothing says who could read one, and that counts as private."""
    export = small_export()
    export.post("stray", "U1AAAA", 0, "where is the vpn page?")
    threads, reading = read(export.write(tmp_path))
    assert threads == []
    assert reading.skipped.counts == {"channels whose audience the export does not say": 1}
    assert any("stray" in note for note in reading.notes)


def test_old_files_and_their_comments_keep_their_authors(tmp_path: Path):
    """In exports of 2016 a comment on a file hides author and words inside."""
    export = small_export()
    comment = {"user": "U2BBBB", "comment": "try <https://docs.example.org/vpn>"}
    export.post("help-network", None, 0, "<@U2BBBB> commented on a file", subtype="file_comment", comment=comment)
    shared = {"title": "Trace", "name": "trace.txt", "initial_comment": {"comment": "vpn log"}}
    export.post("help-network", "U1AAAA", 5000, "uploaded a file", subtype="file_share", file=shared, upload=True)
    messages = [message for thread in read(export.write(tmp_path))[0] for message in thread.messages]
    assert (messages[0].author, messages[0].links[0].url) == ("U2BBBB", "https://docs.example.org/vpn")
    assert messages[1].extras == ("Trace", "trace.txt", "vpn log")


def test_programs_are_told_from_people(tmp_path: Path):
    """bot_id, bot_message, is_bot in users.json and a bare username are programs; alone they are left out."""
    export = small_export()
    export.person("U9BOTT", "Deploy", "deploy", bot=True)
    parent = export.post("help-network", "U1AAAA", 0, "vpn?")
    export.post("help-network", "U9BOTT", 1, "a", thread=parent)
    export.post("help-network", "U2BBBB", 2, "b", thread=parent, bot_id="B1")
    export.post("help-network", None, 3, "c", thread=parent, username="ci")
    export.post("help-network", None, 4, "d", thread=parent)
    export.post("help-network", None, 5, "can't find artifact", subtype="bot_message", bot_id="B2", username="ci")
    threads, reading = read(export.write(tmp_path))
    assert [[message.actor for message in thread.messages] for thread in threads] == [
        ["human", "bot", "bot", "bot", "unknown"]
    ]
    assert reading.skipped.counts == {"messages of programs that nobody answered": 1}


def test_channels_without_threads_are_joined_by_time(tmp_path: Path):
    """Before there were threads, messages belong together until an hour of silence; such threads are marked."""
    export = small_export()
    for seconds, user, text in ((0, "U1AAAA", "vpn?"), (60, "U2BBBB", "wiki"), (9000, "U2BBBB", "lunch")):
        export.post("help-network", user, seconds, text)
    export.messages["help-network"].append(dict(export.messages["help-network"][0]))
    threads, _ = read(export.write(tmp_path))
    assert [(thread.kind, [m.text for m in thread.messages]) for thread in threads] == [
        ("gap", ["vpn?", "wiki"]),
        ("thread", ["lunch"]),
    ]


def test_lines_of_messages_are_read_by_channel(tmp_path: Path):
    """JSON Lines hold the channel inside; edits and deletions that come as records of their own are applied."""
    here = {"type": "message", "channel": "C1HELP"}
    reply = {"user": "U2BBBB", "ts": stamp(5), "thread_ts": stamp(0)}
    edited = {"type": "message", **reply, "text": "wiki", "edited": {"ts": stamp(9)}}
    lines = [
        {**here, "channel_type": "channel", "user": "U1AAAA", "ts": stamp(0), "text": "vpn?"},
        {**here, **reply, "text": "wki"},
        {**here, "subtype": "message_changed", "ts": stamp(9), "message": edited},
        {**here, **reply, "ts": stamp(6), "text": "oops"},
        {**here, "subtype": "message_deleted", "ts": stamp(10), "deleted_ts": stamp(6)},
        {**here, "channel": "C2OTHER", "user": "U1AAAA", "ts": stamp(0), "text": "elsewhere"},
    ]
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert slack.recognise(path)
    threads, reading = read(path)
    assert [[message.text for message in thread.messages] for thread in threads] == [["vpn?", "wiki"]]
    assert reading.skipped.counts == {
        "deleted messages": 1,
        "messages in channels whose audience the export does not say": 1,
    }
    assert [thread.container for thread in read(path, channels=("C2OTHER",))[0]] == ["C2OTHER"]


def test_lines_that_do_not_fit_in_memory_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Messages of two channels come in turns: on disk or in memory, the threads and where they lie are the same."""
    lines = [
        {
            "channel": f"C{number % 2}",
            "channel_type": "channel",
            "user": "U1",
            "ts": stamp(number),
            "text": f"{number}?",
        }
        for number in range(20)
    ]
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    held, _ = read(path)
    monkeypatch.setattr(shelf, "IN_MEMORY", 300)
    assert read(path, scratch=tmp_path)[0] == held
    assert [[message.text for message in thread.messages] for thread in held] == [
        [f"{number}?" for number in range(first, 20, 2)] for first in (0, 1)
    ]


def test_bad_records_are_named_by_file_and_place_and_the_good_ones_kept_on_request(tmp_path: Path):
    """Broken JSON has its line, a broken message its number; skipping keeps everything else and counts them."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    export.files["help-network/2026-09-30.json"] = b'[{"ts": "1",\n "text": }]'
    export.files["help-network/2026-10-01.json"] = b'["words", {"text": "no time stamp", "user": "U1AAAA"}]'
    export.files["help-network/2026-10-02.json"] = b"[" * 5_000 + b"]" * 5_000
    export.files["help-network/2026-10-03.json"] = b'{"not": "a list"}'
    folder = export.write(tmp_path)
    with pytest.raises(DataError) as caught:
        read(folder)
    assert [(fault.path.rpartition("/")[2], fault.line) for fault in caught.value.faults] == [
        ("2026-09-30.json", 2),
        ("2026-10-01.json", None),
        ("2026-10-01.json", None),
        ("2026-10-02.json", 1),
        ("2026-10-03.json", None),
    ]
    threads, reading = read(folder, skip_bad=True)
    assert [thread.messages[0].text for thread in threads] == ["vpn?"]
    assert reading.skipped.counts["records that cannot be read"] == 5


def test_oversized_messages_are_counted_and_the_others_read(tmp_path: Path):
    """A message longer than may be read is refused with a count, not a crash."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "x" * 1_000_001)
    export.post("help-network", "U1AAAA", 9000, "vpn?", edited={"ts": stamp(1)})
    export.post("help-network", "U1AAAA", 9001, "y" * 1_000_001, edited={"ts": stamp(1)})
    threads, reading = read(export.write(tmp_path))
    assert [thread.messages[0].text for thread in threads] == ["vpn?"]
    assert reading.skipped.counts == {"messages longer than 1,000,000 characters": 2}


def test_files_beside_the_export_are_ignored_and_counted(tmp_path: Path):
    """What other tools put beside day files is no message."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    export.files["help-network/attachments/shot.png"] = b"\x89PNG"
    export.files["__avatars/U1AAAA.json"] = b"{"
    export.files["integration_logs.json"] = b"[]"
    _, reading = read(export.write(tmp_path))
    assert reading.skipped.counts == {"files that are no part of a Slack export": 2}


def test_a_hostile_zip_is_refused_or_its_members_left_out(tmp_path: Path):
    """Names that lead out, links and doubles are counted; nothing is written anywhere."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    path = export.zip(tmp_path / "evil.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../outside/2026-09-01.json", "[]")
        archive.writestr("/etc/2026-09-01.json", "[]")
        archive.writestr("C:/x/2026-09-01.json", "[]")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("users.json", "[]")
        link = zipfile.ZipInfo("help-network/2026-09-09.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    threads, reading = read(path)
    assert [thread.messages[0].text for thread in threads] == ["vpn?"]
    assert reading.skipped.counts == {
        "names that lead out of the archive": 3,
        "second members of the same name": 1,
        "symbolic links": 1,
    }
    assert len(reading.people) == 2
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["evil.zip"]


def test_a_zip_bomb_is_refused_before_it_grows(tmp_path: Path):
    """A member that grows more than is likely is refused by name; with --skip-bad the rest is read."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    export.files["help-network/2026-09-30.json"] = b"[" + b" " * 40_000_000 + b"]"
    path = export.zip(tmp_path / "bomb.zip")
    with pytest.raises(RefusedError, match="2026-09-30"):
        read(path)
    threads, reading = read(path, skip_bad=True)
    assert len(threads) == 1
    assert reading.skipped.counts == {"records that cannot be read": 1}


def test_symbolic_links_in_a_folder_are_not_followed(tmp_path: Path):
    """Nothing outside the folder is read."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    folder = export.write(tmp_path / "export")
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps([{"type": "message", "user": "U1AAAA", "ts": stamp(1), "text": "secret"}]))
    (folder / "help-network" / "2026-09-30.json").symlink_to(secret)
    threads, reading = read(folder)
    assert [thread.messages[0].text for thread in threads] == ["vpn?"]
    assert reading.skipped.counts == {"symbolic links": 1}


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04rubbish", b"\x00" * 100, b"[]", b"{", b"\xff\xfe{", b"a,b\n1,2\n"]
)
def test_rubbish_is_never_recognised_and_never_raises(tmp_path: Path, content: bytes):
    """Recognising says None to whatever is no export."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert slack.recognise(path) is None
    assert slack.recognise(tmp_path / "absent") is None
    assert slack.recognise(tmp_path) is None


def test_damaged_members_are_faults_with_their_names(tmp_path: Path):
    """A zip whose bytes were changed names the member that does not fit its checksum."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn " + "a1b2c3" * 200)
    path = export.zip(tmp_path / "bad.zip")
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("help-network/2026-08-31.json")
    raw[info.header_offset + 60] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.value.faults[0].path == f"{path}!help-network/2026-08-31.json"


def test_archives_hold_to_their_limits(tmp_path: Path):
    """Too many members, too large a whole and too deep folders each have their own outcome."""
    export = small_export()
    export.post("help-network", "U1AAAA", 0, "vpn?")
    path = export.zip(tmp_path / "export.zip")
    folder = export.write(tmp_path / "export")
    for shape in (path, folder):
        with pytest.raises(RefusedError, match="more than 2 files"):
            open_archive(shape, Limits(members=2))
        with pytest.raises(RefusedError, match="more than 10 bytes"):
            open_archive(shape, Limits(total_bytes=10))
        with open_archive(shape, Limits(whole_bytes=10)) as archive, pytest.raises(RefusedError):
            archive.read("users.json")
        with open_archive(shape, Limits(depth=1)) as archive:
            assert archive.names == ("channels.json", "users.json")
            assert archive.left_out == {"folders deeper than may be": 1}


def many_channels() -> SlackExport:
    export = small_export()
    for number in range(7):
        folder = export.channel(f"C{number}TEAM", f"team-{number}")
        for question in range(5):
            asked = export.post(folder, f"U{number}TALK", question * 60, f"vpn {number} {question}?", reactions=[])
            profile = {"real_name": f"Person {number}"}
            export.post(folder, f"U{number}NEWW", question * 60 + 9, "wiki", thread=asked, user_profile=profile)
        export.post(folder, "U1AAAA", 5000, "joined", subtype="channel_join")
        export.files[f"{folder}/2026-10-0{number + 1}.json"] = b"{"
    return export


def test_two_processes_read_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Threads, their order, counts, faults and people are the same."""
    monkeypatch.setattr(slack_parts, "LARGE", 1)
    path = many_channels().zip(tmp_path / "export.zip")
    alone, one = read(path, skip_bad=True)
    together, two = read(path, skip_bad=True, processes=2)
    assert len(alone) == 35
    assert together == alone
    assert two.skipped.counts == one.skipped.counts == {"notices of the system": 7, "records that cannot be read": 7}
    assert sorted(two.people) == sorted(one.people)
    assert (two.notes, two.until) == (one.notes, one.until)
    with pytest.raises(DataError) as caught:
        read(path, processes=2)
    assert [fault.path.rpartition("!")[2] for fault in caught.value.faults] == [
        f"team-{number}/2026-10-0{number + 1}.json" for number in range(7)
    ]


def test_a_second_process_that_meets_a_bomb_or_is_not_waited_for_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What the child refuses is refused; who stops reading in the middle leaves no process behind."""
    monkeypatch.setattr(slack_parts, "LARGE", 1)
    export = many_channels()
    reading = slack.read(export.zip(tmp_path / "fine.zip"), SourceOptions(processes=2, skip_bad=True))
    assert next(reading.threads).container == "C0TEAM"
    reading.threads.close()
    export.files["team-1/2026-09-30.json"] = b"[" + b" " * 40_000_000 + b"]"
    with pytest.raises(RefusedError, match="team-1"):
        read(export.zip(tmp_path / "bomb.zip"), processes=2)
    asks = lambda texts: [place for place, text in enumerate(texts) if "?" in text]  # noqa: E731 -- cannot be pickled
    assert len(read(tmp_path / "fine.zip", processes=2, skip_bad=True, screen=asks)[0]) == 35


@pytest.mark.parametrize(
    ("program", "said"), [("/bin/false", "died"), ("/nowhere/python", "no further process can be started")]
)
def test_a_process_that_dies_or_cannot_start_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str
):
    """Nothing hangs and nothing is read by half."""
    monkeypatch.setattr(slack_parts, "LARGE", 1)
    monkeypatch.setattr(slack_parts.sys, "executable", program)
    with pytest.raises(StorageError, match=said):
        read(many_channels().zip(tmp_path / "export.zip"), processes=2, skip_bad=True)


def test_the_real_shaped_export_is_read_whole(data: Path):
    """Every message is in a thread or counted: 1,142 of them, 348 threads with answers, 40 people and a program."""
    threads, reading = read(data / "slack-shaped")
    skipped = reading.skipped.counts
    assert sum(len(thread.messages) for thread in threads) + sum(skipped.values()) == 1142
    assert sum(len(thread.messages) > 1 for thread in threads) == 348
    assert len(reading.people) == 41
    assert skipped == {"notices of the system": 55, "messages of programs that nobody answered": 65}
    names = {name for person in reading.people for name in person.names if not person.bot and len(name) > 12}
    assert not any(
        name in message.text for thread in threads for message in thread.messages for name in names if " " in name
    )
