"""Visits and the searches in them, as Ibis expressions that run where the log is.

Only what every engine has: lag, running sum, row number, conditional aggregates, union, joins on equality. No
functions in Python, no as-of joins, no lists, no argmin. Rows are ordered by (time, kind, event id) everywhere,
because engines differ in how they order ties. Groups are told by columns, never by joined texts: those would be
most of what has to be held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ibis

KIND_ORDER = {"search": 0, "impression": 1, "click": 2, "ask": 3}
"""Order of kinds at the same time: what was shown comes before what was clicked."""

CANONICAL = {
    "session": "string",
    "client": "string",
    "person": "string",
    "asker": "string",
    "application": "string",
    "query_id": "string",
    "n_results": "int64",
    "size_zero": "boolean",
    "document": "string",
    "asked": "int64",
    "clicks": "int64",
    "file": "string",
    "offset": "int64",
}
"""Columns a table of search events may have beside time, kind, event_id and query. A missing one is unknown."""

VISIT = ("actor", "visit")
"""Columns that tell one visit from another."""

SEARCH = ("key_owner", "key_id", "key_visit", "key_turn")
"""Columns that tell one search from another."""

_EDGE = "¦"
"""Put around a text while the spaces at its ends are taken off; one inside it is lost, which no rule minds."""

Settle = Callable[[Any], Any]
"""What is done with an expression halfway: nothing in a warehouse; a table of its own on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How far apart events may be, in seconds."""

    visit_gap: int = 1800
    """A pause longer than this begins a new visit."""
    typing_gap: int = 30
    """A search continued or cut back within this time was still being typed."""
    ask_gap: int = 600
    """A question to people within this time after a search follows from it."""


def order_of(table: Any, *, reverse: bool = False) -> list[Any]:
    """Return the order of events, or its reverse."""
    keys = [table["time"], table["rank"], table["event_id"]]
    return [key.desc() for key in keys] if reverse else keys


def columns_of(table: Any, names: tuple[str, ...]) -> list[Any]:
    """Return several columns."""
    return [table[name] for name in names]


def earlier(column: Any, table: Any, by: list[Any]) -> Any:
    """Return the value of a column in the event before, within the same group."""
    return column.lag().over(ibis.window(group_by=by, order_by=order_of(table)))


def later(column: Any, table: Any, by: list[Any]) -> Any:
    """Return the value of a column in the event after, within the same group."""
    return column.lag().over(ibis.window(group_by=by, order_by=order_of(table, reverse=True)))


def so_far(column: Any, table: Any, by: list[Any]) -> Any:
    """Return the running sum of a column up to and with the event, within the same group."""
    return column.sum().over(ibis.cumulative_window(group_by=by, order_by=order_of(table)))


def place_in(table: Any, by: list[Any], *, reverse: bool = False) -> Any:
    """Return the event's place within its group, from 0."""
    return ibis.row_number().over(ibis.window(group_by=by, order_by=order_of(table, reverse=reverse)))


def within(column: Any, by: list[Any]) -> Any:
    """Return an aggregate of a column over the whole group."""
    return column.over(ibis.window(group_by=by))


def one_if(condition: Any) -> Any:
    """Return 1 where the condition holds and 0 where it does not or cannot be told."""
    return ibis.ifelse(condition.fill_null(False), 1, 0).cast("int64")


def seconds(time: Any) -> Any:
    """Return a time in whole seconds; cut off first, because engines round differently."""
    return time.truncate("s").epoch_seconds().cast("int64")


def plain_text(text: Any) -> Any:
    """Return a text in lower case without the spaces around it, two at most on either side.

    Not by trimming: Ibis has Spark trim the letter v off as well, and engines differ in what is white.
    """
    text = ibis.literal(_EDGE) + text.fill_null("").lower() + ibis.literal(_EDGE)
    for _ in range(2):
        text = text.replace(f"{_EDGE} ", _EDGE).replace(f" {_EDGE}", _EDGE)
    return text.replace(_EDGE, "")


def whole_table(events: Any) -> tuple[Any, frozenset[str]]:
    """Return the events with every column there is a name for, and which of them the source records."""
    recorded = frozenset(name for name in CANONICAL if name in events.columns)
    missing = {name: ibis.null(kind) for name, kind in CANONICAL.items() if name not in recorded}
    columns = [events[name] for name in ("time", "kind", "event_id", "query", *sorted(recorded))]
    return events.select(*columns, **missing), recorded


