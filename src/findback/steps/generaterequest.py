"""What `findback generate` is asked."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt

from findback.model.case import Name
from findback.model.record import LOCAL_ONLY
from findback.steps.opening import SetRequest


class GenerateRequest(SetRequest):
    """Let a model write questions about documents, and keep what passes the filters for a person to confirm."""

    n: Annotated[int, Field(ge=1, le=100_000)] = 50
    """How many questions are wanted."""
    seed: NonNegativeInt | None = None
    """Seed of sample and voices; findback.toml's when left out."""
    from_index: Name | None = None
    """Retriever of findback.toml: only documents that it holds are drawn, and what it lacks is seen."""
    like: Literal["mined"] | None = None
    """Let reviewed questions of people set the tone; never what is asked, nor their answers."""
    voices: Annotated[str | None, LOCAL_ONLY] = None
    """Preset of voices (docs-portal, patents, product-search, support), or a TOML file; findback.toml's when left
    out."""
    match: Annotated[Path | None, LOCAL_ONLY] = None
    """Real queries with answers: how closely accepted questions follow their documents' words is as it is there, in
    the place of the leak limit. The word `candidates` means what was mined."""
    match_as: str | None = None
    """Format of the real queries; recognised by itself when left out."""
    match_columns: dict[str, str] = Field(default_factory=dict)
    """Which column of the real queries holds what."""
    match_corpus: Annotated[Path | None, LOCAL_ONLY] = None
    """Documents the real queries were about, where they are others."""
    writer: Name | None = None
    """Model of findback.toml that writes."""
    judge: Name | None = None
    """Model of findback.toml that judges; the writer in fresh calls when none is named anywhere."""
    budget: Annotated[float, Field(gt=0)] | None = None
    """Most that the run may cost, in the models' currency; findback.toml's when left out."""
    dry_run: bool = False
    """Say what would be drawn and what it would cost; ask no model, store nothing."""
