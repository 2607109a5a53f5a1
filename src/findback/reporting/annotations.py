"""A gate's verdict as workflow commands of GitHub Actions, escaped so that nothing in it can be another command."""

from collections.abc import Iterator
from typing import Literal

from findback.model.gated import GateComparison, Gated, GateVerdict
from findback.reporting.figures import whole
from findback.reporting.gated import say_against, say_case, say_comparison, say_floor
from findback.reporting.inert import inert

Level = Literal["error", "warning", "notice"]

LEVELS: dict[GateVerdict, Level] = {"fail": "error", "undecided": "warning", "pass": "notice"}
NAMED = 5
"""Cases named in one annotation."""
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_annotations(result: Gated) -> str:
    """Return one command a line: a comparison each, and each floor that does not hold."""
    return "".join(f"{line}\n" for line in _annotations(result))


def annotate(level: Level, title: str, lines: tuple[str, ...]) -> str:
    r"""Return one annotation.

    >>> print(annotate("error", "a: b, c", ("100 %", "::stop-commands::x\n")))
    ::error title=a%3A b%2C c::100 %25%0A::stop-commands::x
    """
    data = "\n".join(inert(line).strip() for line in lines).translate(_DATA)
    return f"::{level} title={inert(title).translate(_PROPERTY)}::{data}"


def _annotations(result: Gated) -> Iterator[str]:
    for one in result.comparisons:
        title = f"findback gate {one.verdict}: {result.retriever} against {say_against(one)}"
        yield annotate(LEVELS[one.verdict], title, (say_comparison(result, one), *_lost(one)))
    for floor in result.floors:
        if floor.verdict != "pass":
            title = f"findback gate {floor.verdict}: floor of {floor.axis} {floor.value}"
            yield annotate(LEVELS[floor.verdict], title, (say_floor(floor),))


def _lost(one: GateComparison) -> Iterator[str]:
    if one.verdict == "pass":
        return
    lost = [case for case in one.changed if case.gap is not None and case.gap < 0]
    for case in lost[:NAMED]:
        yield say_case(case)
    if len(lost) > NAMED:
        yield f"and {whole(len(lost) - NAMED)} more"
