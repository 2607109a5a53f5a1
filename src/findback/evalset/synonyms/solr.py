"""Solr's `synonyms.txt`, which Elasticsearch and OpenSearch read as well."""

from collections.abc import Sequence

from findback.evalset.synonyms.rules import Options, Rule, Written
from findback.evalset.synonyms.traps import check_rules

_HEAD = """\
# Made by findback glossary export. One way: what stands on the left is looked for as before, and what stands on the
# right besides. For a query analyser alone: <filter class="solr.SynonymGraphFilterFactory" synonyms="…"
# ignoreCase="true" expand="true"/>, after lower-casing, and with sow=false.
"""
AT_SEARCH = (
    'rules are for the query analyser alone (type="query", SynonymGraphFilterFactory): in an index analyser they would'
    " change what is indexed, and phrases of several words would be placed wrongly"
)


def write_solr(rules: Sequence[Rule], options: Options) -> Written:
    """Return the rules as lines of `synonyms.txt`."""
    checked = check_rules(rules, options.language)
    text = _HEAD + "".join(f"{write_rule(rule)}\n" for rule in checked.rules)
    return Written(text, len(checked.rules), (AT_SEARCH, *checked.warnings), tuple(checked.left_out))


def write_rule(rule: Rule) -> str:
    r"""Return a rule as a line; the words looked for stand on both sides, or they would be looked for no more.

    >>> write_rule(Rule("hammering", ("retry", "back-off, exponential")))
    'hammering => hammering, retry, back-off\\, exponential'
    """
    right = ", ".join(escape(term) for term in (rule.when, *rule.adds))
    return f"{escape(rule.when)} => {right}"


def escape(term: str) -> str:
    r"""Return a term in which nothing separates, maps or comments out.

    >>> escape("#a\\b, c => d")
    '\\#a\\\\b\\, c \\=> d'
    """
    escaped = term.replace("\\", "\\\\").replace(",", "\\,").replace("=>", "\\=>")
    return f"\\{escaped}" if escaped.startswith("#") else escaped
