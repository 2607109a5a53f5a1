"""What long work there is: with what each kind is asked, what it gives, and which step does it."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from findback.model.protocols import Progress
from findback.model.record import Record, Request
from findback.steps.erase import Erasure, ErasureOrder, erase
from findback.steps.evaluate import EvaluateRequest, evaluate
from findback.steps.gaps import list_gaps, open_near
from findback.steps.glossary_suggest import SuggestRequest, suggest
from findback.steps.release import ReleaseRequest, ReleaseResult, release
from findback.steps.releases import DiffRequest, ReleaseComparison, compare_releases
from findback.steps.revieworiginal import read_original
from findback.steps.reviewspans import SpanPlace
from findback.web.site import Site
from findback.workbench.jobs import Job

CANNOT_STOP = frozenset({"release", "erase"})
"""Kinds that run to their end once they began: half of one is finished by the next."""
PRIVATE = frozenset({"erase", "original"})
"""Kinds that have pages of their own, stand in nobody's list, and whose requests are forgotten when they are over."""

Kind = Literal["release", "diff", "gaps", "glossary", "evaluate", "erase", "original"]
LABELS: dict[str, str] = {
    "release": "Release",
    "diff": "Compare releases",
    "gaps": "Find the nearest documents of gaps",
    "glossary": "Look for terms of the glossary",
    "evaluate": "Score the search systems",
    "erase": "Erase, or keep out",
    "original": "Read an original again",
}


class NearestDocuments(Record):
    """Documents that come nearest to the questions nothing answers, by case."""

    nearest: dict[str, list[str]]


class Scoring(Record):
    """What scoring gave: how many retrievers; the scores are on their own page."""

    heading: str
    retrievers: int


class TermsFound(Record):
    """How many terms are proposed; they themselves are on the page of the glossary."""

    proposed: int


class Failure(Record):
    """Why a job failed, in findback's own words."""

    message: str
    hint: str | None = None


class OriginalRequest(Request):
    """Which placeholder's words are to be read again."""

    key: str
    place: str
    position: int
    start: int
    end: int


class OriginalRead(Record):
    """That the words were read; they themselves stay in the memory of the server that did it."""


class NoRequest(Request):
    """Nothing is to be said."""


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


def _glossary(site: Site, job: Job, request: SuggestRequest, progress: Progress) -> Record:
    return TermsFound(proposed=len(suggest(site.workspace, request, progress=progress).proposals))


def _evaluate(site: Site, job: Job, request: EvaluateRequest, progress: Progress) -> Record:
    found = evaluate(site.workspace, request, progress=progress)
    return Scoring(heading=found.set.heading, retrievers=len(found.retrievers))


def _erase(site: Site, job: Job, request: ErasureOrder, progress: Progress) -> Record:
    return erase(site.workspace, site.bench, request, moment=site.now(), progress=progress)


def _original(site: Site, job: Job, request: OriginalRequest, progress: Progress) -> Record:
    at, reviewer = SpanPlace(request.place, request.position, request.start, request.end), job.reviewer or ""
    words = read_original(site.desk, request.key, at, reviewer=reviewer, now=site.now(), progress=progress)
    site.originals.put(job.number, reviewer, request.key, at, words, now=site.now())
    return OriginalRead()


WORK: Mapping[str, tuple[type[Request], type[Record], Callable[[Site, Job, Any, Progress], Record]]] = {
    "release": (ReleaseRequest, ReleaseResult, _release),
    "diff": (DiffRequest, ReleaseComparison, _diff),
    "gaps": (NoRequest, NearestDocuments, _gaps),
    "glossary": (SuggestRequest, TermsFound, _glossary),
    "evaluate": (EvaluateRequest, Scoring, _evaluate),
    "erase": (ErasureOrder, Erasure, _erase),
    "original": (OriginalRequest, OriginalRead, _original),
}
"""What each kind of job is asked with, gives, and does. No result holds a text of anybody's."""
