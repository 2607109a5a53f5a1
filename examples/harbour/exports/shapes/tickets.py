"""A Zendesk export as JSON Lines: pages of users, groups and tickets, then the audits that hold the comments."""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from shapes.people import People, mail_of
from shapes.texts import BASE, Texts, address_of

_GROUP = 360001
_FIRST = 4101
_LINE = "\n"
_ADDRESS = re.compile(r"https?://[^\s<]+[^\s<.,;:!?)]")


class ZendeskExport:
    """Puts tickets into the shape of Zendesk's incremental export and its audits."""

    def __init__(self, people: People, titles: Mapping[str, str], texts: Texts) -> None:
        self.people = people
        self.titles = titles
        self.texts = texts
        self.numbers = {entry["handle"]: 700_100 + at for at, entry in enumerate((*people.staff, *people.customers))}
        self.tickets: list[dict[str, Any]] = []
        self.audits: list[dict[str, Any]] = []

    def add(self, tickets: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Write the tickets, and yield the truth of each."""
        for at, entry in enumerate(tickets):
            yield self._add(_FIRST + at, entry)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the export."""
        users = [self._user(entry) for entry in (*self.people.staff, *self.people.customers)]
        pages: list[dict[str, Any]] = [
            {"users": users},
            {"groups": [{"id": _GROUP, "name": "Customer Desk", "deleted": False}]},
            {"tickets": self.tickets, "count": len(self.tickets), "end_of_stream": True},
            *({"audits": [audit], "count": 1} for audit in self.audits),
        ]
        for page in pages:
            yield json.dumps(page, ensure_ascii=False)

    def _add(self, number: int, entry: Mapping[str, Any]) -> dict[str, Any]:
        at = datetime.fromisoformat(entry["at"]).replace(tzinfo=UTC)
        created, status, tags, asked = at, "new", ["harbour"], ""
        for step, said in enumerate(entry["say"]):
            minutes, who, text, *rest = said if isinstance(said[0], int | float) else (0, *said)
            at += timedelta(minutes=minutes)
            extra = rest[0] if rest else {}
            filled = self.texts.fill(text, "zendesk", str(number), _write)
            asked = asked or filled.shown
            tags += [extra["tag"]] if "tag" in extra else []
            events: list[dict[str, Any]] = [self._comment(number * 100 + step, who, filled.shown, extra)]
            if step == 0:
                events.append({"id": number * 1000, "type": "Create", "field_name": "status", "value": "new"})
            if "status" in extra:
                events.append(
                    {"id": number * 1000 + step, "type": "Change", "field_name": "status",
                     "previous_value": status, "value": extra["status"]}
                )  # fmt: skip
                status = extra["status"]
            if "macro" in extra:
                events.append({"id": number * 1000 + 90, "type": "AgentMacroReference", "macro_id": extra["macro"]})
            if "attach" in extra:
                events.append(self._article(number, extra["attach"]))
            self.audits.append(
                {"id": number * 10_000 + step, "ticket_id": number, "created_at": _moment(at),
                 "author_id": self.numbers.get(who, -1), "via": {"channel": "rule" if who == "rule" else "web"},
                 "metadata": {"system": {}}, "events": events}
            )  # fmt: skip
        self.tickets.append(
            {"id": number, "subject": entry["subject"], "raw_subject": entry["subject"], "description": asked,
             "status": status, "requester_id": self.numbers[entry["from"]],
             "submitter_id": self.numbers[entry["from"]], "assignee_id": self.numbers["hope"], "group_id": _GROUP,
             "tags": tags, "via": {"channel": "email"}, "created_at": _moment(created), "updated_at": _moment(at),
             "is_public": True, "custom_fields": [], "satisfaction_rating": {"score": "unoffered"}}
        )  # fmt: skip
        truth = entry["truth"]
        return {
            "source": "zendesk",
            "id": str(number),
            "query": asked,
            "rule": truth.get("rule", "not a failure"),
            "documents": truth.get("docs", []),
            "why": truth.get("not"),
        }

    def _comment(self, number: int, who: str, text: str, extra: Mapping[str, Any]) -> dict[str, Any]:
        written = html.escape(text, quote=False)
        linked = _ADDRESS.sub(lambda match: f'<a href="{match[0]}">{match[0]}</a>', written)
        paragraphs = "".join(f"<p>{part.replace(_LINE, '<br>')}</p>" for part in linked.split("\n\n"))
        files = (
            [{"id": number, "file_name": extra["file"], "content_type": "application/pdf"}] if "file" in extra else []
        )
        return {
            "id": number, "type": "Comment", "author_id": self.numbers.get(who, -1), "body": text,
            "html_body": f'<div class="zd-comment">{paragraphs}</div>', "plain_body": text,
            "public": not extra.get("private", False), "attachments": files,
        }  # fmt: skip

    def _article(self, number: int, path: str) -> dict[str, Any]:
        article = {"id": number * 7, "title": self.titles[f"{path}.md"], "html_url": BASE + path, "locale": "en-gb"}
        return {"id": number * 1000 + 80, "type": "KnowledgeLinked", "body": {"article": article}}

    def _user(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": self.numbers[entry["handle"]], "name": entry["name"], "email": mail_of(entry),
            "phone": entry.get("phone"), "role": "end-user" if entry in self.people.customers else "agent",
            "active": not entry.get("gone", False), "suspended": False, "created_at": "2024-05-02T08:00:00Z",
        }  # fmt: skip


def _write(word: str, rest: str) -> str | None:
    return address_of(rest)[0] if word == "doc" else None


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
