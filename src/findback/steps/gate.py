"""The gate: has a system lost something against a baseline, more than is accepted, or can that not be told?"""

from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.metadata import version

from findback.corpus.corpus import Corpus
from findback.errors import DataError, MissingError
from findback.evalset.baseline import Baseline
from findback.evalset.release import list_numbers
from findback.measure.gating import LEVEL
from findback.measure.metrics.name import parse_metric
from findback.model.gated import GateComparison, Gated, GatedFloor, GateVerdict, Role
from findback.model.protocols import SILENT, Progress, Retriever
from findback.model.question import QuestionSet
from findback.model.settings import GateAxis
from findback.steps.compare_runs import Asking, Entrant
from findback.steps.gate_night import budget_night, list_night, share_alarms, write_night
from findback.steps.gate_pairs import Rules, compare_with, hold_floor
from findback.steps.gate_sides import find_baseline, find_system, refuse_shallow
from findback.steps.gate_words import explain_gate
from findback.steps.gaterequest import GateRequest
from findback.steps.gold import label_columns, refuse_unscorable
from findback.steps.kept import now
from findback.steps.legend import note_depth
from findback.steps.opening import open_documents, open_questions
from findback.steps.publish import refuse_passages
from findback.steps.scores import Scored, score_run
from findback.workspace import Workspace

WORST: tuple[GateVerdict, ...] = ("fail", "undecided", "pass")
"""Verdicts, the one that counts first."""


def gate(
    workspace: Workspace,
    request: GateRequest,
    *,
    systems: Sequence[Retriever] = (),
    questions: QuestionSet | None = None,
    documents: Corpus | None = None,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
    made: datetime | None = None,
) -> Gated:
    """Hold a system to a baseline, case by case, on the primary metric.

    Args:
        workspace: Where settings, set and baselines are; nothing private is needed.
        request: What to test, against what.
        systems: A retriever already built, instead of those of findback.toml.
        questions: Questions already read, instead of the set the request names.
        documents: Documents already read, instead of the workspace's.
        progress: Shows how far it has come.
        ask: Asks a person to trust what the workspace names; None where nobody is there.
        made: The time; now when left out.

    Returns:
        The verdict with everything behind it. A nightly look is written down before it is returned.

    Raises:
        UsageError: If baseline or system are not said, or a metric over passages is the primary one.
        MissingError: If there is no set, no such baseline or no such retriever.
        DataError: If something cannot be read, or no case can be paired.
        UntrustedError: If findback.toml names code or secrets nobody agreed to.
    """
    chosen, at = workspace.settings, made or now()
    primary = parse_metric(chosen.measures.primary)
    refuse_passages(primary)
    corpus = documents if documents is not None else _open_documents(workspace, request, progress)
    asked = questions if questions is not None else open_questions(workspace, request, corpus)
    labelled = label_columns(asked.questions, corpus)
    refuse_unscorable(asked, corpus)
    seed = chosen.measures.seed if request.seed is None else request.seed
    asking = Asking(
        workspace=workspace,
        asked=asked,
        labelled=labelled,
        documents=corpus,
        depth=max(chosen.measures.depth, primary.cutoff or 1),
        concurrency=request.concurrency,
        made=at,
        fresh=True,
        progress=progress,
    )

    def score(entrant: Entrant) -> Scored:
        return score_run(entrant.run, labelled, (str(primary),), seed=seed)

    anchor = find_baseline(request, asking, score)
    refuse_shallow(anchor, primary.cutoff)
    entrant = find_system(request, asking, anchor, systems, ask)
    scored = score(entrant)
    against: list[tuple[Role, Baseline]] = [("baseline", anchor)]
    if request.nightly:
        against = list_night(workspace, anchor)
    floors = [(axis, value, floor) for axis, by in chosen.gate.floors.items() for value, floor in by.items()]
    nightly = budget_night(workspace, at, len(against) + len(floors)) if request.nightly else None
    rules = Rules(
        margin=chosen.gate.margin if request.margin is None else request.margin,
        policy=request.policy,
        level=LEVEL,
        alarm=1 - LEVEL if nightly is None else share_alarms(nightly),
        show_queries=request.show_queries and asked.kind == "release",
    )
    compared = tuple(compare_with(one, role, scored, rules, corpus) for role, one in against)
    if not compared[0].cases:
        raise DataError(
            f"none of the {len(anchor.cases)} cases of the baseline {anchor.name} can be paired with {asked.name}",
            hint="publish a new one: findback evaluate RETRIEVER --publish NAME",
        )
    held = _hold_floors(scored, floors, rules, shared=nightly is not None)
    result = Gated(
        made=at,
        findback=version("findback"),
        workspace=chosen.name,
        heading=asked.heading,
        retriever=entrant.name,
        config_digest=entrant.run.config_digest or "",
        primary=str(primary),
        label=primary.label,
        policy=request.policy,
        margin=rules.margin,
        level=rules.level,
        alarm=rules.alarm,
        nightly=nightly,
        verdict=min((*(one.verdict for one in compared), *(one.verdict for one in held)), key=WORST.index),
        comparisons=compared,
        floors=held,
        asked=int((scored.scores.answerable & ~scored.scores.skipped).sum()),
        failed=int(scored.scores.failed.sum()),
        missing=int((scored.scores.missing & scored.scores.answerable).sum()),
        method=(),
        notes=(
            *_note_release(workspace, anchor),
            *note_depth(chosen.measures.depth, [str(primary)]),
            *_notes(request, asked, entrant, compared),
        ),
    )
    result = result.model_copy(update={"method": explain_gate(result)})
    if nightly is not None:
        write_night(workspace, result, scored, asked, corpus)
    return result


def _open_documents(workspace: Workspace, request: GateRequest, progress: Progress) -> Corpus | None:
    """Return the documents; recorded results can be held to a baseline without them."""
    try:
        return open_documents(workspace, request, progress=progress)
    except MissingError:
        if request.run is None or request.corpus is not None:
            raise
        return None


def _hold_floors(
    scored: Scored, floors: Sequence[tuple[GateAxis, str, float]], rules: Rules, *, shared: bool
) -> tuple[GatedFloor, ...]:
    """Return each floor, on bounds that hold together (Bonferroni)."""
    count = max(len(floors), 1)
    together = rules._replace(
        level=1 - (1 - rules.level) / count,
        # A night's alarms are shared out over all its tests already.
        alarm=rules.alarm if shared else rules.alarm / count,
    )
    return tuple(hold_floor(scored, axis, value, floor, together) for axis, value, floor in floors)


def _note_release(workspace: Workspace, baseline: Baseline) -> tuple[str, ...]:
    number = baseline.head.release
    if number is None or number in list_numbers(workspace.evalset):
        return ()
    return (f"the baseline {baseline.name} says that it was made on release {number}, which is not here",)


def _notes(
    request: GateRequest, asked: QuestionSet, entrant: Entrant, compared: Sequence[GateComparison]
) -> tuple[str, ...]:
    notes = []
    if request.show_queries and asked.kind != "release":
        notes.append("queries are not shown: this set is not released")
    other = next((one for one in compared if one.retriever != entrant.name), None)
    if other is not None and request.run is None:
        notes.append(f"the baseline {other.name} holds results of {other.retriever}, not of {entrant.name}")
    if request.nightly and len(compared) == 1:
        notes.append("no night before this one to compare with")
    return tuple(notes)
