"""What mining gave, in numbers."""

from pydantic import Field

from findback.model.record import Record
from findback.model.tasks import TaskOutcomes


class MinedExport(Record):
    """What one export gave."""

    file: str
    source: str
    why: str
    """Why it was taken for that source."""
    counts: dict[str, int]
    """What was looked at."""
    skipped: dict[str, int]
    """What was left out, by reason."""
    rules: dict[str, int]
    """Candidates by rule."""
    unsupported: dict[str, str]
    """Rules this source cannot support, and why."""
    folded: dict[str, int]
    """Candidates folded into others, by reason."""
    notes: tuple[str, ...]
    deleted: dict[str, int] = Field(default_factory=dict)
    """Connectors: questions and lines that were taken out of the workbench, for they were deleted at their source."""
    tasks: TaskOutcomes | None = None
    """Task success by whether retrieval hit; None where no trace says how a task ended."""


class Mined(Record):
    """What mining gave."""

    exports: tuple[MinedExport, ...]
    candidates: int
    redacted: dict[str, int]
    """Placeholders by type, in titles and thread lines; a query counts where it is no line of a thread."""
    suggested: int
    """Suggestions that wait for a person, in what will be published."""
    refused: int
    """Questions dropped because they could not be redacted whole."""
    secrets: int
    secrets_file: str | None
    stored: dict[str, int]
    """What the workbench did with them; empty on a dry run."""
    names: tuple[str, ...]
    """Where names of people were looked for with less than a model."""
    dry_run: bool
