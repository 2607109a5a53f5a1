"""Find failed searches in exports, redact them, and put them into the private workbench."""

import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import NonNegativeInt

from findback.corpus.corpus import Corpus
from findback.errors import MissingError, RefusedError, UsageError
from findback.files import write_atomically
from findback.mining.caps import Capping
from findback.mining.control import ControlSample
from findback.mining.cues import Cues
from findback.mining.links import LinkResolver
from findback.mining.screen import Screen
from findback.mining.threads import ThreadRules, ThreadSettings
from findback.mining.tickets import TicketMining, TicketRules
from findback.mining.turns import TurnMining, mine_turns
from findback.model.candidate import Candidate
from findback.model.found import Found
from findback.model.mined import Mined, MinedExport
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY
from findback.model.settings import SourceSettings
from findback.model.thread import Audience, Person
from findback.privacy.aliases import digest_aliases
from findback.privacy.key import Key
from findback.privacy.opening import NO_VOCABULARY, describe_names, open_redactor
from findback.privacy.vocabulary import read_vocabulary
from findback.sources.format import Reading, Source, SourceOptions
from findback.sources.recognise import load_source, recognise
from findback.sources.scope import load_excluded
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.candidates_of import RedactionTally, redact_found
from findback.steps.kept import now
from findback.steps.opening import SetRequest, find_set, newest_release, open_documents, open_questions
from findback.workbench.watermark import Watermark
from findback.workspace import Workspace


class MineRequest(SetRequest):
    """Find failed searches in exports, redact them, and put them into the private workbench."""

    exports: Annotated[tuple[Path, ...], LOCAL_ONLY] = ()
    """Exports to read; those of `[sources]` in findback.toml when empty."""
    as_: str | None = None
    """Kind of source; recognised by itself when left out."""
    channels: tuple[str, ...] = ()
    """Only these channels, queues or projects; glob patterns."""
    open: tuple[Literal["internal", "private", "direct"], ...] = ()
    """Audiences to read besides what is public."""
    help_channels: tuple[str, ...] = ()
    """Further channels that are meant for questions; glob patterns."""
    retrieval_tools: tuple[str, ...] = ()
    """Traces: tools that count as search; glob patterns."""
    system: str | None = None
    """Search system whose failures these are, where the source does not say."""
    since: datetime | None = None
    """Leave out what is older."""
    control: NonNegativeInt = 0
    """How many searches and questions that did not fail to draw beside the failures."""
    seed: NonNegativeInt | None = None
    """Seed of the control sample."""
    dry_run: bool = False
    """Say what would be found and store nothing."""


@dataclass(slots=True)
class _Job:
    """One export on its way through."""

    file: Path
    source: Source
    why: str
    options: SourceOptions
    system: str | None
    name: str | None
    """Its name under `[sources]`; None for an export given as an argument."""
    reading: Reading | None = None
    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    unsupported: dict[str, str] = field(default_factory=dict)
    capping: Capping = field(default_factory=Capping)


_Named = tuple[str | None, Path, SourceSettings]
"""An export with its name under `[sources]`, if it has one, and how to read it."""


def mine(workspace: Workspace, request: MineRequest, *, progress: Progress = SILENT) -> Mined:
    """Read exports, apply the rules, redact, and store candidates.

    Nothing is written before redaction. Mining the same again changes nothing; new replies bring what is undecided
    up to date.

    Raises:
        MissingError: If there is no export, or no reader of that name.
        DataError: If an export cannot be read; every fault with its place.
        RefusedError: If an export lies inside a git work tree that does not ignore it.
        StorageError: If the disk refuses.
    """
    documents = open_documents(workspace, request, progress=progress)
    exam = _exam(workspace, request, documents)
    key = open_workspace_key(workspace)
    jobs = [_job(workspace, request, key, named, exam) for named in _exports(workspace, request)]
    tally = RedactionTally()
    stored: Counter[str] = Counter()
    candidates = 0
    vocabulary = read_vocabulary(documents) if documents is not None else NO_VOCABULARY
    names: dict[str, None] = {}
    for job in jobs:
        # Held whole: the roster and what was folded are complete only at the end, and what was found is little.
        found = list(job.capping.apply(_find(job, workspace, request, documents)))
        opened = open_redactor(
            key,
            workspace.settings.privacy,
            _people(job),
            vocabulary=vocabulary,
            names=None if workspace.settings.mining.names else "roster",
        )
        names.update(dict.fromkeys([*opened.notes, *describe_names({one.language for one in found}, opened.names)]))
        redacted = _counted(redact_found(found, opened.redactor, tally, merged=job.capping.merged), job, progress)
        if request.dry_run:
            candidates += sum(1 for _ in redacted)
            continue
        with open_bench(workspace, key) as bench:
            counts = bench.put(redacted, now=now(), people=digest_aliases(_people(job), key.hmac))
            if job.name is not None and job.reading is not None and job.reading.until is not None:
                bench.advance(job.name, Watermark(job.reading.until), now=now())
            bench.sweep_retention(now())
        candidates += counts.given
        stored.update({name: value for name, value in vars_of(counts).items() if value})
    return Mined(
        exports=tuple(_describe(job) for job in jobs),
        candidates=candidates,
        redacted=dict(tally.by_type.most_common()),
        suggested=tally.suggested,
        refused=tally.refused,
        secrets=len(tally.secrets),
        secrets_file=_keep_secrets(workspace, tally) if not request.dry_run else None,
        stored=dict(stored),
        names=tuple(names),
        dry_run=request.dry_run,
    )


