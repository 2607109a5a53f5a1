"""Retrieval calls by mapping, and agent runs."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.readings import turns_of
from builders.traces import QUESTION, REWRITES, write_json, write_lines
from findback.errors import DataError, UsageError
from findback.sources.traces import agent_runs, calls
from findback.sources.traces.mapping import load_mapping

ROWS = [
    {"turn_id": "1", "session": "s", "user": "u", "question": QUESTION, "tool": "kb", "query": REWRITES[0],
     "n_results": 0, "documents": None, "timestamp": "2026-03-01T08:00:00Z", "success": "no"},
    {"turn_id": "1", "session": "s", "user": "u", "question": QUESTION, "tool": "kb", "query": REWRITES[1],
     "n_results": 2, "documents": "docs/a.md; docs/b.md", "timestamp": "2026-03-01T08:00:05Z", "success": "no"},
    {"turn_id": "2", "session": "s", "user": "u", "question": "No, I meant mail", "tool": "kb", "query": "mail",
     "n_results": None, "documents": None, "timestamp": "2026-03-01T08:01:00Z", "success": None},
]  # fmt: skip


def written(tmp_path, shape):
    path = tmp_path / f"calls.{shape}"
    if shape == "jsonl":
        return write_lines(path, ROWS)
    if shape == "json":
        return write_json(path, ROWS)
    if shape == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
        return path
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(ROWS[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(ROWS)
    return path


@pytest.mark.parametrize("shape", ["jsonl", "json", "csv", "parquet"])
def test_retrieval_calls_in_every_container(tmp_path, shape):
    """The same rows read the same from JSON, JSON Lines, CSV and Parquet; an empty count is unknown, not 0."""
    path = written(tmp_path, shape)
    assert calls.recognise(path).startswith("retrieval calls (")
    turns, _ = turns_of(calls, path)
    assert [(turn.text, turn.outcome, turn.user) for turn in turns] == [
        (QUESTION, False, "u"),
        ("No, I meant mail", None, "u"),
    ]
    assert [(c.query, c.results) for c in turns[0].calls] == [(REWRITES[0], 0), (REWRITES[1], 2)]
    assert turns[0].calls[1].documents == ("docs/a.md", "docs/b.md")
    assert turns[1].calls[0].results is None
    assert turns[0].next_text == "No, I meant mail"


def test_a_mapping_names_other_fields_and_fixes_values(tmp_path):
    """Dotted paths reach into objects, a turn may list its calls, and `=value` fixes a field."""
    row = {
        "meta": {"chat": "c-1"},
        "said": QUESTION,
        "steps": [{"ask": REWRITES[0], "hits": [{"doc": "a"}]}, {"ask": REWRITES[1], "hits": []}],
        "right": ["docs/certs.md"],
    }
    mapping = {
        "conversation": "meta.chat",
        "text": "said",
        "calls": "steps",
        "query": "ask",
        "results": "hits",
        "n_results": "none",
        "gold": "right",
        "tool": "=portal",
        "audience": "=public",
    }
    [turn], _ = turns_of(calls, write_lines(tmp_path / "x.jsonl", [row]), mapping=mapping)
    assert (turn.text, turn.conversation, turn.audience, turn.gold) == (QUESTION, "c-1", "public", ("docs/certs.md",))
    assert [(c.tool, c.query, c.results) for c in turn.calls] == [
        ("portal", REWRITES[0], 1),
        ("portal", REWRITES[1], 0),
    ]


def test_rows_without_turn_ids_join_by_wording(tmp_path):
    """In one conversation, rows in a row with the same wording are one turn."""
    rows = [{key: value for key, value in row.items() if key != "turn_id"} for row in ROWS]
    turns, _ = turns_of(calls, write_lines(tmp_path / "x.jsonl", rows))
    assert [len(turn.calls) for turn in turns] == [2, 1]


def test_unknown_fields_and_wrong_values(tmp_path):
    """A field no trace has is refused with the list of them; values of wrong types are faults of their line."""
    with pytest.raises(UsageError, match="no trace has a field named colour"):
        turns_of(calls, write_lines(tmp_path / "x.jsonl", ROWS), mapping={"colour": "c"})
    rows = [ROWS[0], {**ROWS[1], "n_results": -2}, {**ROWS[2], "query": {"a": 1}}]
    with pytest.raises(DataError) as caught:
        turns_of(calls, write_lines(tmp_path / "x.jsonl", rows))
    assert [fault.line for fault in caught.value.faults] == [2, 3]
    bad = tmp_path / "x.csv"
    bad.write_text('turn_id,question,query,tool\n1,a,"b,t\n')
    with pytest.raises(DataError) as caught:
        turns_of(calls, bad)
    assert caught.value.faults[0].line == 2


def test_marked_rows_are_dropped(tmp_path):
    """A row whose metadata or own column carries the marker is evaluation traffic."""
    rows = [{**ROWS[0], "metadata": {"X-Findback": "evaluation"}}, {**ROWS[2], "x_findback": "evaluation"}]
    turns, reading = turns_of(calls, write_lines(tmp_path / "x.jsonl", rows))
    assert (turns, reading.skipped.counts) == ([], {"marked evaluation traffic": 2})


@pytest.mark.parametrize("name", ["langgraph", "retrieval-calls", "agent-runs"])
def test_shipped_mappings_place_known_fields(name):
    """A shipped mapping names only fields that a trace has."""
    mapping = load_mapping(name)
    assert load_mapping(name, {**mapping.paths, **{field: f"={value}" for field, value in mapping.fixed.items()}})


def run(*texts: str, reward: bool = False) -> dict:
    roles = ("user", "assistant")
    return {"reward": reward, "traj": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]}


def test_only_the_first_search_of_a_message_was_run(tmp_path):
    """A model may write further actions and their imagined results; the run's outcome is carried."""
    runs = {
        "7": run(QUESTION, "Thought: look\nAction: search[a b] c\nAction: search[imagined]", "Observation: x",
                 "Action: click[x]\nAction: search[d]", "Observation: y", "Action: finish[so]", reward=True),
        "8": run(QUESTION, "Action: finish[unknown]"),
    }  # fmt: skip
    path = write_json(tmp_path / "runs.json", runs)
    assert agent_runs.recognise(path) == "agent runs with their trajectories"
    turns, _ = turns_of(agent_runs, path)
    assert [(turn.id, turn.outcome, turn.answer) for turn in turns] == [("7", True, "so"), ("8", False, "unknown")]
    assert [c.query for c in turns[0].calls] == ["a b", "d"]
    assert all(turn.multi_part for turn in turns)


def test_broken_runs_are_named(tmp_path):
    """A run without a trajectory is a fault that says which run."""
    path = write_json(tmp_path / "runs.json", {"7": run(QUESTION, "Action: finish[so]"), "8": {"traj": 3}, "9": 1})
    with pytest.raises(DataError) as caught:
        turns_of(agent_runs, path)
    assert [fault.message.split(": ")[1] for fault in caught.value.faults] == ["run 8", "run 9"]
    turns, _ = turns_of(agent_runs, path, skip_bad=True)
    assert json.dumps([turn.id for turn in turns]) == '["7"]'
