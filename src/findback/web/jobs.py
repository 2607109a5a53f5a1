"""Long work: stored in the workbench, done one at a time by a thread, with progress, cancel and resume."""

import json
import logging
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from findback.errors import FindbackError
from findback.files import write_atomically
from findback.model.record import Record, Request
from findback.steps.retention import keep_retention
from findback.web.site import Site
from findback.web.work import CANNOT_STOP, PRIVATE, WORK, Failure, Kind
from findback.workbench.jobs import OVER, Job

LOG = logging.getLogger("findback.web")

STALE = timedelta(seconds=60)
"""A running job whose worker was not heard of for so long is taken over."""
BEAT = 2.0
"""Seconds between two signs of life."""
POLL = 5.0
"""Seconds between two looks for work that another server was given."""
SOON = 2.0
"""Seconds that somebody waits for work that is mostly done at once, before they are shown how far it is."""
TIDY_FIRST = 600.0
"""Seconds after the start until what is over its time is taken out; then once every `TIDY_EVERY`."""
TIDY_EVERY = 24 * 60 * 60.0
MOST_AT_ONCE = 4
"""Jobs done beside the queue at a time."""


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


class Worker:
    """Does the stored jobs of a site: the oldest first in a thread of its own, some at once beside it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._wake, self._over = threading.Event(), threading.Event()
        self._ended = threading.Condition()
        self._thread: threading.Thread | None = None
        self._beside: list[threading.Thread] = []
        self._tidy_at = time.monotonic() + TIDY_FIRST

    def start(self) -> None:
        """Begin to work in a thread; what an earlier server left half done is done again."""
        self._thread = threading.Thread(target=self._run, name="findback-jobs", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """Stop after the current step of the current jobs; another server takes them over."""
        self._over.set()
        self._wake.set()
        until = time.monotonic() + seconds
        for thread in (*([self._thread] if self._thread is not None else []), *self._beside):
            thread.join(max(0.0, until - time.monotonic()))

    def wake(self) -> None:
        """Look for work now."""
        self._wake.set()

    def do_at_once(self, kind: Kind, request: Request, *, reviewer: str) -> int:
        """Begin a job beside the queue and return its number; where many are done so already, it waits in the queue."""
        self._beside = [one for one in self._beside if one.is_alive()]
        at_once = len(self._beside) < MOST_AT_ONCE
        values, now = request.model_dump(mode="json", exclude_defaults=True), self._site.now()
        number = self._site.bench.add_job(kind, values, reviewer=reviewer, now=now, running=at_once)
        if at_once:
            job = self._site.bench.job(number)
            thread = threading.Thread(target=self._try, args=(job,), name="findback-job", daemon=True)
            self._beside.append(thread)
            thread.start()
        else:
            self.wake()
        return number

    def wait_for(self, number: int, seconds: float | None = None) -> Job:
        """Return a job when it is over, or as far as it is after so many seconds; `SOON` when None."""
        until = time.monotonic() + (SOON if seconds is None else seconds)
        while (job := self._site.bench.job(number)).state not in OVER and (left := until - time.monotonic()) > 0:
            with self._ended:
                self._ended.wait(min(left, 0.1))
        return job

    def work_once(self) -> bool:
        """Do the oldest job that waits; return whether there was one."""
        bench, now = self._site.bench, self._site.now()
        job = bench.start_job(now=now, stale_before=now - STALE)
        if job is None:
            return False
        if job.state == "cancelling":
            bench.finish_job(job.number, "cancelled", now=now, forget=job.kind in PRIVATE)
            return True
        return self._perform(job)

    def _perform(self, job: Job) -> bool:
        """Do a job that is marked as running; return whether it is over."""
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
        self._site.bench.finish_job(job.number, state, now=self._site.now(), error=error, forget=job.kind in PRIVATE)
        with self._ended:
            self._ended.notify_all()
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
            if not self._try():
                self._tidy()
                self._wake.wait(POLL)
                self._wake.clear()

    def _tidy(self) -> None:
        """Take out what is over its time, once a day; a database that is busy is asked again a day later."""
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_EVERY
        try:
            keep_retention(self._site.workspace, self._site.bench, self._site.now())
        except FindbackError as error:
            LOG.error("retention waits: %s", error.code)  # noqa: TRY400  (its values are private)

    def _try(self, job: Job | None = None) -> bool:
        """Do a job, the oldest where none is given; a database that does not answer only makes it wait."""
        try:
            return self.work_once() if job is None else self._perform(job)
        except FindbackError as error:
            LOG.error("jobs wait: %s", error.code)  # noqa: TRY400  (its values are private)
            return False


def add_job(site: Site, worker: Worker, kind: Kind, request: Request, *, reviewer: str) -> int:
    """Put a job in the queue and return its number."""
    values = request.model_dump(mode="json", exclude_defaults=True)
    number = site.bench.add_job(kind, values, reviewer=reviewer, now=site.now())
    worker.wake()
    return number


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
