"""The rules for search logs once more, in plain Python over rows: what every engine must agree with."""

from collections import defaultdict
from itertools import pairwise

ORDER = {"search": 0, "impression": 1, "click": 2, "ask": 3}


def order(row):
    return (row["time"], ORDER.get(row["kind"], 9), row["event_id"])


def second(row):
    return int((row["time"].replace(microsecond=0) - row["time"].min).total_seconds())


def prepare(rows, *, visit_gap=1800, typing_gap=30):  # noqa: C901 - one plain pass after the other
    """Return searches and clicks with visit, key, kept, unfinished, zero and no_click, in order."""
    rows = [dict(row) for row in rows]
    sessions = {}
    shown = defaultdict(int)
    for row in rows:
        if row.get("session") and row.get("query_id"):
            key = (row["query_id"], row.get("client") or "")
            sessions[key] = max(sessions.get(key, ""), row["session"])
        if row["kind"] == "impression" and row.get("query_id"):
            shown[(row["query_id"], row.get("client") or "")] += 1
    acts = sorted((row for row in rows if row["kind"] in {"search", "click", "ask"}), key=order)
    last, number, turn, leader = {}, defaultdict(int), defaultdict(int), {}
    for row in acts:
        row["norm"] = (row.get("query") or "").lower().strip(" ").replace("¦", "")
        row["visible"] = row["kind"] == "search" and row["norm"] != "" and not row.get("size_zero")
        session = row.get("session") or sessions.get((row.get("query_id"), row.get("client") or ""))
        actor = row.get("client") or session or row.get("person") or "event " + row["event_id"]
        row["teller"] = actor
        when, where = last.get(actor, (None, None))
        if when is None or second(row) - when > visit_gap or (session and where and session != where):
            number[actor] += 1
        last[actor] = (second(row), session)
        row["visit"] = (actor, number[actor])
        turn[row["visit"]] += row["visible"]
        row["place"] = (row["visit"], turn[row["visit"]])
        if row["visible"] and row.get("query_id"):
            leader[row["place"]] = row["query_id"]
    groups, tells = defaultdict(list), defaultdict(int)
    for row in acts:
        named = row.get("query_id") or leader.get(row["place"])
        row["key"] = ("id", row.get("client") or "", named) if named else row["place"]
        groups[row["key"]].append(row)
        tells[row["teller"]] += row["kind"] == "click"
    for key, members in groups.items():
        visible = [row for row in members if row["visible"]]
        clicks = sum(row["kind"] == "click" for row in members)
        for row in members:
            row["kept"] = bool(visible) and row is visible[-1]
            row["key_clicks"] = clicks
            row["key_hits"] = any((other.get("n_results") or 0) > 0 for other in visible)
            row["key_shown"] = shown.get((key[2], key[1]), 0) if key[0] == "id" else 0
            row["client_clicks"] = tells[row["teller"]]
    visits = defaultdict(list)
    for row in acts:
        row["unfinished"] = row["zero"] = row["no_click"] = False
        if row["kept"]:
            visits[row["visit"]].append(row)
    for kept in visits.values():
        for row, following in pairwise(kept):
            one, two = row["norm"], following["norm"]
            typed = one != two and (two.startswith(one) or (one.startswith(two) and " " not in one[len(two) :]))
            row["unfinished"] = second(following) - second(row) <= typing_gap and typed
    for row in acts:
        if row["kept"]:
            hits = row.get("n_results")
            row["zero"] = not row["unfinished"] and hits == 0 and not row["key_hits"]
            answered = (hits or 0) > 0 or (hits is None and row["key_shown"] > 0)
            row["no_click"] = answered and row["client_clicks"] > 0 and row["key_clicks"] == 0
    return acts


def counts(acts):
    searches = {row["key"] for row in acts if row["kind"] == "search"}
    clicked = {row["key"] for row in acts if row["kind"] == "search" and row["key_clicks"]}
    return {
        "searches": len(searches),
        "clicked": len(clicked),
        "unfinished": sum(row["unfinished"] for row in acts),
        "zero_result": sum(row["zero"] for row in acts),
        "no_click": sum(row["no_click"] for row in acts),
        "no_click_open": sum(row["no_click"] and row["unfinished"] for row in acts),
    }


def failed(acts):
    """Return {(application, text): (asked, zero times, no-click times, id of the first failed search)}."""
    texts = defaultdict(list)
    for row in acts:
        if row["kept"] and not row["unfinished"]:
            texts[(row.get("application") or "", row["norm"])].append(row)
    found = {}
    for text, rows in texts.items():
        bad = [row for row in rows if row["zero"] or row["no_click"]]
        if bad:
            found[text] = (
                len(rows),
                sum(r["zero"] for r in rows),
                sum(r["no_click"] for r in rows),
                bad[0]["event_id"],
            )
    return found


def reformulated(acts, distinct=3):
    """Return the event ids of searches and clicks in visits with so many different searches."""
    texts = defaultdict(set)
    for row in acts:
        if row["kept"] and not row["unfinished"]:
            texts[row["visit"]].add(row["norm"])
    wanted = {visit for visit, seen in texts.items() if len(seen) >= distinct}
    return [
        row["event_id"]
        for row in acts
        if row["visit"] in wanted and (row["kind"] == "click" or (row["kept"] and not row["unfinished"]))
    ]
