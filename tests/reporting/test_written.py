"""What a model wrote, as a panel: figures by hand, nothing that commands a reader, nothing shared that must not be."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders.results import evaluation
from findback.model.bill import Bill
from findback.model.calibrated import Calibration, LeakBucket
from findback.model.estimate import Estimate
from findback.model.evaluation import Count
from findback.model.generated import (
    Ended,
    Generated,
    Indexed,
    LeakRow,
    Leaks,
    Lengths,
    Look,
    MixRow,
    SubjectRow,
    Turned,
)
from findback.model.matched import MatchedBucket, Matching
from findback.model.written import Attempt, Described
from findback.reporting.html import render_report
from findback.reporting.notebook import render_text
from findback.reporting.render import GENERATED
from findback.reporting.render import render_report as render_all
from findback.reporting.written import headline
from findback.steps.kept import keep
from findback.steps.report import ReportRequest, report
from findback.workspace import open_workspace

HOSTILE = "ask \x1b[31mred\x07 <script>alert(1)</script> | `x` \u202e [link](http://x)"


def generated(**changes: Any) -> Generated:
    values: dict[str, Any] = {
        "made": datetime(2026, 1, 1, tzinfo=UTC),
        "findback": "1.0",
        "workspace": "Harbour",
        "corpus": "docs",
        "corpus_digest": "0" * 64,
        "documents": 105,
        "seed": 7,
        "asked": 20,
        "accepted": 14,
        "doubtful": 3,
        "ended": (
            Ended(outcome="accepted", count=14),
            Ended(outcome="doubtful", count=3, reasons=(Count(name="judge not sure", count=3),)),
            Ended(
                outcome="failed",
                count=2,
                reasons=(Count(name="leak: copied words", count=1), Count(name="form: empty talk", count=1)),
            ),
            Ended(outcome="error", count=1, reasons=(Count(name="the model refused", count=1),)),
            Ended(outcome="skipped", count=4, reasons=(Count(name="stub", count=4),)),
        ),
        "described": (
            Described(document="a.md", outcome="accepted", attempts=(Attempt(number=1, text=HOSTILE, leak=0.3),)),
        ),
        "writer": "openai:gpt-test",
        "judge": "openai:gpt-test",
        "self_judged": True,
        "preset": "docs-portal",
        "mix": (
            SubjectRow(subject="how-to", index=60, sample=12, passed=11),
            SubjectRow(subject="faq", index=40, sample=8, passed=6),
        ),
        "distance": 0.0,
        "distance_passed": 0.047,
        "leak_limit": 0.35,
        "turned": (
            Turned(by="form", reason="empty talk", count=2),
            Turned(by="leak", reason="copied words", count=6),
            Turned(by="fidelity", reason="no document fits", count=3),
        ),
        "buckets": (
            LeakRow(bucket="0", texts=14, turned={"fidelity": 3}, judged=14, passed=11),
            LeakRow(bucket=".2-.35", texts=6, turned={}, judged=6, passed=6),
            LeakRow(bucket=".35-1", texts=6, turned={"leak": 6}, judged=0, passed=0),
        ),
        "leak_before": Leaks(
            texts=20, unmeasurable=1, mean=Estimate(value=0.3, n=19), median=0.25, buckets={"0": 10, ".35-1": 9}
        ),
        "leak_after": Leaks(
            texts=17,
            unmeasurable=0,
            mean=Estimate(value=0.1, low=0.05, high=0.15, n=17, clusters=17, method="t"),
            median=0.0,
            buckets={"0": 11, ".2-.35": 6},
        ),
        "calibration": Calibration(
            swapped=20,
            rejected=17,
            doubtful=2,
            trusted=False,
            trusted_reason="17 of 20 texts swapped between documents were turned down: not to be trusted",
            buckets=(LeakBucket(bucket="0", judged=14, rejected=3), LeakBucket(bucket=".2-.35", judged=6, rejected=0)),
            prefers_leaking=True,
            prefers_leaking_reason="mean leak .02 of 3 texts turned down, .2 of 17 let through",
        ),
        "lengths": Lengths(questions=17, low=12, median=20, high=31),
        "lengths_mined": Lengths(questions=40, low=2, median=6, high=14),
        "kinds": (
            MixRow(axis="length", value="up to 5 words", mined=30, generated=0, lacking="never"),
            MixRow(axis="wording", value="our own", mined=10, generated=17),
        ),
        "looks": (
            Look(
                candidate="0123456789ab",
                document="a.md",
                text=HOSTILE,
                leak=0.3,
                overlap=0.5,
                sure="2 of 3",
                why="most leak",
            ),
        ),
        "bills": (
            Bill(
                model="m",
                label="openai:gpt-test",
                calls=80,
                cached=12,
                tokens_in=90_000,
                tokens_out=4_000,
                price=0.25,
                currency="EUR",
            ),
        ),
        "stored": {"new": 17},
        "notes": ("a note about a.md",),
    }
    return Generated.model_validate(values | changes)


def test_the_headline_says_what_was_asked_for_what_was_got_and_why_not_more() -> None:
    """Each way a document was lost is named with its reasons; a full run says no reason."""
    assert headline(generated()) == (
        "Asked for 20, got 17 (3 of them for a person to look at first), because 2 failed (leak: copied words 1,"
        " form: empty talk 1); 1 error (the model refused); no further document is fit to be described."
    )
    assert headline(generated(accepted=17, reserve=9)) == (
        "Asked for 20, got 20 (3 of them for a person to look at first)."
    )
    refused = headline(generated(refused="bucket 0 got 1 of 5"))
    assert refused.endswith("the accepted texts do not follow the real sample: bucket 0 got 1 of 5.")


def test_rates_by_leak_and_by_fidelity_stand_in_one_sentence_with_mean_leak() -> None:
    """6 of 26 measured, 3 of 20 judged, .1 of what passed; and what that cannot tell."""
    shown = " ".join(render_text(generated(), width=200).split())
    assert "Turned down by leak: 6 of 26 (.231) of measured texts; by fidelity: 3 of 20 (.150) of judged ones;" in shown
    assert "mean leak of what passed: .100 [.05, .15]" in shown
    assert "Low leak alone can be reached by writing about nothing" in shown


def test_a_judge_that_fails_its_calibration_is_named_as_such() -> None:
    """In words of their own: not to be trusted, and that the filter prefers leaking text, with rates by leak."""
    shown = " ".join(render_text(generated(), width=200).split())
    assert "No: 17 of 20 texts swapped between documents were turned down: not to be trusted." in shown
    assert "The filter prefers leaking text: it turns down more the less a text leaks" in shown
    assert "0 14 3 .214" in shown
    assert "The writer judged its own texts" in shown


def test_what_people_ask_and_the_model_did_not_is_said() -> None:
    """By kind, beside the lengths of both."""
    shown = " ".join(render_text(generated(), width=200).split())
    assert "The model never wrote what people often ask: length up to 5 words." in shown
    assert "people 40 2 6 14" in shown


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_a_hostile_text_commands_nobody(suffix: str) -> None:
    """Control characters, markup and links of a model's text stand as text in every format."""
    shown = GENERATED.by_suffix[suffix](generated())
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if suffix != ".json":
        assert "<script>" not in shown
    if suffix == ".md":
        assert re.search(r"(?<!\\)\[link\]", shown) is None


