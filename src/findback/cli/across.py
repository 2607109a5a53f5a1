"""`findback compare --across A,B` and `findback compare --by FACTOR`."""

from pathlib import Path

from findback.cli.asking import ask_for_trust
from findback.cli.output import check_output, deliver
from findback.cli.progress import Bars
from findback.errors import UsageError
from findback.model.across import Across, Effects
from findback.reporting.render import EFFECTS, across_terminal
from findback.steps.across import AcrossRequest, compare_across
from findback.steps.across_sides import SystemsRequest, name_sides
from findback.steps.compare import CompareRequest
from findback.steps.effects import EffectsRequest, measure_effects
from findback.workspace import open_workspace

ONE_SET = ("baseline", "production", "lenient")
"""Options of a comparison on one set that mean nothing here."""


def compare_sides(
    asked: CompareRequest, across: str | None, by: tuple[str, ...], *, every: bool, output: Path | None, json: bool
) -> int:
    """Compare systems across two sets, or by factor, or both, and show it."""
    request = _request(asked, across, by)
    workspace = open_workspace(required=False)
    renderer = across_terminal(every=every) if isinstance(request, AcrossRequest) else EFFECTS
    files = [side.file for side in name_sides(across)] if across is not None else []
    check_output(output, renderer, workspace, request, *files, *(Path(name) for name in asked.systems))
    result: Across | Effects
    with Bars() as bars:
        if isinstance(request, AcrossRequest):
            result = compare_across(workspace, request, progress=bars, ask=ask_for_trust)
        else:
            result = measure_effects(workspace, request, progress=bars, ask=ask_for_trust)
    deliver(result, renderer, output=output, json=json)
    return 0


def _request(asked: CompareRequest, across: str | None, by: tuple[str, ...]) -> AcrossRequest | EffectsRequest:
    """Return the request, with what both have in common.

    Raises:
        UsageError: If an option was given that needs a single set.
    """
    unused = [name for name in ONE_SET if getattr(asked, name)]
    if unused:
        raise UsageError(
            f"{', '.join(f'--{name}' for name in unused)}: not with --across or --by",
            hint="findback compare without them compares systems on one set",
        )
    shared = {name: getattr(asked, name) for name in SystemsRequest.model_fields}
    return AcrossRequest(**shared, across=across, by=by) if across is not None else EffectsRequest(**shared, by=by)
