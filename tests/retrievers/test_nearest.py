"""What the retrievers over vector engines promise beyond the contract: filters, look-ups, metrics, bad days."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from findback.departures import Departures
from findback.errors import EngineError, FindbackError, MissingError, MissingLibraryError, RefusedError, SettingsError
from findback.model.case import Context
from findback.model.protocols import Query
from findback.model.settings import RetrieverSettings
from findback.registry import load
from findback.retrievers.asking import ask_all, config_digest
from findback.retrievers.build import GROUP, list_trusted
from findback.retrievers.context import UnhonouredError
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import Reply, Server, json_reply
from retrievers.contract import ask, documents, message_of, run_closing, search
from retrievers.vector_engines import ENGINES, PLACES, build, fill

ROWS = [
    {"doc": "a.md", "lang": "de", "n": 1, "body": "Ausfuhr", "vector": [1.0, 0.0, 0.0]},
    {"doc": "b'\"\\.md", "lang": "en", "n": 1, "body": "exports", "vector": [0.8, 0.6, 0.0]},
    {"doc": "c.md", "lang": "en", "n": 2, "body": "customs", "vector": [0.6, 0.8, 0.0]},
    {"doc": "d.md", "lang": "d' OR 'e", "n": 2, "body": "gates", "vector": [0.0, 1.0, 0.0]},
]
FILTERS = {"locale": "lang", "filters.number": "n", "audience": "lang"}


def embed(text: str) -> list[float]:
    """Return the first axis; two numbers where the text says so."""
    return [1.0, 0.0] if text == "short" else [1.0, 0.0, 0.0]


@pytest.fixture(params=ENGINES)
def engine(request, tmp_path):
    """Return each engine's name, once its collection is there."""
    fill(request.param, tmp_path, ROWS)
    return request.param


def found(retriever, context=None, k=10):
    return [hit.document for hit in search(retriever, Query("parcel", context), k).hits]


def test_context_and_fixed_values_filter(engine, tmp_path):
    """`match` and `only` are equalities; values with quotes stay values."""
    assert found(build(engine, tmp_path, embed)) == ["a.md", "b'\"\\.md", "c.md", "d.md"]
    assert found(build(engine, tmp_path, embed, only={"n": 2})) == ["c.md", "d.md"]
    matched = build(engine, tmp_path, embed, match=FILTERS, only={"n": 1})
    assert matched.honours == {"locale", "filters", "audience"}
    assert found(matched, Context(locale="en")) == ["b'\"\\.md"]
    assert found(build(engine, tmp_path, embed, match=FILTERS), Context(locale="d' OR 'e")) == ["d.md"]
    assert found(build(engine, tmp_path, embed, match=FILTERS), Context(locale='x" or n > 0 or lang == "')) == []


def test_a_filter_nobody_hands_on_is_not_left_out(engine, tmp_path):
    """A question with a filter that `match` does not name is not asked."""
    retriever = build(engine, tmp_path, embed, match={"filters.number": "n"})
    with pytest.raises(UnhonouredError, match="cannot honour filters product"):
        search(retriever, Query("parcel", Context(filters={"product": "x"})))


def test_documents_are_looked_up(engine, tmp_path):
    """`exists` and `fetch` go by the field of the id, quotes and all, and by the audience where it is matched."""
    own = {"text_field": "body", "match": {"audience": "lang"}}
    retriever = build(engine, tmp_path, embed, **own)

    async def work():
        ids = ["a.md", "b'\"\\.md", "gone", 'x" or doc == "a.md', "x' OR 'a'='a"]
        here = [await retriever.exists(one) for one in ids]
        audiences = [await retriever.exists("a.md", Context(audience=one)) for one in ("de", "en")]
        return here, audiences, [await retriever.fetch(one) for one in ids[:3]]

    here, audiences, texts = run_closing(retriever, work)
    assert (here, audiences) == ([True, True, False, False, False], [True, False])
    assert texts == ["Ausfuhr", "exports", None]
    unmatched = build(engine, tmp_path, embed)
    who = Context(audience="staff")
    assert run_closing(unmatched, lambda: unmatched.exists("a.md", who)) is None
    assert run_closing(unmatched, lambda: unmatched.fetch("a.md")) is None


