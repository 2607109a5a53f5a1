"""Records as text and as HTML, for terminals and notebooks."""

from io import StringIO

from rich.console import Console

from findback.model.across import Across, Effects
from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation
from findback.model.generated import Generated
from findback.model.mined import Mined
from findback.reporting.across import across_report
from findback.reporting.effects import effects_report
from findback.reporting.html import render_fragment
from findback.reporting.terminal import (
    ReportView,
    audit_view,
    comparison_view,
    evaluation_view,
    generated_view,
    mined_view,
)


def render_text(
    record: Across | Audit | Comparison | Effects | Evaluation | Generated | Mined, *, width: int = 80
) -> str:
    """Return a record as plain text of at most `width` columns, without colour or control characters."""
    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=False, no_color=True, color_system=None, legacy_windows=False
    )
    console.print(_view(record))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _view(record: Across | Audit | Comparison | Effects | Evaluation | Generated | Mined) -> ReportView:
    if isinstance(record, Across):
        return ReportView(across_report(record))
    if isinstance(record, Effects):
        return ReportView(effects_report(record))
    if isinstance(record, Mined):
        return mined_view(record)
    if isinstance(record, Comparison):
        return comparison_view(record)
    if isinstance(record, Generated):
        return generated_view(record)
    return audit_view(record) if isinstance(record, Audit) else evaluation_view(record)


def render_html_fragment(record: Across | Audit | Comparison | Effects | Evaluation | Generated | Mined) -> str:
    """Return a record as an HTML fragment with its own style, without scripts or outside addresses."""
    return render_fragment(record)
