"""Elasticsearch and OpenSearch: rules in Solr's form, inside the JSON each of them takes."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from findback.evalset.synonyms.rules import Options, Rule, Written
from findback.evalset.synonyms.solr import write_rule
from findback.evalset.synonyms.traps import check_rules

NAME = "findback_glossary"
AT_SEARCH = (
    "rules are for a search analyser alone (`search_analyzer` of the field, filter type synonym_graph): in an index"
    " analyser they would change what is indexed, and need a new index at every change"
)
PUT_FIRST = "put the set there before an index names it: one that names a set that is not there cannot be opened"


def write_elasticsearch(rules: Sequence[Rule], options: Options) -> Written:
    """Return the body of `PUT _synonyms/NAME`; search analysers that name the set take it up by themselves."""
    checked = check_rules(rules, options.language)
    body = {"synonyms_set": [{"id": identify(rule.when), "synonyms": write_rule(rule)} for rule in checked.rules]}
    warnings = (AT_SEARCH, PUT_FIRST, *checked.warnings)
    return Written(_dump(body), len(checked.rules), warnings, tuple(checked.left_out))


def write_opensearch(rules: Sequence[Rule], options: Options) -> Written:
    """Return the `settings` of an index with a search analyser that knows the rules."""
    checked = check_rules(rules, options.language)
    body = {
        "analysis": {
            "filter": {NAME: {"type": "synonym_graph", "synonyms": [write_rule(rule) for rule in checked.rules]}},
            "analyzer": {f"{NAME}_search": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", NAME]}},
        }
    }
    return Written(_dump(body), len(checked.rules), (AT_SEARCH, *checked.warnings), tuple(checked.left_out))


def identify(when: str) -> str:
    """Return an id that stays the same as long as the words looked for do.

    >>> identify("hammering")
    'findback-962df959cc05'
    """
    return f"findback-{hashlib.sha256(when.encode()).hexdigest()[:12]}"


def _dump(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"
