"""Whether a text may be published: today's rules, people at hand, a second look for secrets."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from findback.privacy.core import CoreRedactor
from findback.privacy.finding import Finding
from findback.privacy.release_check import Objection, SecretScanner, check_release
from findback.privacy.roster import Roster
from findback.steps.obstacles import Check
from findback.workspace import Workspace


def open_check(
    workspace: Workspace,
    *,
    roster: Roster | None = None,
    given_back: Callable[[Finding, str], bool] | None = None,
) -> Check:
    """Return what says what is against publishing a text.

    Args:
        workspace: With the team's own patterns.
        roster: The people of its exports, where they are at hand.
        given_back: Says of what a value was taken for whether reviewers said it is nothing of the kind.
    """
    redactor = CoreRedactor(workspace.settings.privacy)
    second = _second_look() if find_spec("betterleaks") is not None else None

    def check(text: str) -> Sequence[Objection]:
        return check_release(text, redactor, roster=roster, second_look=second, allowed=given_back)

    return check


def _second_look() -> SecretScanner:
    from findback.privacy.second_look import SecondLook  # noqa: PLC0415  (an optional library)

    return SecondLook()
