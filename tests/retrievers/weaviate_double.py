"""A loopback Weaviate: takes the GraphQL that findback sends apart, and answers in the shapes of the real one."""

import json
import re
from collections.abc import Callable

from retrievers.builders import Reply, Seen, json_reply

GET = re.compile(r"^\{ Get \{ (\w+)\((.*)\) \{ ([^{}]*(?:_additional \{ [^{}]* \})?[^{}]*) \} \} \}$", re.DOTALL)
STRING = r'"(?:[^"\\]|\\.)*"'
PROPERTIES = frozenset({"doc", "passage", "start", "end", "lang", "body", "asked"})


def take_apart(query: str) -> tuple[str, str, list[str]]:
    """Return collection, arguments and properties of a query that gets objects."""
    match = GET.match(query)
    assert match, query
    properties = re.sub(r"_additional \{ [^{}]* \}", "", match[3]).split()
    return match[1], match[2], properties


def refusal(message: str) -> dict:
    """Return the body of a search that failed: status 200, with nothing in its data."""
    return {"data": {"Get": {"Docs": None}}, "errors": [{"message": message, "path": ["Get", "Docs"]}]}


def weaviate(answers: Callable[[], dict]) -> Callable[[Seen], Reply]:
    """Return a Weaviate over prepared answers."""

    def reply(asked: Seen) -> Reply:
        assert (asked.method, asked.path) == ("POST", "/v1/graphql")
        collection, arguments, properties = take_apart(asked.content["query"])
        if collection != "Docs":
            said = f'Cannot query field "{collection}" on type "GetObjectsObj".'
            return json_reply({"data": None, "errors": [{"message": said, "locations": [{"line": 1, "column": 9}]}]})
        if unknown := sorted(set(properties) - PROPERTIES):
            said = f'Cannot query field "{unknown[0]}" on type "Docs".'
            return json_reply({"data": None, "errors": [{"message": said, "locations": [{"line": 1, "column": 9}]}]})
        words = re.match(rf"(?:bm25|hybrid): \{{query: ({STRING})", arguments)
        limit = re.search(r"limit: (\d+)", arguments)
        assert words, arguments
        assert limit, arguments
        found = answers().get(json.loads(words[1]), [])
        if isinstance(found, dict):
            return json_reply(refusal(f"explorer: keyword search: {found['error']}"))
        objects = [
            {
                **{name: hit.get(name if name != "doc" else "id") for name in properties},
                "_additional": {"id": f"00000000-0000-4000-8000-{at:012}", "score": str(hit["score"])},
            }
            for at, hit in enumerate(found[: int(limit[1])])
        ]
        return json_reply({"data": {"Get": {"Docs": objects}}})

    return reply
