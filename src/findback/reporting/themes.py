"""Themes of what people look for in vain, as a report, Markdown and JSON."""

from collections.abc import Iterator
from typing import Literal

from findback.model.assisted import CostingTheme, Themes
from findback.reporting.figures import plural
from findback.reporting.json import render_json
from findback.text.safe import escape_markdown


def render_themes(themes: Themes, form: Literal["md", "json"]) -> str:
    """Return the list as a file's text."""
    return render_json(themes) if form == "json" else "\n".join(_markdown(themes)) + "\n"


def summarise_themes(themes: Themes) -> str:
    """Return one sentence on what there is."""
    held = sum(len(one.questions) for one in themes.themes)
    lone = f"{plural(themes.single, 'is', 'are')} like no other"
    return f"{plural(len(themes.themes), 'theme')} with {plural(held, 'question')}; {lone}."


def cost_of(theme: CostingTheme) -> str:
    """Return what a theme costs, in a line."""
    parts = [
        plural(theme.cases, "case"),
        plural(theme.candidates, "candidate"),
        f"asked at least {plural(theme.times, 'time')}",
    ]
    if theme.clusters < len(theme.questions):
        parts.append(f"from {plural(theme.clusters, 'conversation')}")
    parts += [f"{name} missed {theme.missed[name]} of {scored}" for name, scored in theme.scored.items() if scored]
    return ", ".join(parts)


def _markdown(themes: Themes) -> Iterator[str]:
    yield f"# What people look for in vain: {escape_markdown(themes.workspace)}"
    yield ""
    yield escape_markdown(summarise_themes(themes))
    yield escape_markdown(f"Mean cosine {themes.alike:g} or more within a theme, by {themes.embedder}.")
    for name, run in themes.runs.items():
        yield escape_markdown(f"Misses of {name}: no gold document among the first {themes.cutoff}, run {run}.")
    for note in themes.notes:
        yield escape_markdown(note)
    for theme in themes.themes:
        yield ""
        yield f"## {escape_markdown(theme.label)}"
        yield ""
        yield escape_markdown(f"{cost_of(theme)}.")
        yield ""
        for one in theme.questions:
            missed = f", missed by {', '.join(one.missed_by)}" if one.missed_by else ""
            yield f"- {escape_markdown(one.query)} ({escape_markdown(f'asked {one.asked}, {one.kind}{missed}')})"
