"""Reports as one self-contained HTML file: no scripts, no outside address, light and dark."""

import importlib
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from findback.model.across import Across, Effects
from findback.model.audit import Audit
from findback.model.compared import Comparison
from findback.model.evaluation import Evaluation, SetMakeUp
from findback.model.generated import Generated
from findback.model.mined import Mined
from findback.model.week import Keeping
from findback.reporting.across import across_report
from findback.reporting.audit import audit_report
from findback.reporting.blocks import (
    Block,
    Chart,
    Copied,
    Facts,
    Missed,
    Mixes,
    Points,
    Prose,
    Report,
    Section,
    Table,
)
from findback.reporting.compared import comparison_report
from findback.reporting.effects import effects_report
from findback.reporting.evaluation import evaluation_report
from findback.reporting.figures import Reach, axis_mark, figure, plural, whole
from findback.reporting.inert import (
    EXTRACT_LIMIT,
    NAME_LIMIT,
    PROSE_LIMIT,
    QUERY_LIMIT,
    inert,
    judge_command,
    pieces,
)
from findback.reporting.mined import mined_report
from findback.reporting.share import (
    LEFT_OUT,
    SET_NAME,
    shareable_audit,
    shareable_evaluation,
    shareable_generated,
    shareable_keeping,
)
from findback.reporting.week import upkeep_sections
from findback.reporting.written import written_report, written_sections

NO_CHARTS = "Charts are left out: pip install 'findback[charts]' draws them. The tables hold every number."
MOST_MISSES = 50
"""Missed questions one page shows; JSON has all that a record holds."""
MOST_CASES = 50
"""Wins, and losses, of each pair that one page shows."""
_LAST = {"legend", "limits", "audit-legend", "cautions"}


def render_report(
    evaluation: Evaluation | None = None,
    audit: Audit | None = None,
    *,
    share: bool = False,
    charts: bool = True,
    generated: Generated | None = None,
    keeping: Keeping | None = None,
) -> str:
    """Return a report of an evaluation, an audit, what a model wrote, or several of them.

    Args:
        evaluation: What scoring gave, if anything.
        audit: What auditing gave, if anything.
        share: Leave out texts and ids, so that the file may be shown outside the team.
        charts: Draw charts where the libraries for it are installed; tables hold the same numbers.
        generated: What a model wrote, if anything; a panel of its own.
        keeping: Who looks after the set, and how it is doing.

    Raises:
        ValueError: If there is none of them.
    """
    record = evaluation or audit or generated
    if record is None:
        raise ValueError("a report needs an evaluation, an audit or what a model wrote")
    if share:
        evaluation = None if evaluation is None else shareable_evaluation(evaluation)
        audit = None if audit is None else shareable_audit(audit)
        generated = None if generated is None else shareable_generated(generated)
        keeping = None if keeping is None else shareable_keeping(keeping)
    drawn, note = _charts(evaluation, audit) if charts else ({}, None)
    if charts and generated is not None and (drawing := _import_charts("findback.reporting.writtencharts")):
        drawn |= drawing.generated_charts(generated)
    report = _with_written(evaluation, audit, generated)
    if keeping is not None:
        report = _add(report, upkeep_sections(keeping.upkeep, keeping.week))
    title = page_title(report)
    return _page(
        "report.html.j2", report=report, title=title, charts=drawn, chart_note=note, share=share, made=record.made
    )


def render_comparison(result: Comparison, *, charts: bool = True) -> str:
    """Return the report of a comparison.

    Args:
        result: What comparing gave.
        charts: Draw a chart where the libraries for it are installed; tables hold the same numbers.
    """
    drawing = _import_charts("findback.reporting.forest") if charts else None
    drawn = {} if drawing is None else drawing.comparison_charts(result)
    report = comparison_report(result, types=("all",), examples=MOST_CASES)
    note = NO_CHARTS if charts and drawing is None else None
    title = page_title(report)
    return _page(
        "report.html.j2", report=report, title=title, charts=drawn, chart_note=note, share=False, made=result.made
    )


def render_tables(report: Report, made: datetime) -> str:
    """Return a report of tables alone as one page."""
    title = page_title(report)
    return _page("report.html.j2", report=report, title=title, charts={}, chart_note=None, share=False, made=made)


def render_fragment(record: Across | Audit | Comparison | Effects | Evaluation | Generated | Mined) -> str:
    """Return a record as an HTML fragment for a notebook: its tables, without a page around them.

    A comparison is drawn too, where the libraries for it are installed.
    """
    charts: dict[str, tuple[Chart, ...]] = {}
    if isinstance(record, Across):
        report = across_report(record)
    elif isinstance(record, Effects):
        report = effects_report(record)
    elif isinstance(record, Mined):
        report = mined_report(record)
    elif isinstance(record, Generated):
        report = written_report(record)
    elif isinstance(record, Comparison):
        report = comparison_report(record)
        drawing = _import_charts("findback.reporting.forest")
        drawn = {} if drawing is None else drawing.comparison_charts(record)
        charts = {key: tuple(one._replace(wide="") for one in several) for key, several in drawn.items()}
    else:
        report = audit_report(record) if isinstance(record, Audit) else evaluation_report(record)
    return _page("fragment.html.j2", report=report, charts=charts, share=False)


def page_title(report: Report) -> str:
    """Return whose report it is and what it holds.

    >>> page_title(Report("Evaluation and audit", "", (), "Harbour")), page_title(Report("Audit", "", ()))
    ('Harbour: evaluation and audit', 'Audit')
    """
    if not report.workspace or report.workspace == LEFT_OUT:
        return report.title
    return f"{_clip(report.workspace, 80)}: {report.title[:1].lower()}{report.title[1:]}"


