"""A gate's verdict as JUnit XML: one test a comparison, one a floor; what is undecided counts as skipped."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from findback.model.gated import Gated, GateVerdict
from findback.reporting.blocks import Points
from findback.reporting.gated import EXAMPLES, left_out_blocks, say_against, say_case, say_comparison, say_floor
from findback.reporting.inert import inert

SUITE = "findback gate"


class _Test(NamedTuple):
    name: str
    verdict: GateVerdict
    said: str
    details: tuple[str, ...] = ()


def render_junit(result: Gated) -> str:
    """Return the XML document; no character in it is one that XML forbids."""
    tests = list(_tests(result))
    failures, skipped = (sum(one.verdict == verdict for one in tests) for verdict in ("fail", "undecided"))
    root = Element("testsuites")
    suite = SubElement(
        root,
        "testsuite",
        name=SUITE,
        tests=str(len(tests)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
        timestamp=result.made.strftime("%Y-%m-%dT%H:%M:%S"),
    )
    for one in tests:
        case = SubElement(suite, "testcase", classname=SUITE, name=inert(one.name))
        details = "\n".join(inert(line) for line in one.details)
        if one.verdict == "pass":
            if details:
                SubElement(case, "system-out").text = details
            continue
        outcome = SubElement(case, "failure" if one.verdict == "fail" else "skipped", message=inert(one.said))
        outcome.text = details or inert(one.said)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _tests(result: Gated) -> Iterator[_Test]:
    left = [line for block in left_out_blocks(result) if isinstance(block, Points) for line in block.items]
    for one in result.comparisons:
        name = f"{result.retriever}: {result.label} against {say_against(one)}"
        said = say_comparison(result, one)
        yield _Test(
            name, one.verdict, said, (said, *(say_case(case) for case in one.changed[:EXAMPLES]), *left, *result.method)
        )
    for floor in result.floors:
        name = f"{result.retriever}: {result.label} of {floor.axis} {floor.value}"
        yield _Test(name, floor.verdict, say_floor(floor), (say_floor(floor),))
