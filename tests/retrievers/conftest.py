"""What the retriever tests share."""

import os
from pathlib import Path

import pytest

from findback.retrievers.catalogue import pull
from findback.retrievers.surroundings import Surroundings

pytest.register_assert_rewrite("retrievers.contract")

from retrievers.builders import TEXTS, SmallDocuments, SmallPassages  # noqa: E402 (after the line above)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of models with the small embedder: $FINDBACK_MODELS, else pulled once per session."""
    named = os.environ.get("FINDBACK_MODELS")
    folder = Path(named) if named else tmp_path_factory.mktemp("models")
    pull("minilm-l6", folder)
    return folder


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    """Return a small corpus with a cache."""
    return Surroundings(
        documents=SmallDocuments(TEXTS),
        passages=SmallPassages(TEXTS),
        cache=tmp_path / "cache",
        base=tmp_path,
    )
