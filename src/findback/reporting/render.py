"""Result records in each format findback prints or writes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from rich.console import RenderableType

from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation
from findback.model.generated import Generated
from findback.model.record import Record
from findback.model.week import Keeping
from findback.reporting.across import across_report
from findback.reporting.effects import effects_report
from findback.reporting.html import render_comparison, render_tables
from findback.reporting.html import render_report as html_report
from findback.reporting.items import items_report
from findback.reporting.json import render_json
from findback.reporting.markdown import lay_out, render_markdown
from findback.reporting.refreshed import refreshed_report
from findback.reporting.share import shareable_audit, shareable_evaluation, shareable_generated, shareable_keeping
from findback.reporting.terminal import ReportView, audit_view, comparison_view, evaluation_view, generated_view
from findback.reporting.week import keeping_report, render_digest, week_report

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


COMPARISON = Renderer(
    comparison_view,
    {".html": render_comparison, ".md": render_markdown, ".json": render_json},
)


GENERATED = Renderer(
    generated_view,
    {".html": lambda result: html_report(generated=result), ".md": render_markdown, ".json": render_json},
)


EFFECTS = Renderer(
    lambda result: ReportView(effects_report(result)),
    {
        ".html": lambda result: render_tables(effects_report(result), result.made),
        ".md": lambda result: lay_out(effects_report(result)),
        ".json": render_json,
    },
)


WEEK = Renderer(
    lambda week: ReportView(week_report(week)),
    {
        ".html": lambda week: render_tables(week_report(week), week.made),
        ".md": render_digest,
        ".json": render_json,
    },
)


def across_terminal(*, every: bool) -> Renderer:
    """Return the renderer of a comparison across sets, whose terminal tables may show every pair."""
    return Renderer(
        lambda result: ReportView(across_report(result, every=every)),
        {
            ".html": lambda result: render_tables(across_report(result, every=True), result.made),
            ".md": lambda result: lay_out(across_report(result, every=True)),
            ".json": render_json,
        },
    )


def items_terminal(*, every: bool) -> Renderer:
    """Return the renderer of an item analysis, whose terminal tables may show every case."""
    return Renderer(
        lambda result: ReportView(items_report(result, every=every)),
        {
            ".html": lambda result: render_tables(items_report(result, every=True), result.made),
            ".md": lambda result: lay_out(items_report(result, every=True)),
            ".json": render_json,
        },
    )


def refreshed_terminal(*, every: bool) -> Renderer:
    """Return the renderer of a refresh, whose terminal tables may show every finding."""
    return Renderer(
        lambda result: ReportView(refreshed_report(result, every=every)),
        {
            ".html": lambda result: render_tables(refreshed_report(result, every=True), result.made),
            ".md": lambda result: lay_out(refreshed_report(result, every=True)),
            ".json": render_json,
        },
    )


def comparison_terminal(types: Iterable[str], *, every: bool) -> Renderer:
    """Return the renderer of a comparison whose terminal tables also show these types, and every pair and case."""
    axes = tuple(types)

    def view(result: Comparison) -> RenderableType:
        return comparison_view(result, types=axes, every=every)

    return COMPARISON._replace(terminal=view)


def evaluation_terminal(by: Iterable[str], misses: int) -> Renderer:
    """Return the renderer of an evaluation whose terminal tables also show these types and so many misses."""
    axes = tuple(by)
    return EVALUATION._replace(terminal=lambda evaluation: evaluation_view(evaluation, by=axes, examples=misses))


def render_report(
    evaluation: Evaluation | None,
    audit: Audit | None,
    generated: Generated | None = None,
    *,
    format: Format,  # noqa: A002
    share: bool = False,
    keeping: Keeping | None = None,
) -> str:
    """Return the report of an evaluation, an audit, what a model wrote, or several of them.

    Args:
        evaluation: What scoring gave.
        audit: What auditing gave.
        generated: What a model wrote.
        format: html, md or json.
        share: Leave out every text and id.
        keeping: Who looks after the set, and how it is doing.
    """
    if format == "html":
        return html_report(evaluation, audit, share=share, generated=generated, keeping=keeping)
    shown_generated = shareable_generated(generated) if share and generated is not None else generated
    shown_evaluation = shareable_evaluation(evaluation) if share and evaluation is not None else evaluation
    shown_audit = shareable_audit(audit) if share and audit is not None else audit
    shown_keeping = shareable_keeping(keeping) if share and keeping is not None else keeping
    if format == "json":
        parts: list[tuple[str, Record | None]] = [
            ("evaluation", shown_evaluation),
            ("audit", shown_audit),
            ("generated", shown_generated),
        ]
        parts.append(("keeping", shown_keeping))
        body = ",".join(f'"{name}":{render_json(part)}' for name, part in parts if part is not None)
        return f'{{"format":1,{body}}}\n'
    shown = (shown_evaluation, shown_audit, shown_generated)
    said = [render_markdown(part) for part in shown if part is not None]
    return "\n".join([*said, *([lay_out(keeping_report(shown_keeping))] if shown_keeping is not None else [])])
