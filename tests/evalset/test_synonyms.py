"""A glossary as other systems read it."""

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.solrsynonyms import analyse, read_synonyms
from findback.errors import UsageError
from findback.evalset.synonyms.elastic import write_elasticsearch, write_opensearch
from findback.evalset.synonyms.plain import write_json
from findback.evalset.synonyms.rules import Options, Rule, Written, gather_rules
from findback.evalset.synonyms.solr import escape, write_rule, write_solr
from findback.evalset.synonyms.tooltext import write_tool_description
from findback.evalset.synonyms.traps import check_rules
from findback.evalset.synonyms.typesense import write_typesense
from findback.llm.budget import count_tokens
from findback.model.glossary import Term

ENGLISH = Options("en")
RULES = [Rule("hammering", ("retry", "backoff"), 3), Rule("wifi dongle", ("network adapter",), 2)]
ODD = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


def solr_lines(written: Written) -> dict[str, list[str]]:
    return read_synonyms(written.text)


def elastic_lines(written: Written) -> dict[str, list[str]]:
    return read_synonyms("\n".join(one["synonyms"] for one in json.loads(written.text)["synonyms_set"]))


def opensearch_lines(written: Written) -> dict[str, list[str]]:
    (found,) = json.loads(written.text)["analysis"]["filter"].values()
    assert found["type"] == "synonym_graph"
    return read_synonyms("\n".join(found["synonyms"]))


def typesense_lines(written: Written) -> dict[str, list[str]]:
    # The root itself is always looked for.
    return {one["root"]: [one["root"], *one["synonyms"]] for one in json.loads(written.text)["items"]}


ENGINES: list[tuple[Callable[[Sequence[Rule], Options], Written], Callable[[Written], dict[str, list[str]]]]] = [
    (write_solr, solr_lines),
    (write_elasticsearch, elastic_lines),
    (write_opensearch, opensearch_lines),
    (write_typesense, typesense_lines),
]
ANALYSERS = ENGINES[:3]


def test_terms_of_the_same_words_are_one_rule() -> None:
    """Case makes no difference, nothing is added twice, and the strongest evidence counts."""
    terms = [
        Term(when="wifi", add="wireless", clusters=2, cases=("c0000000001", "c0000000002")),
        Term(when="lan", add="cable"),
        Term(when="WiFi", add="wlan", clusters=3, cases=("c0000000001", "c0000000002", "c0000000003")),
        Term(when="wifi", add="WLAN"),
    ]
    assert gather_rules(terms) == [Rule("wifi", ("wireless", "wlan"), 3), Rule("lan", ("cable",), 0)]


@pytest.mark.parametrize(("write", "read"), ENGINES)
def test_the_words_looked_for_are_kept(
    write: Callable[[Sequence[Rule], Options], Written], read: Callable[[Written], dict[str, list[str]]]
) -> None:
    """Each rule is one way and keeps its own words: a => a, b."""
    written = write(RULES, ENGLISH)
    assert read(written) == {
        "hammering": ["hammering", "retry", "backoff"],
        "wifi dongle": ["wifi dongle", "network adapter"],
    }
    assert (written.rules, written.left_out) == (2, ())


@pytest.mark.parametrize(("write", "read"), ANALYSERS)
def test_a_search_is_changed_as_intended(
    write: Callable[[Sequence[Rule], Options], Written], read: Callable[[Written], dict[str, list[str]]]
) -> None:
    """A query keeps what it says and looks for the rest besides; the added words bring nothing back."""
    synonyms = read(write(RULES, ENGLISH))
    assert analyse(synonyms, "Hammering api") == [{"hammering", "retry", "backoff"}, {"api"}]
    assert analyse(synonyms, "my wifi dongle") == [{"my"}, {"wifi dongle", "network adapter"}]
    assert analyse(synonyms, "retry network adapter") == [{"retry"}, {"network"}, {"adapter"}]


@given(ODD, st.lists(ODD, min_size=1, max_size=3))
def test_no_sign_separates_maps_or_comments(when: str, adds: list[str]) -> None:
    """Commas, arrows, backslashes and a leading # stand for themselves."""
    assert read_synonyms(write_rule(Rule(when, tuple(adds)))) == {when: [when, *adds]}


def test_escapes_are_solrs() -> None:
    """One backslash before what would separate; two for one."""
    assert escape("#a, b") == "\\#a\\, b"
    assert escape("a => b \\ c") == "a \\=> b \\\\ c"


