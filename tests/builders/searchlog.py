"""Search logs in the shapes their products write, about invented people."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def iso(seconds: float) -> str:
    return at(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class UbiLog:
    """A UBI 1.3 export as bulk lines."""

    def __init__(self, application: str = "docs") -> None:
        self.application = application
        self.lines: list[str] = []
        self._number = 0

    def search(
        self,
        seconds: float,
        query: str,
        hits: list[str] | None = None,
        *,
        client: str = "client-a",
        query_id: str | None = None,
        size: int = 20,
        timestamp: object = None,
        attributes: dict[str, object] | None = None,
    ) -> str:
        query_id = query_id or f"q{self._number}"
        record: dict[str, object] = {
            "application": self.application,
            "query_id": query_id,
            "client_id": client,
            "user_query": query,
            "query_attributes": attributes or {},
            "timestamp": iso(seconds) if timestamp is None else timestamp,
            "query": json.dumps({"from": 0, "size": size, "query": {"match": {"title": query}}}),
        }
        if hits is not None:
            record["query_response_hit_ids"] = hits
        self._add("ubi_queries", record)
        return query_id

    def event(
        self,
        seconds: float,
        action: str,
        query_id: str | None,
        document: str | None = None,
        *,
        client: str = "client-a",
        session: str | None = "session-a",
        user: str | None = None,
        timestamp: object = None,
    ) -> None:
        record: dict[str, object] = {
            "application": self.application,
            "action_name": action,
            "client_id": client,
            "timestamp": iso(seconds) if timestamp is None else timestamp,
            "message_type": "INFO",
            "message": "",
            "event_attributes": {"position": {"ordinal": 0}, "object": {"object_id": document}} if document else None,
        }
        if query_id is not None:
            record["query_id"] = query_id
        if session is not None:
            record["session_id"] = session
        if user is not None:
            record["user_id"] = user
        self._add("ubi_events", record)

    def _add(self, index: str, record: dict[str, object]) -> None:
        self.lines += [json.dumps({"index": {"_index": index, "_id": f"e{self._number:04d}"}}), json.dumps(record)]
        self._number += 1

    def write(self, path: Path) -> Path:
        path.write_text("\n".join(self.lines) + "\n", "utf-8")
        return path


def read_the_docs_csv(path: Path, rows: list[tuple[float, str, int | str]]) -> Path:
    """Write (seconds, query, total) rows as Read the Docs exports them."""
    lines = ["Created Date,Query,Total Results"]
    lines += [f'{at(seconds):%Y-%m-%d %H:%M:%S},"{query}",{total}' for seconds, query, total in rows]
    path.write_text("\r\n".join(lines) + "\r\n", "utf-8")
    return path


def json_lines(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def ga4_event(seconds: float, name: str, params: dict[str, str | int], *, client: str = "111.222") -> dict[str, object]:
    """Return one event of a GA4 export table."""
    entries = [
        {
            "key": key,
            "value": {
                "string_value": value if isinstance(value, str) else None,
                "int_value": value if isinstance(value, int) else None,
                "float_value": None,
                "double_value": None,
            },
        }
        for key, value in {"ga_session_id": 77, **params}.items()
    ]
    return {
        "event_date": "20260302",
        "event_timestamp": int(at(seconds).timestamp() * 1_000_000),
        "event_name": name,
        "event_params": entries,
        "user_pseudo_id": client,
        "user_id": None,
        "stream_id": "9001",
        "platform": "WEB",
    }


def solr_line(seconds: float, params: str, hits: int | None, *, path: str = "/select", core: str = "docs") -> str:
    tail = "" if hits is None else f" hits={hits}"
    return (
        f"{at(seconds):%Y-%m-%d %H:%M:%S}.123 INFO  (qtp1-20) [c:{core} s:shard1 r:core_node1 x:{core}] "
        f"o.a.s.c.S.Request webapp=/solr path={path} params={{{params}}}{tail} status=0 QTime=3"
    )


def nginx_line(
    seconds: float,
    target: str,
    *,
    referrer: str = "-",
    agent: str = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
    address: str = "203.0.113.9",
    status: int = 200,
) -> str:
    local = at(seconds) + timedelta(hours=2)
    return (
        f'{address} - - [{local:%d/%b/%Y:%H:%M:%S} +0200] "GET {target} HTTP/1.1" {status} 512 "{referrer}" "{agent}"'
    )


def elastic_event(seconds: float, action: str, query: str, *, session: str = "s1", **more: object) -> dict[str, object]:
    event: dict[str, object] = {
        "@timestamp": iso(seconds),
        "event": {"action": action},
        "session": {"id": session},
        "user": {"id": "u1"},
        "search": {"query": query, "search_application": "handbook"},
    }
    total = more.pop("total", None)
    if total is not None:
        event["search"]["results"] = {"total_results": total, "items": []}  # type: ignore[index]
    return {**event, **more}
