"""Zendesk exports."""

import zipfile
from functools import partial

import orjson
import pytest

from builders.readings import threads_of
from builders.tickets import (
    KB,
    ZENDESK_USERS,
    lines_of,
    written,
    zendesk_audit,
    zendesk_comment,
    zendesk_solved,
    zendesk_status,
    zendesk_ticket,
)
from findback.errors import DataError
from findback.sources.format import Source
from findback.sources.tickets.zendesk import Zendesk

read = partial(threads_of, Zendesk())


def export(folder, tickets, audits=(), users=ZENDESK_USERS):
    written(folder / "tickets.json", {"tickets": tickets, "next_page": None, "end_of_stream": True})
    written(folder / "ticket_audits.json", {"audits": list(audits)})
    written(folder / "users.json", {"users": users})
    return folder


def test_the_reader_keeps_its_contract():
    """It is a source of tickets that names the rules it supports."""
    assert isinstance(Zendesk(), Source)
    assert (Zendesk().name, Zendesk().family) == ("zendesk", "tickets")


def test_tickets_and_audits_become_one_thread(tmp_path):
    """Comments, status changes and roles of users come together, oldest first, in UTC."""
    threads, reading = read(export(tmp_path, [zendesk_ticket()], zendesk_solved()))
    (thread,) = threads
    assert (thread.id, thread.title, thread.asker, thread.container) == ("7", "VPN", "501", "33")
    assert [(m.author, m.text, m.staff) for m in thread.messages] == [
        ("501", "I cannot get into the VPN from my new phone", False),
        ("900", "Please see VPN on phones.", True),
    ]
    assert thread.messages[1].links[0].url == f"{KB}/vpn-phone"
    assert [(c.status, c.closed, c.actor) for c in thread.changes] == [
        ("new", False, "human"),
        ("solved", True, "human"),
        ("closed", True, "system"),
    ]
    assert thread.messages[0].at.isoformat() == "2024-05-03T08:00:00+00:00"
    assert [(p.id, p.names, p.mails) for p in reading.people] == [
        ("501", ("Ida Okafor",), ("ida@example.org",)),
        ("900", ("Ben Sorel",), ("ben@example.org",)),
    ]


@pytest.mark.parametrize("shape", ["array", "lines", "pages", "zip", "nested", "comments"])
def test_every_shape_gives_the_same_thread(tmp_path, shape):
    """Arrays, JSON Lines, one page a line, a zip, nested comments and comments by themselves are all read."""
    ticket, audits = zendesk_ticket(), zendesk_solved()
    comments = [
        zendesk_comment(11, 501, "<p>I cannot get into the VPN from my new phone</p>", at="2024-05-03T08:00:00Z"),
        zendesk_comment(
            12, 900, f'<p>Please see <a href="{KB}/vpn-phone">VPN on phones</a>.</p>', at="2024-05-03T09:30:00Z"
        ),
    ]
    path = tmp_path / "export"
    if shape == "array":
        written(path / "a.json", [ticket])
        written(path / "b.json", audits)
    elif shape == "lines":
        path = written(path / "all.ndjson", lines_of([*audits, ticket]))
    elif shape == "pages":
        path = written(path / "all.jsonl", lines_of([{"tickets": [ticket]}, {"audits": audits}]))
    elif shape == "zip":
        path.mkdir()
        with zipfile.ZipFile(path / "z.zip", "w") as packed:
            packed.writestr("in/tickets.json", orjson.dumps({"tickets": [ticket]}))
            packed.writestr("in/audits.json", orjson.dumps({"audits": audits}))
        path = path / "z.zip"
    elif shape == "nested":
        path = written(path / "t.json", [ticket | {"comments": comments}])
    else:
        written(path / "tickets.json", {"tickets": [ticket]})
        written(path / "comments" / "7.json", {"comments": comments, "count": 2})
    (thread,), reading = read(path)
    assert [m.text for m in thread.messages] == [
        "I cannot get into the VPN from my new phone",
        "Please see VPN on phones.",
    ]
    assert thread.changes[-1].closed
    assert not reading.skipped.counts
    assert Zendesk().recognise(path) is not None


def test_private_notes_are_counted_and_opened_only_by_name(tmp_path):
    """An internal note is skipped unless its audience is opened; a comment of unknown visibility is internal."""
    audits = zendesk_solved()
    audits[1]["events"].append(zendesk_comment(13, 900, "internal remark", public=False))
    unknown = zendesk_comment(14, 900, "visibility unknown")
    del unknown["public"]
    audits[1]["events"].append(unknown)
    export(tmp_path, [zendesk_ticket()], audits)
    (thread,), reading = read(tmp_path)
    assert [m.id for m in thread.messages] == ["11", "12"]
    assert reading.skipped.counts == {"internal notes": 2}
    (opened,), _ = read(tmp_path, open_audiences=frozenset({"public", "internal"}))
    assert [(m.id, m.audience) for m in opened.messages][2:] == [("13", "internal"), ("14", "internal")]