def test_the_engines_own_ids(tmp_path):
    """Numbers and texts as ids come as text, and are looked up as what they are."""
    ids = {"qdrant": "0", "chroma": "e0", "milvus": "0"}
    for engine, first in ids.items():
        fill(engine, tmp_path, ROWS)
        retriever = build(engine, tmp_path, embed, id_field=None)

        async def work(retriever=retriever, first=first):
            answer = await retriever.search(Query("parcel"), 1)
            return answer.hits[0].document, [await retriever.exists(one) for one in (first, "999", "docs/a.md")]

        assert run_closing(retriever, work) == (first, [True, False, False])


def test_ids_of_passages_are_split(engine, tmp_path):
    """Where an id names a passage, the document's stands before the last mark; look-ups cannot say then."""
    rows = [{"doc": name, "vector": [1.0 - at / 10, at / 10, 0.0]} for at, name in enumerate(["x#y#2", "x#y#1", "z#1"])]
    fill(engine, tmp_path, rows)
    assert found(build(engine, tmp_path, embed, split="#")) == ["x#y", "x#y", "z"]
    retriever = build(engine, tmp_path, embed, split="#")
    assert run_closing(retriever, lambda: retriever.exists("z")) is None


def test_a_field_without_an_id_is_said(engine, tmp_path):
    """A collection without the field of the id is one clear line, not an empty run."""
    retriever = build(engine, tmp_path, embed, id_field="path")
    with pytest.raises(FindbackError, match="no field path"):
        search(retriever, "parcel")


@pytest.mark.parametrize("metric", ["dot", "l2"])
def test_a_metric_that_is_not_the_collections_is_refused(engine, metric, tmp_path):
    """Its scores would be read the wrong way round; LanceDB compares by whatever a query wants."""
    if engine == "lancedb":
        fill(engine, tmp_path, ROWS)
        assert found(build(engine, tmp_path, embed, metric=metric))[0] == "a.md"
        return
    retriever = build(engine, tmp_path, embed, metric=metric)
    with pytest.raises(SettingsError, match=f"metric: docs does not compare by {metric}, but by cosine"):
        search(retriever, "parcel")


def test_scores_are_declared_by_metric(tmp_path):
    """Similarities are better the higher, distances the lower."""
    lower = {
        (engine, metric)
        for engine in ENGINES
        for metric in ("cosine", "dot", "l2")
        if _build_once(engine, tmp_path, metric).score_direction == "lower"
    }
    distances = {(engine, metric) for engine in ("lancedb", "chroma") for metric in ("cosine", "dot", "l2")}
    assert lower == distances | {("qdrant", "l2"), ("milvus", "l2")}


def _build_once(engine, folder, metric):
    (folder / PLACES[engine]).mkdir(exist_ok=True)
    return build(engine, folder, embed, metric=metric)


def test_what_changes_results_changes_the_digest(engine, tmp_path):
    """Exact or not, metric, parameters, filters, collection; not how long it is waited for."""
    changes = [
        {},
        {"exact": True},
        {"metric": "dot"},
        {"parameters": {"ef": 9}},
        {"only": {"n": 1}},
        {"match": {"locale": "lang"}},
        {"collection": "others"},
        {"query_prefix": "query: "},
    ]
    digests = [config_digest(build(engine, tmp_path, embed, **change)) for change in changes]
    assert len(set(digests)) == len(changes)
    assert config_digest(build(engine, tmp_path, embed, timeout=3.0)) == digests[0]


def test_a_missing_collection_is_one_line(engine, tmp_path):
    """The run does not begin: every question would fail alike."""
    retriever = build(engine, tmp_path, embed, collection="gone")
    with pytest.raises(SettingsError, match=r"has no (collection|table) gone"):
        ask(retriever, ["parcel"], depth=5)


