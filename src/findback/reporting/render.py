"""Result records in each format findback prints or writes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from rich.console import RenderableType

from findback.model.audit import Audit
from findback.model.evaluation import Evaluation
from findback.reporting.html import render_report as html_report
from findback.reporting.json import render_json
from findback.reporting.markdown import render_markdown
from findback.reporting.share import shareable_audit, shareable_evaluation
from findback.reporting.terminal import audit_view, evaluation_view

Format = Literal["html", "md", "json"]


class Renderer(NamedTuple):
    """How one kind of result is printed and written."""

    terminal: Callable[..., RenderableType]
    by_suffix: Mapping[str, Callable[[Any], str]]
    """Text of a file by its name's ending, with the dot."""


AUDIT = Renderer(
    audit_view,
    {".html": lambda audit: html_report(None, audit), ".md": render_markdown, ".json": render_json},
)
EVALUATION = Renderer(
    evaluation_view,
    {".html": html_report, ".md": render_markdown, ".json": render_json},
)


def evaluation_terminal(by: Iterable[str], misses: int) -> Renderer:
    """Return the renderer of an evaluation whose terminal tables also show these types and so many misses."""
    axes = tuple(by)
    return EVALUATION._replace(terminal=lambda evaluation: evaluation_view(evaluation, by=axes, examples=misses))


def render_report(evaluation: Evaluation | None, audit: Audit | None, *, format: Format, share: bool = False) -> str:  # noqa: A002
    """Return the report of an evaluation, an audit or both.

    Args:
        evaluation: What scoring gave.
        audit: What auditing gave.
        format: html, md or json.
        share: Leave out every text and id.
    """
    if format == "html":
        return html_report(evaluation, audit, share=share)
    shown_evaluation = shareable_evaluation(evaluation) if share and evaluation is not None else evaluation
    shown_audit = shareable_audit(audit) if share and audit is not None else audit
    if format == "json":
        parts = [("evaluation", shown_evaluation), ("audit", shown_audit)]
        body = ",".join(f'"{name}":{render_json(part)}' for name, part in parts if part is not None)
        return f'{{"format":1,{body}}}\n'
    return "\n".join(render_markdown(part) for part in (shown_evaluation, shown_audit) if part is not None)
