"""The rules for search logs, each an Ibis expression over prepared events; only candidates leave the engine."""

from collections.abc import Collection, Sequence
from typing import Any

import ibis

from findback.mining.sessions import (
    SEARCH,
    VISIT,
    Pace,
    Settle,
    columns_of,
    one_if,
    place_in,
    searched_events,
    seconds,
    so_far,
    within,
)

DAY = 86_400
"""Seconds."""

DISTINCT = 3
"""Different searches in a visit from which it may be a reformulation."""

BURST = 5
"""Different questions of the exam in one visit from which it may be an evaluation."""

_BURST_SHARE = 8
"""Tenths of a visit's searches that then have to be the exam's."""


def leave_as_is(expression: Any) -> Any:
    """Return an expression as it is: nothing is made where it runs."""
    return expression


def prepare_events(
    events: Any,
    pace: Pace,
    *,
    exam: Collection[str] = (),
    settle: Settle = leave_as_is,
    complete: bool = False,
) -> tuple[Any, frozenset[str]]:
    """Return searches, clicks and questions with all that the rules ask about, and the columns the source records.

    Args:
        events: Table of search events.
        pace: How far apart events may be.
        exam: Questions of the exam as `norm` writes them; visits that ask little else are marked `examined`.
        settle: What is done with an expression halfway; tables may only be made on this machine.
        complete: True when no search misses its session or its number of results (`gaps_in` is 0).
    """
    table, recorded = searched_events(events, pace, settle, complete=complete)
    table = table.filter(table["kind"] != "impression")
    return settle(_with_bursts(table, recorded, sorted(set(exam)))), recorded


def _with_bursts(table: Any, recorded: frozenset[str], exam: Sequence[str]) -> Any:
    if not exam:
        return table.mutate(examined=ibis.literal(0).cast("int64"))
    known = bool({"session", "client", "person"} & recorded)
    table = table.mutate(
        minute=seconds(table["time"]) - seconds(table["time"]) % 60,
        place=table["application"].fill_null(""),
        asked_by_exam=one_if((table["kept"] == 1) & table["norm"].isin(exam)),
    )
    burst = columns_of(table, VISIT if known else ("place", "minute"))
    again = place_in(table, [*burst, table["norm"], table["asked_by_exam"]])
    table = table.mutate(fresh=one_if((table["asked_by_exam"] == 1) & (again == 0)))
    burst = columns_of(table, VISIT if known else ("place", "minute"))
    table = table.mutate(
        exam_texts=within(table["fresh"].sum(), burst),
        exam_searches=within(table["asked_by_exam"].sum(), burst),
        all_searches=within(table["kept"].sum(), burst),
    )
    many = table["exam_texts"] >= BURST
    mostly = table["exam_searches"] * 10 >= table["all_searches"] * _BURST_SHARE
    examined = one_if(many & mostly) if known else one_if(many & (table["asked_by_exam"] == 1))
    return table.mutate(examined=examined).drop(
        "minute", "place", "asked_by_exam", "fresh", "exam_texts", "exam_searches", "all_searches"
    )


def count_searches(prepared: Any) -> Any:
    """Return one row of counts: what the log holds, and how many searches satisfy each rule.

    A search is one query id of one client. `no_click` counts every one that satisfies the rule, `no_click_open`
    those among them that were still being typed and so are no candidates.
    """
    search = prepared["kind"] == "search"
    own = prepared["examined"] == 0
    counted = prepared["counted"] == 1
    return prepared.aggregate(
        search_rows=one_if(search).sum(),
        facet_rows=one_if(search & prepared["size_zero"]).sum(),
        blank_rows=one_if(search & (prepared["norm"] == "")).sum(),
        unknown_rows=one_if(search & prepared["n_results"].isnull()).sum(),
        empty_rows=one_if(search & (prepared["n_results"] == 0)).sum(),
        click_rows=one_if(prepared["kind"] == "click").sum(),
        ask_rows=one_if(prepared["kind"] == "ask").sum(),
        searches=prepared["counted"].sum(),
        clicked=one_if(counted & (prepared["key_clicks"] > 0)).sum(),
        examined=(prepared["kept"] * prepared["examined"]).sum(),
        unfinished=prepared["unfinished"].sum(),
        zero_result=one_if((prepared["zero"] == 1) & own).sum(),
        no_click=one_if((prepared["no_click"] == 1) & own).sum(),
        no_click_open=one_if((prepared["no_click"] == 1) & (prepared["unfinished"] == 1) & own).sum(),
        good=one_if((prepared["good"] == 1) & own).sum(),
    )


def count_days(prepared: Any) -> Any:
    """Return how many searches there were each day, the evaluation's own left out: `day` in seconds since 1970."""
    at = seconds(prepared["time"])
    table = prepared.filter((prepared["examined"] == 0) & prepared["time"].notnull())
    return table.mutate(day=at - at % DAY).group_by("day").aggregate(searches=table["counted"].sum()).order_by("day")