def gaps_in(events: Any) -> Any:
    """Return one number: how many searches miss their session or how many results they had."""
    table, _ = whole_table(events)
    lacking = table["session"].isnull() | table["n_results"].isnull()
    return table.aggregate(gaps=one_if((table["kind"] == "search") & lacking).sum())


def acts_only(table: Any, recorded: frozenset[str], *, complete: bool) -> Any:
    """Return searches, clicks and questions, with what the rest of the log says of their query id.

    What was shown makes most of a log: it is counted at once, as `shown`, and left behind. A search without
    session takes that of the events with its query id: engines log the search, browsers the session. Where there
    are no query ids, what was shown stays and belongs to the search before it.

    Args:
        table: Every event.
        recorded: Columns that the source records.
        complete: True when every search is known to have its session and number of results, and the rest of the log
            has nothing to add.
    """
    acts = ["search", "click", "ask"]
    if "query_id" not in recorded:
        acts = acts if complete else [*acts, "impression"]
        return table.filter(table["kind"].isin(acts)).mutate(shown=ibis.literal(0).cast("int64"))
    if complete:
        return table.filter(table["kind"].isin(acts)).mutate(shown=ibis.literal(0).cast("int64"))
    # Query ids repeat from client to client.
    by = {"told_id": table["query_id"]}
    if "client" in recorded:
        by["told_client"] = table["client"].fill_null("")
    told = table.filter(table["query_id"].notnull() & (table["kind"] != "search"))
    told = told.group_by(**by).aggregate(
        told_session=told["session"].max(), shown=one_if(told["kind"] == "impression").sum()
    )
    told = told.filter((told["shown"] > 0) | told["told_session"].notnull())
    table = table.filter(table["kind"].isin(acts))
    same = [table["query_id"] == told["told_id"]]
    if "client" in recorded:
        same.append(table["client"].fill_null("") == told["told_client"])
    table = table.left_join(told, same)
    table = table.mutate(
        session=ibis.coalesce(table["session"], table["told_session"]), shown=table["shown"].fill_null(0)
    )
    return table.drop(*by, "told_session")


def with_visits(table: Any, pace: Pace) -> Any:
    """Return the events with `rank`, `norm`, `visible`, `actor`, `asker` and `visit`.

    An actor is a client, else a session, else a person: engines know the client and not always the session. An
    event of nobody known is its own actor. A visit, a number within the actor, ends with a long pause or where
    another session begins.
    """
    rank = ibis.literal(9)
    for kind, place in KIND_ORDER.items():
        rank = ibis.ifelse(table["kind"] == kind, place, rank)
    named = ibis.coalesce(table["client"], table["session"], table["person"])
    table = table.mutate(
        rank=rank.cast("int64"),
        norm=plain_text(ibis.ifelse(table["kind"] == "search", table["query"], ibis.null("string"))),
        actor=ibis.coalesce(named, ibis.literal("event ") + table["event_id"]),
        asker=ibis.coalesce(table["asker"], table["person"], table["client"], table["session"]),
    )
    table = table.mutate(
        visible=one_if((table["norm"].replace(" ", "") != "") & ~table["size_zero"].fill_null(False)),
        before=earlier(table["time"], table, [table["actor"]]),
        session_before=earlier(table["session"], table, [table["actor"]]),
    )
    pause = seconds(table["time"]) - seconds(table["before"])
    other = (table["session"] != table["session_before"]).fill_null(False)
    table = table.mutate(begins=one_if(table["before"].isnull() | (pause > pace.visit_gap) | other))
    table = table.mutate(visit=so_far(table["begins"], table, [table["actor"]]))
    return table.drop("before", "session_before", "begins", "session")


def with_keys(table: Any, recorded: frozenset[str]) -> Any:
    """Return the events with the columns of `SEARCH`: which search each belongs to.

    A search is all rows of one client with one query id; where there is no id, a row of its own, and what follows
    in the visit until the next search belongs to it.
    """
    table = table.mutate(turn=so_far(table["visible"], table, columns_of(table, VISIT)))
    if "query_id" in recorded:
        own = ibis.ifelse(table["visible"] == 1, table["query_id"], ibis.null("string"))
        led_by = within(own.max(), [*columns_of(table, VISIT), table["turn"]])
        table = table.mutate(key_id=ibis.coalesce(table["query_id"], led_by))
    else:
        table = table.mutate(key_id=ibis.null("string"))
    named = table["key_id"].notnull()
    return table.mutate(
        key_owner=ibis.ifelse(named, table["client"].fill_null(""), table["actor"]),
        key_visit=ibis.ifelse(named, 0, table["visit"]).cast("int64"),
        key_turn=ibis.ifelse(named, 0, table["turn"]).cast("int64"),
    ).drop("turn", "query_id")


