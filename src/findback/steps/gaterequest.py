"""What the gate is asked."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from findback.model.gated import Policy
from findback.model.record import LOCAL_ONLY
from findback.steps.opening import SetRequest


class GateRequest(SetRequest):
    """Check a system against a baseline: pass, fail, or undecided."""

    retriever: str | None = None
    """Retriever of findback.toml to test; the baseline's own when left out."""
    run: Annotated[Path | None, LOCAL_ONLY] = None
    """Results recorded elsewhere, tested instead of asking a retriever."""
    baseline: Annotated[str | None, LOCAL_ONLY] = None
    """Name of a published baseline, number of a release one was published on, or a file: a baseline or a run."""
    policy: Policy = "margin"
    """margin: pass only what is surely no loss beyond it. significance: fail only on a proven loss."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Loss of the primary metric that is accepted; findback.toml's when left out."""
    nightly: bool = False
    """One of many looks: false alarms are budgeted over the year, last night is compared too, the look written down."""
    show_queries: bool = False
    """Let reports show the words of cases, where they are released."""
    concurrency: PositiveInt = 4
    """Searches under way at the same time."""
    seed: NonNegativeInt | None = None
    """Seed of resampling; findback.toml's when left out."""
