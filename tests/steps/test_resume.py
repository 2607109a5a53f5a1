"""An evaluation in which searches failed goes on: only those are asked again."""

import json
from pathlib import Path

import pytest

from findback.errors import UsageError
from findback.model.evaluation import Evaluation
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.workspace import Workspace, open_workspace
from retrievers.builders import Server, json_reply

DOCUMENTS = {"a.md": "lost parcels", "b.md": "gate hours", "c.md": "customs papers"}
SETTINGS = """
[corpus]
path = "docs"

[retrievers.engine]
kind = "http"
url = "{url}/?q={{{{query}}}}{more}"
score = "$.score"
retries = 0
"""


class Flaky:
    """A search system that fails on some questions until it is mended, and counts what it is asked."""

    def __init__(self) -> None:
        self.broken = {"gate", "customs"}
        self.asked: list[str] = []

    def __call__(self, seen):
        (query,) = seen.parameters["q"]
        self.asked.append(query)
        if query in self.broken:
            return json_reply({"error": "overloaded"}, 500)
        found = next(name for name, text in DOCUMENTS.items() if query in text)
        return json_reply({"hits": [{"id": found, "score": 1.5}]})


@pytest.fixture
def engine():
    """Run the system."""
    flaky = Flaky()
    server = Server(flaky)
    flaky.url = server.url
    yield flaky
    server.close()


def open_place(folder: Path, url: str, more: str = "") -> Workspace:
    """Return a workspace with three documents and three questions."""
    (folder / "docs").mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text, "utf-8")
    rows = [("q1", "lost", "a.md"), ("q2", "gate", "b.md"), ("q3", "customs", "c.md")]
    lines = [json.dumps({"id": name, "query": query, "gold": [gold]}) for name, query, gold in rows]
    (folder / "asked.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "findback.toml").write_text(SETTINGS.format(url=url, more=more), "utf-8")
    return open_workspace(folder, environment={"XDG_STATE_HOME": str(folder / "state")})


def score(workspace: Workspace, *, resume: bool, name: str = "asked.jsonl") -> Evaluation:
    """Evaluate everything, one search at a time."""
    request = EvaluateRequest(set=workspace.root / name, resume=resume, concurrency=1)
    return evaluate(workspace, request, ask=lambda _: True)


def test_only_what_failed_is_asked_again(tmp_path: Path, engine: Flaky):
    """Two of three fail; mended, the two are asked, the third's answer is kept, and all three are found."""
    workspace = open_place(tmp_path, engine.url)
    first = score(workspace, resume=False).retrievers[0]
    assert (first.asked, first.failed, sorted(engine.asked)) == (3, 2, ["customs", "gate", "lost"])
    engine.broken.remove("gate")
    engine.asked.clear()
    second = score(workspace, resume=True).retrievers[0]
    assert (second.asked, second.failed, sorted(engine.asked)) == (3, 1, ["customs", "gate"])
    engine.broken.clear()
    engine.asked.clear()
    third = score(workspace, resume=True).retrievers[0]
    assert (third.asked, third.failed, engine.asked) == (3, 0, ["customs"])
    group = third.group()
    assert group is not None
    assert next(one.estimate.value for one in group.scores if one.metric == "RR@10") == 1.0


def test_other_settings_are_asked_everything(tmp_path: Path, engine: Flaky):
    """An answer of another configuration is no answer of this one."""
    score(open_place(tmp_path, engine.url), resume=False)
    engine.asked.clear()
    engine.broken.clear()
    again = score(
        open_place(tmp_path, engine.url, "&k={{{{k}}}}".replace("{{{{", "{{").replace("}}}}", "}}")), resume=True
    )
    assert sorted(engine.asked) == ["customs", "gate", "lost"]
    assert again.retrievers[0].failed == 0


def test_another_set_has_nothing_to_resume(tmp_path: Path, engine: Flaky):
    """Nor has a workspace in which nothing was evaluated."""
    workspace = open_place(tmp_path, engine.url)
    with pytest.raises(UsageError, match="nothing to resume"):
        score(workspace, resume=True)
    score(workspace, resume=False)
    (tmp_path / "other.jsonl").write_text(json.dumps({"id": "q1", "query": "lost", "gold": ["b.md"]}), "utf-8")
    with pytest.raises(UsageError, match="nothing to resume"):
        score(workspace, resume=True, name="other.jsonl")
