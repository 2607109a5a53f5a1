"""What every test of sets may use."""

import pytest

from findback.evalset.format import SetFormat
from findback.evalset.formats import (
    argilla,
    autorag,
    beir,
    elasticsearch,
    findback,
    ir_datasets,
    label_studio,
    langfuse,
    langsmith,
    mapped,
    mteb,
    opensearch,
    phoenix,
    quepid,
    ragas,
    ranx,
    rre,
    trec,
)

FORMATS = (
    argilla,
    autorag,
    beir,
    elasticsearch,
    findback,
    ir_datasets,
    label_studio,
    langfuse,
    langsmith,
    mapped,
    mteb,
    opensearch,
    phoenix,
    quepid,
    ragas,
    ranx,
    rre,
    trec,
)


@pytest.fixture
def formats() -> dict[str, SetFormat]:
    """Return our own formats by name, whether or not entry points are installed."""
    return {form.name: form for form in FORMATS}
