"""Find failed searches in exports, redact them, and put them into the private workbench."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import NonNegativeInt

from findback.corpus.corpus import Corpus
from findback.errors import MissingError, UsageError
from findback.files import write_atomically
from findback.mining.control import ControlSample
from findback.mining.cues import Cues
from findback.mining.exchangerules import ThreadSettings
from findback.mining.links import LinkResolver
from findback.mining.screen import Screen
from findback.mining.threads import ThreadRules
from findback.mining.tickets import TicketMining, TicketRules
from findback.mining.turns import TurnMining, mine_turns
from findback.model.candidate import Candidate
from findback.model.found import Found
from findback.model.mined import Mined, MinedExport
from findback.model.protocols import SILENT, Progress
from findback.model.record import LOCAL_ONLY
from findback.model.settings import SourceSettings
from findback.model.thread import Person
from findback.privacy.aliases import digest_aliases
from findback.privacy.key import Key
from findback.privacy.opening import NO_VOCABULARY, NameFinding, OpenedRedactor, describe_names, open_redactor
from findback.privacy.vocabulary import Vocabulary, read_vocabulary
from findback.sources.format import Reading, SourceOptions
from findback.steps.agentlog import SOURCE as AGENT_LOG
from findback.steps.agentlog import agent_log_folder, sweep_agent_log
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.candidates_of import RedactionTally, redact_found
from findback.steps.exports import Job, open_connections, open_jobs
from findback.steps.kept import now
from findback.steps.opening import SetRequest, find_set, newest_release, open_documents, open_questions
from findback.steps.retention import keep_retention
from findback.workspace import Workspace


class MineRequest(SetRequest):
    """Find failed searches in exports, redact them, and put them into the private workbench."""

    exports: Annotated[tuple[Path, ...], LOCAL_ONLY] = ()
    """Exports to read; those of `[sources]` in findback.toml when empty."""
    connector: tuple[str, ...] = ()
    """Names of `[connectors]` in findback.toml: systems to read by their API, from where the last run came to."""
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
    own_log: bool = False
    """Read findback's own log of what agents searched for, beside any exports that are named."""
    dry_run: bool = False
    """Say what would be found and store nothing."""