def test_the_terminal_is_not_commanded() -> None:
    """Nor by a text, a document id or a note."""
    shown = render_text(generated(notes=(HOSTILE,)), width=100)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_charts_have_a_text_alternative_that_a_table_repeats() -> None:
    """Subjects of index, sample and what passed; leak before and after."""
    page = render_report(generated=generated())
    assert "Subjects of index, sample and what passed. how-to index .600" in page
    assert "Texts by leak, before and after the filters. 0 first texts .500" in page
    assert page.count("<svg") >= 2


def test_the_panel_stands_in_the_report_before_what_every_report_ends_with() -> None:
    """Beside an evaluation it is a part of its own; without one it is the report."""
    page = render_report(evaluation(), generated=generated())
    assert page.index('id="scores"') < page.index('id="written"') < page.index('id="limits"')
    alone = render_report(generated=generated())
    assert "<h1><bdi>Harbour: what the model wrote</bdi></h1>" in alone


@pytest.mark.parametrize("format_", ["html", "md", "json"])
def test_a_shared_report_holds_no_text_id_or_name(format_: str) -> None:
    """Questions, documents, subjects, own wordings, notes and the name of the sample are gone; figures stay."""
    matching = Matching(
        sample="asked.jsonl@0123",
        wanted=20,
        effective=40.0,
        buckets=(MatchedBucket(bucket="0", real=10, effective=10, share=1.0, quota=20, accepted=17, tried=20),),
    )
    shown = render_all(None, None, generated(matching=matching), format=format_, share=True)  # type: ignore[arg-type]
    for secret in ("alert", "a.md", "how-to", "our own", "asked.jsonl", "Harbour", "a note", "0123456789ab"):
        assert secret not in shown, secret
    assert ".231" in shown or '"count": 6' in shown


def test_what_an_index_lacks_is_seen_first() -> None:
    """4 of 100 documents indexed stands in the panel's facts."""
    shown = render_text(generated(indexed=Indexed(retriever="portal", held=4, documents=100)), width=120)
    assert "portal holds 4 of 100 documents (.040)" in shown


def test_the_report_command_finds_the_newest_panel(tmp_path: Path) -> None:
    """`findback report` writes it with nothing else at hand, and `--generated` takes a file."""
    root = tmp_path / "harbour"
    root.mkdir()
    (root / "findback.toml").write_text("name = 'Harbour'\n")
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)})
    file = keep(workspace, generated())
    for request in (
        ReportRequest(output=tmp_path / "r.html"),
        ReportRequest(output=tmp_path / "s.html", generated=file),
    ):
        report(workspace, request)
        assert "Asked for 20, got 17" in (request.output or file).read_text()


def test_a_used_up_reserve_is_told_from_a_corpus_that_has_nothing_left() -> None:
    """20 were drawn first and 2 stepped in; 80 fit documents are left, so the setting is named."""
    described = tuple(Described(document=f"{number}.md", outcome="accepted") for number in range(22))
    said = headline(generated(described=described, spare=80))
    assert "the reserve of 2 documents is used up, and 80 more are fit: raise [writing] reserve" in said
    assert "no document was kept in reserve" in headline(generated(spare=80))


def test_a_dry_run_is_a_plan_and_says_how_many_can_come() -> None:
    """It is titled as one; 20 drawn of 100,000 wanted give at most 20, and skipped documents are listed."""
    shown = render_text(generated(dry_run=True, asked=100_000, reserve=0, spare=3), width=200)
    assert "What would be asked" in shown
    assert "What the model wrote" not in shown
    assert "20 documents would be described first; no more are fit, so at most 20 questions can come." in shown
    assert "stub (4)" in shown