def test_vectors_of_another_length_are_one_line(engine, tmp_path):
    """The embedder is not the one that the vectors were made with."""
    asked = ask(build(engine, tmp_path, embed), ["short", "parcel"], depth=5)
    assert [error.first for error in asked.errors] == [
        "SettingsError: the vectors of docs have another length than those of `model`"
    ]
    assert documents(asked.run, 1)[0] == "a.md"


def test_nothing_is_made_where_nothing_is(engine, tmp_path):
    """The libraries would make an empty folder, and find nothing in it."""
    before = sorted(tmp_path.iterdir())
    with pytest.raises(MissingError, match="elsewhere is not there"):
        build(engine, tmp_path, embed, url="elsewhere")
    assert sorted(tmp_path.iterdir()) == before


def test_no_thread_and_no_file_stays(engine, tmp_path):
    """The same folder can be opened again after closing, also in the same run of asyncio."""

    async def work():
        for _ in range(2):
            retriever = build(engine, tmp_path, embed)
            assert (await retriever.search(Query("parcel"), 1)).hits
            await retriever.close()

    asyncio.run(work())


def test_a_folder_that_is_taken_is_said(tmp_path):
    """Qdrant's local mode lets in one at a time."""
    fill("qdrant", tmp_path, ROWS)
    first, second = build("qdrant", tmp_path, embed), build("qdrant", tmp_path, embed)

    async def work():
        await first.prepare()
        try:
            with pytest.raises(EngineError, match="qdrant is open in another process or retriever"):
                await second.prepare()
        finally:
            await first.close()
            await second.close()

    asyncio.run(work())


def test_an_inexact_index_of_milvus_cannot_be_exact(tmp_path):
    """`exact` is refused where the engine would go on approximating."""
    from pymilvus import MilvusClient

    fill("milvus", tmp_path, ROWS)
    client = MilvusClient(str(tmp_path / "milvus.db"))
    client.release_collection("docs")
    client.drop_index("docs", "vector")
    index = client.prepare_index_params()
    index.add_index("vector", index_type="HNSW", metric_type="COSINE", params={"M": 8, "efConstruction": 64})
    client.create_index("docs", index)
    client.close()
    with pytest.raises(SettingsError, match="exact: the index of docs is HNSW"):
        search(build("milvus", tmp_path, embed, exact=True), "parcel")
    assert found(build("milvus", tmp_path, embed, parameters={"ef": 16}))[0] == "a.md"


def test_lancedb_searches_by_words(tmp_path):
    """Without `model` the full-text index is asked, where there is one."""
    import lancedb
    from lancedb.index import FTS

    fill("lancedb", tmp_path, ROWS)
    with pytest.raises(SettingsError, match="has no full-text index"):
        search(build("lancedb", tmp_path), "customs")
    lancedb.connect(str(tmp_path / "lance")).open_table("docs").create_index("body", config=FTS())
    retriever = build("lancedb", tmp_path)
    assert retriever.score_direction == "higher"
    assert found_for(retriever, "customs") == ["c.md"]


def found_for(retriever, text):
    return [hit.document for hit in search(retriever, text).hits]


@pytest.mark.parametrize(
    ("kind", "library"),
    [("qdrant", "qdrant_client"), ("lancedb", "lancedb"), ("chroma", "chromadb"), ("milvus", "pymilvus")],
)
def test_a_missing_library_names_its_extra(kind, library, monkeypatch):
    """The line to install it with is exact."""
    monkeypatch.delitem(sys.modules, f"findback.retrievers.{kind}", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError) as raised:
        load(GROUP, kind)
    assert f"findback[{kind}]" in message_of(raised.value)


