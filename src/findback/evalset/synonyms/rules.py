"""What a glossary tells another system: one rule for all that the same words add."""

from collections.abc import Iterable
from typing import NamedTuple

from findback.model.glossary import Term
from findback.text.words import fold


class Rule(NamedTuple):
    """One way: who searches for `when` finds what holds `adds` as well, and what holds `when` as before."""

    when: str
    adds: tuple[str, ...]
    clusters: int = 0
    """The most clusters behind one of its terms."""


class Written(NamedTuple):
    """Rules as a file of another system."""

    text: str
    rules: int
    """Rules in it."""
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """What is not in it, each with the reason."""


class Options(NamedTuple):
    """What writers may need to know."""

    language: str | None
    """Language of the words, where known."""
    tokens: int = 400
    """Most tokens of a text for agents."""


def gather_rules(terms: Iterable[Term]) -> list[Rule]:
    """Return the rules of a glossary, in the order of their first terms."""
    found: dict[str, Rule] = {}
    for term in terms:
        key = fold(term.when)
        rule = found.setdefault(key, Rule(term.when, ()))
        if fold(term.add) not in map(fold, rule.adds):
            found[key] = rule._replace(adds=(*rule.adds, term.add), clusters=max(rule.clusters, term.clusters))
    return list(found.values())


def lower(text: str) -> str:
    """Return a term as an analyser's lower-casing leaves it: not folded, so that `straße` stays itself."""
    return " ".join(text.lower().split())
