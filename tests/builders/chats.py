"""Exports of Teams, Discord, Mattermost and Zulip in the shape the real ones have."""

import json
from pathlib import Path
from typing import Any

CHANNEL = "19:help@thread.tacv2"
CHAT = "19:abc@thread.v2"


def teams_message(identity: str, user: str | None, minute: int, html: str, **more: Any) -> dict[str, Any]:
    """Return a message as Microsoft Graph gives it; in the help channel unless `chatId` says otherwise."""
    message: dict[str, Any] = {
        "id": identity,
        "replyToId": None,
        "etag": identity,
        "messageType": "message",
        "createdDateTime": f"2026-09-01T09:{minute:02d}:00.123Z",
        "lastModifiedDateTime": f"2026-09-01T09:{minute:02d}:00.123Z",
        "lastEditedDateTime": None,
        "deletedDateTime": None,
        "subject": None,
        "importance": "normal",
        "locale": "en-us",
        "from": {"application": None, "device": None, "user": {"id": user, "displayName": f"Name of {user}"}},
        "body": {"contentType": "html", "content": html},
        "attachments": [],
        "mentions": [],
        "reactions": [],
    }
    if user is None:
        message["from"] = {"application": {"id": "app1", "displayName": "Flow"}, "device": None, "user": None}
    if "chatId" not in more:
        message["channelIdentity"] = {"teamId": "team1", "channelId": CHANNEL}
    return message | more


def teams_mention(number: int, user: str) -> dict[str, Any]:
    name = f"Name of {user}"
    return {"id": number, "mentionText": name, "mentioned": {"user": {"id": user, "displayName": name}}}


def teams_channel(membership: str = "standard", *, title: str = "Help desk", identity: str = CHANNEL) -> dict[str, Any]:
    return {"id": identity, "displayName": title, "membershipType": membership, "description": None}


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_lines(path: Path, values: list[Any]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def discord_message(identity: str, author: str, minute: int, content: str, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "type": "Reply" if "reference" in more else "Default",
        "timestamp": f"2026-09-01T11:{minute:02d}:00+02:00",
        "timestampEdited": None,
        "callEndedTimestamp": None,
        "isPinned": False,
        "content": content,
        "author": {
            "id": author,
            "name": f"user{author}",
            "discriminator": "0000",
            "nickname": f"Nick {author}",
            "isBot": author.startswith("9"),
            "roles": [],
        },
        "attachments": [],
        "embeds": [],
        "stickers": [],
        "reactions": [],
        "mentions": [],
        **more,
    }


def discord_channel(
    messages: list[dict[str, Any]],
    *,
    identity: str = "500",
    name: str = "help",
    kind: str = "GuildTextChat",
    **more: Any,
) -> dict[str, Any]:
    channel = {"id": identity, "type": kind, "categoryId": "400", "category": "Support", "name": name, "topic": None}
    return {
        "guild": {"id": "1", "name": "Acme", "iconUrl": ""},
        "channel": channel | more,
        "dateRange": {"after": None, "before": None},
        "exportedAt": "2026-09-02T00:00:00+02:00",
        "messages": messages,
        "messageCount": len(messages),
    }


def mattermost_export(posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a bulk export with an open and a private channel."""
    return [
        {"type": "version", "version": 1},
        {"type": "team", "team": {"name": "acme", "display_name": "Acme", "type": "O"}},
        {"type": "channel", "channel": {"team": "acme", "name": "help", "display_name": "Help desk", "type": "O"}},
        {"type": "channel", "channel": {"team": "acme", "name": "core", "display_name": "Core", "type": "P"}},
        {
            "type": "user",
            "user": {"username": "ida", "email": "ida@example.org", "first_name": "Ida", "last_name": "Torvund",
                     "nickname": "", "auth_data": "x", "delete_at": 0},
        },
        {"type": "user", "user": {"username": "bo", "email": "bo@example.org", "first_name": "Bo", "delete_at": 5}},
        *posts,
    ]  # fmt: skip


def mattermost_post(channel: str, user: str, at: int, message: str, *replies: dict[str, Any]) -> dict[str, Any]:
    post = {"team": "acme", "channel": channel, "user": user, "message": message, "create_at": at, "edit_at": 0}
    return {"type": "post", "post": post | {"replies": list(replies), "reactions": []}}


def zulip_realm() -> dict[str, Any]:
    return {
        "zerver_realm": [{"id": 1, "name": "Acme"}],
        "zerver_userprofile": [
            {"id": 11, "full_name": "Ida Torvund", "email": "user11@example.org", "delivery_email": "ida@example.org",
             "is_bot": False, "is_active": True},
            {"id": 12, "full_name": "Bo Quiroz", "email": "bo@example.org", "is_bot": False, "is_active": False},
            {"id": 13, "full_name": "Notifier", "email": "n@example.org", "is_bot": True, "is_active": True},
        ],
        "zerver_stream": [
            {"id": 71, "name": "help", "invite_only": False},
            {"id": 72, "name": "core", "invite_only": True},
        ],
        "zerver_recipient": [
            {"id": 1, "type": 1, "type_id": 11},
            {"id": 2, "type": 2, "type_id": 71},
            {"id": 3, "type": 2, "type_id": 72},
            {"id": 4, "type": 3, "type_id": 1},
        ],
    }  # fmt: skip


def zulip_message(identity: int, sender: int, recipient: int, subject: str, content: str) -> dict[str, Any]:
    return {
        "id": identity,
        "sender": sender,
        "recipient": recipient,
        "subject": subject,
        "content": content,
        "rendered_content": f"<p>{content}</p>",
        "date_sent": 1_788_246_000.25 + identity,
        "edit_history": None,
        "last_edit_time": None,
    }
