"""Retriever objects of LangChain, LlamaIndex and Haystack, the libraries' own."""

import sys

import pytest
from haystack import Document as HaystackDocument
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.base.base_retriever import BaseRetriever as LlamaRetriever
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

from findback.errors import EngineError, SettingsError
from findback.model.hits import Hit, Span
from findback.model.settings import RetrieverSettings
from findback.retrievers.asking import config_digest
from findback.retrievers.python import PythonRetriever
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS
from retrievers.contract import ask, documents, search

PIECES = [
    Document(id="p1", page_content="Open the form", metadata={"source": "tracing.md", "start_index": 29}),
    Document(page_content="File a claim", metadata={"source": "claims.md"}),
]


class Fixed(BaseRetriever):
    """Returns what it was given."""

    found: list

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found


class FixedNodes(LlamaRetriever):
    """Returns what it was given."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle):
        return self.found


def test_a_langchain_retriever_is_asked_as_it_is():
    """Ids from the metadata that the settings name, the piece as passage, its place where the splitter kept it."""
    retriever = PythonRetriever("chain", Fixed(found=PIECES), id_from="source")
    assert search(retriever, "x").hits == (
        Hit("tracing.md", None, "Open the form", Span(29, 42)),
        Hit("claims.md", None, "File a claim"),
    )


def test_a_langchain_result_without_an_id_says_which_keys_there_are():
    """The first piece has an id of its own, the second has none."""
    with pytest.raises(EngineError, match="result 2 has no id") as caught:
        search(PythonRetriever("chain", Fixed(found=PIECES)), "x")
    assert "source" in str(caught.value.hint)
    with pytest.raises(EngineError, match="result 1 has no path in its metadata"):
        search(PythonRetriever("chain", Fixed(found=PIECES), id_from="path"), "x")


def test_a_langchain_vector_store_gives_as_many_as_are_wanted():
    """Its own k is 4 by default; six are wanted and six come."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts([f"text {n}" for n in range(9)], ids=[f"d{n}" for n in range(9)])
    run = ask(PythonRetriever("store", store.as_retriever()), ["text 3"], depth=6).run
    assert len(documents(run, 0)) == 6
    assert documents(run, 0)[0] == "d3"


def test_a_langchain_chain_that_ends_in_documents_is_a_retriever():
    """Anything with `invoke` whose result is a list of documents."""
    chain = RunnableLambda(lambda query: query.upper()) | Fixed(found=PIECES[:1])
    assert [hit.document for hit in search(PythonRetriever("chain", chain), "x").hits] == ["p1"]
    with pytest.raises(EngineError, match="returned a str, not a list of documents"):
        search(PythonRetriever("chain", RunnableLambda(lambda query: query)), "x")


def test_a_llama_index_retriever_names_the_document_of_a_node():
    """The node's source document is the id; without one the node is; scores and places come through."""
    source = LlamaDocument(id_="tracing.md", text=TEXTS["tracing.md"])
    node = TextNode(id_="n1", text="lost parcel", start_char_idx=15, end_char_idx=26)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=source.id_)
    found = [NodeWithScore(node=node, score=0.5), NodeWithScore(node=TextNode(id_="n2", text="t"))]
    retriever = PythonRetriever("llama", FixedNodes(found))
    assert search(retriever, "x").hits == (
        Hit("tracing.md", 0.5, "lost parcel", Span(15, 26)),
        Hit("n2", None, "t"),
    )


def test_a_haystack_retriever_finds_and_takes_k():
    """The real in-memory BM25 finds the right document first, by the path in its metadata, and gives one of one."""
    store = InMemoryDocumentStore()
    store.write_documents([HaystackDocument(content=text, meta={"path": name}) for name, text in TEXTS.items()])
    retriever = PythonRetriever("stack", InMemoryBM25Retriever(store), id_from="path")
    (hit,) = search(retriever, "gate opens in the morning", 1).hits
    assert (hit.document, hit.passage) == ("gate hours.md", TEXTS["gate hours.md"])
    assert hit.score is not None


def test_objects_are_named_in_the_settings(tmp_path):
    """`module:object` is taken as `module:function` is; what is neither is refused; `id_from` is in the digest."""
    (tmp_path / "our_chain.py").write_text(
        "from langchain_core.documents import Document\n"
        "from langchain_core.runnables import RunnableLambda\n"
        "retriever = RunnableLambda(lambda query: [Document(page_content='t', metadata={'source': 'a.md'})])\n"
        "number = 3\n",
        "utf-8",
    )

    def build(function, **own):
        settings = RetrieverSettings(kind="python", function=function, **own)
        return PythonRetriever.build("ours", settings, Surroundings(base=tmp_path))

    try:
        with_key = build("our_chain:retriever", id_from="source")
        assert [hit.document for hit in search(with_key, "x").hits] == ["a.md"]
        assert config_digest(with_key) != config_digest(build("our_chain:retriever", id_from="title"))
        with pytest.raises(SettingsError, match="is a int, not a function"):
            build("our_chain:number")
    finally:
        sys.modules.pop("our_chain", None)
