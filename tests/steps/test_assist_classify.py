"""Telling how questions are worded, beside what people said."""

import csv
from pathlib import Path

import pytest

from builders.assisted import ALONE, QUICK, hand_in, scripted, workspace_of
from builders.candidates import candidate, digest, paraphrased
from builders.sets import case
from findback.errors import MissingError, RefusedError, UsageError
from findback.llm.ask import Ask
from findback.model.candidate import RedactedSpan, RedactedText
from findback.model.case import Judgement
from findback.model.record import Record
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.privacy.masking import HIDDEN
from findback.steps.assist_classify import ClassifyRequest, Told, classify, compare_wordings
from findback.steps.assist_questions import Question
from findback.writing.classify import Classified

ANA = Reviewer("ana", "Ana", ("reviewer",), ("public",))
OWN_WORDINGS = ALONE + "wordings = {slang = 'words only this team uses'}\n"
FOUND = Review(wording="slang", judged=(Judgement(doc="howto/badge.md", grade=3, found_by="pool"),))


def told(number: int, human: str | None, said: str, confidence: float = 0.9, cluster: str | None = None) -> Told:
    question = Question("case", f"c{number:010d}", "?", "en", cluster or f"k{number}", "mined", "failure", "1", human)
    return Told(question, said, confidence)


def test_the_table_and_its_figures_by_hand() -> None:
    """12 plain told rightly, 3 plain as vague, 5 vague rightly: precision of vague 5/8, recall of plain 12/15."""
    given = [told(n, "plain", "plain", 0.95) for n in range(12)]
    given += [told(n, "plain", "vague", 0.7) for n in range(12, 15)]
    given += [told(n, "vague", "vague", 0.5) for n in range(15, 20)]
    found = compare_wordings([*given, told(99, None, "vague")], ("plain", "vague"))
    assert [(row.wording, row.said) for row in found.confusion] == [
        ("plain", {"plain": 12, "vague": 3}),
        ("vague", {"plain": 0, "vague": 5}),
    ]
    assert (found.agreed.value, found.agreed.n, found.agreed.method) == (0.85, 20, "clopper-pearson")
    # Expected agreement: (15 · 12 + 5 · 8) / 400 = .55, so kappa is (.85 − .55) / .45.
    assert found.kappa.value == pytest.approx(2 / 3)
    assert found.kappa.low is not None
    assert found.kappa.low < 2 / 3 < (found.kappa.high or 0)
    plain, vague = found.figures
    assert (plain.precision.value, plain.precision.n, plain.recall.value, plain.recall.n) == (1.0, 12, 0.8, 15)
    assert (vague.precision.value, vague.precision.n, vague.recall.value, vague.recall.n) == (0.625, 8, 1.0, 5)
    assert [(band.low, band.agreed.value, band.agreed.n) for band in found.confidence] == [
        (0.0, 1.0, 5),
        (0.6, 0.0, 3),
        (0.9, 1.0, 12),
    ]
    assert [(one.id[-2:], one.human, one.proposed) for one in found.differing] == [
        ("12", "plain", "vague"),
        ("13", "plain", "vague"),
        ("14", "plain", "vague"),
    ]


def test_questions_of_one_cluster_count_once() -> None:
    """Ten of one thread, all wrong, and ten others, all right: agreement is 10 of 11 clusters, not of 20 questions."""
    given = [told(n, "plain", "vague", cluster="one") for n in range(10)]
    given += [told(n, "plain", "plain") for n in range(10, 20)]
    agreed = compare_wordings(given, ("plain", "vague")).agreed
    assert agreed.value == pytest.approx(10 / 11)
    assert (agreed.n, agreed.clusters) == (20, 11)


def test_too_few_labels_give_no_kappa_but_a_reason() -> None:
    """And without any label there is no figure at all, never a 0."""
    found = compare_wordings([told(n, "plain", "plain") for n in range(5)], ("plain",))
    assert (found.kappa.value, found.kappa.reason) == (None, "fewer than 20 items were judged twice: 5")
    nothing = compare_wordings([told(1, None, "plain")], ("plain",))
    assert nothing.agreed.value is None
    assert nothing.agreed.reason
    assert nothing.confusion == ()


def test_people_s_own_words_are_compared_and_the_rest_is_counted(tmp_path: Path) -> None:
    """Cases and decided candidates have people's wording; of the others only how many of each is said."""
    cases = [
        case(1, wording="plain"),
        case(2, wording="vague", split="holdout"),
        case(3, origin="paraphrase", root="c0000000001", cluster="k1"),
    ]
    given = [
        candidate("done", query="where is the thingy for the door"),
        candidate("open"),
        paraphrased("p", "c0000000001"),
    ]
    workspace = workspace_of(tmp_path, cases, given, settings=OWN_WORDINGS)
    hand_in(workspace, ANA, {digest("done"): FOUND})

    def answer(ask: Ask[Record]) -> Record:
        return Classified(wording="Slang" if "thingy" in ask.user else "vague", confidence=0.8)

    model = scripted(answer)
    done = classify(workspace, ClassifyRequest(), model=model)
    assert {(row.wording, name) for row in done.confusion for name, n in row.said.items() if n} == {
        ("plain", "vague"),
        ("slang", "slang"),
    }
    assert done.proposed == {"vague": 1}
    assert done.wordings == ("plain", "vague", "symptom-first", "wrong-name", "slang")
    assert done.left_out == {"held-out cases": 1, "paraphrases": 2}
    assert sorted(one.state for one in model.asked) == ["reviewed", "unreviewed", "unreviewed"]
    assert all("slang: words only this team uses" in one.system for one in model.asked)
    assert digest("open") not in done.model_dump_json()


