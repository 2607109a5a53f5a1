"""What a report is made of, whatever it is shown on."""

from typing import Literal, NamedTuple

from findback.model.audit import CopiedExample
from findback.model.evaluation import Count, Miss
from findback.reporting.figures import Cell


class Prose(NamedTuple):
    """A paragraph of findback's own words."""

    text: str
    tone: Literal["headline", "plain", "aside"] = "plain"


class Points(NamedTuple):
    """A list of sentences."""

    items: tuple[str, ...]


class Facts(NamedTuple):
    """Short facts, each with its name."""

    items: tuple[tuple[str, str], ...]


class Column(NamedTuple):
    """How a table column is headed and set."""

    head: str
    numeric: bool = True
    bar: bool = False
    """True where an interval bar may stand beside the figure."""
    flexible: bool = False
    """True where long text may be broken."""


class Table(NamedTuple):
    """Rows of cells under columns; the first column names the row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    axis: tuple[float, float] = (0.0, 1.0)
    """The range that interval bars are drawn on."""
    charted: bool = False
    """True where a chart can show the same."""


class Mix(NamedTuple):
    """How many questions are of which kind, along one axis."""

    axis: str
    counts: tuple[Count, ...]


class Mixes(NamedTuple):
    """Several mixes of one set."""

    title: str
    mixes: tuple[Mix, ...]


class Copied(NamedTuple):
    """A question beside the answer whose words it borrows."""

    example: CopiedExample


class Missed(NamedTuple):
    """A question that one or several retrievers did not answer."""

    retrievers: tuple[str, ...]
    """Everyone that missed it."""
    best: str
    """The one of them with the highest score: `miss` is its miss."""
    miss: Miss
    otherwise: tuple[tuple[str, str], ...] = ()
    """Retriever and class, for those that missed it in another way than the best of them."""
    place: str | None = None
    """Path of the set, for commands to copy; None for a release."""

    @property
    def names(self) -> str:
        """Return everyone that missed it."""
        return ", ".join(self.retrievers)

    @property
    def others(self) -> str:
        """Return who missed it in another way, and how; empty where nobody did."""
        return "; ".join(f"{name}: {kind}" for name, kind in self.otherwise)


class Chart(NamedTuple):
    """A picture of numbers that a table holds too."""

    title: str
    description: str
    """What someone who cannot see it needs to hear."""
    svg: str
    wide: str = ""
    """The same drawn for a page's whole width; empty where it stands beside others."""


Block = Prose | Points | Facts | Table | Mixes | Copied | Missed


class Section(NamedTuple):
    """A headed part of a report."""

    key: str
    title: str
    blocks: tuple[Block, ...]


class Report(NamedTuple):
    """A whole report in reading order."""

    title: str
    heading: str
    """The words that must stand over every figure, such as `unreleased set, sha256 …`."""
    sections: tuple[Section, ...]
    workspace: str | None = None
    """Whose report it is; None where the record does not say."""
