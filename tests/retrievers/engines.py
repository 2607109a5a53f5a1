"""Loopback servers that check requests and answer as the engines do: prepared answers, error bodies included."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

import snowballstemmer

from retrievers.builders import Reply, Seen, json_reply

ELASTIC = {"Content-Type": "application/json", "X-elastic-product": "Elasticsearch"}
PLAIN = {"Content-Type": "application/json; charset=UTF-8"}
TAGLINE = "You Know, for Search"

_STEMMER = snowballstemmer.stemmer("english")
_STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not"}
    | {"of", "on", "or", "such", "that", "the", "to"}
)

Found = list | dict
Answers = dict[str, Found]


def greeting(version: str = "8.15.3", *, opensearch: bool = False) -> dict:
    """Return what GET / says."""
    number = {"number": version, "build_type": "tar", "lucene_version": "9.11.1"}
    extra = {"distribution": "opensearch"} if opensearch else {"build_flavor": "default"}
    return {
        "name": "node-1",
        "cluster_name": "test",
        "version": {**number, **extra},
        "tagline": "The OpenSearch Project: https://opensearch.org/" if opensearch else TAGLINE,
    }


def elastic_error(kind: str, reason: str, status: int, **more: object) -> dict:
    """Return an error's body."""
    cause = {"type": kind, "reason": reason, **more}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


def elastic_hits(hits: list[dict], *, shards: dict | None = None) -> dict:
    """Return the body of a search's answer."""
    return {
        "took": 3,
        "timed_out": False,
        "_shards": shards or {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": hits[0]["_score"] if hits else None,
            "hits": hits,
        },
        "status": 200,
    }


class Elastic:
    """Answers as Elasticsearch 8, or as OpenSearch 2, and refuses what they refuse."""

    def __init__(self, search: Callable[[dict], tuple[int, dict]], *, opensearch: bool = False) -> None:
        self.search, self.opensearch = search, opensearch
        self.version = "2.17.1" if opensearch else "8.15.3"
        self.key: str | None = None
        self.caps: dict = {"fields": {"doc": {"keyword": {"type": "keyword", "searchable": True}}}}

    def __call__(self, asked: Seen) -> Reply:
        """Return what the engine answers."""
        status, content = self._answer(asked)
        return Reply(status, json.dumps(content).encode(), dict(PLAIN if self.opensearch else ELASTIC))

    def _answer(self, asked: Seen) -> tuple[int, dict]:
        headers = {name.lower(): value for name, value in asked.headers.items()}
        if self.key is not None and headers.get("authorization") != f"ApiKey {self.key}":
            reason = f"missing authentication credentials for REST request [{asked.path}]"
            return 401, elastic_error("security_exception", reason, 401)
        path = urlsplit(asked.path).path
        if path == "/":
            return 200, greeting(self.version, opensearch=self.opensearch)
        index, _, api = unquote(path).removeprefix("/").partition("/")
        if index != "docs":
            missing = {"resource.type": "index_or_alias", "resource.id": index, "index": index}
            return 404, elastic_error("index_not_found_exception", f"no such index [{index}]", 404, **missing)
        if api == "_field_caps":
            return 200, self.caps
        wanted = "application/x-ndjson" if api == "_msearch" else "application/json"
        if asked.method != "POST" or headers.get("content-type") != wanted:
            reason = f"Content-Type header [{headers.get('content-type')}] is not supported"
            return 406, {"error": reason, "status": 406}
        if api == "_msearch":
            assert asked.body.endswith(b"\n")
            lines = [json.loads(line) for line in asked.body.splitlines()]
            assert len(lines) % 2 == 0
            responses = []
            for header, body in zip(lines[::2], lines[1::2], strict=True):
                assert set(header) <= {"preference", "routing", "search_type"}
                status, content = self._search(body)
                responses.append({**content, "status": status})
            return 200, {"took": 5, "responses": responses}
        assert api == "_search", path
        return self._search(asked.content)

    def _search(self, body: dict) -> tuple[int, dict]:
        known = {"query", "size", "_source", "retriever", "knn", "ext", "search_pipeline", "sort", "timeout"}
        strange = sorted(set(body) - known)
        if strange:
            return 400, elastic_error("parsing_exception", f"unknown key [{strange[0]}]", 400, line=1, col=2)
        assert isinstance(body["size"], int)
        return self.search(body)


def prepared_elastic(answers: Callable[[], Answers]) -> Callable[[dict], tuple[int, dict]]:
    """Return a search over prepared answers, whose hits are passages with the document's id in a field."""

    def search(body: dict) -> tuple[int, dict]:
        text = body["query"]["match"]["body"]
        found = answers().get(text, [])
        if isinstance(found, dict):
            if "error" in found:
                return 400, elastic_error("parsing_exception", found["error"], 400)
            return 200, {**elastic_hits([]), "ext": {"abstain": True}}
        hits = []
        for at, hit in enumerate(found[: body["size"]]):
            source = {"doc": hit["id"], **{key: hit[key] for key in ("passage", "start", "end") if key in hit}}
            hits.append({"_index": "docs", "_id": f"chunk-{at}", "_score": hit["score"], "_source": source})
        return 200, elastic_hits(hits)

    return search


