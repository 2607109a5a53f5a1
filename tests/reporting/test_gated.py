"""A gate's verdict on every medium, each with its own escaping."""

import io
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from rich.console import Console

from builders.hostile import HOSTILE, refilled
from findback.model.gated import GateComparison, Gated, GatedCase, GatedFloor, GatedType, LeftOut, Nightly
from findback.reporting.annotations import annotate, render_annotations
from findback.reporting.gatecomment import render_comment
from findback.reporting.gated import gate_report, say_result
from findback.reporting.json import render_json
from findback.reporting.junit import render_junit
from findback.reporting.terminal import ReportView

EVIL = (
    "a\n::stop-commands::x\r\n::error::owned%0A::add-mask::y ##[error]z ]]> <script>1</script> | `tick` ``` "
    "@team [l](http://example.org) <!-- --> &amp; \x00\x1b[31m\u202e\ufffe\ud800 **b** #1"
)


def changed(name: str, query: str | None = None) -> GatedCase:
    return GatedCase(
        question=name,
        wording="vague",
        answer="one",
        stratum="failure",
        language="en",
        before=1.0,
        now=0.0,
        rank_before=1,
        rank_now=None,
        query=query,
    )


def compared(**more: Any) -> GateComparison:
    values: dict[str, Any] = {
        "role": "baseline",
        "name": "main",
        "retriever": "bm25",
        "heading": "release 3",
        "made": None,
        "config_digest": "",
        "cases": 80,
        "units": 80,
        "before": 0.9,
        "now": 0.7,
        "difference": -0.2,
        "lower": -0.28,
        "upper": -0.11,
        "p": 0.001,
        "interval": "bca",
        "verdict": "fail",
        "why": "",
        "errors": 0,
        "lost": 16,
        "won": 0,
        "detectable": 0.12,
        "needed": 400,
        "rescored": (),
        "left_out": (LeftOut(why="added since", cases=("c1", "c2")),),
        "types": (GatedType(axis="wording", value="vague", cases=20, lost=16, won=0),),
        "changed": tuple(changed(f"c{n:02}") for n in range(16)),
    }
    return GateComparison(**(values | more))


def gated(*comparisons: GateComparison, **more: Any) -> Gated:
    values: dict[str, Any] = {
        "made": datetime(2024, 6, 3, tzinfo=UTC),
        "findback": "1",
        "workspace": "handbook",
        "heading": "release 3",
        "retriever": "bm25",
        "config_digest": "",
        "primary": "RR@10",
        "label": "RR@10",
        "policy": "margin",
        "margin": 0.05,
        "level": 0.95,
        "alarm": 0.05,
        "nightly": None,
        "verdict": "fail",
        "comparisons": comparisons or (compared(),),
        "floors": (),
        "asked": 80,
        "failed": 0,
        "missing": 0,
        "method": ("how",),
        "notes": (),
    }
    return Gated(**(values | more))


FLOOR = GatedFloor(
    axis="wording", value="vague", floor=0.5, cases=20, mean=0.2, lower=0.1, upper=0.4, verdict="fail", why=""
)


def hostile(text: str) -> Gated:
    """Return a verdict with a text wherever text can be."""
    one = compared(changed=(changed("c1", "q"),), rescored=("c9",))
    night = Nightly(look=1, alarms_a_year=1, looks_a_year=365, tests=2)
    made = gated(one, floors=(FLOOR,), notes=("note",), nightly=night)
    return refilled(made, lambda path: text)  # type: ignore[no-any-return]


def printed(result: Gated) -> str:
    out = io.StringIO()
    Console(file=out, width=100, highlight=False, emoji=False, markup=False).print(ReportView(gate_report(result)))
    return out.getvalue()


@pytest.mark.parametrize("text", [EVIL, HOSTILE], ids=["ci", "pages"])
def test_annotations_are_one_command_each(text: str) -> None:
    """Whatever a text holds, each line is one annotation of ours, and nothing in it starts another."""
    lines = render_annotations(hostile(text)).split("\n")
    assert lines.pop() == ""
    assert len(lines) == 2
    for line in lines:
        assert re.match(r"::error title=findback gate fail%3A [^:,\r\n]*::", line)
        assert "\r" not in line
        assert not re.search(r"%(?!25|0D|0A|3A|2C)", line)
    assert "%250A" in "".join(lines) or "%0A::stop" not in text


def test_a_line_break_in_a_text_is_no_line_break_of_an_annotation() -> None:
    """Only the lines we put together are apart; those of a text are blanks."""
    shown = annotate("warning", "a", ("one\n::error::two", "three"))
    assert shown == "::warning title=a::one ::error::two%0Athree"


@pytest.mark.parametrize("text", [EVIL, HOSTILE], ids=["ci", "pages"])
def test_junit_is_well_formed_and_says_the_text(text: str) -> None:
    """The XML parses, holds two tests that failed, and no character XML forbids."""
    shown = render_junit(hostile(text))
    root = ET.fromstring(shown)
    assert len(root.findall(".//testcase")) == len(root.findall(".//failure")) == 2
    assert "<script>" not in shown
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", shown)
    if text is EVIL:
        assert "]]>" in (root.findall(".//failure")[0].text or "")


