"""Whose failures the cases of a set are: a system is not fairly compared on cases it was caught failing."""

from collections.abc import Collection, Iterable, Sequence

from findback.model.case import Stratum
from findback.model.compared import Verdict

Chosen = tuple[Stratum | None, str | None]
"""Stratum of a case, and the system it was selected on."""


def count_selected(
    cases: Iterable[Chosen], systems: Sequence[str], *, known: Collection[str] = (), production: str | None = None
) -> dict[str, int]:
    """Return for each compared system on how many failure cases it was caught failing.

    A case counts against the system it names. Where it names none that is known by that name, or nothing, it
    counts against the production system; where nobody says which that is, against every system compared: any of
    them may be it.

    Args:
        cases: The cases compared on.
        systems: Names of the systems compared.
        known: Names of other systems that are certainly none of these.
        production: Name of the system people use.

    >>> count_selected([("failure", "old"), ("failure", None), ("control", None)], ["old", "new"], production="new")
    {'old': 1, 'new': 1}
    >>> count_selected([("failure", None)], ["old", "new"])
    {'old': 1, 'new': 1}
    """
    counted = dict.fromkeys(systems, 0)
    for stratum, selected_on in cases:
        if stratum != "failure":
            continue
        named = selected_on if selected_on in counted or selected_on in known else production
        for system in systems if named is None else (named,):
            if system in counted:
                counted[system] += 1
    return counted


def qualify(verdict: Verdict, selected: tuple[int, int], control: Verdict | None) -> Verdict:
    """Return the verdict, marked where the loser was at a disadvantage by how cases were chosen.

    Args:
        verdict: On all cases, first against second.
        selected: Cases selected on a failure of the first, and of the second.
        control: The verdict on the control cases alone; None where there are none.

    >>> qualify("better", (0, 12), None), qualify("better", (0, 12), "better"), qualify("better", (12, 0), None)
    ('better on its past failures', 'better', 'better')
    """
    if verdict == "better" and selected[1] and control != "better":
        return "better on its past failures"
    if verdict == "worse" and selected[0] and control != "worse":
        return "worse on its past failures"
    return verdict