def mine(
    workspace: Workspace,
    request: MineRequest,
    *,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> Mined:
    """Read exports and databases, apply the rules, redact, and store candidates.

    Nothing is written before redaction. Mining the same again changes nothing; new replies bring what is undecided
    up to date.

    Args:
        workspace: Whose exports.
        request: Which ones, and how.
        progress: Shows how far it has come.
        ask: Asks a person whether a database may be asked; None where nobody is there.

    Raises:
        MissingError: If there is no export, or no reader of that name.
        UntrustedError: If nobody agreed to a database that a variable names.
        EngineError: If a database does not answer.
        DataError: If an export cannot be read; every fault with its place.
        RefusedError: If an export lies inside a git work tree that does not ignore it.
        StorageError: If the disk refuses.
    """
    documents = open_documents(workspace, request, progress=progress)
    exam = _exam(workspace, request, documents)
    key = open_workspace_key(workspace)
    given = _options(workspace, request, exam)
    jobs = open_jobs(workspace, _sources(workspace, request), given, key, ask=ask)
    if request.connector and request.control:
        raise UsageError(
            "a control sample is drawn from everything at once, and a connector gives a little at a time",
            hint="draw it from an export, or leave --control out",
        )
    jobs += open_connections(workspace, request.connector, given, key, moment=now(), progress=progress, ask=ask)
    tally = RedactionTally()
    stored: Counter[str] = Counter()
    candidates = 0
    vocabulary = read_vocabulary(documents) if documents is not None else NO_VOCABULARY
    names: dict[str, None] = {}
    for job in jobs:
        opened: OpenedRedactor | None = None
        known = 0
        for _ in job.rounds():
            # Held whole: the roster and what was folded are complete only at the end, and what was found is little.
            found = _find_all(job, workspace, request, documents)
            people = job.people()
            if opened is None or len(people) != known:
                known, opened = len(people), _open_redactor(workspace, key, people, vocabulary)
            languages = {one.language for one in found}
            names.update(dict.fromkeys([*opened.notes, *describe_names(languages, opened.names)]))
            redacted = _counted(redact_found(found, opened.redactor, tally, merged=job.capping.merged), job, progress)
            if request.dry_run:
                candidates += sum(1 for _ in redacted)
                continue
            with open_bench(workspace, key) as bench:
                counts = bench.put(redacted, now=now(), people=digest_aliases(people, key.hmac))
                job.settle(bench, now())
                keep_retention(workspace, bench, now())
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


def _open_redactor(workspace: Workspace, key: Key, people: Sequence[Person], vocabulary: Vocabulary) -> OpenedRedactor:
    names: NameFinding | None = None if workspace.settings.mining.names else "roster"
    return open_redactor(key, workspace.settings.privacy, people, vocabulary=vocabulary, names=names)


def vars_of(counts: Any) -> dict[str, int]:
    """Return the whole numbers a record of counts holds, by name."""
    names = getattr(type(counts), "__slots__", ())
    return {name: getattr(counts, name) for name in names if isinstance(getattr(counts, name), int)}


def _sources(workspace: Workspace, request: MineRequest) -> dict[str | None, list[SourceSettings]]:
    """Return what is to be read by its name under `[sources]`, or without one where it is named as an argument."""
    own = [SourceSettings(path=str(_own_log(workspace)), kind=AGENT_LOG)] if request.own_log else []
    if request.exports or own:
        return {
            None: [
                *(
                    SourceSettings(
                        path=str(file),
                        kind=request.as_,
                        channels=request.channels,
                        open=request.open,
                        help_channels=request.help_channels,
                        retrieval_tools=request.retrieval_tools,
                        system=request.system,
                    )
                    for file in request.exports
                ),
                *own,
            ]
        }
    if request.connector:
        return {}
    if not workspace.settings.sources:
        raise MissingError(
            "no export was named",
            hint="findback mine EXPORT…, or name them under [sources] in findback.toml; --connector NAME asks an API",
        )
    return {name: [settings] for name, settings in workspace.settings.sources.items()}


def _own_log(workspace: Workspace) -> Path:
    """Return where the log of agents' searches lies, rid of what is older than it may be.

    Raises:
        MissingError: If there is none.
    """
    folder = agent_log_folder(workspace)
    sweep_agent_log(folder, keep_days=workspace.settings.mcp.keep_days, now=now())
    if not folder.is_dir() or not any(folder.iterdir()):
        raise MissingError("no agent has searched yet", hint="set mcp.search; see docs/mcp.md")
    return folder


def _options(workspace: Workspace, request: MineRequest, exam: frozenset[str]) -> SourceOptions:
    return SourceOptions(
        skip_bad=request.skip_bad,
        since=request.since,
        scratch=workspace.temporary() if not request.dry_run else None,
        exam_queries=exam,
    )


def _exam(workspace: Workspace, request: MineRequest, documents: Corpus | None) -> frozenset[str]:
    """Return the exam's own questions, whose bursts in a log are an evaluation."""
    if newest_release(workspace) is None and request.set is None:
        return frozenset()
    named, place = SetRequest(set=request.set), find_set(workspace, request)
    held_out = (False, True) if request.set is None else (False,)
    sides = [open_questions(workspace, named, documents, path=place, holdout=held) for held in held_out]
    return frozenset(question.query for side in sides for question in side.questions)


def _find_all(job: Job, workspace: Workspace, request: MineRequest, documents: Corpus | None) -> list[Found]:
    if job.asked is None:
        return list(job.capping.apply(_find(job, workspace, request, documents)))
    with closing(job.asked) as asked:
        return asked.quietly(lambda: list(job.capping.apply(_find(job, workspace, request, documents))))


def _find(job: Job, workspace: Workspace, request: MineRequest, documents: Corpus | None) -> Iterable[Found]:
    seed = workspace.settings.measures.seed if request.seed is None else request.seed
    if job.source.family == "chat":
        return _from_threads(job, workspace, documents, ControlSample(request.control, seed=seed), seed)
    reading = job.read()
    if job.source.family == "tickets" and reading.threads is not None:
        return _from_tickets(job, reading, workspace, documents)
    if reading.turns is not None:
        mined = mine_turns(reading.turns, TurnMining(control=request.control, seed=seed), documents)
        job.counts.update(mined.counts)
        job.dropped.update(mined.dropped)
        job.unsupported.update(mined.unsupported)
        job.tasks = mined.tasks.summarise(seed=seed)
        return _with_system(mined.found, job.system)
    if reading.table is None:
        raise UsageError(f"{job.source.name} gave nothing to mine")
    return _from_searches(job, reading.table, request, documents, seed)


def _from_searches(job: Job, log: Any, request: MineRequest, documents: Corpus | None, seed: int) -> list[Found]:
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
    job.searches, job.overlaps = searched.by_day, job.name is None or request.since is not None
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
    job: Job, workspace: Workspace, documents: Corpus | None, control: ControlSample, seed: int
) -> Iterator[Found]:
    settings = workspace.settings.mining
    resolver, cues = _resolver(workspace, documents), Cues(without=settings.without_cues)
    hosts = resolver.hosts()
    screen = Screen(cues, hosts=hosts, control=control.size, seed=seed)
    # A second process would draw another control sample than the first.
    processes = 1 if control.size else 2
    reading = job.read(replace(job.options, screen=screen, processes=processes))
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


def _from_tickets(job: Job, reading: Reading, workspace: Workspace, documents: Corpus | None) -> Iterator[Found]:
    rules = TicketRules(_resolver(workspace, documents), TicketMining(now=reading.until))
    found = (one for thread in reading.threads or () if (one := rules.find(thread)) is not None)
    yield from _with_system(found, job.system)
    job.counts.update(rules.counts)
    job.dropped.update(rules.dropped)


def _with_system(found: Iterable[Found], system: str | None) -> Iterator[Found]:
    for one in found:
        yield one if system is None or one.selected_on is not None else replace(one, selected_on=system)


def _counted(candidates: Iterator[Candidate], job: Job, progress: Progress) -> Iterator[Candidate]:
    progress.start(f"Mining {job.place.name}", None)
    try:
        for candidate in candidates:
            job.rules.update(hit.rule for hit in candidate.rules)
            progress.advance()
            yield candidate
    finally:
        progress.finish()


def _describe(job: Job) -> MinedExport:
    reading = job.reading
    notes = list(reading.notes) if reading is not None else []
    if job.is_open_to_others():
        notes.insert(0, "other users of this machine can read this export: chmod o-r")
    missing = [rule for rule in RULES if rule not in job.source.rules and rule not in job.unsupported]
    unsupported = job.unsupported | dict.fromkeys(missing, "the source does not record it")
    return MinedExport(
        file=str(job.place),
        source=job.source.name,
        why=job.why,
        counts=dict(job.counts),
        deleted=dict(job.deleted),
        skipped={**(reading.skipped.counts if reading is not None else {}), **dict(job.dropped)},
        rules=dict(job.rules.most_common()),
        unsupported=unsupported,
        folded=dict(job.capping.reasons),
        notes=tuple(notes),
        tasks=job.tasks,
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