@pytest.mark.parametrize(("write", "read"), ENGINES)
def test_what_analysis_would_empty_is_left_out(
    write: Callable[[Sequence[Rule], Options], Written], read: Callable[[Written], dict[str, list[str]]]
) -> None:
    """A rule of stop words, one of signs a tokenizer drops, and one that says the same after stemming."""
    rules = [
        Rule("out of", ("memory",)),
        Rule("c++", ("gcc",)),
        Rule("crash", ("crashes", "segfault")),
        Rule("login", ("the", "sign-in")),
        Rule("only", ("it is",)),
    ]
    written = write(rules, ENGLISH)
    assert read(written) == {"crash": ["crash", "segfault"], "login": ["login", "sign-in"]}
    assert [line.partition(": ")[0] for line in written.left_out] == [
        "out of",
        "c++",
        "crash => crashes",
        "login => the",
        "only",
    ]
    assert "after stemming" in written.left_out[2]


def test_rules_are_in_lower_case_with_their_own_letters() -> None:
    """A filter lower-cases ẞ and É; it does not fold them to ss and e."""
    assert check_rules([Rule("STRAßE Nord", ("CAFÉ",))], "de").rules == [Rule("straße nord", ("café",))]


def test_traps_are_named() -> None:
    """Stop words inside, several words, merging behind a stemmer or without accents."""
    rules = [
        Rule("point of sale", ("till",)),
        Rule("mount", ("fstab",)),
        Rule("mounting", ("disk",)),
        Rule("resume", ("cv",)),
        Rule("résumé", ("vita",)),
    ]
    said = iter(check_rules(rules, "en").warnings)
    for wanted in (
        "a stop filter in front of the synonym filter takes words out of 'point of sale'",
        "1 of 5 rules look for several words, such as 'point of sale'",
        "behind a stemmer these are one rule, which adds what each of them adds: 'mount', 'mounting'",
        "behind a filter that takes accents away these are one rule, which adds what each of them adds: 'resume'",
        "with a filter that takes accents away in front of the synonym filter, rules",
    ):
        assert next(said).startswith(wanted)
    assert next(said, None) is None
    assert check_rules([Rule("mount", ("fstab",))], "en").warnings == []


@pytest.mark.parametrize(("write", "read"), ANALYSERS)
def test_it_is_said_that_rules_are_for_searches(
    write: Callable[[Sequence[Rule], Options], Written], read: Callable[[Written], dict[str, list[str]]]
) -> None:
    """Every analyser's file comes with the warning, whatever its rules."""
    assert "index" in write(RULES, ENGLISH).warnings[0]


def test_ids_stay_when_other_rules_change() -> None:
    """An id follows from the words looked for alone."""
    ids = [one["id"] for one in json.loads(write_elasticsearch(RULES, ENGLISH).text)["synonyms_set"]]
    again = json.loads(write_typesense(RULES[1:], ENGLISH).text)["items"]
    assert [one["id"] for one in again] == ids[1:]


def test_json_holds_everything() -> None:
    """Also what no analyser bears."""
    body = json.loads(write_json([Rule("c++", ("gcc",), 2)], ENGLISH).text)
    assert body == {"format": 1, "language": "en", "rules": [{"when": "c++", "add": ["gcc"], "clusters": 2}]}


def test_a_tool_description_stays_within_its_tokens() -> None:
    """Rules with most clusters come first, what does not fit is counted in the text and named."""
    rules = [Rule(f"word{n}", (f"added{n}",), n) for n in range(50)]
    for tokens in (60, 100, 350):
        written = write_tool_description(rules, Options("en", tokens), count=count_tokens)
        assert count_tokens(written.text) <= tokens
        assert f"({50 - written.rules} further entries are left out.)" in written.text
        assert len(written.left_out) == 50 - written.rules
        assert '- "word49": "added49"' in written.text
        beyond = 49 - written.rules
        assert count_tokens(f'{written.text}- "word{beyond}": "added{beyond}"\n') > tokens
    whole = write_tool_description(rules, Options("en", 10_000), count=count_tokens)
    just = write_tool_description(rules, Options("en", count_tokens(whole.text)), count=count_tokens)
    assert (whole.rules, whole.left_out, just) == (50, (), whole)
    assert "left out" not in whole.text


def test_a_tool_description_that_holds_nothing_is_refused() -> None:
    """The hint says how many tokens the first rule needs."""
    with pytest.raises(UsageError) as caught:
        write_tool_description(RULES, Options("en", 10), count=count_tokens)
    needed = int(str(caught.value.hint).split()[1])
    assert write_tool_description(RULES, Options("en", needed), count=count_tokens).rules == 1


def test_terms_cannot_end_their_line_for_an_agent() -> None:
    """Quotes inside a term are escaped."""
    written = write_tool_description([Rule('say "hi"', ("greet",))], ENGLISH, count=count_tokens)
    assert '- "say \\"hi\\"": "greet"\n' in written.text
