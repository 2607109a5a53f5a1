"""A gate's verdict as Markdown for a pull-request comment: what happened first, the rest folded away."""

from collections.abc import Iterator, Sequence

from findback.model.gated import Gated
from findback.reporting.blocks import Block, Points
from findback.reporting.gated import (
    EXAMPLES,
    case_blocks,
    comparison_blocks,
    floor_blocks,
    headline_blocks,
    left_out_blocks,
    type_blocks,
)
from findback.reporting.markdown import prose, render_block

MARK = "<!-- findback gate -->"
"""First line of every comment, by which an older one is found."""


def render_comment(result: Gated) -> str:
    """Return the comment; texts of cases stand in it only where the record holds them, and never as markup."""
    return "\n".join(_lines(result)).rstrip("\n") + "\n"


def _lines(result: Gated) -> Iterator[str]:
    yield MARK
    yield f"## findback gate: {result.verdict}"
    yield from _blocks(headline_blocks(result))
    yield from _blocks(comparison_blocks(result))
    yield from _blocks(floor_blocks(result))
    lost = sum(one.lost for one in result.comparisons)
    changed = max(len(one.changed) for one in result.comparisons)
    shown = f", the first {EXAMPLES}" if changed > EXAMPLES else ""
    yield from _folded(f"Cases that changed ({lost} lost{shown})", case_blocks(result), open_=result.verdict == "fail")
    yield from _folded("By type", type_blocks(result))
    yield from _folded("Not compared", left_out_blocks(result))
    yield from _folded("How it was decided", (Points(result.method),))
    yield ""
    made = f"{result.made:%Y-%m-%d %H:%M} UTC, findback {result.findback}"
    yield f"<sub>{prose(f'{result.retriever} on {result.heading}, {made}')}</sub>"


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        yield ""
        yield from render_block(block)


def _folded(title: str, blocks: Sequence[Block], *, open_: bool = False) -> Iterator[str]:
    if not blocks:
        return
    yield ""
    yield f"<details{' open' if open_ else ''}><summary>{prose(title)}</summary>"
    yield from _blocks(blocks)
    yield ""
    yield "</details>"
