"""Who may read which document."""

import asyncio

from findback.model.case import Context
from findback.model.protocols import Query
from findback.retrievers.asking import config_digest
from findback.retrievers.memory import MemoryRetriever
from findback.retrievers.readers import Readers
from retrievers.builders import SmallPassages
from retrievers.contract import search

GUEST = Context(audience="guest")


def test_documents_that_say_nothing_honour_nothing() -> None:
    """Without roles no audience is honoured; with a table of roles, even an empty one, it is."""
    assert (Readers().honours, Readers({}).honours) == (frozenset(), {"audience"})


def test_places_are_those_of_readable_passages() -> None:
    """Of five passages those of other documents are left; everything is open without an audience."""
    passages = SmallPassages({"a": "one. two", "b": "three", "c": "four. five"})
    readers = Readers({"a": ["staff"], "c": ["guest"]})
    places = readers.list_places(passages, GUEST)
    assert places is not None
    assert places.tolist() == [2, 3, 4]
    assert readers.list_places(passages, Context(locale="de")) is None
    assert readers.list_places(passages, None) is None


def test_prepared_answers_leave_out_what_is_hidden() -> None:
    """The memory retriever returns k documents that the audience may read, and answers by id for it."""
    system = MemoryRetriever({"pay": ["a", "b", "c", "d"]}, holds="abcd", readers={"a": ["staff"], "c": ["staff"]})
    answer = search(system, Query("pay", GUEST), 1)
    assert ([hit.document for hit in answer.hits], answer.exhausted) == (["b"], False)
    answer = search(system, Query("pay", GUEST), 2)
    assert ([hit.document for hit in answer.hits], answer.exhausted) == (["b", "d"], True)
    assert [hit.document for hit in search(system, "pay", 2).hits] == ["a", "b"]
    assert [asyncio.run(system.exists("a", context)) for context in (None, GUEST)] == [True, False]
    assert config_digest(system) != config_digest(MemoryRetriever({}))