def _with_written(evaluation: Evaluation | None, audit: Audit | None, generated: Generated | None) -> Report:
    """Return the report with the panel on what a model wrote, before what every report ends with."""
    if generated is not None and evaluation is None and audit is None:
        return written_report(generated)
    report = _joined(evaluation, audit)
    if generated is None:
        return report
    return _add(report, written_sections(generated))


def _add(report: Report, sections: Iterable[Section]) -> Report:
    """Return the report with further sections, before what every report ends with."""
    said = [section for section in report.sections if section.key not in _LAST]
    rest = [section for section in report.sections if section.key in _LAST]
    return report._replace(sections=(*said, *sections, *rest))


def _joined(evaluation: Evaluation | None, audit: Audit | None) -> Report:
    reports = []
    if evaluation is not None:
        reports.append(evaluation_report(evaluation, by=("all",), examples=None, most=MOST_MISSES))
    if audit is not None:
        reports.append(audit_report(audit, examples=1_000, histograms=True))
    if evaluation is None or audit is None:
        return reports[0]
    scored, audited = reports
    said = [section for section in scored.sections if section.key not in _LAST]
    sections = [*said[:1], *(_named(s, audit) for s in audited.sections if s.key not in _LAST), *said[1:]]
    sections += [*_merged("legend", "audit-legend", reports), *_merged("limits", "cautions", reports)]
    heading = f"{_place_of(evaluation.set)}; audit of {_place_of(audit.set.set)}"
    if audit.sample is not None:
        heading += f" against {_place_of(audit.sample.set)}"
    return Report("Evaluation and audit", heading, tuple(sections), scored.workspace)


def _place_of(makeup: SetMakeUp) -> str:
    heading = _clip(makeup.heading, 120)
    return heading if makeup.name == SET_NAME else f"{_clip(makeup.name, 80)}, {heading}"


def _named(section: Section, audit: Audit) -> Section:
    """Say under the verdict which set it is about: the headline above it may be about another."""
    if section.key != "verdict":
        return section
    if audit.set.set.name == SET_NAME:
        return section._replace(title="Verdict of the audit")
    against = "" if audit.sample is None else f" against {_clip(audit.sample.set.name, 80)}"
    about = Prose(f"The audit of {_clip(audit.set.set.name, 80)}{against}:", "aside")
    return section._replace(title="Verdict of the audit", blocks=(about, *section.blocks))


def _merged(first: str, second: str, reports: list[Report]) -> tuple[Section, ...]:
    found = [section for report in reports for section in report.sections if section.key in (first, second)]
    if not found:
        return ()
    points = dict.fromkeys(
        item for s in found for block in s.blocks if isinstance(block, Points) for item in block.items
    )
    rest = tuple(block for section in found for block in section.blocks if not isinstance(block, Points))
    return (Section(first, found[0].title, (Points(tuple(points)), *rest)),)


def _charts(evaluation: Evaluation | None, audit: Audit | None) -> tuple[dict[str, tuple[Chart, ...]], str | None]:
    drawing = _import_charts("findback.reporting.charts")
    if drawing is None:
        return {}, NO_CHARTS
    drawn: dict[str, tuple[Chart, ...]] = {}
    if evaluation is not None:
        drawn |= drawing.evaluation_charts(evaluation)
    if audit is not None:
        drawn |= drawing.audit_charts(audit)
    return drawn, None


def _import_charts(module: str) -> ModuleType | None:
    """Return a module that draws; None where the libraries for charts are not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("altair", "vl_convert"):
            raise
        return None


def style_sheet() -> Markup:
    """Return the style sheet every page carries inside it."""
    sheet = files("findback.reporting").joinpath("templates", "report.css").read_text("utf-8")
    return Markup(sheet)  # noqa: S704 - package data, no text of anyone's in it


def _page(template: str, **context: Any) -> str:
    return environment().get_template(template).render(**context)


def _finalize(value: Any) -> Any:
    return inert(value, limit=PROSE_LIMIT) if isinstance(value, str) and not isinstance(value, Markup) else value


def _place(value: float, axis: tuple[float, float]) -> str:
    """Return a value as a percentage of an axis, for SVG coordinates.

    >>> _place(0.5, (0.0, 1.0)), _place(-2.0, (-1.0, 1.0))
    ('50.0%', '0.0%')
    """
    share = (value - axis[0]) / (axis[1] - axis[0])
    return f"{min(1.0, max(0.0, share)) * 100:.1f}%"


def _kind(block: Block) -> str:
    names: dict[type, str] = {
        Prose: "prose",
        Points: "points",
        Facts: "facts",
        Table: "table",
        Mixes: "mixes",
        Copied: "copied",
        Missed: "missed",
    }
    return names[type(block)]


def _exact(value: float) -> str:
    """Return a number so that it reads back equal."""
    return repr(value)


def _clip(text: str | None, limit: int = NAME_LIMIT) -> str:
    return "" if text is None else inert(text, limit=limit)


def _footnotes(table: Table) -> dict[str, int]:
    notes: dict[str, int] = {}
    for row in table.rows:
        for cell in row:
            if cell.note:
                notes.setdefault(cell.note, len(notes) + 1)
    return notes


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template environment: everything escaped, nothing undefined passes."""
    made = Environment(
        loader=PackageLoader("findback.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"clip": _clip, "exact": _exact, "figure": figure, "whole": whole, "mark": axis_mark}
    made.globals |= {
        "kind": _kind,
        "place": _place,
        "pieces": pieces,
        "judge_command": judge_command,
        "plural": plural,
        "footnotes": _footnotes,
        "style_sheet": style_sheet,
        "safe_svg": Markup,
        "QUERY_LIMIT": QUERY_LIMIT,
        "EXTRACT_LIMIT": EXTRACT_LIMIT,
        "Reach": Reach,
    }
    return made
