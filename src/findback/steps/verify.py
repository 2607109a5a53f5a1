"""Scan what findback keeps and what will be published with today's rules."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from findback.errors import Fault, UsageError
from findback.evalset.release import check_set
from findback.model.record import LOCAL_ONLY, Record, Request
from findback.privacy.core import CoreRedactor
from findback.privacy.release_check import SecretScanner
from findback.privacy.scan import ScanHit, Scanner
from findback.steps.bench import has_bench, open_bench
from findback.steps.recordings import find_foreign_recordings
from findback.workspace import Workspace

CORPUS_PLACES = frozenset({"passages", "indexes", "snapshots"})
"""Places that hold documents of the corpus: these may well hold addresses, so rules are not tried there."""


class VerifyRequest(Request):
    """Scan the set, the workbench and everything findback keeps for what redaction should have caught."""

    set: Annotated[Path | None, LOCAL_ONLY] = None
    """A set file or folder; the published one when left out."""
    reports: Annotated[tuple[Path, ...], LOCAL_ONLY] = ()
    """Further files and folders, such as reports."""
    history: bool = False
    """Every blob of the git history too."""


class Finding(Record):
    """Something that should not be there: where and what kind, never the thing itself."""

    where: str
    line: int | None
    type: str
    rule: str


class Verification(Record):
    """What a scan saw."""

    findings: tuple[Finding, ...]
    unread: tuple[str, ...]
    """What could not be looked at, and why."""
    damaged: tuple[str, ...] = ()
    """What is not as a release published it, or breaks what must hold of cases."""
    texts: int
    files: int
    blobs: int
    second_look: bool
    """Whether an independent scanner for secrets looked too."""

    @property
    def clean(self) -> bool:
        """Return whether everything was looked at, nothing found, and each release is as it was published."""
        return not (self.findings or self.unread or self.damaged)


def verify(workspace: Workspace, request: VerifyRequest) -> Verification:
    """Scan set, workbench, private folder and, on request, reports and git history; check releases and head.

    Raises:
        UsageError: If history is asked for outside a git repository.
    """
    second = find_spec("betterleaks") is not None
    scanner = Scanner(CoreRedactor(workspace.settings.privacy), second_look=_second_look() if second else None)
    place = request.set or workspace.evalset
    if request.set is not None or place.exists():
        scanner.scan_path(place)
    for path in request.reports:
        scanner.scan_path(path)
    if has_bench(workspace):
        with open_bench(workspace) as bench:
            for text in bench.texts():
                scanner.scan_text(text.text, f"workbench: {text.place} of candidate {text.candidate[:10]}")
    if workspace.private.is_dir():
        for folder in sorted(workspace.private.iterdir()):
            scanner.scan_path(folder, rules=folder.name not in CORPUS_PLACES | {"workbench", "egress"})
    if request.history:
        if not (workspace.root / ".git").exists():
            raise UsageError(f"{workspace.root} is no git repository", hint="leave out --history")
        scanner.scan_history(workspace.root)
    report = scanner.report
    return Verification(
        findings=(*map(_finding, report.hits), *map(_recorded, find_foreign_recordings(workspace, place))),
        unread=tuple(f"{where}: {why}" for where, why in report.unread),
        damaged=tuple(map(str, check_set(place, leak_limit=workspace.settings.measures.leak_limit))),
        texts=report.texts,
        files=report.files,
        blobs=report.blobs,
        second_look=second,
    )


def _second_look() -> SecretScanner:
    from findback.privacy.second_look import SecondLook  # noqa: PLC0415  (an optional library)

    return SecondLook()


def _recorded(fault: Fault) -> Finding:
    return Finding(where=fault.path, line=fault.line, type="OTHER", rule="recording.foreign")


def _finding(hit: ScanHit) -> Finding:
    return Finding(where=hit.where, line=hit.line, type=hit.type, rule=hit.rule)
