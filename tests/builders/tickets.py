"""Ticket exports in the shape real systems give them, with invented people."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

KB = "https://kb.example.org/articles"


def written(path: Path, value: Any) -> Path:
    """Write JSON, or text and bytes as they are, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def lines_of(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def zendesk_ticket(number: int = 7, **changed: Any) -> dict[str, Any]:
    return {
        "id": number,
        "url": f"https://acme.zendesk.example.org/api/v2/tickets/{number}.json",
        "subject": "VPN",
        "raw_subject": "VPN",
        "description": "I cannot get into the VPN from my new phone",
        "status": "closed",
        "requester_id": 501,
        "submitter_id": 501,
        "assignee_id": 900,
        "group_id": 33,
        "brand_id": 1,
        "tags": ["vpn"],
        "via": {"channel": "email"},
        "created_at": "2024-05-03T08:00:00Z",
        "updated_at": "2024-05-04T08:00:00Z",
        "is_public": True,
    } | changed


def zendesk_comment(
    number: int, author: int, html: str, *, public: bool = True, at: str | None = None, **more: Any
) -> dict[str, Any]:
    made = {
        "id": number,
        "type": "Comment",
        "author_id": author,
        "html_body": html,
        "public": public,
        "attachments": [],
    }
    return made | ({"created_at": at} if at else {}) | more


def zendesk_audit(
    number: int, ticket: int, author: int, at: str, *events: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "id": number,
        "ticket_id": ticket,
        "author_id": author,
        "created_at": at,
        "metadata": {"system": {}},
        "via": {"channel": "web"},
        "events": list(events),
    } | more


def zendesk_status(value: str, before: str | None = None) -> dict[str, Any]:
    return {"id": 1, "type": "Change" if before else "Create", "field_name": "status", "value": value} | (
        {"previous_value": before} if before else {}
    )


def zendesk_solved(ticket: int = 7, link: str = f"{KB}/vpn-phone") -> list[dict[str, Any]]:
    """Return the audits of a ticket that an agent answered with a link and then solved."""
    return [
        zendesk_audit(
            1,
            ticket,
            501,
            "2024-05-03T08:00:00Z",
            zendesk_status("new"),
            zendesk_comment(11, 501, "<p>I cannot get into the VPN from my new phone</p>"),
        ),
        zendesk_audit(
            2,
            ticket,
            900,
            "2024-05-03T09:30:00Z",
            zendesk_comment(12, 900, f'<p>Please see <a href="{link}">VPN on phones</a>.</p>'),
            zendesk_status("solved", "new"),
        ),
        zendesk_audit(
            3, ticket, -1, "2024-05-07T09:30:00Z", zendesk_status("closed", "solved"), via={"channel": "rule"}
        ),
    ]


ZENDESK_USERS = [
    {"id": 501, "name": "Ida Okafor", "email": "ida@example.org", "role": "end-user", "phone": None, "active": True},
    {"id": 900, "name": "Ben Sorel", "email": "ben@example.org", "role": "agent", "phone": None, "active": True},
]


def adf(*blocks: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "version": 1, "content": list(blocks)}


def adf_paragraph(*inline: Mapping[str, Any] | str) -> dict[str, Any]:
    parts = [{"type": "text", "text": part} if isinstance(part, str) else dict(part) for part in inline]
    return {"type": "paragraph", "content": parts}


def adf_link(text: str, href: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "marks": [{"type": "link", "attrs": {"href": href}}]}


def jira_person(account: str, name: str, kind: str = "atlassian") -> dict[str, Any]:
    return {"accountId": account, "displayName": name, "accountType": kind, "active": True}


def jira_issue(key: str = "HELP-12", **changed: Any) -> dict[str, Any]:
    """Return an issue that was answered with a link and resolved."""
    ida, ben = jira_person("qm:1", "Ida Okafor", "customer"), jira_person("5b:2", "Ben Sorel")
    fields = {
        "summary": "No access to the wiki",
        "description": adf(adf_paragraph("I cannot open the wiki since Monday")),
        "status": {"name": "Done", "statusCategory": {"key": "done"}},
        "resolution": {"name": "Done"},
        "resolutiondate": "2024-05-03T12:00:00.000+0200",
        "reporter": ida,
        "creator": ida,
        "assignee": ben,
        "created": "2024-05-03T10:00:00.000+0200",
        "updated": "2024-05-03T12:00:00.000+0200",
        "labels": ["access"],
        "project": {"key": "HELP", "name": "Help desk"},
        "issuetype": {"name": "Service request"},
        "issuelinks": [],
        "comment": {
            "comments": [
                {
                    "id": "101",
                    "author": ben,
                    "body": adf(adf_paragraph("See ", {"type": "inlineCard", "attrs": {"url": f"{KB}/wiki-access"}})),
                    "created": "2024-05-03T11:00:00.000+0200",
                    "updated": "2024-05-03T11:00:00.000+0200",
                    "jsdPublic": True,
                }
            ],
            "total": 1,
        },
    }
    return {
        "id": "10012",
        "key": key,
        "self": f"https://jira.example.org/rest/api/3/issue/{key}",
        "fields": fields | changed,
        "changelog": {
            "histories": [
                {
                    "id": "1",
                    "author": ben,
                    "created": "2024-05-03T12:00:00.000+0200",
                    "items": [
                        {"field": "status", "fromString": "Open", "toString": "Done"},
                        {"field": "resolution", "fromString": None, "toString": "Done"},
                    ],
                }
            ]
        },
    }


def github_user(login: str, kind: str = "User") -> dict[str, Any]:
    return {"login": login, "id": 1, "type": kind, "site_admin": False}


def github_issue(number: int = 5, **changed: Any) -> dict[str, Any]:
    return {
        "url": f"https://api.github.com/repos/acme/kb/issues/{number}",
        "repository_url": "https://api.github.com/repos/acme/kb",
        "html_url": f"https://github.com/acme/kb/issues/{number}",
        "id": 1000 + number,
        "number": number,
        "title": "How do I rotate the key?",
        "user": github_user("ida-o"),
        "labels": [{"id": 1, "name": "question"}],
        "state": "closed",
        "state_reason": "completed",
        "comments": 1,
        "created_at": "2024-05-03T08:00:00Z",
        "closed_at": "2024-05-03T12:00:00Z",
        "closed_by": github_user("ben-s"),
        "author_association": "NONE",
        "body": "I looked everywhere.\r\n",
    } | changed


def github_comment(number: int, issue: int, login: str, body: str | None, **changed: Any) -> dict[str, Any]:
    return {
        "url": f"https://api.github.com/repos/acme/kb/issues/comments/{number}",
        "html_url": f"https://github.com/acme/kb/issues/{issue}#issuecomment-{number}",
        "issue_url": f"https://api.github.com/repos/acme/kb/issues/{issue}",
        "id": number,
        "user": github_user(login),
        "created_at": "2024-05-03T09:00:00Z",
        "updated_at": "2024-05-03T09:00:00Z",
        "author_association": "MEMBER",
        "body": body,
    } | changed


def github_discussion(number: int = 9, **changed: Any) -> dict[str, Any]:
    return {
        "number": number,
        "id": f"D_{number}",
        "title": "Where do limits stand?",
        "body": "I could not find them.",
        "url": f"https://github.com/acme/kb/discussions/{number}",
        "author": {"login": "ida-o"},
        "createdAt": "2024-05-03T08:00:00Z",
        "category": {"name": "Q&A", "isAnswerable": True},
        "isAnswered": True,
        "answer": {"id": "DC_2"},
        "answerChosenAt": "2024-05-03T10:00:00Z",
        "comments": {
            "pageInfo": {"hasNextPage": False},
            "nodes": [
                {
                    "id": "DC_2",
                    "author": {"login": "ben-s"},
                    "body": f"See {KB}/limits",
                    "createdAt": "2024-05-03T09:00:00Z",
                    "isAnswer": True,
                    "replies": {"nodes": []},
                }
            ],
        },
    } | changed


def discourse_post(number: int, username: str, cooked: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": 100 + number,
        "post_number": number,
        "post_type": 1,
        "username": username,
        "name": username.title(),
        "user_id": 10 + number,
        "cooked": cooked,
        "created_at": f"2024-05-03T0{number}:00:00.000Z",
        "reply_to_post_number": None,
        "version": 1,
        "staff": False,
        "accepted_answer": False,
    } | changed


def discourse_topic(number: int = 42, **changed: Any) -> dict[str, Any]:
    posts = [
        discourse_post(1, "ida", "<p>Where do I change my plan?</p>"),
        discourse_post(2, "ben", f'<p>Look at <a href="{KB}/plans">plans</a></p>', staff=True),
    ]
    return {
        "id": number,
        "title": "Change of plan",
        "fancy_title": "Change of plan",
        "posts_count": 2,
        "created_at": "2024-05-03T01:00:00.000Z",
        "archetype": "regular",
        "category_id": 4,
        "tags": ["billing"],
        "post_stream": {"posts": posts, "stream": [101, 102]},
        "accepted_answer": {"post_number": 2, "username": "ben", "excerpt": "Look at plans"},
    } | changed


def stack_row(**values: Any) -> str:
    return "  <row " + " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items()) + " />\n"


def stack_posts(*rows: str) -> str:
    return '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<posts>\n' + "".join(rows) + "</posts>\n"


def stack_question(number: int, **changed: Any) -> str:
    return stack_row(
        **{
            "Id": number,
            "PostTypeId": 1,
            "CreationDate": "2024-05-03T08:00:00.000",
            "Body": "<p>How?</p>\n",
            "OwnerUserId": 21,
            "Title": "How do I join tables?",
            "Tags": "|sql|joins|",
        }
        | changed
    )


def stack_answer(number: int, question: int, **changed: Any) -> str:
    return stack_row(
        **{
            "Id": number,
            "PostTypeId": 2,
            "ParentId": question,
            "CreationDate": "2024-05-03T09:00:00.000",
            "Body": f'<p>See <a href="{KB}/joins">this</a></p>',
            "OwnerUserId": 22,
        }
        | changed
    )


def freshdesk_ticket(number: int = 31, **changed: Any) -> dict[str, Any]:
    return {
        "id": number,
        "subject": "Invoice",
        "description": "<div>Where is my invoice?</div>",
        "description_text": "Where is my invoice?",
        "status": 5,
        "source": 1,
        "requester_id": 61,
        "responder_id": 71,
        "group_id": 8,
        "tags": ["billing"],
        "spam": False,
        "created_at": "2024-05-03T08:00:00Z",
        "stats": {"resolved_at": "2024-05-03T10:00:00Z"},
        "conversations": [
            {
                "id": 2,
                "body": f'<div>See <a href="{KB}/invoices">invoices</a></div>',
                "body_text": "See invoices",
                "incoming": False,
                "private": False,
                "user_id": 71,
                "created_at": "2024-05-03T09:00:00Z",
                "attachments": [{"name": "screen.png"}],
            },
            {
                "id": 3,
                "body": "<div>customer is angry</div>",
                "incoming": False,
                "private": True,
                "user_id": 71,
                "created_at": "2024-05-03T09:10:00Z",
            },
        ],
    } | changed


def intercom_conversation(number: str = "77", **changed: Any) -> dict[str, Any]:
    def part(identity: str, kind: str, author: str, author_kind: str, body: str | None, at: int) -> dict[str, Any]:
        return {
            "type": "conversation_part",
            "id": identity,
            "part_type": kind,
            "body": body,
            "author": {"type": author_kind, "id": author, "email": f"{author}@example.org"},
            "created_at": at,
            "redacted": False,
        }

    return {
        "type": "conversation",
        "id": number,
        "title": "Limits",
        "created_at": 1714723200,
        "state": "closed",
        "open": False,
        "source": {
            "type": "conversation",
            "id": "s1",
            "subject": "",
            "body": "<p>What is the upload limit?</p>",
            "author": {"type": "user", "id": "u1"},
            "redacted": False,
        },
        "contacts": {"type": "contact.list", "contacts": [{"id": "u1"}]},
        "conversation_parts": {
            "conversation_parts": [
                part("p1", "comment", "fin", "bot", f'<p>See <a href="{KB}/wrong">this</a></p>', 1714723260),
                part("p2", "comment", "a1", "admin", f'<p>It is in <a href="{KB}/limits">limits</a></p>', 1714726800),
                part("p3", "note", "a1", "admin", "<p>internal remark</p>", 1714726900),
                part("p4", "close", "a1", "admin", None, 1714727000),
            ]
        },
        "statistics": {"last_closed_by_id": "a1", "count_reopens": 0},
        "ai_agent_participated": True,
        "ai_agent": {
            "resolution_state": "routed_to_team",
            "content_sources": {
                "content_sources": [{"content_type": "article", "title": "Wrong", "url": f"{KB}/wrong"}]
            },
        },
    } | changed


SERVICENOW_HEADER = (
    "number,short_description,description,caller_id,opened_at,state,resolved_by,resolved_at,close_notes,"
    "comments,work_notes,assignment_group"
)


def servicenow_row(**changed: str) -> str:
    cells = {
        "number": "INC0010001",
        "short_description": "Printer offline",
        "description": "The printer on floor 3 is offline",
        "caller_id": "Ida Okafor",
        "opened_at": "2024-05-03 08:00:00",
        "state": "Closed",
        "resolved_by": "Ben Sorel",
        "resolved_at": "2024-05-03 12:00:00",
        "close_notes": "Solved with KB0000042",
        "comments": "2024-05-03 09:00:00 - Ben Sorel (Additional comments)\nPlease try a restart\n\n",
        "work_notes": "2024-05-03 09:05:00 - Ben Sorel (Work notes)\nspare part ordered\n\n",
        "assignment_group": "Printing",
    } | changed
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells.values())
