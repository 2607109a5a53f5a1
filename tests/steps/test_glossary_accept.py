"""Accepting, refusing, and forgetting terms."""

from datetime import date
from pathlib import Path

import pytest

from builders.glossary import bare_workspace, cases, corpus, question_set, released_workspace
from builders.ready import Ready
from findback.errors import DataError, MissingError, RefusedError, UsageError
from findback.evalset.glossary import read_glossary
from findback.steps.glossary_accept import AcceptRequest, accept
from findback.steps.glossary_check import TermCheck
from findback.steps.glossary_kept import forget_proposals, load_proposals
from findback.steps.glossary_suggest import KNOWN, REFUSED, SuggestRequest, suggest
from findback.steps.opening import open_glossary
from findback.steps.verify import VerifyRequest, verify
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace

DAY = date(2026, 5, 1)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace whose release gave proposals: 1 to 3 are the nicknames."""
    made = released_workspace(tmp_path)
    suggest(made, SuggestRequest(most=6))
    return made


def test_accepted_terms_say_who_when_and_why(workspace: Workspace) -> None:
    """Role, day, release, evidence: and they leave the proposals, whose numbers stay."""
    first, second, third, *rest = load_proposals(workspace).proposals
    done = accept(workspace, AcceptRequest(terms=("2",), role="reviewer"), on=DAY)
    (term,) = read_glossary(workspace.evalset / "glossary.toml").terms
    assert done.terms == (term,)
    assert (term.when, term.add, term.cases, term.clusters) == (second.when, second.add, second.cases, second.clusters)
    assert (term.accepted_by, term.accepted_on, term.release, term.source) == ("reviewer", DAY, 1, "alignment")
    assert load_proposals(workspace).proposals == (first, third, *rest)
    assert done.left == 5


def test_terms_are_named_by_number_words_or_both_sides(workspace: Workspace) -> None:
    """In any case; all terms of the same words where only these are named."""
    done = accept(workspace, AcceptRequest(terms=("WIFI", "paperjam => printer")), on=DAY)
    assert {(one.when, one.add) for one in done.terms} == {("wifi", "wireless"), ("paperjam", "printer")}
    with pytest.raises(UsageError, match="'wifi' is none of the 4 proposed terms"):
        accept(workspace, AcceptRequest(terms=("wifi",)))
    with pytest.raises(UsageError, match="is none of"):
        accept(workspace, AcceptRequest(terms=("moneybox => printer",)))


def test_what_is_known_or_refused_is_not_proposed_again(workspace: Workspace) -> None:
    """Both are counted."""
    accept(workspace, AcceptRequest(terms=("wifi => wireless",), refuse=("moneybox => payroll",)), on=DAY)
    assert [one.when for one in read_glossary(workspace.evalset / "glossary.toml").terms] == ["wifi"]
    again = suggest(workspace, SuggestRequest())
    proposed = {(one.when, one.add) for one in again.proposals}
    assert ("paperjam", "printer") in proposed
    assert not proposed & {("wifi", "wireless"), ("moneybox", "payroll")}
    assert (again.dropped[KNOWN], again.dropped[REFUSED]) == (1, 1)


def test_nothing_is_accepted_by_halves(workspace: Workspace) -> None:
    """A wrong name beside right ones, or one both accepted and refused, changes nothing."""
    before = load_proposals(workspace)
    for request in (AcceptRequest(terms=("1", "99")), AcceptRequest(terms=("1",), refuse=("1",)), AcceptRequest()):
        with pytest.raises(UsageError):
            accept(workspace, request)
    assert load_proposals(workspace) == before
    assert not (workspace.evalset / "glossary.toml").exists()


def test_only_released_questions_give_terms(tmp_path: Path) -> None:
    """What an unreleased set proposes can be refused, never accepted."""
    workspace = bare_workspace(tmp_path)
    with pytest.raises(MissingError, match="no terms have been proposed yet"):
        accept(workspace, AcceptRequest(terms=("1",)))
    asked = question_set(cases(), kind="unreleased set")
    suggest(workspace, SuggestRequest(), questions=asked, documents=corpus())
    with pytest.raises(RefusedError, match="never reviewed and released"):
        accept(workspace, AcceptRequest(terms=("1",)))
    assert accept(workspace, AcceptRequest(refuse=("1",))).refused == 1


def test_rules_of_the_day_decide(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A term that passed when it was proposed and would not today is not accepted, nor named."""
    monkeypatch.setattr(TermCheck, "_is_clean", lambda self, text: "wifi" not in text)
    proposed = load_proposals(workspace)
    (number,) = [one.number for one in proposed.proposals if (one.when, one.add) == ("wifi", "wireless")]
    with pytest.raises(RefusedError, match=f"terms {number} hold what redaction takes away") as caught:
        accept(workspace, AcceptRequest(terms=("1", "2", "3")))
    assert "wifi" not in str(caught.value)
    assert not (workspace.evalset / "glossary.toml").exists()


def test_a_broken_glossary_is_left_as_it_is(workspace: Workspace) -> None:
    """Its faults are named; the proposals still wait."""
    file = workspace.evalset / "glossary.toml"
    file.write_text("format = 1\nwords = 3\n")
    with pytest.raises(DataError, match="has faults"):
        accept(workspace, AcceptRequest(terms=("1",)))
    assert file.read_text() == "format = 1\nwords = 3\n"
    assert len(load_proposals(workspace).proposals) == 6


def test_withdrawn_cases_take_proposals_along(workspace: Workspace) -> None:
    """What rests on a case goes, and the memory of what was refused, which may hold its words."""
    accept(workspace, AcceptRequest(refuse=("moneybox => payroll",)))
    (wifi,) = [one for one in load_proposals(workspace).proposals if (one.when, one.add) == ("wifi", "wireless")]
    gone = forget_proposals(workspace, {wifi.cases[0]})
    assert gone >= 1
    left = load_proposals(workspace).proposals
    assert left
    assert all(wifi.cases[0] not in one.cases for one in left)
    assert not (workspace.private / "glossary" / "refused.json").exists()
    assert forget_proposals(workspace, {"c9999999999"}) == 0


def test_withdrawing_cases_reaches_the_glossary(workspace: Workspace) -> None:
    """Terms left with too little evidence go from the published file, and their proposals with them."""
    accept(workspace, AcceptRequest(terms=("wifi => wireless", "paperjam => printer")), on=DAY)
    file = workspace.evalset / "glossary.toml"
    first, _ = read_glossary(file).terms
    done = withdraw(workspace, WithdrawRequest(cases=first.cases[1:], reason="erased on request"), ready=Ready())
    assert done.dropped["terms of the glossary"] >= 1
    (left,) = read_glossary(file).terms
    assert left.when != first.when
    assert not any(case in file.read_text() for case in first.cases)
    file.write_text("broken")
    again = withdraw(workspace, WithdrawRequest(cases=first.cases[:1], reason="erased on request"), ready=Ready())
    assert any("glossary.toml cannot be read" in note for note in again.notes)


def test_verify_scans_the_glossary(workspace: Workspace) -> None:
    """An address written into it by hand is found, and reading it for a search is refused."""
    file = workspace.evalset / "glossary.toml"
    file.write_text('format = 1\n[[terms]]\nwhen = "bo' + '@example.org"\nadd = "desk"\n')
    found = verify(workspace, VerifyRequest())
    assert [(one.type, one.line) for one in found.findings if one.where == str(file)] == [("EMAIL", 3)]
    with pytest.raises(DataError, match="has faults"):
        open_glossary(workspace)
