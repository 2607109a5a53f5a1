"""Search logs: UBI queries and events as NDJSON, and the CSV that Read the Docs offers."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from shapes.texts import Texts, hexadecimal, letters

_APPLICATION = "harbour-portal"
_FACETS = json.dumps({"size": 0, "aggs": {"subject": {"terms": {"field": "subject"}}}})


class UbiLog:
    """Writes sessions as UBI 1.3 records."""

    def __init__(self, documents: Sequence[str], texts: Texts) -> None:
        self.documents = documents
        self.texts = texts
        self.rows: list[dict[str, Any]] = []

    def add(self, sessions: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Write the sessions, and yield the truth of their searches."""
        for number, entry in enumerate(sessions):
            yield from self._add(number, entry)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the log, in the order of time."""
        for row in sorted(self.rows, key=lambda row: row["timestamp"]):
            yield json.dumps(row, ensure_ascii=False)

    def _add(self, number: int, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        at = datetime.fromisoformat(entry["at"]).replace(tzinfo=UTC)
        client = "portal-uptime-monitor" if entry["who"] == "bot" else f"CLIENT-{hexadecimal(16, entry['who'])}"
        common = {"application": _APPLICATION, "client_id": client}
        session = f"SESSION-{hexadecimal(12, 'session', number)}"
        asked: dict[int, tuple[str, str]] = {}
        last: dict[str, Any] = {}
        for step, (kind, value, *rest) in enumerate(entry["do"]):
            if kind == "click":
                at += timedelta(seconds=9)
                searched = self._event(common, session, last, at)
                self.rows.append(self._click(searched, value, rest[0]))
                continue
            typing = step > 0 and entry["do"][step - 1][0] == "prefix"
            at += timedelta(seconds=2 if typing else 31)
            query = hexadecimal(20, "query", number, step)
            text = self.texts.fill(value, "ubi", query, lambda word, rest: None).shown
            clicked = [row[2] for row in entry["do"][step + 1 :] if row[0] == "click"]
            last = {
                **common, "query_id": query, "user_query": text, "object_id_field": "path", "timestamp": _moment(at),
                "query_response_id": hexadecimal(20, "response", number, step),
                "query_attributes": {"page_size": 10},
            }  # fmt: skip
            if kind == "facet":
                last |= {"query": _FACETS, "query_response_hit_ids": []}
            elif kind != "unknown":
                last["query_response_hit_ids"] = self._hits(rest[0], text, clicked)
            asked[step] = query, text
            self.rows.append(last)
            if kind == "search":
                self.rows.append(self._event(common, session, last, at))
        for step, rule, what in entry["truth"]:
            query, text = asked[step]
            yield {
                "source": "ubi",
                "id": query,
                "query": text,
                "rule": rule or "not a failure",
                "documents": what if rule else [],
                "why": None if rule else what,
            }

    def _event(self, common: Mapping[str, Any], session: str, query: Mapping[str, Any], at: datetime) -> dict[str, Any]:
        return {
            **common, "action_name": "search", "query_id": query["query_id"], "session_id": session,
            "timestamp": _moment(at), "message_type": "INFO", "user_query": query["user_query"],
            "event_attributes": {"browser": "Firefox 140"},
        }  # fmt: skip

    def _click(self, search: Mapping[str, Any], position: int, path: str) -> dict[str, Any]:
        opened = {
            "object": {"object_id": path, "object_id_field": "path"},
            "position": {"ordinal": position},
        }
        return {**search, "action_name": "click", "event_attributes": {**search["event_attributes"], **opened}}

    def _hits(self, count: int, text: str, clicked: Sequence[str]) -> list[str]:
        """Return so many paths, the one that is opened next among them."""
        ranked = sorted(self.documents, key=lambda path: letters(8, text, path))
        return [*clicked, *(path for path in ranked if path not in clicked)][:count]


class DocsSearches:
    """Writes searches as the CSV of Read the Docs."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.rows: list[tuple[str, str, int]] = []

    def add(self, searches: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Write the searches, and yield the truth of each; its id is the line of the file."""
        for number, (at, query, results, what) in enumerate(searches):
            place = str(number + 2)
            text = self.texts.fill(query, "readthedocs", place, lambda word, rest: None).shown
            self.rows.append((at, text, results))
            failed = isinstance(what, list)
            yield {
                "source": "readthedocs",
                "id": place,
                "query": text,
                "rule": "zero-result" if failed else "not a failure",
                "documents": what if failed else [],
                "why": None if failed else what,
            }

    def text(self) -> str:
        """Return the file."""
        held = io.StringIO()
        writer = csv.writer(held)
        writer.writerow(("Created Date", "Query", "Total Results"))
        writer.writerows(self.rows)
        return held.getvalue()


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
