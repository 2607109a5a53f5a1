"""Plain JSON, for everything else."""

import json
from collections.abc import Sequence

from findback.evalset.synonyms.rules import Options, Rule, Written


def write_json(rules: Sequence[Rule], options: Options) -> Written:
    """Return the rules as JSON: what is looked for, what is looked for besides, and how many clusters say so."""
    listed = [{"when": rule.when, "add": list(rule.adds), "clusters": rule.clusters} for rule in rules]
    body = {"format": 1, "language": options.language, "rules": listed}
    return Written(json.dumps(body, ensure_ascii=False, indent=2) + "\n", len(listed))