def failed_texts(prepared: Any, rules: Collection[str] = ("zero-result", "no-click")) -> Any:
    """Return one row for each text whose search failed: its first failed search and how often it was asked.

    Columns: query, norm, application, event_id, time, asker, file, offset, n_results, asked (finished
    searches with this text), zero_times, no_click_times.
    """
    zero = prepared["zero"] if "zero-result" in rules else prepared["zero"] * 0
    finished = 1 - prepared["unfinished"]
    no_click = prepared["no_click"] * finished if "no-click" in rules else prepared["no_click"] * 0
    table = prepared.mutate(
        zero=zero, no_click=no_click, finished=finished, place=prepared["application"].fill_null("")
    )
    table = table.filter((table["kept"] == 1) & (table["examined"] == 0) & (table["finished"] == 1))
    table = table.mutate(failed=one_if((table["zero"] == 1) | (table["no_click"] == 1)))
    text = [table["place"], table["norm"]]
    table = table.mutate(
        asked=within(table["weight"].sum(), text),
        zero_times=within((table["zero"] * table["weight"]).sum(), text),
        no_click_times=within((table["no_click"] * table["weight"]).sum(), text),
        first=place_in(table, [*text, table["failed"]]),
    )
    table = table.filter((table["failed"] == 1) & (table["first"] == 0))
    return table.select(
        "query", "norm", "application", "event_id", "time", "asker", "file", "offset", "n_results", "asked",
        "zero_times", "no_click_times",
    ).order_by([ibis.desc("asked"), "norm", "event_id"])  # fmt: skip


def reformulated_visits(prepared: Any, distinct: int = DISTINCT) -> Any:
    """Return the finished searches and clicks of every visit with at least so many different searches, in order.

    `opens` is 1 on the first row of each visit: ids of sessions stay where they are. `search_place` is the same for
    a search and its clicks. Whether the searches are about one need is for whoever reads them to tell.
    """
    table = prepared.filter(prepared["examined"] == 0)
    table = table.mutate(counts=table["kept"] * (1 - table["unfinished"]))
    again = place_in(table, [*columns_of(table, VISIT), table["norm"], table["counts"]])
    table = table.mutate(fresh=one_if((table["counts"] == 1) & (again == 0)))
    table = table.mutate(distinct=within(table["fresh"].sum(), columns_of(table, VISIT)))
    table = table.filter((table["distinct"] >= distinct) & ((table["counts"] == 1) | (table["kind"] == "click")))
    visit = columns_of(table, VISIT)
    table = table.mutate(
        opens=one_if(place_in(table, visit) == 0),
        number=place_in(table, visit),
    )
    own = ibis.ifelse(table["counts"] == 1, table["number"], ibis.null("int64"))
    table = table.mutate(search_place=within(own.max(), columns_of(table, (*VISIT, *SEARCH))))
    return table.order_by([*VISIT, "time", "rank", "event_id"]).select(
        "opens", "number", "search_place", "time", "event_id", "kind", "query", "norm", "application", "asker",
        "document", "file", "offset",
    )  # fmt: skip


def asked_after_search(prepared: Any, pace: Pace) -> Any:
    """Return each person's search and the question to people that followed within minutes, in two rows, in order.

    Only the last finished search before a question and the first question after it count.
    """
    table = prepared.filter(
        (prepared["examined"] == 0)
        & prepared["person"].notnull()
        & ((prepared["kind"] == "ask") | ((prepared["kept"] == 1) & (prepared["unfinished"] == 0)))
    )
    table = table.mutate(is_search=one_if(table["kind"] == "search"))
    table = table.mutate(pair=so_far(table["is_search"], table, [table["person"]]))
    table = table.mutate(nth=place_in(table, columns_of(table, ("person", "pair", "is_search"))))
    table = table.filter(table["nth"] == 0)
    pair = columns_of(table, ("person", "pair"))
    at = seconds(table["time"])
    table = table.mutate(
        searched_at=within((at * table["is_search"]).sum(), pair),
        asked_at=within((at * (1 - table["is_search"])).sum(), pair),
        both=within(table["is_search"].count(), pair),
        searches=within(table["is_search"].sum(), pair),
    )
    table = table.filter(
        (table["both"] == 2) & (table["searches"] == 1) & (table["asked_at"] - table["searched_at"] <= pace.ask_gap)
    )
    return table.order_by(["person", "pair", "time", "rank", "event_id"]).select(
        "kind", "time", "event_id", "query", "norm", "application", "asker", "key_clicks", "file", "offset"
    )


def good_searches(prepared: Any) -> Any:
    """Return the searches that did not fail, numbered from 0 in order, to draw a sample from."""
    table = prepared.filter((prepared["good"] == 1) & (prepared["examined"] == 0))
    return table.mutate(number=place_in(table, [])).select(
        "number", "query", "norm", "application", "event_id", "time", "asker", "file", "offset", "weight"
    )


def rule_expressions(events: Any, pace: Pace | None = None, *, exam: Collection[str] = ()) -> dict[str, Any]:
    """Return every expression that mining a table of search events may run, by name."""
    pace = pace or Pace()
    prepared, _ = prepare_events(events, pace, exam=exam)
    return {
        "counts": count_searches(prepared),
        "days": count_days(prepared),
        "failed": failed_texts(prepared),
        "reformulation": reformulated_visits(prepared),
        "search-then-ask": asked_after_search(prepared, pace),
        "control": good_searches(prepared),
    }
