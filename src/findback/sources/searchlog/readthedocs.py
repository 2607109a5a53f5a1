"""Read the Docs search analytics: a CSV of time, query and number of results; no sessions, no clicks."""

from collections.abc import Iterator
from pathlib import Path

from findback.sources.format import Family, Reading, SourceOptions
from findback.sources.searchlog.engines import closed_on_error, load_events, open_duckdb
from findback.sources.searchlog.events import Event, digest_of
from findback.sources.searchlog.records import Findings, list_files, peek, read_records
from findback.sources.searchlog.scope import Raw, in_scope
from findback.sources.searchlog.times import read_time

HEADER = ("Created Date", "Query", "Total Results")
_PREFIX = "readthedocs_search_analytics_"


class ReadTheDocsSource:
    """Reads `readthedocs_search_analytics_PROJECT_START_END.csv`, or a folder of them."""

    name = "readthedocs"
    family: Family = "searchlog"
    rules: tuple[str, ...] = ("zero-result",)

    def recognise(self, path: Path) -> str | None:
        """Return why a file or folder is a Read the Docs export, or None."""
        files = [path] if path.is_file() else list_files(path, (".csv",)) if path.is_dir() else []
        for file in files[:5]:
            if file.suffix.lower() == ".csv" and any(set(HEADER) <= set(fields) for fields in peek(file, 1)):
                return f"{file.name} has the columns {', '.join(HEADER)}"
        return None

    def read(self, path: Path, options: SourceOptions) -> Reading:
        """Load the searches into a table.

        Raises:
            DataError: If rows cannot be read and bad ones are not skipped.
            MissingError: If nothing is there.
        """
        reading = Reading()
        findings = Findings(reading.skipped, skip_bad=options.skip_bad)
        connection = open_duckdb(options.scratch, threads=options.threads, memory=options.memory)
        with closed_on_error(connection):
            reading.table = load_events(
                connection, in_scope(_raws(path, findings), options, reading.skipped), reading.skipped
            )
            findings.settle(str(path))
        reading.notes.append("no sessions and no clicks: only the zero-result rule applies; times are taken as UTC")
        return reading


def _raws(path: Path, findings: Findings) -> Iterator[Raw]:
    for file in list_files(path, (".csv",)):
        project = _project_of(file)
        # The same second, query and project twice over are two people, unless it is an overlapping export:
        # within one file they are counted apart, between files they are the same row.
        repeats: dict[tuple[str, str], int] = {}
        for line, fields in read_records(file, findings):
            try:
                created, query, total = (fields[name] for name in HEADER)
            except KeyError as missing:
                findings.fault(file, line, f"the column {missing} is missing")
                return
            time = read_time(created)
            if time is None:
                findings.fault(file, line, "Created Date is no time")
                continue
            if total.strip() and not total.strip().isdecimal():
                findings.fault(file, line, "Total Results is no number")
                continue
            key = (created, query)
            repeats[key] = repeats.get(key, 0) + 1
            yield Raw(
                Event(
                    time=time,
                    kind="search",
                    event_id=digest_of(f"{project}\n{created}\n{query}\n{repeats[key]}") or "",
                    application=project,
                    query=query,
                    n_results=int(total) if total.strip() else None,
                    file=str(file),
                    offset=line,
                ),
                None,
            )


def _project_of(file: Path) -> str:
    stem = file.stem
    if not stem.startswith(_PREFIX):
        return "readthedocs"
    # The name ends in two dates; the project may itself hold underscores.
    return "_".join(stem.removeprefix(_PREFIX).split("_")[:-2]) or "readthedocs"


source = ReadTheDocsSource()
