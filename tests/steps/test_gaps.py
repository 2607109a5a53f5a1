"""Listing what no document answers."""

import csv
from pathlib import Path
from random import Random
from typing import Any

import pytest

from builders.ready import portal, reviewed
from builders.sets import case
from findback.errors import UsageError
from findback.evalset.cases import write_cases
from findback.model.case import Case
from findback.steps.gaps import GapsRequest, find_gaps, group_themes, list_gaps
from findback.workspace import Workspace


def gap(number: int, query: str, **changes: Any) -> Case:
    return case(number, query=query, judged=[], no_answer_reason="nobody wrote it", **changes)


def set_of(folder: Path, *cases: Case) -> Workspace:
    workspace = portal(folder)
    workspace.evalset.mkdir()
    write_cases(workspace.evalset / "cases.jsonl", cases)
    return workspace


CASES = (
    gap(1, "how do i renew the parking permit", asked="2-4"),
    gap(2, "parking permits for visitors", asked="5-19"),
    gap(3, "garage parking at night", asked="1"),
    gap(4, "invoice export is empty", asked="20+"),
    gap(5, "who feeds the aquarium", asked="1"),
    gap(6, "WHO feeds the aquarium?", asked="1"),
)


def test_themes_are_made_of_shared_rare_words() -> None:
    """The word most questions share makes the theme; counted by hand: 2 + 5 + 1 times, and 20 for the lone one."""
    themes = group_themes(CASES)
    assert [(theme.words, [one.case[-1] for one in theme.gaps], theme.times) for theme in themes] == [
        ((), ["4"], 20),
        (("parking",), ["2", "1", "3"], 8),
        (("feeds", "aquarium"), ["5", "6"], 2),
    ]


def test_the_order_of_cases_makes_no_difference() -> None:
    """The same cases give the same themes however they are given."""
    mixed = list(CASES)
    for seed in range(20):
        Random(seed).shuffle(mixed)
        assert group_themes(mixed) == group_themes(CASES)


def test_a_word_of_the_whole_team_is_no_theme() -> None:
    """Where more than half of six or more questions hold a word, it joins nothing."""
    cases = [
        gap(at, f"tideway {word}")
        for at, word in enumerate(("invoices", "parking", "aquarium", "webinar", "heliport", "sauna"))
    ]
    assert all(len(theme.gaps) == 1 for theme in group_themes(cases))
    assert len(group_themes(cases[:4])) == 1


def test_only_open_questions_without_an_answer_are_listed(tmp_path: Path) -> None:
    """Answered, retired and withdrawn cases are left out; what is held out is counted, and not shown."""
    workspace = set_of(
        tmp_path,
        *CASES[:2],
        reviewed(11),
        gap(12, "retired one", status="retired", retired_because="gone"),
        gap(13, "held out one", split="holdout", tags=["document-wanted"]),
    )
    found = list_gaps(workspace)
    assert (found.count, found.held_out) == (2, 1)
    assert "held out one" not in found.model_dump_json()


def test_nearest_documents_come_from_the_corpus(tmp_path: Path) -> None:
    """A question that shares words with a page has it named first; one that shares none has nothing named."""
    workspace = set_of(tmp_path, gap(1, "device certificate for contractors"), gap(2, "aquarium feeding rota"))
    found = find_gaps(workspace, GapsRequest())
    by_case = {one.case[-1]: one.nearest for theme in found.themes for one in theme.gaps}
    assert by_case["1"] is not None
    assert (by_case["1"][0].document, by_case["1"][0].title) == ("howto/vpn.md", "VPN")
    assert by_case["2"] == ()
    assert found.documents == 6
    none = find_gaps(workspace, GapsRequest(nearest=0))
    assert none.documents is None


def test_files_are_written_by_the_one_csv_writer(tmp_path: Path) -> None:
    """CSV guards what a spreadsheet would run; Markdown escapes; another ending is refused."""
    workspace = set_of(tmp_path, gap(1, "=HYPERLINK(1) parking", tags=["document-wanted"]))
    find_gaps(workspace, GapsRequest(output=tmp_path / "gaps.csv"))
    rows = list(csv.DictReader((tmp_path / "gaps.csv").read_text("utf-8").splitlines()))
    assert rows[0]["question"] == "'=HYPERLINK(1) parking"
    assert rows[0]["document wanted"] == "yes"
    find_gaps(workspace, GapsRequest(output=tmp_path / "gaps.md"))
    assert "\\=HYPERLINK\\(1\\) parking" in (tmp_path / "gaps.md").read_text("utf-8")
    with pytest.raises(UsageError, match="format"):
        find_gaps(workspace, GapsRequest(output=tmp_path / "gaps.pdf"))
    with pytest.raises(UsageError):
        find_gaps(workspace, GapsRequest(output=workspace.root / "docs" / "howto" / "vpn.md"))
