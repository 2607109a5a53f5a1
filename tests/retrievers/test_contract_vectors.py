"""The contract suite over the vector engines that run here, each with a collection of its own in a folder."""

from pathlib import Path

import pytest

from findback.model.settings import HttpSettings, RetrieverSettings
from findback.registry import load
from findback.retrievers.build import GROUP
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import Server
from retrievers.contract import RetrieverContract, ask
from retrievers.vector_engines import build, fill
from retrievers.weaviate_double import weaviate

FIELDS = {"passage_field": "passage", "start_field": "start", "end_field": "end"}


class VectorContract(RetrieverContract):
    """Every query text has an axis of its own; a hit's number on it is its score, as the metric is the dot product."""

    engine = ""
    distance = False
    """Whether the engine gives 1 minus the dot product."""
    test_abstention_is_told_from_finding_nothing = None

    def open(self, answers, folder: Path):
        axes = {text: at for at, text in enumerate(answers)}
        rows = [
            {
                "asked": axes[text],
                "doc": hit["id"],
                **{field: hit[field] for field in FIELDS.values() if field in hit},
                "vector": [hit["score"] if axis == axes[text] else 0.0 for axis in range(len(axes) + 1)],
            }
            for text, found in answers.items()
            for hit in (found if isinstance(found, list) else [{"id": "x", "score": 1.0}])
        ]
        fill(self.engine, folder, rows, metric="dot")

        def embed(text):
            # A vector of another length is what the engines refuse for one query alone.
            length = len(axes) + (1 if isinstance(answers.get(text), list) else 2)
            return [1.0 if axis == axes[text] else 0.0 for axis in range(length)]

        places = {key: field for key, field in FIELDS.items() if field in rows[0]}
        retriever = build(self.engine, folder, embed, metric="dot", **places)
        find = retriever.find
        retriever.find = lambda opened, asked, limit, conditions: find(
            opened, asked, limit, [*conditions, ("asked", asked.index(1.0))]
        )
        return retriever

    def test_scores_come_through(self, tmp_path: Path):
        """A score is the engine's own: a similarity, or a distance, which is better the lower it is."""
        answers = {"parcel": [{"id": "c", "score": 3.5}, {"id": "a", "score": -2.0}]}
        retriever = self.open(answers, tmp_path)
        assert retriever.score_direction == ("lower" if self.distance else "higher")
        asked = ask(retriever, ["parcel"], depth=10)
        assert asked.run.scores is not None
        assert asked.run.scores.tolist() == ([-2.5, 3.0] if self.distance else [3.5, -2.0])
        assert asked.contradicting == 0


class TestQdrant(VectorContract):
    engine = "qdrant"


class TestLance(VectorContract):
    engine = "lancedb"
    distance = True


class TestChroma(VectorContract):
    engine = "chroma"
    distance = True


class TestMilvus(VectorContract):
    engine = "milvus"


class TestWeaviate(RetrieverContract):
    """A loopback server that reads the GraphQL of a search by words."""

    test_abstention_is_told_from_finding_nothing = None

    @pytest.fixture(autouse=True)
    def _server(self):
        self.answers = {}
        self.server = Server(weaviate(lambda: self.answers))
        yield
        self.server.close()

    def open(self, answers, folder: Path):
        self.answers = answers
        own = {"collection": "Docs", "by": "words", "id_field": "doc"}
        places = {"passage": "$.passage", "start": "$.start", "end": "$.end"}
        settings = RetrieverSettings(kind="weaviate", url=self.server.url, **own, **places)
        return load(GROUP, "weaviate").build("weaviate", settings, Surroundings(http=HttpSettings(timeout=5)))