class Bm25Index:
    """An index that really ranks: BM25 as Lucene has it, over stems, for `multi_match` of one field and for `ids`."""

    def __init__(self, texts: dict[str, str], *, k1: float = 1.2, b: float = 0.75) -> None:
        self.k1, self.b = k1, b
        self.counts = {name: Counter(_analyse(text)) for name, text in texts.items()}
        self.lengths = {name: counts.total() for name, counts in self.counts.items()}
        self.mean = sum(self.lengths.values()) / len(self.lengths)
        self.holders: dict[str, list[str]] = {}
        for name, counts in self.counts.items():
            for token in counts:
                self.holders.setdefault(token, []).append(name)

    def __call__(self, body: dict) -> tuple[int, dict]:
        """Return the answer to a search."""
        query = body["query"]
        if "ids" in query:
            named = [name for name in query["ids"]["values"] if name in self.counts]
            return 200, elastic_hits([{"_index": "docs", "_id": name, "_score": 1.0} for name in named])
        assert query["multi_match"]["fields"] == ["body"]
        ranked = self.rank(query["multi_match"]["query"])[: body["size"]]
        return 200, elastic_hits([{"_index": "docs", "_id": name, "_score": score} for name, score in ranked])

    def rank(self, query: str) -> list[tuple[str, float]]:
        """Return the documents that hold a word of the query, best first."""
        scores: dict[str, float] = {}
        for token in _analyse(query):
            holders = self.holders.get(token, [])
            rarity = math.log(1 + (len(self.counts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for name in holders:
                often, length = self.counts[name][token], self.lengths[name] / self.mean
                part = often / (often + self.k1 * (1 - self.b + self.b * length))
                scores[name] = scores.get(name, 0.0) + rarity * part
        return sorted(scores.items(), key=lambda item: -item[1])


def _analyse(text: str) -> list[str]:
    return _STEMMER.stemWords([word for word in re.findall(r"\w+", text.lower()) if word not in _STOP_WORDS])


def typesense(answers: Callable[[], Answers]) -> Callable[[Seen], Reply]:
    """Return a Typesense over prepared answers."""

    def reply(asked: Seen) -> Reply:
        assert (asked.method, asked.path) == ("POST", "/multi_search")
        (search,) = asked.content["searches"]
        assert search["query_by"] == "title,body"
        found = answers().get(search["q"], [])
        if isinstance(found, dict) and "error" in found:
            return json_reply({"results": [{"code": 400, "error": found["error"]}]})
        if isinstance(found, dict):
            return json_reply({"results": [{"found": 0, "hits": [], "abstain": True}]})
        hits = [{"document": {**hit, "id": hit["id"]}, "text_match": hit["score"]} for hit in found]
        return json_reply(
            {"results": [{"found": len(hits), "hits": hits[: search["per_page"]], "search_cutoff": False}]}
        )

    return reply


def meilisearch(answers: Callable[[], Answers]) -> Callable[[Seen], Reply]:
    """Return a Meilisearch over prepared answers."""

    def reply(asked: Seen) -> Reply:
        assert (asked.method, asked.path) == ("POST", "/indexes/docs/search")
        assert asked.content["showRankingScore"] is True
        found = answers().get(asked.content["q"], [])
        if isinstance(found, dict) and "error" in found:
            said = {"message": found["error"], "code": "invalid_search_q", "type": "invalid_request", "link": "…"}
            return json_reply(said, 400)
        if isinstance(found, dict):
            return json_reply({"hits": [], "abstain": True})
        hits = [{**hit, "key": str(at), "_rankingScore": hit["score"]} for at, hit in enumerate(found)]
        return json_reply({"hits": hits[: asked.content["limit"]], "processingTimeMs": 1, "estimatedTotalHits": 9})

    return reply


def vespa(answers: Callable[[], Answers]) -> Callable[[Seen], Reply]:
    """Return a Vespa over prepared answers."""

    def reply(asked: Seen) -> Reply:
        assert (asked.method, asked.path) == ("POST", "/search/")
        found = answers().get(asked.content["query"], [])
        root: dict = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}
        root["coverage"] = {"coverage": 100, "documents": 9, "full": True, "nodes": 1, "results": 1, "resultsFull": 1}
        if isinstance(found, dict) and "error" in found:
            error = {"code": 4, "summary": "Invalid query parameter", "source": "docs", "message": found["error"]}
            return json_reply({"root": {"id": "toplevel", "errors": [error]}}, 400)
        if isinstance(found, dict):
            return json_reply({"root": {**root, "abstain": True}})
        hits = [
            {
                "id": f"id:docs:docs::{at}",
                "relevance": hit["score"],
                "source": "docs",
                "fields": {**hit, "path": hit["id"]},
            }
            for at, hit in enumerate(found[: asked.content["hits"]])
        ]
        return json_reply({"root": {**root, "children": hits} if hits else root})

    return reply


def azure(answers: Callable[[], Answers]) -> Callable[[Seen], Reply]:
    """Return an Azure AI Search over prepared answers."""

    def reply(asked: Seen) -> Reply:
        assert (asked.method, asked.path) == ("POST", "/indexes/docs/docs/search?api-version=2024-07-01")
        found = answers().get(asked.content["search"], [])
        if isinstance(found, dict) and "error" in found:
            return json_reply({"error": {"code": "InvalidRequestParameter", "message": found["error"]}}, 400)
        if isinstance(found, dict):
            return json_reply({"value": [], "abstain": True})
        hits = [{**hit, "key": str(at), "@search.score": hit["score"]} for at, hit in enumerate(found)]
        return json_reply({"@odata.context": "…", "value": hits[: asked.content["top"]]})

    return reply
