"""How far agents drifted from what people asked, as far as the workbench knows."""

from collections.abc import Iterator

from findback.errors import FindbackError
from findback.measure.intervals import estimate_mean
from findback.model.candidate import Candidate
from findback.model.estimate import Estimate
from findback.model.evaluation import Drift
from findback.steps.bench import has_bench, open_bench
from findback.workbench.listing import CandidateFilters
from findback.workbench.state import STATES
from findback.workspace import Workspace

_PAGE = 500


def find_drift(workspace: Workspace, *, seed: int) -> Drift | None:
    """Return how agents reworded the failed questions of the workbench; None where no agent's search was mined.

    A workbench that cannot be read gives a reason instead of figures; scoring does not need it.
    """
    if not has_bench(workspace):
        return None
    try:
        found = [(one, one.rewrites) for one in _candidates(workspace) if one.rewrites is not None]
    except FindbackError as error:
        return Drift(shared_words=Estimate(value=None, reason=f"the workbench cannot be read: {error}"))
    if not found:
        return None
    return Drift(
        questions=len(found),
        calls=sum(count.calls for _, count in found),
        wordings=sum(count.distinct for _, count in found),
        shared_words=estimate_mean(
            [count.shared_words for _, count in found], [one.asker_hmac or one.key for one, _ in found], seed=seed
        ),
    )


def _candidates(workspace: Workspace) -> Iterator[Candidate]:
    kept = CandidateFilters(states=tuple(state for state in STATES if state != "rejected"), strata=("failure",))
    after = 0
    with open_bench(workspace) as bench:
        while rows := bench.list_candidates(kept, limit=_PAGE, after=after):
            yield from (row.candidate for row in rows)
            after = rows[-1].number
