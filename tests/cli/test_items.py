"""`findback items`."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.lookagain import NOBODY, SECOND, heads, released, two_answers, two_systems
from findback.cli.main import app
from findback.model.items import ItemAnalysis, SentItems
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.casechange import digest_case
from findback.steps.caselist import list_questioned
from findback.steps.items_send import SendRequest, send_items
from findback.steps.lookagain import answer_look, list_documents, list_pools
from findback.workspace import Workspace


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A released set, and a recorded run of each of the two systems."""
    workspace = released(tmp_path)
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cases = heads(workspace).values()
    for name, answers in two_answers(workspace).items():
        lines = [
            f"{case.id} Q0 {document} {rank} {1 / rank} t\n"
            for case in cases
            for rank, document in enumerate(answers[case.query], 1)
        ]
        (workspace.root / f"{name}.trec").write_text("".join(lines))
    return workspace


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    app(["items", "a.trec", "b.trec", *words], exit_on_error=False, result_action="return_value")
    return capsys.readouterr().out


def test_what_looks_wrong_is_shown(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal names the case nobody solves and the page both rank first; JSON reads back as the record."""
    shown = said(capsys)
    assert "Of 16 cases, 2 systems all solve 15 and none solves 1." in shown
    assert SECOND in shown
    assert NOBODY in shown
    assert "policies/leave.md" in shown
    result = ItemAnalysis.model_validate(json.loads(said(capsys, "--json")))
    assert [one.question for one in result.nobody] == [NOBODY]
    assert [(one.question, one.systems) for one in result.second] == [(SECOND, ("a", "b"))]
    said(capsys, "-o", "items.html")
    assert "policies/leave.md" in (made.root / "items.html").read_text()


def test_sending_shows_no_case(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """Four cases wait afterwards, and nothing that is printed names one of them."""
    sent = SentItems.model_validate(json.loads(said(capsys, "--send", "--json", "--most", "1")))
    assert (sent.cases, sent.random, sent.waiting) == (2, 1, 1)
    shown = said(capsys, "--send")
    assert "2 cases sent to be looked at again, 1 of them drawn at random" in shown
    assert not any(id_ in shown for id_ in heads(made))
    with open_bench(made) as bench:
        assert len(list_questioned(bench)) == 4


def test_the_next_release_prints_scores_with_and_without(made: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """Release and diff print each system's score with what was found, without it, and without what only it found."""
    send_items(made, SendRequest(), systems=two_systems(made))
    with open_bench(made) as bench:
        case, pool = heads(made)[NOBODY], list_pools(bench)[NOBODY]
        grades = {one: 3 if one in ("howto/vpn.md", "page-1.md") else 0 for one in list_documents(case, pool)}
        lead = Reviewer("ana", None, ("lead",), ("public",))
        answer_look(made, bench, lead, NOBODY, grades, seen=digest_case(case), now=datetime(2026, 3, 2, tzinfo=UTC))
    for words in (["release", "-m", "second"], ["diff", "1", "2"]):
        app(words, exit_on_error=False, result_action="return_value")
        shown = " ".join(capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").split())
        assert "labels found by item analysis: scores with, without, and without golds only that system" in shown
        # Of 16 cases a solves one more, .906 to .969, by a page nobody else put forward; b moves nowhere.
        assert re.search(r"a RR@10 0\.969 .* 0\.906 .* \+\.062 .* 1 0\.906", shown)
        assert re.search(r"b RR@10 0\.906 .* 0\.906 .* 0 0\.906", shown)


def test_sending_writes_no_list(made: Workspace) -> None:
    """A list of what is suspicious beside a blind look would spoil it."""
    from findback.errors import UsageError

    for words in (("-o", "items.md"), ("--all",)):
        with pytest.raises(UsageError, match="must not know"):
            app(["items", "a.trec", "b.trec", "--send", *words], exit_on_error=False, result_action="return_value")
    assert not (made.root / "items.md").exists()
