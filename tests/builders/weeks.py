"""Weeks of incoming questions beside a released set, with the answer known in advance."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builders.candidates import candidate, searched
from builders.portal import PAGES, write_pages
from builders.ready import Ready, asked, portal, reviewed
from findback.model.candidate import Candidate, DocumentLink
from findback.model.case import Case
from findback.model.week import Week
from findback.steps.bench import open_bench
from findback.steps.release import ReleaseRequest, release
from findback.steps.week import WeekRequest, plan_week
from findback.workspace import Workspace

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
"""A Wednesday."""
FOLDERS = ("runbooks", "howto", "policies")
PRINTERS = {
    f"printers/page-{at}.md": f"# Printer {at}\n\nThe printer tray jams; open the drawer and reset the toner."
    for at in range(4)
}


def exam(count: int = 60) -> list[Case]:
    """Cases about the portal's six pages in turn, a third about each subject: every other of the numbered questions."""
    pages = list(PAGES)
    return [
        reviewed(
            2 * at,
            wording=("plain", "vague")[at % 2],
            judged=[{"doc": pages[at % len(pages)], "grade": 3, "found_by": "resolver"}],
        )
        for at in range(count)
    ]


def incoming(name: str, document: str, query: str, at: int, **fields: object) -> Candidate:
    """A question of somebody of their own, with the page that answered it."""
    links = (DocumentLink(document=document, line=0, by="resolver", kind="url-in-text", created_before=True),)
    values = {"query": query, "links": links, "language": "en", "seen_on": f"2026-0{1 + at % 2}", **fields}
    return candidate(name, f"asker {name}", **values)


def like_the_exam(count: int) -> Iterator[Candidate]:
    """Questions about the same pages in the same proportions, none of them a case."""
    pages = list(PAGES)
    for at in range(count):
        yield incoming(f"same {at}", pages[at % len(pages)], asked(2 * at + 1), at)


def about_printers(count: int) -> Iterator[Candidate]:
    """Questions about something the exam has nothing of."""
    for at in range(count):
        yield incoming(f"new {at}", f"printers/page-{at % 4}.md", f"printer {asked(5_000 + at)} jams", at)


def released(folder: Path, settings: str = "", cases: Sequence[Case] | None = None) -> Workspace:
    """A workspace with one release, and pages about printers that no case asks for."""
    made = portal(folder, settings)
    write_pages(made.root / "docs", PRINTERS)
    release(
        made,
        ReleaseRequest(message="first"),
        ready=Ready(*(exam() if cases is None else cases)),
        made=NOW - timedelta(days=60),
    )
    return made


def put(workspace: Workspace, *candidates: Candidate, days: float = 1) -> None:
    """Store candidates so many days ago."""
    with open_bench(workspace) as bench:
        bench.put(candidates, now=NOW - timedelta(days=days))


def plan(workspace: Workspace, *, quick: bool = False) -> Week:
    """Plan the week."""
    return plan_week(workspace, WeekRequest(quick=quick), now=NOW)


__all__ = ["NOW", "about_printers", "exam", "incoming", "like_the_exam", "plan", "put", "released", "searched"]
