"""Reports in a terminal."""

import re
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from builders import results
from builders.hostile import HOSTILE, refilled
from findback.model.audit import Audit
from findback.model.estimate import Estimate
from findback.model.evaluation import Evaluation
from findback.reporting.notebook import render_text
from findback.reporting.terminal import ReportView, audit_view, evaluation_view, rows_view

UNSAFE = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")


class Ascii(StringIO):
    """A stream that can only hold ASCII."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Return the encoding a console asks for."""
        return "ascii"


def printed(view: object, width: int, out: StringIO | None = None) -> str:
    """Return what a console of that width shows."""
    stream = out or StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(view)
    return stream.getvalue()


def view_of(record: Audit | Evaluation) -> ReportView:
    """Return the fullest view of a record."""
    return audit_view(record) if isinstance(record, Audit) else evaluation_view(record, by=["all"])


RECORDS = (results.audit(), results.evaluation())


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_wider_than_the_terminal(record: Audit | Evaluation, width: int) -> None:
    """Every line fits, and nothing is cut short with an ellipsis."""
    text = printed(view_of(record), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "…" not in text


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
def test_hostile_text_cannot_command_the_terminal(record: Audit | Evaluation) -> None:
    """No escape, control or reordering character of any field reaches the terminal, and rich markup stays text."""
    hostile = refilled(record, lambda _: HOSTILE)
    text = printed(view_of(hostile), 80)
    assert UNSAFE.search(text) is None
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert "[bold red]" in text.replace("\n", "").replace(" ", "").replace("[boldred]", "[bold red]")


@pytest.mark.parametrize("record", RECORDS, ids=["audit", "evaluation"])
@pytest.mark.parametrize("width", [60, 80])
def test_no_line_ends_in_blanks(record: Audit | Evaluation, width: int) -> None:
    """Wrapped bullets and tables leave nothing behind their last letter."""
    assert [line for line in printed(view_of(record), width).splitlines() if line != line.rstrip(" ")] == []


def test_a_retrievers_notes_stand_under_its_headline_figure() -> None:
    """What qualifies a figure is read with it."""
    text = render_text(results.evaluation())
    noted = text.index("engine: Two ids were no document of the corpus.")
    assert text.index("RR@10, the primary metric") < noted < text.index("What the exam is made of")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    """Bars, dashes and footnotes have ASCII forms."""
    text = printed(view_of(results.evaluation()), 80, Ascii())
    assert text.isascii()
    assert "|-o--|" in text
    assert printed(view_of(results.audit()), 100, Ascii()).isascii()


def test_the_verdict_comes_first_and_the_set_is_named() -> None:
    """An audit opens with the set's digest and its verdict."""
    lines = [line for line in render_text(results.audit()).splitlines() if line]
    assert lines[0].startswith("Audit  unreleased set, sha256 91c0de5a7b22 against sample, sha256")
    assert lines[1] == "Verdict"
    assert lines[3].startswith("The set overlaps its answers more")


def test_copied_words_are_marked_without_colour() -> None:
    """Copied words stand in brackets."""
    text = render_text(results.audit(), width=120)
    assert "What is the [exponential] [backoff] [policy] for HTTP 429 responses in the [ingest] [worker]?" in text


def test_a_none_is_a_dash_with_a_footnote() -> None:
    """Coverage that cannot be told is a dash, and the reason stands below."""
    text = render_text(results.evaluation(retrievers=(results.failing(),)))
    row = next(line for line in text.splitlines() if line.startswith("engine") and " 42 " in line and "–¹" in line)
    assert row.split() == ["engine", "42", "–¹", "–¹"]
    assert "¹ the engine cannot answer by id" in text
    assert "nan" not in text.lower()


def test_a_set_without_figures_still_prints() -> None:
    """An audit without sample, retrievers or measurable questions prints dashes, never 0 or nan."""
    empty = results.distribution(None, ())
    yards = tuple(
        yard.model_copy(update={"figures": empty, "floor": None, "corrected": None})
        for yard in results.yardsticks(0.5, results.HIGH)
    )
    side = results.side(0.5, results.HIGH, yardsticks=yards, measured=0, gold_length=None, window=None)
    audit = results.audit(set=side, sample=None, gaps=(), retrievers=(), worst=(), orientation=())
    text = render_text(audit)
    row = next(line for line in text.splitlines() if line.startswith("overlap, set"))
    assert [cell.rstrip("¹²³⁴⁵") for cell in row.split()[2:]] == ["0", "–", "–", "–", "–", "–", "–"]
    assert "no real sample was given" in text


def test_types_are_shown_on_request() -> None:
    """Groups by wording appear only when asked for."""
    plain, asked = (printed(evaluation_view(results.evaluation(), by=by), 100) for by in ((), ("wording",)))
    assert "by wording" not in plain
    assert "RR@10 by wording (exploratory; the intervals hold together)" in asked
    assert "RR@10 by stratum" in plain


def test_small_lists_print_as_tables() -> None:
    """A list of rows is a table, None a dash."""
    text = printed(rows_view("Runs", ("run", "made"), [("r1", "today"), ("r2", None)]), 80)
    assert [line.split() for line in text.splitlines() if line.startswith("r")] == [
        ["run", "made"],
        ["r1", "today"],
        ["r2", "–"],
    ]


def test_a_lone_score_is_named_with_its_basis() -> None:
    """With one retriever the headline is its figure, interval and n."""
    one = results.evaluation(retrievers=(results.retriever("bm25"),), spread=None)
    assert "RR@10 of bm25: .410 [.29, .53], n 62 in 58 clusters." in render_text(one).replace("\N{NO-BREAK SPACE}", " ")


def test_an_undefined_spread_says_why() -> None:
    """A spread without a value gives its reason in a sentence."""
    shown = render_text(results.evaluation(spread=Estimate(value=None, reason="one retriever failed")))
    assert "Best minus worst retriever cannot be told: one retriever failed." in shown
