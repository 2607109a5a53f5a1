"""The states of a candidate and the ways between them."""

from typing import Literal, get_args

State = Literal["new", "in-review", "needs-labels", "second-opinion", "ready", "rejected", "released"]

STATES: tuple[State, ...] = get_args(State)
UNDECIDED: frozenset[State] = frozenset({"new", "in-review", "needs-labels", "second-opinion"})
"""What mining may still update, and what retention takes away when nobody decides."""

_OPEN: tuple[State, ...] = ("new", "in-review", "needs-labels", "second-opinion")

WAYS: dict[State, frozenset[State]] = {
    **{state: frozenset({*_OPEN, "ready", "rejected"} - {state}) for state in _OPEN},
    "ready": frozenset({"in-review", "needs-labels", "second-opinion", "rejected", "released"}),
    "rejected": frozenset(_OPEN),
    "released": frozenset(),
}
"""Where each state may lead. Only what is ready is released, and a release is not taken back here."""
