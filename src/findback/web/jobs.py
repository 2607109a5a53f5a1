"""Long work: stored in the workbench, done one at a time by a thread, with progress, cancel and resume."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from findback.errors import FindbackError
from findback.files import write_atomically
from findback.model.protocols import Progress
from findback.model.record import Record, Request
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.gaps import list_gaps, open_near
from findback.steps.release import ReleaseRequest, ReleaseResult, release
from findback.steps.releases import DiffRequest, ReleaseComparison, compare_releases
from findback.web.site import Site
from findback.workbench.jobs import Job

LOG = logging.getLogger("findback.web")

STALE = timedelta(seconds=60)
"""A running job whose worker was not heard of for so long is taken over."""
BEAT = 2.0
"""Seconds between two signs of life."""
POLL = 5.0
"""Seconds between two looks for work that another server was given."""
CANNOT_STOP = frozenset({"release"})
"""Kinds that run to their end once they began: half of one is finished by the next."""

Kind = Literal["release", "diff", "gaps", "evaluate"]
LABELS: dict[str, str] = {
    "release": "Release",
    "diff": "Compare releases",
    "gaps": "Find the nearest documents of gaps",
    "evaluate": "Score the search systems",
}


class NearestDocuments(Record):
    """Documents that come nearest to the questions nothing answers, by case."""

    nearest: dict[str, list[str]]


class Scoring(Record):
    """What scoring gave: how many retrievers; the scores are on their own page."""

    heading: str
    retrievers: int


class NoRequest(Request):
    """Nothing is to be said."""


class Stopped(Exception):  # noqa: N818  (no error: somebody asked for it)
    """The job was cancelled."""


class JobProgress:
    """Tells the workbench how far a job is, and the job when it shall stop."""

    def __init__(self, *, stoppable: bool) -> None:
        self.done = 0
        self.total: int | None = None
        self.stopped = threading.Event()
        self._stoppable = stoppable

    def start(self, label: str, total: int | None) -> None:
        """Begin a stretch of work."""
        self.done, self.total = 0, total
        self._check()

    def advance(self, units: int = 1) -> None:
        """Say that so many units are done."""
        self.done += units
        self._check()

    def finish(self) -> None:
        """End the stretch."""
        self._check()

    def _check(self) -> None:
        if self._stoppable and self.stopped.is_set():
            raise Stopped


def _release(site: Site, job: Job, request: ReleaseRequest, progress: Progress) -> Record:
    return release(site.workspace, request, reviewer=job.reviewer, progress=progress)


def _diff(site: Site, job: Job, request: DiffRequest, progress: Progress) -> Record:
    return compare_releases(site.workspace, request, progress=progress)


def _gaps(site: Site, job: Job, request: NoRequest, progress: Progress) -> Record:
    documents = site.desk.documents
    gaps = [gap for theme in list_gaps(site.workspace).themes for gap in theme.gaps]
    if documents is None or not gaps:
        return NearestDocuments(nearest={})
    with open_near(site.workspace, documents, progress=progress) as near:
        found = near([gap.query for gap in gaps])
    return NearestDocuments(nearest={gap.case: one for gap, one in zip(gaps, found, strict=True)})


def _evaluate(site: Site, job: Job, request: EvaluateRequest, progress: Progress) -> Record:
    found = evaluate(site.workspace, request, progress=progress)
    return Scoring(heading=found.set.heading, retrievers=len(found.retrievers))


WORK: Mapping[str, tuple[type[Request], type[Record], Callable[[Site, Job, Any, Progress], Record]]] = {
    "release": (ReleaseRequest, ReleaseResult, _release),
    "diff": (DiffRequest, ReleaseComparison, _diff),
    "gaps": (NoRequest, NearestDocuments, _gaps),
    "evaluate": (EvaluateRequest, Scoring, _evaluate),
}
"""What each kind of job is asked with, gives, and does. No result holds a text of anybody's."""


