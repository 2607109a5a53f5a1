"""Jira issues."""

from functools import partial

import pytest

from builders.readings import threads_of
from builders.tickets import KB, adf, adf_paragraph, jira_issue, jira_person, lines_of, written
from findback.errors import DataError
from findback.model.thread import Link
from findback.sources.format import Source
from findback.sources.tickets.jira import Jira

read = partial(threads_of, Jira())


def test_an_issue_becomes_a_thread(tmp_path):
    """Description and public comments are messages, the changelog closes it, customers are no staff."""
    path = written(tmp_path / "search.json", {"startAt": 0, "issues": [jira_issue()]})
    (thread,), reading = read(path)
    assert isinstance(Jira(), Source)
    assert Jira().recognise(path) == "issues with key and fields.summary"
    assert (thread.id, thread.container, thread.container_name, thread.asker) == (
        "HELP-12",
        "HELP",
        "Help desk",
        "qm:1",
    )
    assert [(m.author, m.text, m.staff) for m in thread.messages] == [
        ("qm:1", "I cannot open the wiki since Monday", False),
        ("5b:2", f"See {KB}/wiki-access", None),
    ]
    assert thread.messages[1].links == (Link(f"{KB}/wiki-access"),)
    assert thread.messages[0].at.isoformat() == "2024-05-03T08:00:00+00:00"
    assert [(c.status, c.closed) for c in thread.changes] == [("Done", True)]
    assert [person.names for person in reading.people] == [("Ida Okafor",), ("Ben Sorel",)]


def test_remote_links_inside_and_beside_are_attached(tmp_path):
    """A remote link belongs to the issue its own address names."""
    beside = {
        "id": 10,
        "self": "https://jira.example.org/rest/api/3/issue/HELP-12/remotelink/10",
        "object": {"url": f"{KB}/beside", "title": "Beside"},
    }
    stray = beside | {"self": "https://jira.example.org/rest/api/3/issue/HELP-99/remotelink/11"}
    issue = jira_issue() | {"remotelinks": [{"id": 9, "object": {"url": f"{KB}/inside", "title": "Inside"}}]}
    written(tmp_path / "issues.jsonl", lines_of([issue]))
    written(tmp_path / "links.json", [beside, stray])
    (thread,), reading = read(tmp_path)
    assert thread.attached == (
        Link(f"{KB}/inside", "structured-attach", "Inside"),
        Link(f"{KB}/beside", "structured-attach", "Beside"),
    )
    assert reading.skipped.counts == {"links and comments whose issue is not in the export": 1}


def test_a_comment_beside_its_issue_keeps_its_own_place(tmp_path):
    """What the workbench points at is the file that holds the comment, not the one that holds the issue."""
    issue = jira_issue()
    comment = issue["fields"]["comment"]["comments"].pop()
    comment["self"] = "https://jira.example.org/rest/api/3/issue/HELP-12/comment/1"
    written(tmp_path / "issues.jsonl", lines_of([issue]))
    apart = written(tmp_path / "comments.jsonl", "\n" + lines_of([comment]))
    (thread,), _ = read(tmp_path)
    assert [message.place.file.endswith("issues.jsonl") for message in thread.messages] == [True, False]
    assert thread.messages[1].place.file.endswith("comments.jsonl")
    assert apart.read_bytes()[thread.messages[1].place.offset :].lstrip().startswith(b"{")


@pytest.mark.parametrize(
    "hidden", [{"jsdPublic": False}, {"visibility": {"type": "role", "value": "Staff"}}, {"public": False}]
)
def test_internal_comments_are_skipped_and_counted(tmp_path, hidden):
    """Neither a comment the portal hides nor one for a role is public."""
    issue = jira_issue()
    comment = issue["fields"]["comment"]["comments"][0]
    comment.pop("jsdPublic")
    comment.update(hidden)
    path = written(tmp_path / "i.json", issue)
    (thread,), reading = read(path)
    assert len(thread.messages) == 1
    assert reading.skipped.counts == {"internal notes": 1}
    (opened,), _ = read(path, open_audiences=frozenset({"public", "internal"}))
    assert opened.messages[1].audience == "internal"


