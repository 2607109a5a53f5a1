"""Which exports and databases are mined, how each is read, and whether it may be."""

import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from findback.endpoint import origin_of
from findback.errors import MissingError, RefusedError, SettingsError
from findback.mining.caps import Capping
from findback.model.protocols import SILENT, Progress
from findback.model.settings import SourceSettings
from findback.model.tasks import TaskOutcomes
from findback.model.thread import Audience, Person
from findback.privacy.key import Key
from findback.sources.format import Reading, Source, SourceOptions
from findback.sources.recognise import load_source, recognise
from findback.sources.scope import load_excluded
from findback.steps.bench import has_bench, open_bench
from findback.steps.connect import AskedConnector, as_source, find_connector
from findback.steps.databases import AskedDatabase
from findback.steps.opening import needs_trust, trusted_items
from findback.trust import require
from findback.workbench.store import Workbench
from findback.workbench.watermark import Watermark
from findback.workspace import Workspace, flatten


@dataclass(slots=True)
class Job:
    """One export or query on its way through."""

    place: Path
    """The file or folder, or what messages call the query."""
    source: Source
    why: str
    options: SourceOptions
    system: str | None
    name: str | None
    """Its name under `[sources]`; None for an export given as an argument."""
    asked: AskedDatabase | None = None
    """The database, where it is one."""
    connected: AskedConnector | None = None
    """The connector, where it is one."""
    reading: Reading | None = None
    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    unsupported: dict[str, str] = field(default_factory=dict)
    tasks: TaskOutcomes | None = None
    capping: Capping = field(default_factory=Capping)
    searches: dict[str, int] = field(default_factory=dict)
    """Searches of each day that a log holds."""
    overlaps: bool = True
    """Whether days may be read again that were read before; a named source goes on from where it came to."""
    deleted: Counter[str] = field(default_factory=Counter)
    """What was taken out of the workbench because it was deleted where it was written."""

    def read(self, options: SourceOptions | None = None) -> Reading:
        """Begin reading, with the job's own options or with others."""
        given = self.options if options is None else options
        if self.connected is not None:
            self.reading = self.connected.read(given)
            return self.reading
        self.reading = self.source.read(self.place, given) if self.asked is None else self.asked.read(given)
        return self.reading

    def rounds(self) -> Iterator[None]:
        """Come to one batch of a connector after another, and to an export once."""
        if self.connected is None:
            yield
        else:
            yield from self.connected.batches()

    def people(self) -> list[Person]:
        """Return everybody the source has named so far."""
        if self.connected is not None:
            return self.connected.people
        return self.reading.people if self.reading is not None else []

    def settle(self, bench: Workbench, moment: datetime) -> None:
        """Write down how far a named source has been read, now that it is stored, and how much a log held."""
        if self.searches:
            bench.log_searches(self.name or self.source.name, self.searches, overlaps=self.overlaps, now=moment)
        if self.connected is not None:
            settled = self.connected.settle(bench, moment)
            self.deleted.update({name: count for name, count in settled._asdict().items() if count})
        elif self.name is not None and (reached := self.reached()) is not None:
            bench.advance(self.name, Watermark(reached), now=moment)

    def reached(self) -> datetime | None:
        """Return how far a named source has been read, so that the next run begins there."""
        if self.name is None:
            return None
        if self.asked is not None:
            return self.asked.reached()
        return self.reading.until if self.reading is not None else None

    def is_open_to_others(self) -> bool:
        """Return whether other users of this machine can read it."""
        if self.connected is not None:
            return False
        file = self.place if self.asked is None else self.asked.file
        return file is not None and bool(file.stat().st_mode & 0o004)


def open_jobs(
    workspace: Workspace,
    sources: Mapping[str | None, Sequence[SourceSettings]],
    given: SourceOptions,
    key: Key,
    *,
    ask: Callable[[str], bool] | None = None,
) -> list[Job]:
    """Return the exports and queries to read; none is opened before what they need was agreed to.

    Args:
        workspace: Whose they are.
        sources: How to read them, by name; those without one are given as arguments.
        given: What holds for all of them.
        key: Of the workbench, which knows how far each was read.
        ask: Asks a person; None where nobody is there.

    Raises:
        MissingError: If an export, or a reader of that name, is not there.
        RefusedError: If an export lies inside a git work tree that does not ignore it.
        UntrustedError: If nobody agreed to a database that a variable names.
        SettingsError: If a mapping or an address makes no sense.
    """
    listed = [(name, one) for name, several in sources.items() for one in several]
    if any(needs_trust(one) for _, one in listed):
        # One answer covers the workspace, so that naming other retrievers or sources does not ask again.
        require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask)
    return [_open_job(workspace, name, settings, given, key) for name, settings in listed]


