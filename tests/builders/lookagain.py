"""A released set of 16 cases, two of which look wrong to the two systems that are asked."""

from pathlib import Path

from builders.ready import Ready, portal, reviewed
from findback.evalset.cases import read_cases
from findback.model.case import Case
from findback.retrievers.memory import MemoryRetriever
from findback.steps.release import ReleaseRequest, release
from findback.workspace import Workspace

CASES = 16
SECOND, NOBODY = "c0000000000", "c0000000001"
"""The case with an unjudged document that both rank first, and the one that neither solves."""
OTHERS = (
    # The first is a's own, the second b's.
    "howto/vpn.md",
    "howto/badge.md",
    "runbooks/ingest.md",
    "policies/travel.md",
)


def released(folder: Path, settings: str = "") -> Workspace:
    """Return a workspace whose release 1 has the cases; the gold of each is a page of its own."""
    made = portal(folder, settings)
    add_pages(made)
    release(made, ReleaseRequest(message="first"), ready=Ready(*(alone(number) for number in range(CASES))))
    return made


def add_pages(made: Workspace) -> None:
    """Write the page of each case."""
    for number in range(CASES):
        (made.root / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nabout nothing else\n")


def alone(number: int) -> Case:
    """Return a case that shares gold with no other."""
    return reviewed(number, judged=[{"doc": f"page-{number}.md", "grade": 3, "found_by": "resolver"}])


def heads(made: Workspace) -> dict[str, Case]:
    """Return the cases of the set as they stand, by id."""
    return {case.id: case for case in read_cases(made.evalset / "cases.jsonl")}


def two_answers(made: Workspace) -> dict[str, dict[str, list[str]]]:
    """Return what two systems find for each query: every gold but two, one behind a page both rank first, one never."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, own in zip("ab", OTHERS[:2], strict=True):
        found[name] = {}
        for case in heads(made).values():
            gold, rest = case.judged[0].doc, list(OTHERS[2:])
            ranked = {SECOND: ["policies/leave.md", gold, own, *rest], NOBODY: [own, *rest]}
            found[name][case.query] = ranked.get(case.id, [gold, own, *rest])
    return found


def two_systems(made: Workspace) -> tuple[MemoryRetriever, ...]:
    """Return the two systems."""
    return tuple(MemoryRetriever(answers, name=name) for name, answers in two_answers(made).items())
