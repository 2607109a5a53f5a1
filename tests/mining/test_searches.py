"""Control samples, questions to people, needs, and what a log cannot support."""

from datetime import UTC, datetime, timedelta

import ibis
import pyarrow as pa
import pytest

from findback.mining.needs import Step, count_distinct, group_by_need
from findback.mining.searches import DEFAULT_RULES, Ask, SearchMining, mine_searches, with_asks
from findback.mining.searchrules import (
    count_searches,
    failed_texts,
    prepare_events,
    reformulated_visits,
    rule_expressions,
)
from findback.mining.sessions import Pace

START = datetime(2026, 3, 2, 9, 0)  # noqa: DTZ001 - the table holds UTC without zone


@pytest.fixture
def connection():
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@pytest.fixture
def log(connection):
    def _log(rows):
        filled = [
            {
                "time": START + timedelta(seconds=row["at"]),
                "kind": row.get("kind", "search"),
                "event_id": row.get("id", f"e{n:03d}"),
                "query": row.get("query"),
                **{name: row[name] for name in row if name not in {"at", "kind", "id", "query"}},
            }
            for n, row in enumerate(rows)
        ]
        names = dict.fromkeys(name for row in filled for name in row)
        table = pa.table({name: [row.get(name) for row in filled] for name in names})
        return connection.create_table("log", table, overwrite=True)

    return _log


def mine(table, **options):
    return mine_searches(table, SearchMining(source="log", **options))


def rules(mined):
    return {f.query.text: sorted(hit.rule for hit in f.rules) for f in mined.found}


ASKING = DEFAULT_RULES | {"search-then-ask"}


def test_search_then_ask(log):
    """A question about the same thing within ten minutes makes the search a finding.

    A later one, another person's, or one about something else after a clicked search does not.
    """
    table = log(
        [
            {"at": 0, "query": "vpn reset", "person": "p1", "n_results": 3},
            {"at": 1000, "query": "badge lost", "person": "p2", "n_results": 3},
            {"at": 2000, "query": "parking", "person": "p3", "n_results": 3, "query_id": "q3"},
            {"at": 2001, "kind": "click", "person": "p3", "document": "d1", "query_id": "q3"},
            {"at": 3000, "query": "expenses", "person": "p4", "n_results": 3},
        ]
    )
    asks = [
        Ask("p1", START + timedelta(seconds=240), "m1", "Where do I reset my VPN token?"),
        Ask("p2", START + timedelta(seconds=1000 + 601), "m2", "I lost my badge"),
        Ask("p3", START + timedelta(seconds=2060), "m3", "anyone for lunch?"),
        Ask("p9", START + timedelta(seconds=3010), "m4", "how do expenses work"),
        Ask("p1", (START + timedelta(seconds=300)).replace(tzinfo=UTC), "m5", "still stuck"),
    ]
    mined = mine(with_asks(table, asks), rules=ASKING)
    assert rules(mined) == {"vpn reset": ["search-then-ask"]}
    (hit,) = mined.found[0].rules
    assert (hit.strength, hit.evidence) == ("strong", "asked people 4 minutes later; 2 words shared")
    assert mine(table, rules=ASKING).unsupported["search-then-ask"].startswith("no questions to people")


def test_nothing_is_uploaded_to_a_warehouse():
    """Questions are refused for a table that lies elsewhere."""

    class Elsewhere:
        def get_backend(self):
            return type("Backend", (), {"name": "bigquery"})()

    with pytest.raises(ValueError, match="on this machine"):
        with_asks(Elsewhere(), [Ask("p", START, "m", "text")])


def test_control_sample(log):
    """The control sample has the size asked for, only searches that did not fail, and the same ones for a seed."""
    table = log(
        [
            {"at": n * 60, "query": f"topic {n}", "client": f"c{n}", "n_results": 0 if n % 4 == 0 else 5}
            for n in range(80)
        ]
    )
    one, two, other = (mine(table, control=10, seed=seed).found for seed in (1, 1, 2))
    drawn = [f for f in one if f.stratum == "control"]
    assert len(drawn) == 10
    assert all(int(f.query.text.split()[1]) % 4 for f in drawn)
    assert [f.query.text for f in one] == [f.query.text for f in two]
    assert [f.query.text for f in one] != [f.query.text for f in other]
    assert len(one) == 20 + 10
    assert {hit.rule for f in drawn for hit in f.rules} == {"control"}


def test_a_failed_text_is_no_control(log):
    """A text that failed for one searcher is not drawn as control for another, whom it served."""
    rows = [{"at": n, "query": "vpn", "client": f"c{n}", "n_results": 0 if n == 5 else 3} for n in range(9)]
    mined = mine(log(rows), control=5)
    assert [(f.stratum, f.asked) for f in mined.found] == [("failure", 9)]


def test_unknown_is_not_good(log):
    """A search of unknown results and no click is no control either."""
    assert mine(log([{"at": 0, "query": "vpn", "client": "c"}]), control=5).found == []