def vars_of(counts: Any) -> dict[str, int]:
    """Return the whole numbers a record of counts holds, by name."""
    names = getattr(type(counts), "__slots__", ())
    return {name: getattr(counts, name) for name in names if isinstance(getattr(counts, name), int)}


def _exports(workspace: Workspace, request: MineRequest) -> Iterator[_Named]:
    if request.exports:
        for file in request.exports:
            yield (
                None,
                file,
                SourceSettings(
                    path=str(file),
                    kind=request.as_,
                    channels=request.channels,
                    open=request.open,
                    help_channels=request.help_channels,
                    retrieval_tools=request.retrieval_tools,
                    system=request.system,
                ),
            )
        return
    if not workspace.settings.sources:
        raise MissingError(
            "no export was named", hint="findback mine EXPORT…, or name them under [sources] in findback.toml"
        )
    for name, settings in workspace.settings.sources.items():
        yield name, workspace.path(settings.path), settings


def _job(workspace: Workspace, request: MineRequest, key: Key, named: _Named, exam: frozenset[str]) -> _Job:
    name, file, settings = named
    if not file.exists():
        raise MissingError(
            f"there is no export {file}", hint="name a file or folder, or leave it out to read [sources]"
        )
    refuse_tracked(file)
    if settings.kind is not None:
        source, why = load_source(settings.kind), "as asked"
    else:
        kind, why = recognise(file)
        source = load_source(kind)
    options = SourceOptions(
        channels=settings.channels,
        open_audiences=frozenset[Audience]({"public", *settings.open}),
        exclude=(*load_excluded(), *settings.exclude),
        skip_bad=request.skip_bad,
        since=request.since or _watermark(workspace, key, name),
        scratch=workspace.temporary() if not request.dry_run else None,
        retrieval_tools=settings.retrieval_tools,
        help_channels=settings.help_channels,
        exam_queries=exam,
    )
    return _Job(file, source, why, options, settings.system, name)


def _watermark(workspace: Workspace, key: Key, name: str | None) -> datetime | None:
    """Return up to when a named source was read before; None where it never was."""
    if name is None or not has_bench(workspace):
        return None
    with open_bench(workspace, key) as bench:
        mark = bench.watermark(name)
    return mark.reached if mark is not None else None


