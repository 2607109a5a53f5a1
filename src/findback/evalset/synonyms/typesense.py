"""Typesense: one-way synonyms, `root` finding its `synonyms` as well."""

import json
from collections.abc import Sequence

from findback.evalset.synonyms.elastic import identify
from findback.evalset.synonyms.rules import Options, Rule, Written
from findback.evalset.synonyms.traps import check_rules

ITEMS = (
    "from version 30 on this is the body of PUT /synonym_sets/NAME, and the collection names the set; before, each item"
    " is the body of PUT /collections/COLLECTION/synonyms/ID"
)


def write_typesense(rules: Sequence[Rule], options: Options) -> Written:
    """Return the rules as a synonym set."""
    checked = check_rules(rules, options.language)
    items = [{"id": identify(rule.when), "root": rule.when, "synonyms": list(rule.adds)} for rule in checked.rules]
    text = json.dumps({"items": items}, ensure_ascii=False, indent=2) + "\n"
    return Written(text, len(checked.rules), (ITEMS,), tuple(checked.left_out))