def with_searches(table: Any) -> Any:
    """Return the events with what is known of the search each belongs to.

    `kept` marks the row that stands for a search: the last that is neither blank nor a request for facets;
    `counted` the first of all its rows.
    """
    key = columns_of(table, SEARCH)
    search = one_if(table["kind"] == "search")
    click = one_if(table["kind"] == "click")
    hits = one_if((table["visible"] == 1) & (table["n_results"] > 0))
    shown = one_if(table["kind"] == "impression")
    table = table.mutate(
        is_search=search,
        newest=place_in(table, [*key, table["visible"]], reverse=True),
        oldest=place_in(table, [*key, search]),
        key_clicks=within((click + table["clicks"].fill_null(0)).sum(), key),
        key_hits=within(hits.sum(), key),
        key_shown=within(table["shown"].max(), key) + within(shown.sum(), key),
    )
    table = table.mutate(
        kept=one_if((table["visible"] == 1) & (table["newest"] == 0)),
        counted=one_if((table["is_search"] == 1) & (table["oldest"] == 0)),
        teller_clicks=within(one_if(table["kind"] == "click").sum(), [table["actor"]]),
    )
    return table.drop("newest", "oldest", "shown", "is_search", "client")


def with_typing(table: Any, recorded: frozenset[str], pace: Pace) -> Any:
    """Return the events with `unfinished`: the next search continues this one, or cuts back its last word.

    Rows that stand for many searches have no next one.
    """
    if "asked" in recorded:
        return table.mutate(unfinished=ibis.literal(0).cast("int64"))
    # Where nobody is known, neighbours in time are all there is to go by.
    known = bool({"session", "client", "person"} & recorded)
    by = [*(columns_of(table, VISIT) if known else [table["application"].fill_null("")]), table["kept"]]
    table = table.mutate(next_norm=later(table["norm"], table, by), next_time=later(table["time"], table, by))
    soon = seconds(table["next_time"]) - seconds(table["time"]) <= pace.typing_gap
    longer = table["next_norm"].startswith(table["norm"])
    shorter = table["norm"].startswith(table["next_norm"])
    rest = table["norm"].substr(table["next_norm"].length())
    typed = (table["next_norm"] != table["norm"]) & (longer | (shorter & ~rest.contains(" ")))
    table = table.mutate(unfinished=one_if((table["kept"] == 1) & soon & typed))
    return table.drop("next_norm", "next_time")


def with_failures(table: Any) -> Any:
    """Return the events with `zero`, `no_click` and `good` on kept rows, and `weight`: searches a row stands for.

    A row that stands for many searches knows its clicks by itself; any other only where its client ever sent a
    click. Zero results need the log to say 0: unknown is not none.
    """
    kept = table["kept"] == 1
    finished = table["unfinished"] == 0
    answered = (table["n_results"] > 0) | (table["n_results"].isnull() & (table["key_shown"] > 0))
    tells = (table["teller_clicks"] > 0) | table["clicks"].notnull()
    table = table.mutate(
        zero=one_if(kept & finished & (table["n_results"] == 0) & (table["key_hits"] == 0)),
        no_click=one_if(kept & answered & tells & (table["key_clicks"] == 0)),
        weight=table["asked"].fill_null(1),
    )
    found = (table["n_results"] > 0) | (table["key_clicks"] > 0)
    good = one_if(kept & finished & found & (table["zero"] == 0) & (table["no_click"] == 0))
    return table.mutate(good=good).drop("asked", "clicks", "teller_clicks", "key_hits", "key_shown")


def searched_events(events: Any, pace: Pace, settle: Settle, *, complete: bool = False) -> tuple[Any, frozenset[str]]:
    """Return a table of search events with everything the rules ask about, and the columns the source records.

    Args:
        events: Table of search events.
        pace: How far apart events may be.
        settle: What is done with an expression halfway.
        complete: As for `acts_only`.
    """
    table, recorded = whole_table(events)
    if "asked" not in recorded:
        table = table.filter(table["time"].notnull())
    table = settle(acts_only(table, recorded, complete=complete))
    table = settle(with_visits(table, pace))
    table = settle(with_keys(table, recorded))
    table = settle(with_searches(table))
    return with_failures(with_typing(table, recorded, pace)), recorded
