"""The pages nobody has written, as Markdown and CSV."""

from collections.abc import Iterator
from typing import Literal

from findback.model.gaps import Gap, Gaps, Theme
from findback.reporting.figures import plural
from findback.text.delimited import Cell, delimited_lines
from findback.text.safe import escape_markdown

HEADER = ("theme", "question", "why nothing answers it", "asked", "document wanted", "last seen", "nearest", "case")
SHORTEST = 3
"""Questions without a shared word are headed by their own first words; so many characters at least."""


def render_gaps(gaps: Gaps, form: Literal["md", "csv"]) -> str:
    """Return the list as a file's text."""
    return "".join(delimited_lines(_rows(gaps), shown=True)) if form == "csv" else "\n".join(_markdown(gaps)) + "\n"


def name_theme(theme: Theme) -> str:
    """Return what a theme is called: the words its questions share, else its most asked question."""
    return ", ".join(theme.words) or theme.gaps[0].query


def summarise(gaps: Gaps) -> str:
    """Return one sentence on what there is."""
    if not gaps.count:
        said = "No case of the set is without an answer"
    else:
        wanted = sum(theme.wanted for theme in gaps.themes)
        said = f"{plural(gaps.count, 'question')} in {plural(len(gaps.themes), 'theme')} that no document answers"
        said += f"; for {wanted} of them a document should be written" if wanted else ""
    return f"{said}; {plural(gaps.held_out, 'more is', 'more are')} held out." if gaps.held_out else f"{said}."


def _rows(gaps: Gaps) -> Iterator[tuple[Cell, ...]]:
    yield HEADER
    for theme in gaps.themes:
        for gap in theme.gaps:
            nearest = "; ".join(one.document for one in gap.nearest or ())
            wanted = "yes" if gap.wanted else ""
            yield name_theme(theme), gap.query, gap.reason, gap.asked, wanted, gap.seen_on, nearest, gap.case


def _markdown(gaps: Gaps) -> Iterator[str]:
    yield f"# Pages nobody has written: {escape_markdown(gaps.workspace)}"
    yield ""
    yield escape_markdown(summarise(gaps))
    for theme in gaps.themes:
        yield ""
        yield f"## {escape_markdown(name_theme(theme))}"
        yield ""
        yield f"{plural(len(theme.gaps), 'question')}, asked at least {plural(theme.times, 'time')}."
        yield ""
        for gap in theme.gaps:
            yield f"- {escape_markdown(gap.query)} ({_facts(gap)})"
            yield f"  - {escape_markdown(gap.reason)}"
            if gap.nearest:
                yield f"  - nearest: {', '.join(escape_markdown(one.document) for one in gap.nearest)}"


def _facts(gap: Gap) -> str:
    facts = [f"asked {gap.asked}", f"last seen {gap.seen_on}", *(["document wanted"] if gap.wanted else []), gap.case]
    return ", ".join(facts)
