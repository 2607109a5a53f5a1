"""Nightly looks: what they are compared with, what they may cost, and that they happened."""

from datetime import datetime

from findback.corpus.corpus import Corpus
from findback.evalset.baseline import LAST_NIGHT, Baseline, baseline_file, read_baseline, write_baseline
from findback.evalset.gatelooks import GateLook, add_gate_look, count_past_year, read_gate_looks
from findback.measure.gating import spend_alarms
from findback.model.gated import Gated, Nightly, Role
from findback.model.question import QuestionSet
from findback.steps.publish import make_baseline
from findback.steps.scores import Scored
from findback.workspace import Workspace


def list_night(workspace: Workspace, anchor: Baseline) -> list[tuple[Role, Baseline]]:
    """Return what a night is compared with: the anchor, and the night before where there was one."""
    before = baseline_file(workspace.evalset, anchor.name + LAST_NIGHT)
    found: list[tuple[Role, Baseline]] = [("anchor", anchor)]
    if before.is_file():
        found.append(("last night", read_baseline(before)))
    return found


def budget_night(workspace: Workspace, at: datetime, tests: int) -> Nightly:
    """Return which look this is, and what it may cost."""
    chosen = workspace.settings.gate
    look = count_past_year(read_gate_looks(workspace.evalset), at) + 1
    return Nightly(look=look, alarms_a_year=chosen.alarms_a_year, looks_a_year=chosen.looks_a_year, tests=tests)


def share_alarms(nightly: Nightly) -> float:
    """Return the chance of a false alarm that each test of a night has."""
    looks = max(nightly.looks_a_year, nightly.look)
    return spend_alarms(nightly.alarms_a_year, looks, nightly.tests)


def write_night(workspace: Workspace, result: Gated, scored: Scored, asked: QuestionSet, corpus: Corpus | None) -> None:
    """Write a look down, and what it saw, for the next night to be compared with."""
    anchor = result.comparisons[0]
    add_gate_look(
        workspace.evalset,
        GateLook(
            at=result.made,
            set=result.heading[:200],
            retriever=result.retriever[:200],
            config_digest=result.config_digest,
            baseline=anchor.name,
            alarm=result.alarm,
            tests=result.nightly.tests if result.nightly else 1,
            cases=anchor.cases,
            difference=anchor.difference,
            lower=anchor.lower,
            upper=anchor.upper,
            verdict=result.verdict,
            findback=result.findback,
        ),
    )
    if result.failed:
        # What failed tonight would leave only bounds tomorrow.
        return
    name = anchor.name + LAST_NIGHT
    digest = corpus.digest if corpus is not None else None
    seen = make_baseline(name, scored, asked, primary=result.primary, corpus=digest)
    write_baseline(baseline_file(workspace.evalset, name), seen)
