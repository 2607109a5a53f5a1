"""Stack Exchange dumps."""

import time
from functools import partial

import pytest

from builders.readings import threads_of
from builders.tickets import KB, stack_answer, stack_posts, stack_question, stack_row, written
from findback.errors import DataError, RefusedError
from findback.sources.format import Source
from findback.sources.tickets.stackexchange import StackExchange

read = partial(threads_of, StackExchange())


def test_the_real_dump_holds_42_accepted_answers_with_a_link(data, capsys):
    """Of 83 accepted answers 42 carry a link; 26 tag-wiki rows are dropped; three owners are missing."""
    threads, reading = read(data / "stackexchange")
    accepted = [m for thread in threads for m in thread.messages if m.id == thread.accepted]
    linked = [message for message in accepted if message.links]
    with capsys.disabled():
        print(f"\nStack Exchange: {len(accepted)} accepted answers, {len(linked)} with a link")
    assert (len(threads), len(accepted), len(linked)) == (257, 83, 42)
    assert reading.skipped.counts == {"tag wikis": 26}
    assert sum(m.author is None for thread in threads for m in thread.messages) == 3
    assert {thread.container for thread in threads} == {"datascience_meta"}
    assert StackExchange().recognise(data / "stackexchange") == "Posts.xml with PostTypeId"
    first = next(thread for thread in threads if thread.id == "datascience_meta/6")
    assert (first.title, first.tags) == ("Can we get TeX support?", ("feature-request", "status-completed"))
    assert first.messages[0].at.isoformat() == "2014-05-14T08:11:02.157000+00:00"


def test_answers_far_from_their_question_are_joined(tmp_path):
    """A question is given once its last answer has come, answers oldest first."""
    path = written(
        tmp_path / "Posts.xml",
        stack_posts(
            stack_answer(4, 3, CreationDate="2024-05-04T09:00:00.000"),
            stack_question(1, AcceptedAnswerId=9),
            stack_question(3, Tags="<sql><joins>"),
            stack_answer(2, 1),
            stack_answer(9, 1, CreationDate="2024-05-03T08:30:00.000"),
            stack_answer(5, 77),
            stack_row(Id=6, PostTypeId=5, Body="wiki"),
        ),
    )
    threads, reading = read(path)
    assert isinstance(StackExchange(), Source)
    assert [(t.id.rpartition("/")[2], [m.id for m in t.messages], t.accepted) for t in threads] == [
        ("3", ["3", "4"], None),
        ("1", ["1", "9", "2"], "9"),
    ]
    assert {thread.tags for thread in threads} == {("sql", "joins")}
    assert reading.skipped.counts == {"tag wikis": 1, "answers whose question is not in the export": 1}


def test_duplicates_and_people_come_from_the_files_beside(tmp_path):
    """PostLinks type 3 names the original; Users.xml gives the roster of who wrote."""
    site = tmp_path / "kb.example.org"
    written(site / "Posts.xml", stack_posts(stack_question(1), stack_question(2, OwnerUserId=23)))
    written(
        site / "PostLinks.xml",
        "<postlinks>"
        + stack_row(Id=1, PostId=2, RelatedPostId=1, LinkTypeId=3)
        + stack_row(Id=2, PostId=1, RelatedPostId=2, LinkTypeId=1)
        + "</postlinks>",
    )
    written(
        site / "Users.xml",
        "<users>" + stack_row(Id=23, DisplayName="Ida Okafor") + stack_row(Id=99, DisplayName="Nobody") + "</users>",
    )
    written(site / "Votes.xml", "<votes/>")
    threads, reading = read(tmp_path)
    assert [(t.id, t.duplicate_of) for t in threads] == [
        ("kb.example.org/1", None),
        ("kb.example.org/2", "kb.example.org/1"),
    ]
    assert [(p.id, p.names) for p in reading.people] == [("23", ("Ida Okafor",))]
    assert reading.skipped.counts == {"files of other kinds": 1}


def test_a_missing_owner_is_nobody(tmp_path):
    """Deleted users leave posts without OwnerUserId."""
    row = stack_question(1).replace('OwnerUserId="21" ', "")
    (thread,), _ = read(written(tmp_path / "Posts.xml", stack_posts(row)))
    assert (thread.asker, thread.messages[0].author) == (None, None)


LAUGHS = '<!DOCTYPE p [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "head",
    [
        LAUGHS + "]>",
        '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE p SYSTEM "http://example.org/p.dtd">',
        '<!DOCTYPE p [<!ENTITY % x SYSTEM "http://example.org/x">%x;]>',
    ],
)
def test_entities_and_document_types_are_refused(tmp_path, head):
    """Nothing is expanded, read or fetched."""
    body = "&i;&x;" if "ENTITY" in head else ""
    path = written(tmp_path / "Posts.xml", f"<?xml version='1.0'?>{head}<posts><row Body='{body}'/></posts>")
    started = time.process_time()
    with pytest.raises(RefusedError, match="entities"):
        read(path)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([stack_question(1), "  <row Id='2' Body=\n"], 5, "not valid XML"),
        ([stack_question(1), "  <row Id='2' PostTypeId='1' Body='\0'/>\n"], 4, "not valid XML"),
        ([stack_question(1), stack_row(PostTypeId=1, Body="x", Title="t")], 4, "Id is missing"),
        ([stack_question(1), stack_row(PostTypeId=2, Id=3, Body="x")], 4, "ParentId is missing"),
        ([stack_question(1), stack_row(PostTypeId=1, Id=3)], 4, "Body is missing"),
        ([stack_question(1), stack_question(2, CreationDate="soon")], 4, "CreationDate is no time"),
    ],
)
def test_broken_rows_are_faults_with_file_and_line(tmp_path, rows, line, message):
    """Each fault says where; rows before it are kept where bad ones may be skipped."""
    path = written(tmp_path / "Posts.xml", stack_posts(*rows))
    with pytest.raises(DataError) as raised:
        read(path)
    assert {(f.path, f.line) for f in raised.value.faults} == {(str(path), line)}
    assert message in raised.value.faults[0].message
    threads, reading = read(path, skip_bad=True)
    assert threads[0].messages[0].id == "1"
    assert reading.skipped.counts["records that cannot be read"] >= 1


def test_deep_elements_and_long_bodies_are_no_crash(tmp_path):
    """A hundred thousand nested elements hold no row; a body beyond two million characters is skipped."""
    deep = written(tmp_path / "deep" / "Posts.xml", "<posts>" + "<a>" * 100_000 + "</a>" * 100_000 + "</posts>")
    assert read(deep)[0] == []
    long = written(
        tmp_path / "long" / "Posts.xml", stack_posts(stack_question(1, Body="x" * 2_000_001), stack_question(2))
    )
    threads, reading = read(long)
    assert [thread.id for thread in threads] == ["long/2"]
    assert reading.skipped.counts["messages of more than 2,000,000 characters"] == 1


def test_links_of_an_answer_are_decoded_once(tmp_path):
    """An address in an attribute is escaped twice and decoded twice, by XML and by HTML."""
    body = f'<p>See <a href="{KB}/j?a=1&amp;b=2">this &amp;amp; that</a></p>'
    path = written(tmp_path / "Posts.xml", stack_posts(stack_question(1), stack_answer(2, 1, Body=body)))
    (thread,), _ = read(path)
    assert thread.messages[1].text == "See this &amp; that"
    assert thread.messages[1].links[0].url == f"{KB}/j?a=1&b=2"