def test_what_others_are_still_to_judge_blind_is_no_label(tmp_path: Path) -> None:
    """A candidate that waits for a second opinion counts as one nobody judged: its first review is not given away."""
    workspace = workspace_of(tmp_path, [], [candidate("q")], settings=OWN_WORDINGS.replace("0.0", "1.0"))
    hand_in(workspace, ANA, {digest("q"): FOUND})
    done = classify(workspace, ClassifyRequest(), model=scripted(lambda ask: Classified(wording="plain", confidence=1)))
    assert (done.confusion, done.proposed) == ((), {"plain": 1})


def test_suggested_redactions_are_masked_before_they_are_sent(tmp_path: Path) -> None:
    """What nobody decided yet does not go to the model."""
    query = RedactedText(
        text="ask Ana about badges",
        spans=(RedactedSpan(start=4, end=7, type="PERSON", rule="names", version="1", band="suggested"),),
        raw_hmac="h",
    )
    model = scripted(lambda ask: Classified(wording="plain", confidence=1))
    classify(workspace_of(tmp_path, [], [candidate("q", query=query)]), ClassifyRequest(), model=model)
    assert f"ask {HIDDEN} about badges" in model.asked[0].user
    assert "Ana" not in model.asked[0].user


def test_unreviewed_text_is_refused_and_cases_alone_pass(tmp_path: Path) -> None:
    """A model elsewhere sees what was released, and candidates only where the setting names it."""
    workspace = workspace_of(tmp_path, [case(1)], [candidate("q")])
    far = scripted(lambda ask: Classified(wording="plain", confidence=1), name="far", egress="external")
    with pytest.raises(RefusedError, match=r"far \(external\)"):
        classify(workspace, ClassifyRequest(), model=far)
    assert far.asked == []
    assert classify(workspace, ClassifyRequest(what="cases"), model=far).agreed.n == 1


def test_an_unknown_wording_is_asked_for_anew_and_then_an_error(tmp_path: Path) -> None:
    """Three attempts, and nothing is made up."""
    model = scripted(lambda ask: Classified(wording="fancy", confidence=1))
    done = classify(workspace_of(tmp_path, [case(1)]), ClassifyRequest(), model=model)
    assert done.ended == {"answered": 0, "error": 1, "not reached": 0}
    assert done.errors == {"it names no wording of the list": 1}
    assert [one.attempt for one in model.asked] == [1, 2, 3]


def test_the_file_holds_proposals_for_what_nobody_judged(tmp_path: Path) -> None:
    """No text and nothing that has a label; it is private, replaced only on demand, and never beside the sources."""
    workspace = workspace_of(tmp_path, [case(1)], [candidate("q")])
    model = scripted(lambda ask: Classified(wording="vague", confidence=0.12345))
    file = tmp_path / "wordings.csv"
    done = classify(workspace, ClassifyRequest(output=file), model=model)
    rows = list(csv.reader(file.read_text("utf-8").splitlines()))
    assert rows == [["candidate", "wording", "confidence"], [digest("q"), "vague", "0.123"]]
    assert (file.stat().st_mode & 0o777, done.file) == (0o600, str(file))
    asked = len(model.asked)
    with pytest.raises(UsageError, match="there already"):
        classify(workspace, ClassifyRequest(output=file), model=model)
    with pytest.raises(UsageError, match="format"):
        classify(workspace, ClassifyRequest(output=tmp_path / "wordings.txt"), model=model)
    assert len(model.asked) == asked
    classify(workspace, ClassifyRequest(output=file, force=True), model=model)


def test_without_questions_it_says_so(tmp_path: Path) -> None:
    """An empty workspace is no empty result."""
    model = scripted(lambda ask: Classified(wording="plain", confidence=1))
    with pytest.raises(MissingError, match="no question"):
        classify(workspace_of(tmp_path), ClassifyRequest(), model=model)


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    """One call for each question, and no figure."""
    settings = QUICK + "[models.far]\nprovider = 'openai'\nmodel = 'gpt-test'\n"
    model = scripted(lambda ask: Classified(wording="plain", confidence=1))
    done = classify(
        workspace_of(tmp_path, [case(1), case(2)], [candidate("q")], settings=settings),
        ClassifyRequest(dry_run=True),
        model=model,
    )
    assert done.estimate is not None
    assert (done.estimate.calls, model.asked, done.agreed.value) == (3, [], None)