def test_limit_takes_what_was_asked_most(log):
    """With a limit the texts asked most often come back, and the rest is counted."""
    rows = [
        {"at": 60 * n + 7200 * m, "query": f"text {n}", "client": f"c{n}-{m}", "n_results": 0}
        for n in range(5)
        for m in range(n + 1)
    ]
    mined = mine(log(rows), limit=2)
    assert {f.query.text: f.asked for f in mined.found} == {"text 4": 5, "text 3": 4}
    assert mined.dropped == {"texts asked too rarely to come within the limit": 3}
    assert mined.counts["zero_result"] == 15


def test_rules_that_cannot_be_supported_are_named(log):
    """A log of nothing but texts supports no rule, and each is named with its reason."""
    mined = mine(log([{"at": 0, "query": "vpn"}]))
    assert mined.unsupported == {
        "zero-result": "the log does not say how many results a search had",
        "no-click": "the log has no clicks",
        "reformulation": "the log has neither sessions nor clients",
    }


def test_clicks_without_query_id_belong_to_the_search_before(log):
    """A click that names no search belongs to the one before it in the visit, even when searches have ids."""
    table = log(
        [
            {"at": 0, "query": "vpn", "client": "c", "n_results": 3, "query_id": "q1"},
            {"at": 5, "kind": "click", "client": "c", "document": "d"},
            {"at": 50, "query": "badge", "client": "c", "n_results": 3, "query_id": "q2"},
        ]
    )
    assert rules(mine(table)) == {"badge": ["no-click"]}


def test_same_instant(log):
    """At the same instant a search comes before its click, whatever their ids."""
    table = log(
        [
            {"at": 0, "query": "vpn", "client": "c", "n_results": 3, "id": "z"},
            {"at": 0, "kind": "click", "client": "c", "document": "d", "id": "a"},
        ]
    )
    assert mine(table).found == []


def test_texts_are_kept_as_typed(log):
    """The query of a finding is the text as typed, spaces and letters and all."""
    table = log([{"at": 0, "query": "  Vpn ¦ RESET ", "client": "c", "n_results": 0}])
    assert [f.query.text for f in mine(table).found] == ["  Vpn ¦ RESET "]


def test_no_table_is_left(log, connection):
    """Mining leaves no table of its own, after success and after failure."""
    table = log([{"at": 0, "query": "vpn", "client": "c", "n_results": 0}])
    mine(table)
    with pytest.raises(TypeError):
        mine_searches(table, SearchMining(source="log", control="many"))
    assert connection.list_tables() == ["log"]


def test_expressions_leave_no_ids(connection, log):
    """No expression's result has a column of sessions, clients or visits."""
    table = log(
        [{"at": 0, "query": "vpn", "client": "c-secret", "session": "s-secret", "n_results": 0, "asker": "digest"}]
    )
    for name, expression in rule_expressions(table).items():
        assert not {"client", "session", "actor", "visit", "person"} & set(expression.columns), name
        assert "secret" not in str(expression.to_pyarrow().to_pylist())


@pytest.mark.parametrize(
    ("texts", "runs"),
    [
        (["vpn setup", "set up vpn on mac", "mac vpn client"], [3]),
        (["wirelress", "wireless", "wirelss earbuds"], [3]),
        (["lunch menu", "vpn setup", "parking permit"], [1, 1, 1]),
        (["Passwort zurücksetzen", "Passwort vergessen", "Kennwort vergessen"], [3]),
        (["返金の方法", "返金 期限"], [2]),
    ],
)
def test_needs(texts, runs):
    """Searches that share a content word or a spelling are one need; others are not."""
    steps = [Step(str(n), text) for n, text in enumerate(texts)]
    assert [len(run) for run in group_by_need(steps)] == runs


def test_distinct_texts():
    """Case, width and spacing make no different text."""
    assert count_distinct([Step("1", "VPN setup"), Step("2", "vpn  setup "), Step("3", "ｖｐｎ setup")]) == 1


def test_a_complete_log_needs_nothing_told(log):
    """Where every search has its session and number of results, leaving the rest of the log out changes nothing."""
    rows = [
        {"at": n * 37, "query": f"vpn {n % 5}", "client": f"c{n % 3}", "session": f"s{n % 3}", "n_results": n % 4,
         "query_id": f"q{n}"}
        for n in range(40)
    ]  # fmt: skip
    rows += [
        {"at": n * 37 + 2, "kind": kind, "client": f"c{n % 3}", "session": f"s{n % 3}", "query_id": f"q{n}"}
        for n in range(0, 40, 4)
        for kind in ("impression", "click")
    ]
    table = log(rows)
    results = []
    for complete in (True, False):
        prepared, _ = prepare_events(table, Pace(), complete=complete)
        results.append(
            [rule(prepared).to_pyarrow().to_pylist() for rule in (count_searches, failed_texts, reformulated_visits)]
        )
    assert results[0] == results[1]
    assert results[0][0][0]["no_click"] > 0