class Worker:
    """Does the stored jobs of a site, oldest first."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._wake, self._over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to work in a thread; what an earlier server left half done is done again."""
        self._thread = threading.Thread(target=self._run, name="findback-jobs", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """Stop after the current step of the current job; another server takes it over."""
        self._over.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def wake(self) -> None:
        """Look for work now."""
        self._wake.set()

    def work_once(self) -> bool:
        """Do the oldest job that waits; return whether there was one."""
        bench, now = self._site.bench, self._site.now()
        job = bench.start_job(now=now, stale_before=now - STALE)
        if job is None:
            return False
        if job.state == "cancelling":
            bench.finish_job(job.number, "cancelled", now=now)
            return True
        progress = JobProgress(stoppable=job.kind not in CANNOT_STOP)
        done = threading.Event()
        beating = threading.Thread(target=self._beat, args=(job, progress, done), daemon=True)
        beating.start()
        state: Literal["done", "failed", "cancelled"] = "done"
        error: str | None = None
        try:
            keep_result(self._site, job.number, self._do(job, progress))
        except Stopped:
            if self._over.is_set():
                # Nobody cancelled it: it stays running, and who starts next takes it over.
                return False
            state = "cancelled"
        except FindbackError as raised:
            state, error = "failed", raised.code
            keep_failure(self._site, job.number, raised)
        except Exception as raised:  # noqa: BLE001  (one bad job does not end the thread)
            state, error = "failed", "internal"
            LOG.error("job %s failed: %s", job.kind, type(raised).__name__)  # noqa: TRY400  (its values are private)
        finally:
            done.set()
            beating.join()
        bench.finish_job(job.number, state, now=self._site.now(), error=error)
        return True

    def _do(self, job: Job, progress: JobProgress) -> Record:
        kind, _, work = WORK[job.kind]
        return work(self._site, job, kind.model_validate(job.request), progress)

    def _beat(self, job: Job, progress: JobProgress, done: threading.Event) -> None:
        while not done.wait(BEAT):
            with suppress(FindbackError):
                # A database that is busy for a moment is asked again at the next beat.
                going = self._site.bench.beat_job(
                    job.number, done=progress.done, total=progress.total, now=self._site.now()
                )
                if not going or self._over.is_set():
                    progress.stopped.set()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                busy = self.work_once()
            except FindbackError as error:
                LOG.error("jobs wait: %s", error.code)  # noqa: TRY400  (its values are private)
                busy = False
            if not busy:
                self._wake.wait(POLL)
                self._wake.clear()


def add_job(site: Site, worker: Worker, kind: Kind, request: Request, *, reviewer: str) -> int:
    """Put a job in the queue and return its number."""
    values = request.model_dump(mode="json", exclude_defaults=True)
    number = site.bench.add_job(kind, values, reviewer=reviewer, now=site.now())
    worker.wake()
    return number


class Failure(Record):
    """Why a job failed, in findback's own words."""

    message: str
    hint: str | None = None


def keep_result(site: Site, number: int, result: Record) -> None:
    """Keep what a job gave until tomorrow; it holds ids and figures, never a text."""
    write_atomically(_file(site, number), result.model_dump_json(), private=True)


def keep_failure(site: Site, number: int, error: FindbackError) -> None:
    """Keep why a job failed until tomorrow."""
    with suppress(FindbackError):
        keep_result(site, number, Failure(message=str(error)[:4_000], hint=error.hint))


def read_result(site: Site, job: Job) -> Record | None:
    """Return what a job gave; None where it is gone, or lies with another server."""
    kind: type[Record] = Failure if job.state == "failed" else WORK[job.kind][1] if job.kind in WORK else Failure
    try:
        return kind.model_validate(json.loads(_file(site, job.number).read_text("utf-8")))
    except (OSError, ValueError, ValidationError, FindbackError):
        return None


def newest_result(site: Site, kind: Kind) -> tuple[Job, Record] | None:
    """Return the newest job of a kind that gave something, with what it gave."""
    for job in site.bench.jobs(limit=200):
        if job.kind == kind and job.state == "done" and (result := read_result(site, job)) is not None:
            return job, result
    return None


def _file(site: Site, number: int) -> Path:
    return site.workspace.temporary() / f"job-{number}.json"