class Tags(HTMLParser):
    """Collects the tags of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


@pytest.mark.parametrize("text", [EVIL, HOSTILE], ids=["ci", "pages"])
def test_comment_holds_no_markup_of_a_text(text: str) -> None:
    """The comment's only tags are ours; a text makes no cell, link, mention, code or line of its own."""
    shown = render_comment(hostile(text))
    tags = Tags()
    tags.feed(shown)
    assert tags.found == {"details", "summary", "sub"}
    tables: dict[int, int] = {}
    for line in shown.splitlines():
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", line))
            tables.setdefault(cells, 0)
            tables[cells] += 1
        assert not line.startswith(("::", "```", "# "))
    assert all(count >= 3 for count in tables.values()), tables
    assert not re.search(r"(?<!\\)`", shown)
    assert "@team" not in shown
    assert "http://" not in shown


def test_terminal_and_json_are_inert() -> None:
    """No control character of a text reaches the terminal, as a table or as JSON."""
    for shown in (printed(hostile(EVIL)), render_json(hostile(EVIL.replace("\ud800", ""))), say_result(hostile(EVIL))):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_words_are_nowhere_unless_they_are_in_the_record() -> None:
    """Without queries no medium has a column for them; with them every medium shows them."""
    silent, told = gated(), gated(compared(changed=(changed("c1", "cannot get in from home"),)))
    for render in (render_annotations, render_junit, render_comment, say_result, printed):
        assert "query" not in render(silent).lower()
        assert "cannot get in from home" in re.sub(r"\s+", " ", render(told))


def test_a_person_reads_what_happened_first() -> None:
    """The first sentence has size, certainty and counts; then cases with ids and types; left-out cases are named."""
    shown = render_comment(gated())
    first = shown.split("\n\n")[1]
    assert first == "**RR@10 fell by .200 against main, by .11 at least. 16 of 80 cases lost, 0 won.**"
    assert "<details open><summary>Cases that changed (16 lost, the first 10)</summary>" in shown
    assert "main: 2 cases left out, added since: c1, c2" in shown


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"verdict": "undecided", "difference": -0.01, "lower": -0.11, "upper": 0.09, "needed": 180},
            "changed by −.010 against main and may have fallen by .11, more than the .05 that is accepted. 16 of 80",
        ),
        (
            {"verdict": "pass", "difference": 0.01, "lower": -0.03, "upper": 0.05},
            "changed by +.010 against main: a fall of more than .03 is unlikely, and one of .05 is accepted.",
        ),
        (
            {"verdict": "undecided", "difference": None, "lowest": -0.1, "highest": 0.1, "why": "8 failed searches"},
            "moved by [−.10, +.10] against main, 8 failed searches.",
        ),
    ],
)
def test_each_verdict_has_its_sentence(more: dict[str, Any], words: str) -> None:
    """Undecided says how far it may have fallen and what would settle it; pass what is unlikely; errors only bounds."""
    assert words in say_result(gated(compared(**more)))


def test_undecided_says_what_would_settle_it() -> None:
    """How many cases the margin needs stands beside how many there were."""
    shown = say_result(gated(compared(verdict="undecided", difference=-0.01, needed=180)))
    assert "The margin needs about 180 cases; 80 could be compared." in shown


def test_the_worst_is_said_first() -> None:
    """A floor that fails stands before a comparison that passes."""
    passed = compared(verdict="pass", difference=0.0, lower=-0.01, upper=0.01, lost=0, changed=())
    lines = say_result(gated(passed, floors=(FLOOR,))).splitlines()
    assert lines[0] == "fail: wording vague is below its floor of .50: .200 [.10, .40], n = 20."
    assert lines[1].startswith("pass: RR@10 changed by")


def test_significance_says_what_it_could_have_caught() -> None:
    """A pass by significance names the smallest loss it could have caught."""
    passed = compared(verdict="pass", difference=-0.02, lower=-0.2, upper=0.16)
    shown = say_result(gated(passed, policy="significance"))
    assert "no loss is proven" in shown
    assert "The smallest loss it would have caught in 8 of 10 such sets: .120." in shown


def test_undecided_is_skipped_in_junit() -> None:
    """What could not be told is neither passed nor failed."""
    root = ET.fromstring(render_junit(gated(compared(verdict="undecided", difference=-0.01), verdict="undecided")))
    assert (root[0].get("failures"), root[0].get("skipped")) == ("0", "1")
    assert "may have fallen by" in (root[0][0][0].get("message") or "")


def test_identical_on_few_cases_is_a_sentence() -> None:
    """A gate that cannot be sure though nothing differs says so in one sentence."""
    why = "identical on these 12 cases, too few to show it for others"
    same = compared(verdict="undecided", difference=0.0, lower=-0.22, upper=0.0, why=why)
    said = "RR@10 is identical on these 12 cases, too few to show it for others, against main; others may have fallen"
    assert said in say_result(gated(same))