def test_a_comment_made_private_later_is_private(tmp_path):
    """The last change of visibility counts."""
    audits = zendesk_solved()
    audits.append(
        zendesk_audit(
            4,
            7,
            900,
            "2024-05-08T00:00:00Z",
            {"id": 5, "type": "CommentPrivacyChange", "comment_id": 12, "public": False},
        )
    )
    (thread,), reading = read(export(tmp_path, [zendesk_ticket()], audits))
    assert [m.id for m in thread.messages] == ["11"]
    assert reading.skipped.counts == {"internal notes": 1}


def test_attached_articles_and_macros_are_kept(tmp_path):
    """Knowledge events name an article, macro events a canned reply; unknown event types are passed over."""
    audits = zendesk_solved()
    audits[1]["events"] += [
        {
            "id": 20,
            "type": "KnowledgeLinked",
            "body": {"article": {"id": 1, "html_url": f"{KB}/phones", "url": "https://x/1.json"}},
        },
        {"id": 21, "type": "AgentMacroReference", "macro_id": 360, "macro_title": "VPN"},
        {"id": 22, "type": "SomethingNew", "value": [1]},
    ]
    (thread,), _ = read(export(tmp_path, [zendesk_ticket()], audits))
    assert [(link.url, link.kind) for link in thread.attached] == [(f"{KB}/phones", "structured-attach")]
    assert thread.macros == frozenset({"360"})


def test_repeated_rows_merged_and_deleted_tickets_are_counted(tmp_path):
    """Overlapping pages give one thread, the newest; merged and deleted tickets are left out by reason."""
    tickets = [
        zendesk_ticket(7, updated_at="2024-05-05T00:00:00Z", subject="new"),
        zendesk_ticket(7, updated_at="2024-05-04T00:00:00Z", subject="old"),
        zendesk_ticket(8, tags=["closed_by_merge"]),
        zendesk_ticket(9, status="deleted"),
    ]
    threads, reading = read(export(tmp_path, tickets, zendesk_solved()))
    assert [thread.title for thread in threads] == ["new"]
    assert reading.skipped.counts == {
        "older copies of the same ticket": 1,
        "tickets merged into another": 1,
        "deleted tickets": 1,
    }


def test_a_ticket_without_comments_gives_its_description(tmp_path):
    """The description is the first comment; that nothing else is there is counted."""
    (thread,), reading = read(written(tmp_path / "t.json", {"tickets": [zendesk_ticket()]}))
    assert [m.text for m in thread.messages] == ["I cannot get into the VPN from my new phone"]
    assert thread.changes[0].closed
    assert reading.skipped.counts == {"tickets that come with their description only": 1}


def test_comments_without_their_ticket_are_counted(tmp_path):
    """Nothing goes missing silently."""
    threads, reading = read(export(tmp_path, [zendesk_ticket()], [*zendesk_solved(), *zendesk_solved(99)]))
    assert len(threads) == 1
    assert reading.skipped.counts == {"comments and audits whose ticket is not in the export": 3}


def test_scope_is_applied(tmp_path):
    """Excluded groups and tags, groups not asked for and old tickets are counted, not read."""
    from datetime import UTC, datetime

    written(tmp_path / "groups.json", {"groups": [{"id": 33, "name": "HR desk"}]})
    export(tmp_path, [zendesk_ticket()], zendesk_solved())
    for options, reason in (
        ({"exclude": ("hr*",)}, "tickets and questions in excluded places"),
        ({"exclude": ("vpn",)}, "tickets and questions in excluded places"),
        ({"channels": ("it",)}, "tickets and questions in places not asked for"),
        ({"since": datetime(2025, 1, 1, tzinfo=UTC)}, "tickets and questions older than asked for"),
    ):
        threads, reading = read(tmp_path, **options)
        assert (threads, reading.skipped.counts) == ([], {reason: 1})
    assert len(read(tmp_path, channels=("HR*",))[0]) == 1