def open_connections(
    workspace: Workspace,
    names: Sequence[str],
    given: SourceOptions,
    key: Key,
    *,
    moment: datetime,
    progress: Progress = SILENT,
    ask: Callable[[str], bool] | None = None,
) -> list[Job]:
    """Return the connectors to read; none is asked before somebody agreed to what it sends where.

    Args:
        workspace: Where they are named.
        names: Which ones.
        given: What holds for all of them.
        key: Of the workbench, which knows how far each was read.
        moment: When this run began.
        progress: Told of every answer.
        ask: Asks a person; None where nobody is there.

    Raises:
        MissingError: If findback.toml does not name one.
        UntrustedError: If nobody agreed to send a token.
        SettingsError: If a token is not set, or an address cannot be used.
    """
    chosen = {name: find_connector(workspace, name) for name in names}
    if chosen:
        require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask)
    jobs = []
    for name, settings in chosen.items():
        # There is no file in which what is broken could be mended.
        options = source_options(workspace, name, as_source(settings), replace(given, skip_bad=True))
        connected = AskedConnector(workspace, name, options, key, now=moment, progress=progress)
        place, source = Path(f"[connectors.{name}]"), load_source(settings.kind)
        why = f"as asked, of {origin_of(settings.url or '') or settings.kind}"
        jobs.append(Job(place, source, why, options, settings.system, None, connected=connected))
    return jobs


def _open_job(workspace: Workspace, name: str | None, settings: SourceSettings, given: SourceOptions, key: Key) -> Job:
    options = source_options(workspace, name, settings, given)
    since = given.since or _watermark(workspace, key, name)
    if settings.path is None:
        asked = AskedDatabase(workspace, name or "", settings, since)
        if asked.file is not None:
            refuse_tracked(asked.file)
        return Job(asked.shown, asked.source, f"as asked, of {asked}", options, settings.system, name, asked)
    file = workspace.path(settings.path) if name is not None else Path(settings.path)
    if not file.exists():
        raise MissingError(
            f"there is no export {file}", hint="name a file or folder, or leave it out to read [sources]"
        )
    refuse_tracked(file)
    kind, why = (settings.kind, "as asked") if settings.kind is not None else recognise(file)
    return Job(file, load_source(kind), why, replace(options, since=since), settings.system, name)


def source_options(
    workspace: Workspace, name: str | None, settings: SourceSettings, given: SourceOptions
) -> SourceOptions:
    """Return how much of a source is read, as its settings say.

    Raises:
        SettingsError: If its mapping makes no sense.
        MissingError: If its mapping is a file that is not there.
    """
    return replace(
        given,
        channels=settings.channels,
        open_audiences=frozenset[Audience]({"public", *settings.open}),
        exclude=(*load_excluded(), *settings.exclude),
        retrieval_tools=settings.retrieval_tools,
        help_channels=settings.help_channels,
        mapping=read_mapping(workspace, name, settings),
        actions=settings.actions or None,
    )


def read_mapping(workspace: Workspace, name: str | None, settings: SourceSettings) -> dict[str, str] | None:
    """Return where the fields of a source are, by dotted names; None where its settings say nothing.

    Raises:
        SettingsError: If the file that is named is no mapping.
        MissingError: If it is not there.
    """
    given: Any = settings.mapping
    if isinstance(given, str):
        file = workspace.path(given)
        try:
            given = tomllib.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise MissingError(f"[sources.{name}] mapping: {file} is not there", hint="check the path") from None
        except (OSError, ValueError):
            raise SettingsError(f"[sources.{name}] mapping: {file} is no TOML file that can be read") from None
    if given is None:
        return None
    flat = flatten(given)
    if strange := [field for field, place in flat.items() if not isinstance(place, str)]:
        raise SettingsError(f"[sources.{name}] mapping: {strange[0]} is no text", hint='such as text = "body"')
    return flat


def _watermark(workspace: Workspace, key: Key, name: str | None) -> datetime | None:
    """Return up to when a named source was read before; None where it never was."""
    if name is None or not has_bench(workspace):
        return None
    with open_bench(workspace, key) as bench:
        mark = bench.watermark(name)
    return mark.reached if mark is not None else None


def refuse_tracked(file: Path, *, hint: str = "keep exports outside the repository, or add it to .gitignore") -> None:
    """Stop before an export that git could commit, there already or about to be written.

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
            hint=hint,
        )
