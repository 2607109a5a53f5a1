"""Withdraw cases: erase their texts from the set, every release, and what findback keeps of their scores."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from pathlib import Path

import orjson
from pydantic import Field

from findback.errors import FindbackError, MissingError, UsageError
from findback.evalset.cases import read_cases
from findback.evalset.checks import ANY_LEAK
from findback.evalset.glossary import GLOSSARY, forget_cases
from findback.evalset.head import hold_head, settle_head
from findback.evalset.manifest import read_manifest
from findback.evalset.release import CASES, list_numbers, release_folder
from findback.evalset.runs import load_run, save_run
from findback.evalset.withdrawal import (
    WITHDRAWN_QUERY,
    drop_queries,
    with_paraphrases,
    withdraw_from_head,
    withdraw_from_lines,
    withdraw_from_release,
)
from findback.files import write_atomically
from findback.model.across import Across, Effects
from findback.model.audit import Audit
from findback.model.case import Case
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation
from findback.model.generated import Generated
from findback.model.items import ItemAnalysis
from findback.model.record import Record, Request
from findback.model.week import Week
from findback.model.written import Described
from findback.privacy.git_history import find_held, is_tracked
from findback.steps.answers import forget_answers
from findback.steps.bench import has_bench, open_bench
from findback.steps.glossary_kept import forget_proposals
from findback.steps.judged import judgements_file
from findback.steps.kept import PREFIX, load, now
from findback.steps.ledger import record_erasures
from findback.steps.localreviewer import local_name
from findback.steps.ready import ReadyCases
from findback.steps.reasons import forbidden_in
from findback.steps.release import open_ready
from findback.workspace import Workspace

DISTINCT = 12
"""Characters from which a query is looked for in other files of the history; shorter ones stand anywhere."""
BASELINES = "baselines"
SCORES = "scores.jsonl"
WITHDRAWN = "withdrawn"
"""How the history of a case calls it."""


class WithdrawRequest(Request):
    """Erase cases from the set and from every release, for good."""

    cases: tuple[str, ...]
    """Ids of the cases; their paraphrases go with them."""
    reason: str = Field(default="", max_length=2_000)
    """Why; it is published in the manifest of each release."""


class History(Record):
    """What version control still holds of the withdrawn texts."""

    commits: tuple[str, ...]
    """Commits that brought them in; later ones hold them too until they are taken out."""
    references: tuple[str, ...]
    """Branches and tags whose newest commit still holds them."""
    unread: tuple[str, ...]
    commands: tuple[str, ...]
    """What a person would run to take them out of the history; findback does not."""


class Withdrawn(Record):
    """What was erased, and what is left for a person to do."""

    cases: tuple[str, ...]
    """With the paraphrases of those named."""
    releases: tuple[int, ...]
    """Releases that hold a tombstone now."""
    dropped: dict[str, int]
    """What else went, by kind: lines of baselines, answers in runs, misses in evaluations, terms, candidates."""
    history: History | None
    """None outside a git repository."""
    notes: tuple[str, ...]


def withdraw(
    workspace: Workspace,
    request: WithdrawRequest,
    *,
    ready: ReadyCases | None = None,
    made: datetime | None = None,
    reviewer: str | None = None,
) -> Withdrawn:
    """Put tombstones in place of cases everywhere, and say what version control still holds.

    Doing it again changes nothing, and finishes what was interrupted.

    Args:
        workspace: Where the set is.
        request: Which cases, and why.
        ready: The candidates they came from; those of the workbench when None.
        made: When it happens; now when None.
        reviewer: Who withdraws them, for their history; whoever is logged in to this machine when None.

    Raises:
        UsageError: If no case or no reason is given, or the reason itself may not be published.
        MissingError: If the set has no such case.
        DataError: If head or a release is not as it was published.
        StorageError: If the disk refuses.
    """
    reason = _reason(workspace, request)
    moment = made or now()
    evalset, on = workspace.evalset, moment.date()
    settle_head(evalset)
    living = _all_cases(evalset)
    ids = with_paraphrases(living, _known(request, living))
    texts = [case for case in living if case.id in ids and case.status != "withdrawn"]
    notes: list[str] = []
    dropped = {"candidates": _forget(workspace, ready, ids, reason)}
    releases = [number for number in list_numbers(evalset) if _bury(release_folder(evalset, number), ids, reason, on)]
    with hold_head(evalset):
        withdraw_from_head(evalset / CASES, ids)
    dropped["lines of baselines and scores"] = sum(withdraw_from_lines(file, ids) for file in _published(evalset))
    dropped["judgements by hand"] = sum(withdraw_from_lines(file, ids, private=True) for file in _judgements(evalset))
    dropped["answers in runs"] = _clean_runs(workspace, ids, notes)
    dropped["answers of models"] = forget_answers(workspace)
    dropped["terms of the glossary"] = _clean_glossary(workspace, ids, notes)
    dropped["questions in evaluations and audits"] = _clean_kept(workspace, ids, {case.query for case in texts}, notes)
    _write_down(workspace, ids, reason, reviewer or local_name(), moment)
    notes.append("reports, exports and copies of the set made before are out of findback's reach")
    return Withdrawn(
        cases=tuple(sorted(ids)),
        releases=tuple(releases),
        dropped={name: count for name, count in dropped.items() if count},
        history=_history(workspace, ids, texts),
        notes=tuple(notes),
    )


def _reason(workspace: Workspace, request: WithdrawRequest) -> str:
    reason = request.reason.strip()
    if not request.cases:
        raise UsageError("say which cases to withdraw", hint="findback withdraw CASE… --reason WHY")
    if not reason:
        raise UsageError("say why: the reason stands in the manifest of each release", hint="--reason WHY")
    if found := forbidden_in(workspace, reason, "reason"):
        raise UsageError(f"the reason would be published, and holds what may not be: {'; '.join(found)}")
    return reason


def _all_cases(evalset: Path) -> list[Case]:
    """Return each case that the head or a release holds; living ones before tombstones."""
    files = [evalset / CASES, *(release_folder(evalset, number) / CASES for number in list_numbers(evalset))]
    found: dict[str, Case] = {}
    for file in files:
        for case in read_cases(file, leak_limit=ANY_LEAK) if file.exists() else ():
            if case.id not in found or found[case.id].status == "withdrawn":
                found[case.id] = case
    return list(found.values())


def _known(request: WithdrawRequest, cases: Iterable[Case]) -> frozenset[str]:
    known = {case.id for case in cases}
    missing = [id_ for id_ in request.cases if id_ not in known]
    if missing:
        raise MissingError(
            f"the set has no case {', '.join(id_[:20] for id_ in missing)}", hint="ids stand in evalset/cases.jsonl"
        )
    return frozenset(request.cases)


def _bury(folder: Path, ids: AbstractSet[str], reason: str, on: date) -> bool:
    withdraw_from_release(folder, ids, reason, on)
    return any(not ids.isdisjoint(one.cases) for one in read_manifest(folder).withdrawals)


def _published(evalset: Path) -> list[Path]:
    return [file for file in (*sorted((evalset / BASELINES).glob("*.jsonl")), evalset / SCORES) if file.is_file()]


def _judgements(evalset: Path) -> list[Path]:
    places = [evalset / CASES, *(release_folder(evalset, number) for number in list_numbers(evalset))]
    return [file for file in map(judgements_file, places) if file.is_file()]


def _forget(workspace: Workspace, ready: ReadyCases | None, ids: AbstractSet[str], reason: str) -> int:
    if ready is not None:
        return ready.forget(ids, reason)
    with open_ready(workspace) as opened:
        return opened.forget(ids, reason)


def _write_down(workspace: Workspace, ids: AbstractSet[str], reason: str, reviewer: str, moment: datetime) -> None:
    """Say in the history of each case that it was withdrawn, and why; where it says so already, nothing is added."""
    if not has_bench(workspace):
        return
    with open_bench(workspace) as bench:
        for one in sorted(ids):
            newest = bench.case_changes(one, limit=1)
            if not newest or newest[0].what != WITHDRAWN:
                bench.add_case_change(one, WITHDRAWN, role="lead", now=moment, why=reason, reviewer=reviewer)
        record_erasures(workspace, bench)


def _clean_runs(workspace: Workspace, ids: AbstractSet[str], notes: list[str]) -> int:
    folder = workspace.private / "runs"
    dropped = 0
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name.startswith("."):
            continue
        try:
            run = load_run(file)
        except FindbackError:
            notes.append(f"the run {file.name} cannot be read, and was left: findback runs --remove {file.name}")
            continue
        held = sum(query in ids for query in run.queries)
        if held:
            save_run(drop_queries(run, ids), file)
        dropped += held
    return dropped


def _clean_glossary(workspace: Workspace, ids: AbstractSet[str], notes: list[str]) -> int:
    file = workspace.evalset / GLOSSARY
    gone = forget_proposals(workspace, ids)
    try:
        return gone + forget_cases(file, ids)
    except FindbackError:
        notes.append(f"{file} cannot be read, and was left: it may hold words of the case")
        return gone


def _clean_kept(workspace: Workspace, ids: AbstractSet[str], queries: AbstractSet[str], notes: list[str]) -> int:
    folder = workspace.private / "evaluations"
    dropped = 0
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            clean, count = _clean(file, ids, queries)
        except FindbackError:
            notes.append(f"{file} cannot be read, and was left: remove it if it may hold the case")
            continue
        if count:
            write_atomically(file, clean.model_dump_json(), private=True)
        dropped += count
    return dropped


def _clean(
    file: Path, ids: AbstractSet[str], queries: AbstractSet[str]
) -> tuple[Across | Audit | Comparison | Effects | Evaluation | Generated | ItemAnalysis | Week, int]:
    cleaned: tuple[Across | Audit | Comparison | Effects | Evaluation | Generated | ItemAnalysis | Week, int]
    # Orders and effects of systems name no case.
    if file.name.startswith(PREFIX[Across]):
        cleaned = load(file, Across), 0
    elif file.name.startswith(PREFIX[Effects]):
        cleaned = load(file, Effects), 0
    elif file.name.startswith(PREFIX[Audit]):
        cleaned = _without_audited(load(file, Audit), ids)
    elif file.name.startswith(PREFIX[Comparison]):
        cleaned = _without_compared(load(file, Comparison), ids)
    elif file.name.startswith(PREFIX[Generated]):
        cleaned = _without_written(load(file, Generated), queries)
    elif file.name.startswith(PREFIX[ItemAnalysis]):
        cleaned = _without_items(load(file, ItemAnalysis), ids)
    elif file.name.startswith(PREFIX[Week]):
        cleaned = _without_week(load(file, Week), ids)
    else:
        cleaned = _without_misses(load(file, Evaluation), ids)
    return cleaned


def _without_written(kept: Generated, queries: AbstractSet[str]) -> tuple[Generated, int]:
    """Return what a model wrote without the texts that were withdrawn; figures stay."""
    looks = tuple(one for one in kept.looks if one.text not in queries)
    left: list[Described] = []
    for one in kept.described:
        attempts = tuple(attempt for attempt in one.attempts if attempt.text not in queries)
        left.append(one.model_copy(update={"attempts": attempts}))
    gone = kept.texts - sum(len(one.attempts) for one in left)
    return kept.model_copy(update={"looks": looks, "described": tuple(left)}), gone


def _without_misses(kept: Evaluation, ids: AbstractSet[str]) -> tuple[Evaluation, int]:
    count, scores = 0, []
    for one in kept.retrievers:
        left = tuple(miss for miss in one.miss_examples if miss.question not in ids)
        count += len(one.miss_examples) - len(left)
        scores.append(one.model_copy(update={"miss_examples": left}))
    return kept.model_copy(update={"retrievers": tuple(scores)}), count


def _without_week(kept: Week, ids: AbstractSet[str]) -> tuple[Week, int]:
    parts = tuple(
        part.model_copy(update={"items": tuple(item for item in part.items if item.id not in ids)})
        for part in kept.parts
    )
    gone = sum(len(part.items) for part in kept.parts) - sum(len(part.items) for part in parts)
    return kept.model_copy(update={"parts": parts}), gone


def _without_audited(kept: Audit, ids: AbstractSet[str]) -> tuple[Audit, int]:
    left = tuple(one for one in kept.worst if one.question not in ids)
    return kept.model_copy(update={"worst": left}), len(kept.worst) - len(left)


def _without_compared(kept: Comparison, ids: AbstractSet[str]) -> tuple[Comparison, int]:
    left = tuple(one for one in kept.cases if one.question not in ids)
    return kept.model_copy(update={"cases": left}), len(kept.cases) - len(left)


def _without_items(kept: ItemAnalysis, ids: AbstractSet[str]) -> tuple[ItemAnalysis, int]:
    """Return an item analysis without the cases that were withdrawn; figures stay."""
    left = {
        "everybody": tuple(one for one in kept.everybody if one.question not in ids),
        "nobody": tuple(one for one in kept.nobody if one.question not in ids),
        "against": tuple(one for one in kept.against if one.case.question not in ids),
        "second": tuple(one for one in kept.second if one.question not in ids),
    }
    gone = sum(len(getattr(kept, name)) - len(rows) for name, rows in left.items())
    heavy = tuple(
        one.model_copy(update={"questions": tuple(id_ for id_ in one.questions if id_ not in ids)})
        for one in kept.heavy
    )
    gone += sum(len(one.questions) for one in kept.heavy) - sum(len(one.questions) for one in heavy)
    return kept.model_copy(update={**left, "heavy": heavy}), gone


def _history(workspace: Workspace, ids: AbstractSet[str], cases: Sequence[Case]) -> History | None:
    if not is_tracked(workspace.root):
        return None
    pattern = re.compile(b"|".join(sorted(_patterns(ids, cases))))
    held = find_held(workspace.root, pattern)
    return History(
        commits=held.commits,
        references=held.references,
        unread=held.unread,
        commands=_commands(workspace, sorted(ids), held.blobs),
    )


def _patterns(ids: AbstractSet[str], cases: Iterable[Case]) -> Iterator[bytes]:
    """Yield what finds the cases in a file: their lines that are no tombstones, and their queries as they stand."""
    tombstone = re.escape(orjson.dumps(WITHDRAWN_QUERY))
    for id_ in ids:
        yield b'"id":"' + id_.encode() + b'","query":(?!' + tombstone + b")"
    for case in cases:
        if len(case.query) >= DISTINCT:
            written = (case.query.encode(), orjson.dumps(case.query)[1:-1], json.dumps(case.query)[1:-1].encode())
            yield from map(re.escape, written)


def _commands(workspace: Workspace, ids: Sequence[str], blobs: Sequence[str]) -> tuple[str, ...]:
    folder = shlex.quote(str(workspace.settings.evalset))
    commit = f"git add {folder} && git commit -m {shlex.quote('Withdraw ' + ', '.join(ids))}"
    if not blobs:
        return (commit,)
    return (
        commit,
        f"printf '%s\\n' {' '.join(blobs)} > ../blobs.txt",
        "git filter-repo --strip-blobs-with-ids ../blobs.txt",
        "git push --force --all YOUR_REMOTE && git push --force --tags YOUR_REMOTE",
        "git reflog expire --expire=now --all && git gc --prune=now",
    )
