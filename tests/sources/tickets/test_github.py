"""GitHub issues and discussions."""

from functools import partial

import pytest

from builders.readings import threads_of
from builders.tickets import (
    KB,
    github_comment,
    github_discussion,
    github_issue,
    github_user,
    lines_of,
    written,
)
from findback.errors import DataError
from findback.sources.format import Source, SourceOptions
from findback.sources.tickets.discussions import CUT_SHORT
from findback.sources.tickets.github import GitHub

read = partial(threads_of, GitHub())


def test_the_real_file_is_read(data):
    """Of two rows one is a pull request; the three comments belong to issues that are not there."""
    threads, reading = read(data / "github")
    assert GitHub().recognise(data / "github") == "issues or comments with author_association"
    assert [(t.id, t.title, t.asker, t.tags) for t in threads] == [
        ("simonw/datasette#572", "Error running datasette publish with just --source_url", "simonw", ("plugins",))
    ]
    (message,) = threads[0].messages
    assert message.staff is True
    assert message.text.startswith("```\r\ndatasette publish now")
    assert message.at.isoformat() == "2019-09-04T22:19:22+00:00"
    assert reading.skipped.counts == {
        "files of other kinds": 1,
        "pull requests": 1,
        "comments and events whose issue is not in the export": 3,
    }


def test_issues_and_comments_come_together(tmp_path):
    """Comments beside are joined by issue_url, in order; who closed it and who belongs to the project is kept."""
    written(tmp_path / "issues.json", [github_issue()])
    written(
        tmp_path / "comments.json",
        [
            github_comment(2, 5, "ida-o", "Thanks!", created_at="2024-05-03T10:00:00Z", author_association="NONE"),
            github_comment(1, 5, "ben-s", f"See [keys]({KB}/keys), @ida-o"),
            github_comment(
                3, 5, "helper[bot]", "stale", created_at="2024-05-03T11:00:00Z", user=github_user("helper[bot]", "Bot")
            ),
        ],
    )
    (thread,), reading = read(tmp_path)
    assert isinstance(GitHub(), Source)
    assert [(m.author, m.actor, m.staff) for m in thread.messages] == [
        ("ida-o", "human", False),
        ("ben-s", "human", True),
        ("ida-o", "human", False),
        ("helper[bot]", "bot", True),
    ]
    assert [link.url for link in thread.messages[1].links] == [f"{KB}/keys"]
    assert [(c.closed, c.author) for c in thread.changes] == [(True, "ben-s")]
    assert sorted(person.id for person in reading.people) == ["ben-s", "helper[bot]", "ida-o"]


def test_events_tell_of_reopening(tmp_path):
    """Closed and reopened events come before what the issue itself says."""
    issue = github_issue()
    events = [
        {"event": kind, "actor": github_user("ben-s"), "created_at": at, "issue": {"url": issue["url"], "number": 5}}
        for kind, at in (
            ("closed", "2024-05-03T12:00:00Z"),
            ("reopened", "2024-05-04T12:00:00Z"),
            ("labeled", "2024-05-05T12:00:00Z"),
        )
    ]
    written(tmp_path / "issues.json", [issue])
    written(tmp_path / "events.json", events)
    (thread,), _ = read(tmp_path)
    assert [change.closed for change in thread.changes] == [True, False]


@pytest.mark.parametrize(
    ("association", "labels", "expected"),
    [
        ("MEMBER", [], "https://github.com/acme/kb/issues/3"),
        ("NONE", [], None),
        ("NONE", [{"name": "Duplicate"}], "https://github.com/acme/kb/issues/3"),
    ],
)
def test_duplicates_count_when_the_project_says_so(tmp_path, association, labels, expected):
    """`Duplicate of #3` counts from who belongs to the project, or under its label."""
    comment = github_comment(1, 5, "ben-s", "Duplicate of #3", author_association=association)
    path = written(tmp_path / "i.jsonl", lines_of([github_issue(labels=labels), comment]))
    (thread,), _ = read(path)
    assert thread.duplicate_of == expected


def test_an_empty_body_is_an_empty_message(tmp_path):
    """GitHub writes null for a body nobody wrote."""
    (thread,), _ = read(written(tmp_path / "i.json", [github_issue(body=None, user=None)]))
    assert [(m.text, m.author) for m in thread.messages] == [("", None)]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda d: d,
        lambda d: [d],
        lambda d: {"data": {"repository": {"discussions": {"nodes": [d], "pageInfo": {"hasNextPage": False}}}}},
        lambda d: {"data": {"repository": {"discussion": d}}},
        lambda d: {"data": {"search": {"edges": [{"node": d}]}}},
    ],
)
def test_discussions_are_read_from_every_answer(tmp_path, wrap):
    """The chosen answer is the accepted one, whatever the query around it looked like."""
    path = written(tmp_path / "d.json", wrap(github_discussion()))
    (thread,), reading = read(path)
    assert GitHub().recognise(path) is not None
    assert (thread.id, thread.container, thread.container_name) == ("acme/kb#d9", "acme/kb", "Q&A")
    assert (thread.accepted, thread.help_channel) == ("DC_2", True)
    assert [link.url for link in thread.messages[1].links] == [f"{KB}/limits"]
    assert reading.notes == []


def test_discussions_that_go_on_are_noted(tmp_path):
    """What was not fetched is said, once."""
    discussion = github_discussion()
    discussion["comments"]["pageInfo"]["hasNextPage"] = True
    _, reading = read(written(tmp_path / "d.json", [discussion, discussion | {"number": 10, "url": None}]))
    assert reading.notes == [CUT_SHORT]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (github_issue(title=4), "title is a JSON number where text is expected"),
        (github_issue(user="ida"), "user is a JSON string where an object is expected"),
        (github_issue(closed_at="x"), "closed_at is no time"),
        (github_issue(body="a\0"), "body holds a NUL character"),
        ({"id": 1, "user": {}, "body": "x"}, "a comment without issue_url"),
        (github_discussion(comments=[]), "comments is a JSON array where an object is expected"),
    ],
)
def test_wrong_fields_are_faults_with_file_and_line(tmp_path, row, message):
    """Each fault says where it is."""
    path = written(tmp_path / "i.jsonl", lines_of([github_issue(1), row]))
    with pytest.raises(DataError) as raised:
        read(path)
    assert {(f.path, f.line, f.message) for f in raised.value.faults} == {(str(path), 2, message)}


def test_the_roster_is_whole_before_the_first_thread(tmp_path):
    """People of later issues are known already, so that their names can be masked in the first."""
    rows = [github_issue(1), github_issue(2, user=github_user("zoe-z"))]
    reading = GitHub().read(written(tmp_path / "i.jsonl", lines_of(rows)), SourceOptions())
    assert reading.threads is not None
    next(reading.threads)
    assert "zoe-z" in [person.id for person in reading.people]
