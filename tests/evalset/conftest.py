"""What every test of sets may use."""

import pytest

from findback.evalset.format import SetFormat
from findback.evalset.formats import beir, findback, mapped, quepid, ragas, trec


@pytest.fixture
def formats() -> dict[str, SetFormat]:
    """Return our own formats by name, whether or not entry points are installed."""
    return {form.name: form for form in (beir, findback, mapped, quepid, ragas, trec)}
