"""Unreviewed text stays on this machine unless findback.toml allows an endpoint by name."""

from collections.abc import Sequence

from findback.errors import RefusedError
from findback.model.protocols import Retriever
from findback.model.question import QuestionSet
from findback.model.settings import EgressSettings


def allow_unreviewed(systems: Sequence[Retriever], settings: EgressSettings) -> tuple[list[Retriever], list[Retriever]]:
    """Return the retrievers that may see unreviewed text, and those that may not."""
    allowed = [one for one in systems if one.egress == "local" or one.name in settings.unreviewed_to]
    return allowed, [one for one in systems if one not in allowed]


def refuse_unreviewed(questions: QuestionSet, systems: Sequence[Retriever], settings: EgressSettings) -> None:
    """Stop before text that nobody reviewed leaves this machine.

    Raises:
        RefusedError: If the set is no release and a retriever is not local and not allowed by name.
    """
    if questions.kind == "release":
        return
    _, refused = allow_unreviewed(systems, settings)
    if refused:
        names = ", ".join(f"{one.name} ({one.egress})" for one in refused)
        listed = ", ".join(
            f'"{name}"' for name in dict.fromkeys([*settings.unreviewed_to, *(one.name for one in refused)])
        )
        raise RefusedError(
            f"the questions of {questions.name} were not reviewed, and would leave this machine: {names}",
            hint=f"allow it in findback.toml: [egress] unreviewed_to = [{listed}]; or name other retrievers",
        )
