"""What `findback review --terminal` prints; nothing in it depends on colour."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from findback.cli.shown import say
from findback.steps.review import Item
from findback.steps.reviewchange import describe_review
from findback.steps.reviewitem import Segment, TextView
from findback.steps.reviewpool import FullText, Pooled
from findback.steps.reviewwritten import describe_written
from findback.text.safe import clip, escape_terminal

HELP = """\
question  k 1 2   keep suggestions       r 1     redact them (r alone: all)
          m 3     ask message 3          hide PERSON Noor   redact more words
          o       unmask the thread
answers   2  4=1  grade (3, or 0 to 3)   2=-     take the grade away
          p 2     needed as well         x 2 WHY drop a linked one
          v 2     read it                d       list them again
          /words  search                 + ID    by id, path or address
          n WHY   nothing answers it     n! WHY  and somebody should write it
          f       asker could not open it
words     w vague say the wording        c NOTE  for your team
end       s       submit                 enter   next, without submitting
          l WHO   could tell later       j WHY   nobody can judge it
          u       undo                   q       stop; all is kept"""
LONGEST = 6_000
"""Characters of a document that are shown."""
LONGEST_LINE = 600
_STYLES = {"suggested": "bold yellow", "redact": "blue", "applied": "blue", "keep": "green", "restore": "green"}


def show_item(console: Console, item: Item, numbers: Mapping[int, int]) -> None:
    """Print a candidate: where it is from, its thread, its question, and what is decided so far.

    Args:
        console: Where to.
        item: The candidate.
        numbers: Number of each suggestion in the question, by where it starts.
    """
    rules = ", ".join(dict.fromkeys(hit.rule for hit in item.rules))
    head = " · ".join(filter(None, (f"no. {item.number}", item.state, item.source, rules, item.seen_on, item.stratum)))
    if item.title is not None:
        console.print(Text("title: ").append(_text(item.title)))
    asked = item.query_line if item.review.query_line is None else item.review.query_line
    for view in item.thread:
        mark = ">" if view.position == asked else " "
        line = Text(f"{view.position + 1:>3}{mark} {view.role or '':<9}", style="dim")
        console.print(line.append(_text(view) if view.position != asked else Text("the question below")))
    console.print(Panel(_text(item.query, numbers), title=Text(escape_terminal(head)), title_align="left"))
    if item.written is not None:
        say(f"a model wrote this: {'; '.join(f'{name} {value}' for name, value in describe_written(item.written))}")
        for doubt in item.written.doubts:
            say(f"  look closely: {doubt}")
    if item.origin == "paraphrase":
        root = item.root.query if item.root is not None else "the set no longer has the case it was made from"
        console.print(Panel(Text(escape_terminal(root)), title="does it ask the same as this?", title_align="left"))
    for one in item.opinions:
        if not one.own:
            say(f"{one.label} opinion: {'; '.join(describe_review(one.review)) or 'nothing'}")
    for said in (*item.notices, *describe_review(item.review)):
        say(f"  {said}")
    if item.review.note:
        say(f"  note: {item.review.note}")
    say("can be submitted (s)" if not item.obstacles else f"missing: {'; '.join(item.obstacles)}")


def show_documents(console: Console, documents: Sequence[Pooled], *, described: bool = False) -> None:
    """Print numbered documents, without rank, score or who found them.

    Args:
        console: Where to.
        documents: In the order of their numbers.
        described: Whether a model's description, and not a resolver, speaks for some of them.
    """
    if not documents:
        say("nothing found; /other words searches again, n WHY says that nothing answers it")
    for number, one in enumerate(documents, 1):
        line = Text(f"{number:>3}  ", style="bold").append(escape_terminal(one.title or one.document), style="bold")
        line.append(f"  {escape_terminal(one.document)}", style="dim")
        if one.evidence:
            line.append("  described by the model" if described else "  linked by who answered")
        if one.dropped:
            line.append("  dropped")
        elif one.grade is not None:
            line.append(f"  grade {one.grade}")
        console.print(line)
        if one.extract:
            console.print(Text("     " + escape_terminal(one.extract)))


def show_text_of(console: Console, document: FullText) -> None:
    """Print the beginning of a document."""
    console.print(Text(escape_terminal(document.title or document.document), style="bold"))
    console.print(Text(escape_terminal(clip(document.text, LONGEST), multiline=True)))
    if document.url:
        say(document.url)


def _text(view: TextView, numbers: Mapping[int, int] | None = None) -> Text:
    """Return a text; where suggestions are numbered, marks say what colours would."""
    written = Text()
    for segment in view.segments:
        shown = escape_terminal(segment.text)
        shown = clip(shown, LONGEST_LINE) if numbers is None else _marked(segment, shown, numbers)
        written.append(shown, style=_STYLES.get(segment.kind, ""))
    return written


def _marked(segment: Segment, shown: str, numbers: Mapping[int, int]) -> str:
    number = f"{numbers[segment.start]} " if segment.start in numbers else ""
    if segment.kind == "suggested":
        return f"[{number}{segment.type}? {shown}]"
    if segment.kind == "keep":
        return f"[{number}kept: {shown}]"
    return f"[{number}redacted: {segment.type}]" if segment.kind == "redact" else shown
