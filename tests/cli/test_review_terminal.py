"""Reviewing in a real terminal."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import NOON, candidate, digest
from builders.portal import write_portal
from cli.test_label import Terminal, number_of
from findback.model.candidate import DocumentLink, RedactedSpan, RedactedText
from findback.steps.bench import open_bench
from findback.workspace import open_workspace

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="pseudo-terminals need a Unix")

BADGE, LEAVE = "howto/badge.md", "policies/leave.md"


@pytest.fixture
def there(tmp_path: Path) -> SimpleNamespace:
    """A portal with two candidates: one with a suggestion and a linked page, one that a search log gave."""
    root = write_portal(tmp_path / "portal", "[review]\noverlap = 0.0\n")
    query = RedactedText(
        text="ask Ana about a lost badge",
        spans=(RedactedSpan(start=4, end=7, type="PERSON", rule="names", version="1", band="suggested"),),
        raw_hmac="h",
    )
    linked = DocumentLink(document=LEAVE, line=-1, by="resolver", kind="url-in-text")
    workspace = open_workspace(root, environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
    with open_bench(workspace) as bench:
        bench.put([candidate("one", query=query, links=(linked,)), candidate("two", query="moon base map")], now=NOON)

    def reviews(name: str) -> list:
        with open_bench(workspace) as bench:
            return bench.reviews_of(digest(name))

    def state(name: str) -> str:
        with open_bench(workspace) as bench:
            return bench.get(digest(name)).state

    def start() -> Terminal:
        return Terminal("review", "--terminal", cwd=root, state=tmp_path / "state")

    return SimpleNamespace(start=start, reviews=reviews, state=state)


def test_one_candidate_from_new_to_ready(there: SimpleNamespace) -> None:
    """Suggestion, evidence, search, grade, wording and submitting are each saved when typed; undo takes back."""
    terminal = there.start()
    shown = terminal.wait_for("review> ")
    assert "[1 PERSON? Ana]" in shown
    assert "linked by who answered" in shown
    assert "rank" not in shown
    terminal.type("r 1")
    assert "[1 redacted: PERSON]" in terminal.wait_for("review> ")
    assert [one.action for one in there.reviews("one")[0].review.spans] == ["redact"]
    terminal.type("u")
    assert "[1 PERSON? Ana]" in terminal.wait_for("review> ")
    terminal.type("k")
    assert "[1 kept: Ana]" in terminal.wait_for("review> ")
    terminal.type("s")
    assert "wording is not said" in terminal.wait_for("review> ")
    terminal.type("/policies leave")
    leave = number_of(terminal.wait_for("review> "), LEAVE)
    terminal.type(f"x {leave} about holidays")
    assert "dropped, about holidays" in terminal.wait_for("review> ")
    terminal.type("/lost badge")
    badge = number_of(terminal.wait_for("review> "), BADGE)
    terminal.type(f"v {badge}")
    assert "badge" in terminal.wait_for("review> ")
    terminal.type(f"{badge}=2")
    assert f"{BADGE}: grade 2" in terminal.wait_for("review> ")
    terminal.type("w va")
    assert "can be submitted" in terminal.wait_for("review> ")
    terminal.type("s")
    assert "moon base map" in terminal.wait_for("review> ")
    assert there.state("one") == "ready"
    terminal.type("u")
    assert "lost badge" in terminal.wait_for("review> ")
    assert there.state("one") == "in-review"
    terminal.type("s")
    terminal.wait_for("review> ")
    terminal.type("n! nobody wrote a map of the moon")
    terminal.wait_for("review> ")
    terminal.type("w plain")
    terminal.wait_for("review> ")
    terminal.type("s")
    terminal.wait_for("nothing more waits")
    assert terminal.end() == 0
    kept = there.reviews("two")[0].review
    assert (kept.no_answer_reason, kept.document_wanted) == ("nobody wrote a map of the moon", True)
    assert there.state("one") == there.state("two") == "ready"


def test_interrupting_loses_nothing(there: SimpleNamespace) -> None:
    """After Ctrl+C what was decided is kept, the candidate is free again, and the next sitting goes on there."""
    first = there.start()
    first.wait_for("review> ")
    first.type("w plain")
    first.wait_for("wording: plain")
    first.wait_for("review> ")
    # The prompt shows before reading begins, and a signal in between waits for the next line.
    time.sleep(1)
    first.process.send_signal(signal.SIGINT)
    assert "everything decided is kept" in first.wait_for("everything decided is kept")
    assert first.end() == 130
    second = there.start()
    assert "wording: plain" in second.wait_for("review> ")
    second.type("j a joke")
    assert "rejected" in second.wait_for("review> ")
    second.type("l the moon office")
    second.wait_for("nothing more waits")
    assert second.end() == 0
    assert (there.state("one"), there.state("two")) == ("rejected", "needs-labels")


def test_what_is_not_understood_changes_nothing(there: SimpleNamespace) -> None:
    """Unknown words, numbers that are not there and missing reasons are answered in words."""
    terminal = there.start()
    terminal.wait_for("review> ")
    for typed, said in (
        ("what", "not understood"),
        ("99", "there is no document 99"),
        ("k 7", "the question has 1 suggestions"),
        ("x 1", "without a reason"),
        ("w sideways", "wordings are plain"),
        ("hide NAME Ana", "one of PERSON, USER"),
        ("+ nowhere.md", "no such document"),
        ("j", "needs a reason"),
        ("m 9", "messages are numbered"),
        ("u", "nothing to take back"),
    ):
        terminal.type(typed)
        assert said in terminal.wait_for("review> "), typed
    assert there.reviews("one") == []
    terminal.type("hide PERSON Ana")
    assert "[1 redacted: PERSON]" in terminal.wait_for("review> ")
    terminal.type("q")
    assert terminal.end() == 0


def test_it_needs_a_person(run, tmp_path: Path, there: SimpleNamespace) -> None:
    """Without a terminal the command says that it asks a person."""
    outcome = run("review", "--terminal", cwd=tmp_path / "portal")
    assert outcome.status == 2
    assert "terminal" in outcome.err
