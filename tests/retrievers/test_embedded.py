"""The contract of the retrievers that search the corpus themselves."""

from dataclasses import replace

import pytest

from findback.model.settings import RetrieverSettings
from findback.retrievers.build import build_retriever
from retrievers.contract import EmbeddedContract

TABLES = {
    "words": RetrieverSettings(kind="bm25"),
    "meaning": RetrieverSettings(kind="dense"),
    "hybrid": RetrieverSettings(kind="fuse", of=["words", "meaning"]),
    "mixed": RetrieverSettings(kind="fuse", of=["words", "meaning"], by="score"),
    "again": RetrieverSettings(kind="rerank", of="words"),
    "lucene": RetrieverSettings(kind="tantivy"),
}


class _Embedded(EmbeddedContract):
    name = ""

    @pytest.fixture
    def around(self, surroundings, models):
        return replace(surroundings, models=models, retrievers=TABLES)

    def open(self, surroundings):
        return build_retriever(self.name, TABLES[self.name], surroundings)


class TestBm25(_Embedded):
    name = "words"


class TestDense(_Embedded):
    name = "meaning"


class TestFuse(_Embedded):
    name = "hybrid"


class TestFuseByScore(_Embedded):
    name = "mixed"


class TestRerank(_Embedded):
    name = "again"


class TestTantivy(_Embedded):
    name = "lucene"
