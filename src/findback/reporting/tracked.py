"""Scores by release, laid out for a report."""

from findback.model.evaluation import Score
from findback.model.tracked import TrackedRelease, TrackedScore, Tracker
from findback.reporting.blocks import Block, Column, Points, Prose, Table
from findback.reporting.figures import NONE, Cell, count_cell, estimate_cell, plural, score_cell, text_cell


def say_tracker(tracker: Tracker | None) -> str:
    """Return in a sentence which release is the newest, and what the exam changed in it."""
    if tracker is None or not tracker.releases:
        return "Nothing was released yet."
    newest = tracker.releases[0]
    said = f"Release {newest.number} of {newest.date:%Y-%m-%d} has {plural(newest.cases, 'active case')}"
    return f"{said}. What changed in the exam: {say_changes(newest)}."


def say_changes(release: TrackedRelease) -> str:
    """Return what changed in the exam since the release before; nothing did before the first."""
    if release.changes is None:
        return "the first release" if release.first else "not known"
    return ", ".join(f"{count:,} {name}" for name, count in release.changes.items()) or "no case"


def tracker_blocks(tracker: Tracker) -> tuple[Block, ...]:
    """Return the releases, what changed in each, and the scores on it."""
    metrics = {score.metric for one in tracker.releases for score in one.scores}
    columns = (
        Column("Release", numeric=False),
        Column("date", numeric=False),
        Column("cases"),
        Column("what changed in the exam", numeric=False, flexible=True),
    )
    rows = tuple(
        (text_cell(str(one.number)), text_cell(f"{one.date:%Y-%m-%d}"), count_cell(one.cases), Cell(say_changes(one)))
        for one in tracker.releases
    )
    blocks: list[Block] = [Prose(say_tracker(tracker)), Table("Releases, the newest first", columns, rows)]
    scored = [(one, score) for one in tracker.releases for score in one.scores]
    if scored:
        title = f"{', '.join(sorted(metrics))} by release; what moved it since the release before, of the newest alone"
        blocks.append(Table(title, _SCORE_COLUMNS, tuple(_row(one, score) for one, score in scored)))
    notes = tracker.notes
    if tracker.more:
        notes = (*notes, f"{plural(tracker.more, 'older release is', 'older releases are')} not listed")
    return (*blocks, Points(notes)) if notes else tuple(blocks)


_SCORE_COLUMNS = (
    Column("Release", numeric=False),
    Column("retriever", numeric=False, flexible=True),
    Column("score"),
    Column("the system"),
    Column("the exam"),
)


def _row(release: TrackedRelease, score: TrackedScore) -> tuple[Cell, ...]:
    whole = Score(
        metric=score.metric,
        label=score.metric,
        estimate=score.estimate,
        lowest=score.lowest,
        highest=score.highest,
    )
    return (
        text_cell(str(release.number)),
        text_cell(score.retriever),
        score_cell(whole),
        Cell(NONE) if score.by_system is None else estimate_cell(score.by_system, signed=True),
        Cell(NONE) if score.by_exam is None else estimate_cell(score.by_exam, signed=True),
    )
