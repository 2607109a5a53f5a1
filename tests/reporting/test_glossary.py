"""Proposed terms and the worth of a glossary as reports."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from findback.model.estimate import Estimate
from findback.model.glossary import (
    Effect,
    GlossaryEvaluation,
    GlossaryGain,
    GlossaryScore,
    Harmed,
    Proposal,
    Proposals,
    StratumGain,
    TermScore,
)
from findback.reporting.glossary import GLOSSARY, PROPOSALS, glossary_report
from findback.reporting.glossaryterms import proposals_report

MADE = datetime(2026, 5, 1, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> \x1b[31m| **x**"


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    reason = "1 query failed: bounds only" if value is None else None
    return Estimate(value=value, low=low, high=high, n=96, clusters=96, method="t", reason=reason)


def gain(difference: Estimate, **more: object) -> GlossaryGain:
    values = {
        "cases": 96,
        "changed": 12,
        "better": 3,
        "worse": 5,
        "without": estimate(0.5, 0.4, 0.6),
        "with_it": estimate(0.48, 0.38, 0.58),
        "difference": difference,
    }
    return GlossaryGain.model_validate(values | more)


def score(**more: object) -> GlossaryScore:
    values = {
        "retriever": "words",
        "kind": "bm25",
        "config_digest": "ab",
        "glossary": "as proposed",
        "terms": 12.5,
        "unseen": gain(estimate(-0.02, -0.03, -0.01)),
        "seen": gain(estimate(0.13, 0.08, 0.2)),
        "harmed": (Harmed(question="q1", query=HOSTILE, added=("alsa",), before=1, after=None),),
    }
    return GlossaryScore.model_validate(values | more)


def evaluation(*scores: GlossaryScore, **more: object) -> GlossaryEvaluation:
    values = {
        "made": MADE,
        "findback": "0.1.0",
        "workspace": "harbour",
        "heading": "release 4",
        "corpus": "docs",
        "corpus_digest": "cd" * 32,
        "metric": "RR@10",
        "label": "RR@10",
        "seed": 1,
        "folds": 5,
        "most": 40,
        "below": 0.5,
        "weight": 1,
        "language": "en",
        "measured_on": "bm25",
        "questions": 96,
        "groups": 48,
        "left_out": {"share enough with their answer": 7},
        "scores": scores,
    }
    return GlossaryEvaluation.model_validate(values | more)


def proposal(number: int, **more: object) -> Proposal:
    values = {
        "number": number,
        "when": "wifi",
        "add": "wireless",
        "kind": "nickname",
        "source": "alignment",
        "cases": ("q1", "q2"),
        "examples": ("wifi is dead", HOSTILE),
        "clusters": 2,
        "golds": 2,
        "strength": 21.0,
        "lift": 30.0,
        "own": Effect(cases=4, better=3, worse=0, gain=0.02),
        "others": Effect(cases=9, better=0, worse=2, gain=-0.005),
    }
    return Proposal.model_validate(values | more)


def proposals(*found: Proposal, **more: object) -> Proposals:
    values = {
        "made": MADE,
        "workspace": "harbour",
        "heading": "release 4",
        "release": 4,
        "corpus": "docs",
        "corpus_digest": "cd" * 32,
        "language": "en",
        "measured_on": "bm25",
        "metric": "RR@10",
        "label": "RR@10",
        "below": 0.5,
        "questions": 96,
        "used": 36,
        "left_out": {},
        "dropped": {"no stronger than chance": 54},
        "proposals": found,
    }
    return Proposals.model_validate(values | more)


def printed(renderable: RenderableType, width: int = 100) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=False, color_system=None).print(renderable)
    return out.getvalue()


def test_the_headline_is_what_happens_on_unseen_answers() -> None:
    """What it did in building stands behind it, never first."""
    said = printed(GLOSSARY.terminal(evaluation(score())))
    (line,) = [line for line in said.splitlines() if line.startswith("words, as proposed:")]
    rest = said.partition(line)[2].partition("Glossary as proposed")[0]
    whole = f"{line} {rest}".split("\n\n")[0].replace("\n", " ")
    assert "loses .020 on answers not seen in building [−.03, −.01]" in whole
    assert whole.index("not seen") < whole.index("+.130 on those seen")


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (estimate(0.02, 0.01, 0.03), "gains .020 on answers not seen in building [+.01, +.03]"),
        (estimate(0.01, -0.01, 0.03), "[−.01, +.03], within what chance does"),
        (estimate(0.0), "changes nothing on answers not seen in building"),
        (estimate(None), "no figure: 1 query failed: bounds only"),
    ],
)
def test_headlines_say_what_can_be_told(difference: Estimate, said: str) -> None:
    """An interval that holds 0 is no gain; failed searches give none."""
    markdown = GLOSSARY.by_suffix[".md"](evaluation(score(unseen=gain(difference))))
    assert said in markdown.replace("\\", "")


def test_seen_figures_stand_in_one_table_with_unseen_ones() -> None:
    """Two rows, the unseen first; where nothing is unseen the seen row is gone and the reason is there."""
    both = GLOSSARY.by_suffix[".md"](evaluation(score()))
    assert both.index("answers it was not built from") < both.index("| answers it was built from")
    alone = score(glossary="accepted", seen=None, seen_reason="every answer was looked at", terms=3)
    said = GLOSSARY.by_suffix[".md"](evaluation(alone))
    assert "+.130" not in said
    assert "answers behind its terms: every answer was looked at" in said


def test_harm_strata_and_terms_are_shown() -> None:
    """Lost answers have no rank after; each accepted term has what it does alone."""
    full = score(
        glossary="accepted",
        terms=2,
        strata=(StratumGain(stratum="control", gain=gain(estimate(-0.01, -0.02, 0.0))),),
        scored_terms=(
            TermScore(when="card", add="wifi docs", unseen=Effect(cases=14, better=0, worse=4, gain=-0.002)),
            TermScore(when="quiet", add="still", unseen=Effect(cases=3, better=0, worse=0, gain=0.0)),
        ),
        errors=("1 searches with words: EngineError: down",),
    )
    said = GLOSSARY.by_suffix[".md"](evaluation(full))
    assert "of these, control" in said
    assert "wifi docs" in said
    assert "0–4 of 14" in said
    assert "quiet" not in said
    assert "EngineError: down" in said


def test_bounds_stand_in_the_place_of_a_failed_mean() -> None:
    """With the number of errors."""
    failed = gain(estimate(None), lowest=estimate(-0.08), highest=estimate(0.01), failed=2)
    said = GLOSSARY.by_suffix[".md"](evaluation(score(unseen=failed)))
    assert "−.080 to +.010" in said
    assert "2 errors" in said


def test_proposals_show_own_answers_apart_from_others() -> None:
    """The gain is over all questions; a failed search leaves none, with its reason."""
    broken = proposal(2, when="lan", own=Effect(cases=1, better=0, worse=0, gain=None))
    said = printed(PROPOSALS.terminal(proposals(proposal(1), broken)), width=120)
    assert "+.0150" in said
    assert "3–0 of 4" in said
    assert "0–2 of 9" in said
    assert "a search failed" in said
    assert "next: findback glossary accept" in said
    assert "next:" not in printed(PROPOSALS.terminal(proposals(proposal(1), release=None)))


def test_markdown_shows_the_questions_behind_each_term() -> None:
    """The terminal does not."""
    assert "wifi is dead" in PROPOSALS.by_suffix[".md"](proposals(proposal(1)))
    assert "wifi is dead" not in printed(PROPOSALS.terminal(proposals(proposal(1))))


def test_nothing_found_is_said() -> None:
    """An empty list is no empty table."""
    assert "no term gains anything" in printed(PROPOSALS.terminal(proposals()))


def test_untrusted_words_form_no_markup() -> None:
    """Questions and terms come from anybody."""
    hostile = proposal(1, when=HOSTILE[:40], add="a|b")
    for text in (
        PROPOSALS.by_suffix[".md"](proposals(hostile)),
        GLOSSARY.by_suffix[".md"](evaluation(score())),
        printed(PROPOSALS.terminal(proposals(hostile))),
        printed(GLOSSARY.terminal(evaluation(score()))),
    ):
        assert "\x1b" not in text
    assert "<script>" not in PROPOSALS.by_suffix[".md"](proposals(hostile))
    assert "<script>" not in GLOSSARY.by_suffix[".md"](evaluation(score()))


def test_json_is_the_record() -> None:
    """It reads back."""
    result = evaluation(score())
    assert GlossaryEvaluation.model_validate_json(GLOSSARY.by_suffix[".json"](result)) == result
    found = proposals(proposal(1))
    assert Proposals.model_validate_json(PROPOSALS.by_suffix[".json"](found)) == found


def test_reports_say_where_they_come_from() -> None:
    """Workspace and heading stand over every figure."""
    for report in (glossary_report(evaluation(score())), proposals_report(proposals(proposal(1)))):
        assert (report.workspace, report.heading) == ("harbour", "release 4")