def test_quoted_mail_is_marked_and_its_links_dropped(tmp_path):
    """Text stays as written; what repeats an earlier mail is marked and its link is not the author's."""
    html = f'<div>Still no luck</div><div class="gmail_quote">On 3 May Ben wrote: <a href="{KB}/old">x</a></div>'
    audits = [zendesk_audit(1, 7, 501, "2024-05-03T08:00:00Z", zendesk_comment(11, 501, html))]
    (thread,), _ = read(export(tmp_path, [zendesk_ticket()], audits))
    (message,) = thread.messages
    assert message.text == "Still no luck\nOn 3 May Ben wrote: x"
    assert message.links == ()
    assert message.marks[0].kind == "quote"
    assert message.marks[0].span.start == len("Still no luck\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "id is missing"),
        ({"requester_id": [1]}, "requester_id is a JSON array where an id is expected"),
        ({"created_at": "soon"}, "created_at is no time"),
        ({"subject": 5}, "subject is a JSON number where text is expected"),
        ({"tags": "vpn"}, "tags is a JSON string where a list is expected"),
        ({"description": "a\0b"}, "description holds a NUL character"),
        ({"audits": [3]}, "audits[0] is a JSON number where an object is expected"),
        ({"audits": [{"events": {}}]}, "audits[0].events is a JSON object where a list is expected"),
        (
            {"audits": [{"events": [{"type": "Comment", "public": "yes"}]}]},
            "audits[0].events[0].public is a JSON string",
        ),
    ],
)
def test_wrong_fields_are_faults_with_file_and_line(tmp_path, change, message):
    """Each says where it is; the good tickets are kept only where bad ones may be skipped, and are then counted."""
    path = written(tmp_path / "t.ndjson", lines_of([zendesk_ticket(1), zendesk_ticket(2) | change, zendesk_ticket(3)]))
    if message.startswith("description"):
        path = written(path, path.read_text().replace("a\\u0000b", "a\\u0000b"))
    with pytest.raises(DataError) as raised:
        read(path)
    assert [(f.path, f.line) for f in raised.value.faults] == [(str(path), 2)]
    assert message in raised.value.faults[0].message
    threads, reading = read(path, skip_bad=True)
    assert len(threads) == 2 or "audits" in change
    assert reading.skipped.counts["records that cannot be read"] == 1


def test_three_encodings_of_time_are_one_moment(tmp_path):
    """ISO with Z, ISO with an offset and an epoch all come out in UTC."""
    times = ["2024-05-03T08:00:00Z", "2024-05-03T10:00:00+0200", 1714723200, 1714723200000]
    tickets = [zendesk_ticket(n, created_at=at) for n, at in enumerate(times, start=1)]
    threads, _ = read(written(tmp_path / "t.json", {"tickets": tickets}))
    assert {thread.messages[0].at.isoformat() for thread in threads} == {"2024-05-03T08:00:00+00:00"}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"tickets": [' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"]}", "nested deeper than 100 levels"),
        (b'{"tickets": [{"id": 1, "requester_id"', "the file ends inside a record"),
        (b'{"tickets": [{"id": 1,}]}', "not valid JSON"),
        (b"\xff\xfe{\x00}\x00", "is no JSON record"),
        (b"[[1]]", "a JSON list where an object is expected"),
    ],
)
def test_broken_files_are_faults_and_no_crash(tmp_path, raw, message):
    """Whatever the file holds, the outcome is a fault that names it."""
    path = written(tmp_path / "t.json", raw)
    with pytest.raises(DataError) as raised:
        read(path)
    assert any(message in fault.message and fault.path == str(path) for fault in raised.value.faults)
    assert Zendesk().recognise(path) is None


def test_rubbish_is_not_recognised(tmp_path):
    """Recognising never raises."""
    for name, raw in (("a.json", b"{"), ("b.json", b""), ("c.zip", b"PK\x03\x04rubbish"), ("d.txt", b"\0\1")):
        assert Zendesk().recognise(written(tmp_path / name, raw)) is None
    assert Zendesk().recognise(tmp_path / "absent") is None


def test_a_huge_message_is_skipped_with_a_count(tmp_path):
    """A comment beyond two million characters is left out; a record beyond 64 MB is too; the rest is read."""
    audits = zendesk_solved()
    audits[1]["events"].append(zendesk_comment(13, 900, "x" * 2_000_001))
    (thread,), reading = read(export(tmp_path, [zendesk_ticket()], audits))
    assert [m.id for m in thread.messages] == ["11", "12"]
    assert reading.skipped.counts == {"messages of more than 2,000,000 characters": 1}
    huge = tmp_path / "huge"
    export(huge, [zendesk_ticket()], zendesk_solved())
    written(huge / "more.json", b'{"audits": [{"ticket_id": 7, "events": ["' + b"x" * 100_000_000 + b'"]}]}')
    (thread,), reading = read(huge)
    assert len(thread.messages) == 2
    assert reading.skipped.counts == {"records of more than 64 MB": 1}


def test_status_events_without_comment_keep_their_order(tmp_path):
    """Reopening is seen as such."""
    audits = [
        *zendesk_solved()[:2],
        zendesk_audit(
            4, 7, 501, "2024-05-04T08:00:00Z", zendesk_comment(15, 501, "no"), zendesk_status("open", "solved")
        ),
    ]
    (thread,), _ = read(export(tmp_path, [zendesk_ticket(status="open")], audits))
    assert [change.closed for change in thread.changes] == [False, True, False]
