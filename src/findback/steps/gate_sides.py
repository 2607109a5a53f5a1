"""The two sides of a gate: which baseline, and which system."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from findback.errors import MissingError, UsageError
from findback.evalset.baseline import (
    BASELINES,
    Baseline,
    baseline_file,
    is_baseline,
    list_baselines,
    read_baseline,
)
from findback.model.protocols import Retriever
from findback.steps.compare_runs import Asking, Entrant, gather_runs
from findback.steps.gaterequest import GateRequest
from findback.steps.opening import DEFAULT_RETRIEVERS
from findback.steps.publish import make_baseline
from findback.steps.scores import Scored


def find_baseline(request: GateRequest, asking: Asking, score: Callable[[Entrant], Scored]) -> Baseline:
    """Return the baseline a request means.

    Args:
        request: Names it; findback.toml where it does not.
        asking: What a run that stands in for one is read for.
        score: Scores such a run.

    Raises:
        UsageError: If it names none, or nightly looks are to be held to a file.
        MissingError: If there is no such baseline.
        DataError: If it cannot be read.
    """
    workspace = asking.workspace
    word = request.baseline or workspace.settings.gate.baseline
    evalset = workspace.evalset
    known = list_baselines(evalset)
    hint = f"published: {', '.join(known)}" if known else "findback evaluate RETRIEVER --publish main, and commit it"
    if not word:
        raise UsageError("say what to compare with: --baseline NAME", hint=hint)
    if word in known:
        return read_baseline(baseline_file(evalset, word))
    if word.isdecimal():
        return _of_release(evalset, int(word), known, request.retriever)
    if not Path(word).is_file():
        raise MissingError(
            f"{word[:200]!r} is no baseline of {evalset / BASELINES}, no release with one, and no file", hint=hint
        )
    if request.nightly:
        raise UsageError("nightly looks are held to a published baseline, not to a file", hint=hint)
    if is_baseline(Path(word)):
        return read_baseline(Path(word))
    (entrant,) = gather_runs(asking, (_as_path(Path(word)),))
    primary = workspace.settings.measures.primary
    digest = asking.documents.digest if asking.documents is not None else None
    made = make_baseline(Path(word).stem, score(entrant), asking.asked, primary=primary, corpus=digest)
    return made._replace(head=made.head.model_copy(update={"made": None}))


def _of_release(evalset: Path, number: int, known: Sequence[str], retriever: str | None) -> Baseline:
    """Return the newest baseline that was published on a release."""
    read = [read_baseline(baseline_file(evalset, name)) for name in known]
    found = [one for one in read if one.head.release == number and retriever in (None, one.head.retriever)]
    if not found:
        raise MissingError(
            f"no baseline was published on release {number}" + (f" for {retriever}" if retriever else ""),
            hint=f"findback evaluate RETRIEVER --release {number} --publish NAME",
        )
    return max(found, key=lambda one: (one.head.made or datetime.min.replace(tzinfo=UTC), one.name))


def _as_path(file: Path) -> str:
    """Return a path that cannot be taken for the name of a retriever or of a kept run."""
    return str(file) if file.is_absolute() or len(file.parts) > 1 else f"./{file}"


def refuse_shallow(baseline: Baseline, cutoff: int | None) -> None:
    """Stop where a baseline was asked for fewer documents than the primary metric looks at.

    Raises:
        UsageError: If it was.
    """
    depth = baseline.head.depth
    if depth is not None and cutoff is not None and depth < cutoff:
        raise UsageError(
            f"the baseline {baseline.name} was asked for {depth} documents, and the primary metric looks at {cutoff}",
            hint="publish a new one: findback evaluate RETRIEVER --publish NAME",
        )


def find_system(
    request: GateRequest,
    asking: Asking,
    baseline: Baseline,
    systems: Sequence[Retriever],
    ask: Callable[[str], bool] | None,
) -> Entrant:
    """Return the run under test.

    Args:
        request: Names a retriever, or recorded results.
        asking: What is asked.
        baseline: Its own retriever is tested where nothing is named.
        systems: Retrievers already built.
        ask: Asks a person to trust what the workspace names.

    Raises:
        UsageError: If it is not said which system, or several are.
        MissingError: If there is no such retriever.
    """
    if request.run is not None:
        if request.retriever is not None or systems:
            raise UsageError("recorded results are tested instead of a retriever", hint="name one of the two")
        if not request.run.is_file():
            raise MissingError(f"{request.run} is not there", hint="--run names a file of recorded results")
        return gather_runs(asking, (_as_path(request.run),))[0]
    if systems:
        if len(systems) > 1 or request.retriever is not None:
            raise UsageError("the gate tests one system at a time")
        return gather_runs(asking, (), systems)[0]
    known = asking.workspace.settings.retrievers or DEFAULT_RETRIEVERS
    name = request.retriever
    if name is None and baseline.head.retriever in known:
        name = baseline.head.retriever
    if name is None and len(known) == 1:
        name = next(iter(known))
    if name is None:
        raise UsageError(
            "say which retriever to test", hint=f"findback gate NAME --baseline …; there are {', '.join(known)}"
        )
    if name not in known:
        raise MissingError(f"there is no [retrievers.{name}] in findback.toml", hint=f"known: {', '.join(known)}")
    return gather_runs(asking, (name,), ask=ask)[0]
