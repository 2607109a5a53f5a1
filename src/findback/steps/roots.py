"""The case that a paraphrase says in other words."""

from findback.model.candidate import Candidate
from findback.model.case import Case
from findback.steps.caselist import open_head
from findback.workspace import Workspace


def find_root(workspace: Workspace, candidate: Candidate) -> Case | None:
    """Return the case that a candidate says in other words, as the set has it now; None for any other candidate.

    Raises:
        DataError: If the set cannot be read.
    """
    if candidate.root is None:
        return None
    return next((case for case in open_head(workspace).cases if case.id == candidate.root), None)


def refuse_root(root: Case | None) -> str | None:
    """Return why nothing can be a paraphrase of a case; None where something can."""
    if root is None:
        return "the case it was made from is not in the set"
    if root.status != "active":
        return f"the case it was made from is {root.status}"
    if root.origin == "paraphrase":
        return "the case it was made from is a paraphrase itself"
    return None