def test_folders_and_servers_ask_for_trust(engine):
    """A folder is opened by its library, which may run what it holds; a server gets queries and a key."""
    folder = RetrieverSettings(kind=engine, url="data/engine", collection="docs", model="m")
    assert [one.kind for one in list_trusted({"near": folder})] == ["database"]
    server = RetrieverSettings(kind=engine, url="https://db.example.org", collection="docs", model="m", key="env:KEY")
    if engine == "lancedb":
        with pytest.raises(SettingsError):
            list_trusted({"near": server})
        return
    assert [one.kind for one in list_trusted({"near": server})] == ["host", "variable"]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"match": {"filters": "n"}}, "match: 'filters' is no part"),
        ({"key": "plain" + "secret"}, "key: goes to servers only"),
        ({"url": "https://db.example.org", "key": "plain" + "secret"}, "a secret is named"),
        ({"url": "ftp://db.example.org"}, "url: cannot be used"),
        ({"url": "https://db.example.org", "key": "env:UNSET"}, "variable UNSET is not set"),
        ({"metric": "manhattan"}, "metric"),
    ],
)
def test_settings_that_cannot_work_are_refused(own, said, tmp_path):
    """Before anything is opened, and without the secret."""
    with pytest.raises(SettingsError, match=said) as raised:
        build("qdrant", tmp_path, embed, **own)
    assert "plain" + "secret" not in message_of(raised.value)


def test_an_address_that_must_not_be_called_is_refused(tmp_path):
    """The address of a cloud's secrets."""
    with pytest.raises(RefusedError):
        build("qdrant", tmp_path, embed, url="http://169.254.169.254/latest")


def test_a_model_is_needed(tmp_path):
    """Qdrant and Chroma make no vectors themselves."""
    (tmp_path / "qdrant").mkdir()
    with pytest.raises(SettingsError, match="model: is needed"):
        build("qdrant", tmp_path)


COLLECTION = {"config": {"params": {"vectors": {"size": 3, "distance": "Cosine"}}}}


def qdrant_server(reply):
    """Return a server that knows one collection, and answers its queries by `reply`."""

    def answer(asked):
        headers = {name.lower(): value for name, value in asked.headers.items()}
        if headers.get("api-key") != "k" + "ey":
            return Reply(401, b"Must provide an API key or an Authorization bearer token", {})
        if asked.path == "/collections/docs":
            return json_reply({"result": _about(), "status": "ok", "time": 0.0})
        assert asked.path == "/collections/docs/points/query"
        return reply(asked.content)

    return Server(answer)


def _about():
    hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000}
    optimizer = {
        "deleted_threshold": 0.2,
        "vacuum_min_vector_number": 1000,
        "default_segment_number": 0,
        "flush_interval_sec": 5,
    }
    config = {
        "params": {"vectors": {"size": 3, "distance": "Cosine"}, "shard_number": 1},
        "hnsw_config": hnsw,
        "optimizer_config": optimizer,
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": 1,
        "segments_count": 1,
        "config": config,
        "payload_schema": {},
    }


def open_server(server, tmp_path, departures=None, key="k" + "ey", **own):
    given = {"url": server.url, "key": "env:QDRANT_KEY", **own}
    settings = RetrieverSettings(kind="qdrant", collection="docs", id_field="doc", model="given", **given)
    from findback.retrievers import nearest

    kept, nearest.find_embedding = nearest.find_embedding, lambda *_: (embed, "given")
    try:
        around = Surroundings(base=tmp_path, environment={"QDRANT_KEY": key}, departures=departures)
        return load(GROUP, "qdrant").build("near", settings, around)
    finally:
        nearest.find_embedding = kept


