"""`findback decompose`."""

from collections.abc import Iterator

from findback.cli.progress import Bars
from findback.cli.requests import make_request
from findback.cli.shown import say, show, show_json, table, warn
from findback.model.estimate import Estimate
from findback.reporting.figures import estimate_cell, spoken
from findback.steps.decompose import DecomposeRequest
from findback.steps.decompose import decompose as run_decomposition
from findback.steps.rescoring import Effect
from findback.workspace import open_workspace


def decompose(before: int, after: int | None = None, *, json: bool = False) -> None:
    """Say how much of a moved score is the system, and how much the exam.

    Args:
        before: The earlier release.
        after: The later release; the head, as it stands now, when left out.
        json: Print JSON.
    """
    asked = make_request(DecomposeRequest, before=before, after=after)
    with Bars() as bars:
        found = run_decomposition(open_workspace(required=False), asked, progress=bars)
    for note in found.notes:
        warn(note)
    if json:
        show_json(found)
        return
    if not found.effects:
        say("no kept run was asked cases of these releases: findback evaluate makes one")
        return
    rows = [row for effect in found.effects for row in _rows(effect)]
    later = "the head" if found.after is None else f"release {found.after}"
    show(table(("retriever", f"from release {found.before} to {later}", "figure"), rows))
    say("system: the newest kept run against the one before, on the same cases; exam: the same run on other cases")


def _rows(effect: Effect) -> Iterator[tuple[str, str, str]]:
    label = f"{effect.retriever}, {effect.metric}"
    if effect.earlier is not None:
        yield label, "before: earlier run, earlier exam", _say(effect.earlier)
        yield "", "system", _say(effect.by_system, signed=True)
    else:
        yield label, "before: newest run, earlier exam", _say(effect.before)
        yield "", "system", "not known: no run from before the later release is kept"
    yield "", "exam", _say(effect.by_exam, signed=True)
    yield "", "now: newest run, later exam", _say(effect.after)
    if effect.not_asked:
        yield "", "cases the newest run was not asked", str(effect.not_asked)


def _say(estimate: Estimate | None, *, signed: bool = False) -> str:
    cell = estimate_cell(estimate, signed=signed, reason="no case is in both")
    if estimate is None or estimate.low is None:
        return f"{cell.text} ({cell.note})" if cell.note else cell.text
    return spoken(cell)
