"""Discourse topics."""

from functools import partial

import pytest

from builders.readings import threads_of
from builders.tickets import KB, discourse_post, discourse_topic, lines_of, written
from findback.errors import DataError
from findback.sources.format import Source
from findback.sources.tickets.discourse import FIRST_PAGE, Discourse

read = partial(threads_of, Discourse())


@pytest.mark.parametrize(
    "accepted",
    [
        {"accepted_answer": {"post_number": 2}},
        {"accepted_answer": [{"post_number": 2}]},
        {"accepted_answers": [{"post_number": 2}], "accepted_answer": None},
    ],
)
def test_the_accepted_answer_is_found_in_every_shape(tmp_path, accepted):
    """Object and array name the same post."""
    topic = discourse_topic() | accepted
    if topic["accepted_answer"] is None:
        del topic["accepted_answer"]
    path = written(tmp_path / "42.json", topic)
    (thread,), _ = read(path)
    assert isinstance(Discourse(), Source)
    assert Discourse().recognise(path) == "topics with post_stream.posts"
    assert thread.accepted == "102"
    assert [link.url for link in thread.messages[1].links] == [f"{KB}/plans"]
    assert (thread.title, thread.asker, thread.tags, thread.container) == ("Change of plan", "ida", ("billing",), "4")


def test_a_post_can_carry_the_mark_itself(tmp_path):
    """Older versions mark the post only."""
    topic = discourse_topic()
    del topic["accepted_answer"]
    topic["post_stream"]["posts"][1]["accepted_answer"] = True
    assert read(written(tmp_path / "t.json", topic))[0][0].accepted == "102"


def test_a_topic_with_its_first_page_only_is_noted(tmp_path):
    """How many topics and posts are missing is said; an accepted answer beyond the page is counted."""
    long = discourse_topic(43) | {"accepted_answer": {"post_number": 30}}
    long["post_stream"] = long["post_stream"] | {"stream": list(range(101, 131))}
    threads, reading = read(written(tmp_path / "t.jsonl", lines_of([discourse_topic(), long])))
    assert [thread.accepted for thread in threads] == ["102", None]
    assert reading.notes == [f"1 {FIRST_PAGE}"]
    assert reading.skipped.counts == {
        "posts beyond a topic's first page": 28,
        "accepted answers beyond a topic's first page": 1,
    }


def test_messages_whispers_and_deleted_posts_are_not_public(tmp_path):
    """Private messages are direct, whispers internal, hidden posts deleted: all counted."""
    topic = discourse_topic()
    topic["post_stream"]["posts"] += [
        discourse_post(3, "mod", "<p>whisper</p>", post_type=4),
        discourse_post(4, "bad", "<p>spam</p>", hidden=True),
        discourse_post(5, "system", "", post_type=3, action_code="autoclosed.enabled", user_id=-1),
    ]
    path = written(tmp_path / "t.json", [topic, discourse_topic(44) | {"archetype": "private_message"}])
    (thread,), reading = read(path)
    assert len(thread.messages) == 2
    assert [(c.closed, c.actor) for c in thread.changes] == [(True, "system")]
    assert reading.skipped.counts == {
        "internal notes": 1,
        "deleted messages": 1,
        "direct tickets and questions": 1,
    }
    assert len(read(path, open_audiences=frozenset({"public", "direct"}))[0]) == 2


def test_a_topic_without_its_first_post_is_known_as_such(tmp_path):
    """A later page by itself has no question."""
    topic = discourse_topic()
    del topic["post_stream"]["posts"][0]
    (thread,), _ = read(written(tmp_path / "t.json", topic))
    assert (thread.parent_missing, thread.asker) == (True, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": 1}, "title is a JSON number where text is expected"),
        ({"post_stream": {"posts": {}}}, "post_stream.posts is a JSON object where a list is expected"),
        (
            {"post_stream": {"posts": [discourse_post(1, "ida", "x", created_at="?")]}},
            "post_stream.posts[0].created_at is no time",
        ),
        ({"id": None}, "id is missing"),
    ],
)
def test_wrong_fields_are_faults_with_file_and_line(tmp_path, change, message):
    """Each fault says where it is."""
    path = written(tmp_path / "t.jsonl", lines_of([discourse_topic(1), discourse_topic(2) | change]))
    with pytest.raises(DataError) as raised:
        read(path)
    assert [(f.path, f.line, f.message) for f in raised.value.faults] == [(str(path), 2, message)]
