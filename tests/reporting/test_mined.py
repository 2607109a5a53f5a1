"""What mining gave, in a terminal and in a notebook."""

import re

from findback.model.mined import Mined, MinedExport
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