def test_a_server_is_told_whether_to_be_exact(tmp_path):
    """Exact search and the parameters of an approximate one are in the request, the key in a header."""
    asked = []

    def reply(content):
        asked.append(content)
        point = {"id": "11111111-2222-4333-8444-555555555555", "version": 1, "score": 0.5, "payload": {"doc": "a.md"}}
        return json_reply({"result": {"points": [point]}, "status": "ok", "time": 0.0})

    server = qdrant_server(reply)
    try:
        for own in ({"exact": True}, {"parameters": {"hnsw_ef": 64}}, {"only": {"lang": "de"}}):
            assert found(open_server(server, tmp_path, **own)) == ["a.md"]
    finally:
        server.close()
    assert [one.get("params") for one in asked] == [{"exact": True}, {"hnsw_ef": 64}, None]
    assert [one["limit"] for one in asked] == [11, 10, 10]
    assert asked[2]["filter"] == {"must": [{"key": "lang", "match": {"value": "de"}}]}
    assert json.dumps(asked).count("parcel") == 0


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "the request was refused"),
        (404, "there is no collection docs"),
        (429, "too many requests"),
        (500, "the server failed"),
    ],
)
def test_a_server_that_refuses_is_one_line(status, said, tmp_path):
    """Each status says what to do; what the server quotes does not come along."""
    server = qdrant_server(lambda _: json_reply({"status": {"error": "secret parcel"}}, status))
    try:
        asked = ask(open_server(server, tmp_path), ["parcel"], depth=5)
    finally:
        server.close()
    assert said in asked.errors[0].first
    assert "parcel" not in asked.errors[0].first


def test_a_wrong_key_and_a_server_that_is_not_there(tmp_path):
    """The run does not begin."""
    server = qdrant_server(lambda _: json_reply({}))
    with pytest.raises(EngineError, match=r"HTTP 401 .* the key is missing or wrong"):
        search(open_server(server, tmp_path, key="other"), "parcel")
    server.close()
    with pytest.raises(EngineError, match="cannot be reached"):
        search(open_server(server, tmp_path), "parcel")


def test_concurrent_searches_open_once(engine, tmp_path):
    """Several questions at once share one client."""
    retriever = build(engine, tmp_path, embed)
    queries = [(f"q{at}", Query("parcel")) for at in range(8)]
    asked = run_closing(retriever, lambda: ask_all(retriever, queries, depth=2, repeats=2))
    assert asked.unstable == 0
    assert asked.errors == ()


@pytest.fixture(scope="module")
def chroma_address(tmp_path_factory):
    """Run Chroma's own server over a folder with the collection."""
    folder = tmp_path_factory.mktemp("chroma-server")
    fill("chroma", folder, ROWS)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = str(Path(sys.executable).with_name("chroma"))
    command = [program, "run", "--path", str(folder / "chroma"), "--host", "127.0.0.1", "--port", str(port)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


def test_a_running_chroma_server(chroma_address, tmp_path):
    """A real server gives what the folder gives; a collection it does not have is one line."""
    for own in ({}, {"exact": True}):
        assert found(build("chroma", tmp_path, embed, url=chroma_address, **own)) == [row["doc"] for row in ROWS]
    retriever = build("chroma", tmp_path, embed, url=chroma_address, match=FILTERS)
    assert found(retriever, Context(locale="d' OR 'e")) == ["d.md"]
    with pytest.raises(SettingsError, match="has no collection gone"):
        search(build("chroma", tmp_path, embed, url=chroma_address, collection="gone"), "parcel")


def test_a_chroma_or_milvus_server_that_is_not_there(tmp_path):
    """One line, before any question is asked."""
    for engine in ("chroma", "milvus"):
        with pytest.raises(EngineError, match="cannot be reached"):
            search(build(engine, tmp_path, embed, url="http://127.0.0.1:9", timeout=3.0), "parcel")


def test_queries_that_leave_are_counted(tmp_path):
    """A server in a network counts; a folder on this machine does not."""
    kept = []
    departures = Departures(lambda counts: kept.append(dict(counts)))
    server = qdrant_server(lambda _: json_reply({"result": {"points": []}, "status": "ok", "time": 0.0}))
    try:
        retriever = open_server(server, tmp_path, departures, egress="external")
        search(retriever, "parcel")
        search(open_server(server, tmp_path, departures), "parcel")
    finally:
        server.close()
    assert [list(one.values()) for one in kept] == [[1]]
