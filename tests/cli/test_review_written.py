"""What a model wrote, in the terminal of whoever confirms it."""

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from builders.candidates import NOON, described, digest, paraphrased, written
from builders.ready import portal
from builders.sets import case
from findback.cli import reviewing
from findback.cli.reviewshown import show_documents, show_item
from findback.evalset.cases import write_cases
from findback.model.candidate import Candidate
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.review import Desk, open_desk, open_item
from findback.steps.reviewpool import pool

ANA = Reviewer("ana", None, ("reviewer",), ("public",))
BADGE = "howto/badge.md"
HOSTILE = "a \x1b[31mred\x07 nurse"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    write_cases(workspace.evalset / "cases.jsonl", [case(1, query="where is my badge")])
    with open_bench(workspace) as bench, open_desk(workspace, bench) as opened:
        yield opened


@pytest.fixture
def show(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Callable[[Candidate], str]:
    def shown(one: Candidate) -> str:
        desk.bench.put([one], now=NOON)
        item = open_item(desk, ANA, one.key, now=NOON)
        out = StringIO()
        console = Console(file=out, width=120, no_color=True)
        show_item(console, item, {})
        if item.origin != "paraphrase":
            show_documents(console, pool(desk, ANA, item), described=True)
        return out.getvalue() + capsys.readouterr().out

    return shown


def test_a_generated_question_says_how_it_was_written(show: Callable[[Candidate], str]) -> None:
    """Model, voice, leak, judge and doubts, and which document was described; nothing commands the terminal."""
    odd = written(BADGE, voice={"who": HOSTILE}, doubts=("judge not sure",))
    printed = show(described("g", BADGE, query="the thing that opens our gate is gone", written=odd))
    assert "a model wrote this: by scripted:writer" in printed
    assert "leak 0.25" in printed
    assert "judge chose the document 2 of 3 times" in printed
    assert "look closely: judge not sure" in printed
    assert "described by the model" in printed
    assert "linked by who answered" not in printed
    assert "\x1b" not in printed
    assert "\x07" not in printed


def test_a_paraphrase_stands_beside_the_question_it_was_made_from(show: Callable[[Candidate], str]) -> None:
    """It asks one thing, and can be submitted as it is."""
    printed = show(paraphrased("p", "c0000000001", query="my entry card is gone"))
    assert "does it ask the same as this?" in printed
    assert "where is my badge" in printed
    assert "can be submitted (s)" in printed
    gone = show(paraphrased("q", "c0000000009", query="another one"))
    assert "the set no longer has the case it was made from" in gone
    assert "is not in the set: reject it" in gone


def test_the_terminal_lists_no_documents_for_a_paraphrase(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Going through the queue, s hands it in and it is ready."""
    desk.bench.put([paraphrased("p", "c0000000001", query="my entry card is gone")], now=NOON)
    said = iter(["s", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(said))
    reviewing.Reviewing(desk, ANA, now=lambda: NOON).run()
    printed = capsys.readouterr().out
    assert "submitted: ready" in printed
    assert "nothing found" not in printed
    assert desk.bench.get(digest("p")).state == "ready"
