"""Rejecting a candidate from the command line: a review like any other."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.candidates import candidate, digest
from findback.errors import UsageError
from findback.model.case import Judgement
from findback.model.review import Review
from findback.steps.bench import open_bench
from findback.steps.candidates import reject_candidate
from findback.steps.localreviewer import local_name
from findback.workbench.reviews import SaveOptions, answer_of
from findback.workspace import open_workspace

Q = digest("q")


@pytest.fixture
def at(tmp_path: Path) -> SimpleNamespace:
    """A workbench with one question, and a corpus that is not there."""
    (tmp_path / "findback.toml").write_text('private = "private"\n[corpus]\npath = "nowhere"\n')
    workspace = open_workspace(tmp_path, environment={"HOME": str(tmp_path)})
    one = candidate("q", query="lost my card for the door")
    with open_bench(workspace) as bench:
        bench.put([one], now=one.thread[0].at)  # type: ignore[arg-type]
    return SimpleNamespace(workspace=workspace, now=one.thread[0].at)


def test_the_history_says_who_rejected_it_and_why(at: SimpleNamespace) -> None:
    """It needs no documents; the review, the decision and the log name reviewer and reason."""
    with pytest.raises(UsageError, match="reason"):
        reject_candidate(at.workspace, Q, " ")
    assert reject_candidate(at.workspace, Q, "no question at all") == "rejected"
    with open_bench(at.workspace) as bench:
        (review,) = bench.reviews_of(Q)
        assert (review.reviewer, review.stage) == (local_name(), "submitted")
        assert review.review.unrateable_reason == "no question at all"
        assert [event.kind for event in bench.newest_events(limit=10)][:2] == ["review", "decide"]
        assert bench.get(Q).state == "rejected"
    with pytest.raises(UsageError, match="already"):
        reject_candidate(at.workspace, Q, "again")


def test_what_somebody_else_said_is_not_overruled(at: SimpleNamespace) -> None:
    """Where a colleague has labelled it, it waits for a lead instead of being thrown away."""
    review = Review(judged=(Judgement(doc="a.md", grade=3, found_by="pool"),), wording="plain")
    with open_bench(at.workspace) as bench:
        bench.save_review(Q, review, SaveOptions("bo", "reviewer", "submitted", 0), now=at.now)
    assert reject_candidate(at.workspace, Q, "no question at all") == "second-opinion"
    with open_bench(at.workspace) as bench:
        assert {answer_of(one.review) for one in bench.reviews_of(Q)} == {"one", "unrateable"}