def refuse_tracked(file: Path) -> None:
    """Stop before an export that git could commit.

    Raises:
        RefusedError: If the export lies in a work tree that does not ignore it.
    """
    folder = file if file.is_dir() else file.parent
    asked = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), "check-ignore", "-q", "--", str(file.absolute())]
    try:
        done = subprocess.run(asked, capture_output=True, check=False, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return
    if done.returncode == 1:
        raise RefusedError(
            f"{file} lies inside a git work tree that does not ignore it, and holds people's messages",
            hint="keep exports outside the repository, or add it to .gitignore",
        )


def is_open_to_others(file: Path) -> bool:
    """Return whether other users of this machine can read an export."""
    return bool(file.stat().st_mode & 0o004)


def _exam(workspace: Workspace, request: MineRequest, documents: Corpus | None) -> frozenset[str]:
    """Return the exam's own questions, whose bursts in a log are an evaluation."""
    if newest_release(workspace) is None and request.set is None:
        return frozenset()
    named, place = SetRequest(set=request.set), find_set(workspace, request)
    held_out = (False, True) if request.set is None else (False,)
    sides = [open_questions(workspace, named, documents, path=place, holdout=held) for held in held_out]
    return frozenset(question.query for side in sides for question in side.questions)


def _people(job: _Job) -> list[Person]:
    return job.reading.people if job.reading is not None else []


def _find(job: _Job, workspace: Workspace, request: MineRequest, documents: Corpus | None) -> Iterable[Found]:
    seed = workspace.settings.measures.seed if request.seed is None else request.seed
    if job.source.family == "chat":
        return _from_threads(job, workspace, documents, ControlSample(request.control, seed=seed), seed)
    reading = job.reading = job.source.read(job.file, job.options)
    if job.source.family == "tickets" and reading.threads is not None:
        return _from_tickets(job, reading, workspace, documents)
    if reading.turns is not None:
        mined = mine_turns(reading.turns, TurnMining(control=request.control, seed=seed), documents)
        job.counts.update(mined.counts)
        job.dropped.update(mined.dropped)
        job.unsupported.update(mined.unsupported)
        return _with_system(mined.found, job.system)
    if reading.table is None:
        raise UsageError(f"{job.source.name} gave nothing to mine")
    return _from_searches(job, reading.table, request, documents, seed)


def _from_searches(job: _Job, log: Any, request: MineRequest, documents: Corpus | None, seed: int) -> list[Found]:
    # Needs the libraries of the `searchlog` extra, which the reader of the log has asked for already.
    from findback.mining.searches import SearchMining, mine_searches  # noqa: PLC0415
    from findback.sources.searchlog.engines import close  # noqa: PLC0415

    mining = SearchMining(
        source=job.source.name,
        control=request.control,
        seed=seed,
        exam=job.options.exam_queries,
        system=job.system,
    )
    try:
        searched = mine_searches(log, mining, documents)
    finally:
        close(log.get_backend())
    job.counts.update(searched.counts)
    job.dropped.update(searched.dropped)
    job.unsupported.update(searched.unsupported)
    return searched.found


def _resolver(workspace: Workspace, documents: Corpus | None) -> LinkResolver:
    settings = workspace.settings.mining
    if documents is None:
        raise MissingError(
            "chat and tickets are mined by the documents people link, and no documents were given",
            hint="--corpus FOLDER, or [corpus] in findback.toml",
        )
    return LinkResolver(documents, patterns=settings.link_patterns, not_knowledge=settings.not_knowledge)


def _from_threads(
    job: _Job, workspace: Workspace, documents: Corpus | None, control: ControlSample, seed: int
) -> Iterator[Found]:
    settings = workspace.settings.mining
    resolver, cues = _resolver(workspace, documents), Cues(without=settings.without_cues)
    hosts = resolver.hosts()
    screen = Screen(cues, hosts=hosts, control=control.size, seed=seed)
    # A second process would draw another control sample than the first.
    processes = 1 if control.size else 2
    reading = job.reading = job.source.read(job.file, replace(job.options, screen=screen, processes=processes))
    if not hosts:
        reading.notes.append(
            "documents have no addresses, so links to them are not recognised: set base_url under [corpus]"
        )
    rules = ThreadRules(
        resolver,
        cues,
        ThreadSettings(without=frozenset(settings.rules_off), until=reading.until),
        control=control,
    )
    yield from _with_system(rules.find(reading.threads or ()), job.system)
    yield from _with_system(control, job.system)
    job.counts.update({"threads": rules.tally.threads})
    job.dropped.update(rules.tally.skipped)


def _from_tickets(job: _Job, reading: Reading, workspace: Workspace, documents: Corpus | None) -> Iterator[Found]:
    rules = TicketRules(_resolver(workspace, documents), TicketMining(now=reading.until))
    found = (one for thread in reading.threads or () if (one := rules.find(thread)) is not None)
    yield from _with_system(found, job.system)
    job.counts.update(rules.counts)
    job.dropped.update(rules.dropped)


def _with_system(found: Iterable[Found], system: str | None) -> Iterator[Found]:
    for one in found:
        yield one if system is None or one.selected_on is not None else replace(one, selected_on=system)


def _counted(candidates: Iterator[Candidate], job: _Job, progress: Progress) -> Iterator[Candidate]:
    progress.start(f"Mining {job.file.name}", None)
    try:
        for candidate in candidates:
            job.rules.update(hit.rule for hit in candidate.rules)
            progress.advance()
            yield candidate
    finally:
        progress.finish()


def _describe(job: _Job) -> MinedExport:
    reading = job.reading
    notes = list(reading.notes) if reading is not None else []
    if is_open_to_others(job.file):
        notes.insert(0, "other users of this machine can read this export: chmod o-r")
    missing = [rule for rule in RULES if rule not in job.source.rules and rule not in job.unsupported]
    unsupported = job.unsupported | dict.fromkeys(missing, "the source does not record it")
    return MinedExport(
        file=str(job.file),
        source=job.source.name,
        why=job.why,
        counts=dict(job.counts),
        skipped={**(reading.skipped.counts if reading is not None else {}), **dict(job.dropped)},
        rules=dict(job.rules.most_common()),
        unsupported=unsupported,
        folded=dict(job.capping.reasons),
        notes=tuple(notes),
    )


def _keep_secrets(workspace: Workspace, tally: RedactionTally) -> str | None:
    """Write where secrets were found, without them, and return the file."""
    if not tally.secrets:
        return None
    file = workspace.private_part("secrets") / f"found-{now():%Y%m%dT%H%M%S%fZ}.jsonl"
    rows = (orjson.dumps({"format": 1, "file": f, "offset": o, "rule": r}) + b"\n" for f, o, r in tally.secrets)
    write_atomically(file, b"".join(rows), private=True)
    return str(file)


RULES = (
    "zero-result",
    "no-click",
    "reformulation",
    "i-meant",
    "search-then-ask",
    "ticket-link",
    "attach",
    "duplicate",
    "accepted",
    "link-thanks",
    "help-thread",
    "cue",
    "no-answer",
)
"""Every rule, in the order they are shown."""
