"""What mining gave, in a terminal and in a notebook."""

import re

from findback.model.estimate import Estimate
from findback.model.mined import Mined, MinedExport
from findback.model.tasks import TaskOutcomes
from findback.reporting.notebook import render_html_fragment, render_text

EXPORT = MinedExport(
    file="/exports/<b>slack.zip",
    source="slack",
    why="users.json beside channels.json",
    counts={"threads": 12},
    skipped={"nothing found": 7, "bots": 0},
    rules={"link-thanks": 2},
    unsupported={"no-click": "the source does not record it", "zero-result": "the source does not record it"},
    folded={"same document": 1},
    notes=("other users of this machine can read this export: chmod o-r",),
)
MINED = Mined(
    exports=(EXPORT,),
    candidates=2,
    redacted={"PERSON": 1234},
    suggested=3,
    refused=1,
    secrets=1,
    secrets_file="/private/found.jsonl",
    stored={"new": 2},
    names=("names: roster only",),
    dry_run=False,
)


def test_a_terminal_shows_every_count_and_says_what_is_counted() -> None:
    """Read, left out, found and folded with their numbers; placeholders with what they are placeholders in."""
    shown = " ".join(render_text(MINED).split())
    for said in (
        "2 candidates from 1 export",
        "read as slack (users.json beside channels.json)",
        "read threads 12",
        "left out nothing found 7",
        "candidates link-thanks 2",
        "folded same document 1",
        "not possible: no-click, zero-result (the source does not record it)",
        "each text counted once",
        "PERSON 1,234",
        "3 suggested redactions in queries and titles wait for a person",
        "secrets found: 1. Rotate them; where they are stands in /private/found.jsonl",
        "2 new",
    ):
        assert said in shown
    assert "bots" not in shown
    assert "nothing was stored" in render_text(MINED.model_copy(update={"dry_run": True}))


def test_a_notebook_gets_tables_without_foreign_markup() -> None:
    """The same as HTML; a file name cannot bring markup of its own."""
    html = render_html_fragment(MINED)
    assert "<b>" not in html
    assert "&lt;b&gt;slack.zip" in html
    assert re.search(r"1,234", html)
    assert html.count("<table") == 2


def test_task_success_is_never_called_a_cause() -> None:
    """Where traces say how tasks ended, success stands by retrieval with the difference, and a word of caution."""
    tasks = TaskOutcomes(
        hit=Estimate(value=0.75, low=0.43, high=0.95, n=12, clusters=12),
        missed=Estimate(value=0.25, low=0.07, high=0.52, n=16, clusters=16),
        difference=Estimate(value=0.5, low=0.15, high=0.85, n=28, clusters=28),
        unknown=3,
    )
    result = Mined.model_validate({**MINED.model_dump(), "exports": (EXPORT.model_copy(update={"tasks": tasks}),)})
    text = " ".join(render_text(result, width=100).replace("\N{NO-BREAK SPACE}", " ").split())
    assert "Tasks that succeeded, by whether retrieval hit" in text
    assert "+.500 [+.15, +.85]" in text
    assert "need not be cause" in text
    assert "not known whether retrieval hit: 3" in text
    assert "Tasks that succeeded" not in render_text(MINED)
