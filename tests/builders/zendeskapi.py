"""Zendesk's API, as far as a reader needs it: the incremental export by cursor, audits, users, pace and refusals."""

from base64 import b64encode
from typing import Any

from builders.loopback import Answer, Asked

SITE = "https://docs.example.org"


class ZendeskAccount:
    """An account that answers like Zendesk."""

    def __init__(self, user: str, token: str, *, page: int = 2) -> None:
        self.authorization = f"Basic {b64encode(f'{user}/token:{token}'.encode()).decode()}"
        self.page = page
        self.users: dict[int, dict[str, Any]] = {}
        self.log: list[dict[str, Any]] = []
        """Tickets in the order they changed: one that changes again stands there twice."""
        self.events: dict[int, list[dict[str, Any]]] = {}
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.pace: dict[int, str] = {}
        """Numbers of calls that are answered with 429, and their Retry-After."""
        self.forgotten: set[str] = set()
        """Cursors that are no longer known."""
        self.forbidden: set[str] = set()
        """Paths the token may not ask for."""
        self.repeats = 0
        """Rows of the page before that each page begins with."""

    def person(self, number: int, name: str, role: str = "end-user") -> None:
        self.users[number] = {"id": number, "name": name, "email": f"u{number}@example.org", "role": role}

    def ticket(self, number: int, asker: int, agent: int, words: str, page: str, at: str, **more: Any) -> None:
        """Put a ticket on the log that an agent answered with a page and solved."""
        ticket = {
            "id": number,
            "subject": f"Ticket {number}",
            "raw_subject": f"Ticket {number}",
            "description": words,
            "status": "solved",
            "requester_id": asker,
            "submitter_id": asker,
            "assignee_id": agent,
            "group_id": 7,
            "tags": [],
            "created_at": f"{at}T08:00:00Z",
            "updated_at": f"{at}T10:00:00Z",
        }
        self.log.append(ticket | more)
        self.events[number] = [
            _audit(number, 1, asker, f"{at}T08:00:00Z", _comment(number, 1, asker, words)),
            _audit(
                number,
                2,
                agent,
                f"{at}T09:00:00Z",
                _comment(number, 2, agent, f"Please see {SITE}/{page}"),
                {"id": number * 100 + 9, "type": "Change", "field_name": "status", "value": "solved"},
            ),
        ]

    def answer(self, asked: Asked) -> Answer:
        """Answer a call."""
        path = asked.path.removeprefix("/api/v2/")
        self.calls.append((path, asked.query))
        wait = self.pace.get(len(self.calls))
        if wait is not None:
            return Answer({"error": "TooManyRequests"}, 429, (("Retry-After", wait),))
        if asked.headers.get("authorization") != self.authorization:
            return Answer({"error": "Couldn't authenticate you"}, 401)
        if path in self.forbidden:
            return Answer({"error": "Forbidden"}, 403)
        if path == "incremental/tickets/cursor.json":
            return self._export(asked.query)
        if path == "users.json":
            return Answer({"users": [one for one in self.users.values() if one["role"] != "end-user"], "meta": {}})
        if path == "users/show_many.json":
            named = [int(one) for one in asked.query["ids"].split(",")]
            return Answer({"users": [self.users[one] for one in named if one in self.users]})
        number = int(path.split("/")[1])
        if number not in self.events:
            return Answer({"error": "RecordNotFound"}, 404)
        return self._audits(number, asked.query)

    def _export(self, query: dict[str, str]) -> Answer:
        if query.get("cursor") in self.forgotten:
            return Answer({"error": "InvalidCursor"}, 400)
        at = int(query["cursor"].removeprefix("c")) if "cursor" in query else 0
        rows = self.log[max(0, at - self.repeats) : at + self.page]
        after = min(at + self.page, len(self.log))
        named = {row[key] for row in rows for key in ("requester_id", "assignee_id")}
        return Answer(
            {
                "tickets": rows,
                "users": [self.users[one] for one in sorted(named)],
                "groups": [{"id": 7, "name": "Desk"}],
                "after_cursor": f"c{after}",
                "end_of_stream": after == len(self.log),
            }
        )

    def _audits(self, number: int, query: dict[str, str]) -> Answer:
        at = int(query.get("page[after]", "0"))
        events = self.events[number]
        meta = {"has_more": at + 1 < len(events), "after_cursor": str(at + 1)}
        return Answer({"audits": events[at : at + 1], "meta": meta})


def _comment(number: int, at: int, author: int, words: str) -> dict[str, Any]:
    identity = number * 100 + at
    return {"id": identity, "type": "Comment", "author_id": author, "body": words, "plain_body": words, "public": True}


def _audit(number: int, at: int, author: int, moment: str, *events: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": number * 1000 + at,
        "ticket_id": number,
        "author_id": author,
        "created_at": moment,
        "events": list(events),
        "via": {"channel": "web"},
    }
