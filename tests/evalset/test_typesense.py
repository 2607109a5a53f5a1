"""Exported synonyms in a real search engine."""

import json
from collections.abc import Iterator

import pytest

from builders.typesense import Typesense, run_typesense
from findback.evalset.synonyms.rules import Options, Rule
from findback.evalset.synonyms.typesense import write_typesense

TEXTS = {
    "nails": "hammering nails into wood",
    "retry": "retry with exponential backoff",
    "adapter": "set up the network adapter",
    "shop": "buy a wifi dongle",
    "strasse": "straße gesperrt",
}
RULES = [Rule("hammering", ("retry", "throttle")), Rule("wifi dongle", ("network adapter",)), Rule("weg", ("straße",))]


@pytest.fixture(scope="module")
def typesense() -> Iterator[Typesense]:
    """Run a server with a few texts."""
    with run_typesense() as server:
        server.ask("POST", "/collections", {"name": "texts", "fields": [{"name": "text", "type": "string"}]})
        for name, text in TEXTS.items():
            server.ask("POST", "/collections/texts/documents", {"id": name, "text": text})
        yield server


def test_exported_synonyms_change_a_real_search(typesense: Typesense) -> None:
    """The words looked for find what they found and what the added ones find; never the other way round."""
    asked = ("hammering", "wifi dongle", "weg", "retry", "network adapter")
    before = {query: set(typesense.search("texts", query)) for query in asked}
    assert before == {
        "hammering": {"nails"},
        "wifi dongle": {"shop"},
        "weg": set(),
        "retry": {"retry"},
        "network adapter": {"adapter"},
    }
    items = json.loads(write_typesense(RULES, Options("en")).text)["items"]
    for item in items:
        typesense.ask("PUT", f"/collections/texts/synonyms/{item['id']}", item)
    held = typesense.ask("GET", "/collections/texts/synonyms")["synonyms"]
    assert {one["root"]: one["synonyms"] for one in held} == {rule.when: list(rule.adds) for rule in RULES}
    after = {query: set(typesense.search("texts", query)) for query in asked}
    assert after == {
        "hammering": {"nails", "retry"},
        "wifi dongle": {"shop", "adapter"},
        "weg": {"strasse"},
        "retry": {"retry"},
        "network adapter": {"adapter"},
    }
