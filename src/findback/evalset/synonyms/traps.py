"""What an analyser makes of rules: what it would lose, merge or refuse is said before it does."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from findback.evalset.synonyms.rules import Rule, lower
from findback.text.expansion import is_plain
from findback.text.frequency import list_function_words
from findback.text.stems import stem
from findback.text.words import words

NAMED = 5
"""Terms a warning names."""


class Checked(NamedTuple):
    """Rules that an analyser bears."""

    rules: list[Rule]
    warnings: list[str]
    left_out: list[str]


def check_rules(rules: Sequence[Rule], language: str | None) -> Checked:
    """Return the rules in lower case without what no analyser bears, and what may surprise about the others.

    Left out is what a stop filter empties, since one such rule can keep an index from opening; what a tokenizer cuts
    to other words (`c++`); and what says the same after stemming.
    """
    kept: list[Rule] = []
    left_out: list[str] = []
    for rule in rules:
        if (why := _refuse(rule.when, language)) is not None:
            left_out.append(f"{rule.when}: {why}")
            continue
        adds = []
        for add in rule.adds:
            same = _stems(add, language) == _stems(rule.when, language)
            why = "says the same after stemming" if same else _refuse(add, language)
            if why is None:
                adds.append(lower(add))
            else:
                left_out.append(f"{rule.when} => {add}: {why}")
        if adds:
            kept.append(rule._replace(when=lower(rule.when), adds=tuple(dict.fromkeys(adds))))
    return Checked(kept, list(_warn(kept, language)), left_out)


def _refuse(term: str, language: str | None) -> str | None:
    """Return why an analyser does not bear a term."""
    if not is_plain(term):
        return "a tokenizer drops some of its characters and takes the rest for another word"
    if all(word in list_function_words(language) for word in words(term)):
        return "a stop filter leaves nothing of it, and an empty rule can keep an index from opening"
    return None


def _stems(term: str, language: str | None) -> tuple[str, ...]:
    return tuple(stem(word, language) for word in words(term))


def _warn(rules: Sequence[Rule], language: str | None) -> Iterator[str]:
    terms = list(dict.fromkeys(term for rule in rules for term in (rule.when, *rule.adds)))
    stopped = [term for term in terms if any(word in list_function_words(language) for word in words(term))]
    if stopped:
        yield (
            f"a stop filter in front of the synonym filter takes words out of {_name(stopped)}:"
            " put the synonym filter before it"
        )
    several = [rule.when for rule in rules if len(words(rule.when)) > 1]
    if several:
        yield (
            f"{len(several)} of {len(rules)} rules look for several words, such as {_name(several[:1])}: only a graph"
            " filter at search time, and a parser that does not split at blanks first, sees these"
        )
    yield from _warn_merged(rules, lambda term: _stems(term, language), "stemmer")
    yield from _warn_merged(rules, _without_accents, "filter that takes accents away")
    accented = [term for term in terms if _without_accents(term) != term]
    if accented:
        yield (
            f"with a filter that takes accents away in front of the synonym filter, rules that are not analysed"
            f" themselves never fit: {_name(accented)}"
        )


def _warn_merged(rules: Sequence[Rule], form: Callable[[str], object], what: str) -> Iterator[str]:
    """Warn of rules that look for the same once words are brought to a form."""
    by_form: defaultdict[object, list[str]] = defaultdict(list)
    for rule in rules:
        by_form[form(rule.when)].append(rule.when)
    for merged in by_form.values():
        if len(merged) > 1:
            yield f"behind a {what} these are one rule, which adds what each of them adds: {_name(merged)}"


def _without_accents(term: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", term) if not unicodedata.combining(c))


def _name(terms: Sequence[str]) -> str:
    named = ", ".join(f"'{term}'" for term in terms[:NAMED])
    return named if len(terms) <= NAMED else f"{named} and {len(terms) - NAMED} more"