def test_resolution_decides_over_names_of_states(tmp_path):
    """Where the changelog has resolutions, clearing one reopens; without it known state names count."""
    issue = jira_issue()
    ben = jira_person("5b:2", "Ben Sorel")

    def history(at, *items):
        return {"id": at, "author": ben, "created": at, "items": [{"field": f, "toString": t} for f, t in items]}

    issue["changelog"]["histories"] = [
        history("2024-05-05T10:00:00.000+0000", ("resolution", None), ("status", "Weird")),
        history("2024-05-04T10:00:00.000+0000", ("resolution", "Fixed"), ("status", "Ready")),
    ]
    (thread,), _ = read(written(tmp_path / "a.json", issue))
    assert [change.closed for change in thread.changes] == [True, False]
    issue["changelog"]["histories"] = [history("2024-05-04T10:00:00.000+0000", ("status", "Resolved"))]
    (thread,), _ = read(written(tmp_path / "b.json", issue))
    assert [change.closed for change in thread.changes] == [True]
    del issue["changelog"]
    (thread,), _ = read(written(tmp_path / "c.json", issue))
    assert [(c.closed, c.at.isoformat()) for c in thread.changes] == [(True, "2024-05-03T10:00:00+00:00")]


def test_duplicates_are_read_in_the_right_direction(tmp_path):
    """An issue that duplicates another names it; the other one does not."""
    kind = {"name": "Duplicate", "inward": "is duplicated by", "outward": "duplicates"}
    issues = [
        jira_issue("HELP-13", issuelinks=[{"type": kind, "outwardIssue": {"key": "HELP-12"}}]),
        jira_issue("HELP-12", issuelinks=[{"type": kind, "inwardIssue": {"key": "HELP-13"}}]),
    ]
    threads, _ = read(written(tmp_path / "i.json", {"issues": issues}))
    assert [(thread.id, thread.duplicate_of) for thread in threads] == [("HELP-13", "HELP-12"), ("HELP-12", None)]


def test_server_wiki_text_and_apps_are_read(tmp_path):
    """Data Center bodies are wiki markup; an app's comment is a program's."""
    issue = jira_issue(description=f"see [the page|{KB}/x] [~ida]")
    issue["fields"]["comment"]["comments"][0]["author"] = jira_person("app:1", "Automation", "app")
    (thread,), _ = read(written(tmp_path / "i.json", issue))
    assert thread.messages[0].text == f"see [the page|{KB}/x] [~ida]"
    assert [m.kind for m in thread.messages[0].marks] == ["link", "user"]
    assert thread.messages[1].actor == "bot"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"summary": 3}, "fields.summary is a JSON number where text is expected"),
        ({"comment": []}, "fields.comment is a JSON array where an object is expected"),
        ({"comment": {"comments": [{"author": None, "body": "x"}]}}, "fields.comment.comments[0].id is missing"),
        ({"description": adf(adf_paragraph("a\0b"))}, "description holds a NUL character"),
        ({"created": "later"}, "fields.created is no time"),
    ],
)
def test_wrong_fields_are_faults_with_file_and_line(tmp_path, change, message):
    """Each fault says where; the rest is read where bad records may be skipped."""
    path = written(tmp_path / "i.ndjson", lines_of([jira_issue("HELP-1"), jira_issue("HELP-2", **change)]))
    with pytest.raises(DataError) as raised:
        read(path)
    assert [(f.path, f.line, f.message) for f in raised.value.faults] == [(str(path), 2, message)]
    threads, reading = read(path, skip_bad=True)
    assert reading.skipped.counts == {"records that cannot be read": 1}
    assert "HELP-1" in [thread.id for thread in threads]
