"""A Slack workspace export: lists, and a folder of day files for each channel."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from shapes.people import People, mail_of
from shapes.texts import Texts, address_of, hexadecimal, identity, letters

TEAM = identity("T", "team")
_WORKSPACE = "https://tidewick-lines.slack.com"
_WRITTEN = (2026, 3, 21, 4, 0, 0)
_EDITED_EVERY = 19
_UNFURLED_EVERY = 4
_KINDS = {"public": ("C", "channels.json"), "private": ("G", "groups.json"), "direct": ("D", "dms.json")}


def pacific_day(ts: str) -> str:
    """Return the day of a time stamp on the US Pacific coast, where Slack cuts its files.

    >>> pacific_day("1770105599.000000"), pacific_day("1770105600.000000")
    ('2026-02-02', '2026-02-03')
    """
    at = datetime.fromtimestamp(int(ts.partition(".")[0]), UTC)
    spring = datetime(at.year, 3, 8 + (5 - date(at.year, 3, 7).weekday()) % 7, 10, tzinfo=UTC)
    autumn = datetime(at.year, 11, 1 + (5 - date(at.year, 10, 31).weekday()) % 7, 9, tzinfo=UTC)
    hours = 7 if spring <= at < autumn else 8
    return (at - timedelta(hours=hours)).date().isoformat()


class SlackExport:
    """Puts conversations into the shape Slack exports them in."""

    def __init__(self, people: People, titles: Mapping[str, str], texts: Texts) -> None:
        self.people = people
        self.titles = titles
        self.texts = texts
        self.channels = {entry["name"]: _channel_id(entry) for entry in people.channels}
        self.days: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.members: dict[str, set[str]] = {name: set() for name in self.channels}
        self.starts: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.count = 0

    def add(self, conversations: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Write the conversations, and yield the truth of each."""
        self.starts = {entry["id"]: self._ts(entry["id"], 0, _time(entry["at"])) for entry in conversations}
        self.places = {entry["id"]: self.channels[entry["in"]] for entry in conversations}
        for entry in conversations:
            yield self._add(entry)
        for name in self.channels:
            self._join(name)

    def zipped(self) -> bytes:
        """Return the archive."""
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in self._files():
                info = zipfile.ZipInfo(name, _WRITTEN)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o600 << 16
                archive.writestr(info, json.dumps(value, ensure_ascii=False, indent=4))
        return held.getvalue()

    def _files(self) -> Iterator[tuple[str, Any]]:
        users = [self._user(entry) for entry in (*self.people.staff, *self.people.bots)]
        yield "users.json", [user for user in users if user]
        for audience, (_, file) in _KINDS.items():
            listed = [entry for entry in self.people.channels if entry.get("audience", "public") == audience]
            yield file, [self._channel(entry) for entry in listed]
        yield "integration_logs.json", [
            {"user_id": self._id("wren"), "user_name": "wren", "date": "1769900000", "change_type": "added",
             "app_type": "Harbour Portal", "app_id": identity("A", "portal"), "scope": "bot,chat:write"}
        ]  # fmt: skip
        for (folder, day), messages in sorted(self.days.items()):
            yield f"{folder}/{day}.json", sorted(messages, key=lambda message: message["ts"])

    def _add(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        channel, at, written = entry["in"], _time(entry["at"]), []
        for number, said in enumerate(entry["say"]):
            minutes, who, text, *rest = said if isinstance(said[0], int | float) else (0, *said)
            at += timedelta(minutes=minutes)
            ts = self._ts(entry["id"], number, at)
            written.append(self._message(channel, who.removeprefix("{bot}"), text, ts, rest[0] if rest else {}))
        if not entry.get("flat"):
            self._thread(written)
        if entry.get("lost"):
            written = written[1:]
        for _, message in written:
            self._file(channel, message)
        truth = entry["truth"]
        asked = written[truth.get("query", 0)]
        where = self.channels[channel]
        return {
            "source": "slack",
            "id": f"{where}:{asked[1]['ts']}",
            "thread": f"{where}:{self.starts[entry['id']]}",
            "query": asked[0],
            "rule": truth.get("rule") or ("not read" if "unread" in truth else "not a failure"),
            "documents": truth.get("docs", []),
            "why": truth.get("not") or truth.get("unread"),
        }

    def _message(
        self, channel: str, who: str, text: str, ts: str, extra: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        self.count += 1
        place = f"{self.channels[channel]}:{ts}"
        filled = self.texts.fill(text, "slack", place, self._write, _escape)
        person = self.people.by_handle[who]
        message: dict[str, Any] = {"type": "message", "text": filled.source, "ts": ts}
        if person in self.people.bots and not person.get("as_user"):
            message |= {"subtype": "bot_message", "bot_id": identity("B", who), "username": person["name"]}
        else:
            self.members[channel].add(who)
            message |= {"user": self._id(who), "team": TEAM}
        if person in self.people.staff:
            message |= {
                "client_msg_id": _uuid(ts), "user_team": TEAM, "source_team": TEAM, "user_profile": _profile(person),
            }  # fmt: skip
        if extra.get("blocks") or self.count % 3 == 0:
            element = {"type": "rich_text_section", "elements": [{"type": "text", "text": filled.shown}]}
            message["blocks"] = [{"type": "rich_text", "block_id": letters(5, ts), "elements": [element]}]
            message["text"] = "" if extra.get("blocks") else message["text"]
        if "edited" in extra or (self.count % _EDITED_EVERY == 0 and "user" in message):
            by = self._id(extra["edited"]) if "edited" in extra else message["user"]
            message["edited"] = {"user": by, "ts": f"{int(ts[:10]) + 41}.000000"}
        if "file" in extra:
            message["files"] = [self._upload(extra["file"], ts)]
        if "react" in extra:
            message["reactions"] = [
                {"name": name, "users": [self._id(user) for user in users], "count": len(users)}
                for name, users in extra["react"].items()
            ]
        if extra.get("broadcast"):
            message["subtype"] = "thread_broadcast"
        if "{doc " in text and self.count % _UNFURLED_EVERY == 0:
            message["attachments"] = [self._unfurl(text)]
        return filled.shown, message

    def _thread(self, written: Sequence[tuple[str, dict[str, Any]]]) -> None:
        parent, *replies = (message for _, message in written)
        if not replies:
            return
        who = list(dict.fromkeys(reply.get("user") or reply["bot_id"] for reply in replies))
        parent |= {
            "thread_ts": parent["ts"],
            "reply_count": len(replies),
            "reply_users_count": len(who),
            "latest_reply": replies[-1]["ts"],
            "reply_users": who,
            "replies": [{"user": r.get("user") or r["bot_id"], "ts": r["ts"]} for r in replies],
            "is_locked": False,
            "subscribed": False,
        }
        for reply in replies:
            reply["thread_ts"] = parent["ts"]
            if "user" in parent:
                reply["parent_user_id"] = parent["user"]
            if reply.get("subtype") == "thread_broadcast":
                reply["root"] = {key: parent[key] for key in ("type", "user", "text", "ts", "thread_ts", "reply_count")}

    def _file(self, channel: str, message: dict[str, Any]) -> None:
        entry = next(entry for entry in self.people.channels if entry["name"] == channel)
        folder = self.channels[channel] if entry.get("audience") == "direct" else channel
        self.days.setdefault((folder, pacific_day(message["ts"])), []).append(message)

    def _join(self, channel: str) -> None:
        entry = next(entry for entry in self.people.channels if entry["name"] == channel)
        for number, who in enumerate(sorted(self.members[channel]) if entry.get("audience") != "direct" else ()):
            ts, user = f"17699{40000 + 60 * number}.{number:06}", self._id(who)
            text = f"<@{user}> has joined the channel"
            self._file(channel, {"type": "message", "subtype": "channel_join", "user": user, "text": text, "ts": ts})

    def _write(self, word: str, rest: str) -> str | None:
        if word.startswith("@"):
            who = word[1:].removesuffix("|")
            return f"<@{self._id(who)}|{who}>" if word.endswith("|") else f"<@{self._id(who)}>"
        if word == "doc":
            url, label = address_of(rest)
            return f"<{url}|{label}>" if label else f"<{url}>"
        if word == "post":
            return f"<{_WORKSPACE}/archives/{self.places[rest]}/p{self.starts[rest].replace('.', '')}>"
        written = {"here": "<!here>", "channel": "<!channel>", "url": f"<{rest}>"}
        written |= dict.fromkeys(("mail", "email"), f"<mailto:{rest}|{rest}>")
        return written.get(word)

    def _unfurl(self, text: str) -> dict[str, Any]:
        url, _ = address_of(text.partition("{doc ")[2].partition("}")[0])
        path = url.partition("example.org/")[2].partition("?")[0].partition("#")[0].strip("/").removesuffix(".md")
        title = self.titles.get(f"{path}.md", "Harbour")
        return {"id": 1, "from_url": url, "original_url": url, "service_name": "Harbour", "title": title,
                "title_link": url, "fallback": f"Harbour: {title}"}  # fmt: skip

    def _upload(self, name: str, ts: str) -> dict[str, Any]:
        number, kind = identity("F", ts), name.rpartition(".")[2]
        return {"id": number, "name": name, "title": name, "filetype": kind, "mimetype": f"image/{kind}",
                "mode": "hosted", "url_private": f"https://files.slack.com/files-pri/{TEAM}-{number}"}  # fmt: skip

    def _user(self, entry: Mapping[str, Any]) -> dict[str, Any] | None:
        bot = entry in self.people.bots
        if bot and not entry.get("as_user"):
            return None
        mail = {} if bot else {"email": mail_of(entry)}
        return {
            "id": self._id(entry["handle"]), "team_id": TEAM, "name": entry["handle"],
            "deleted": entry.get("gone", False), "real_name": entry["name"], "tz": entry.get("tz"),
            "profile": {**_profile(entry), "title": entry.get("title", ""), "phone": entry.get("phone", ""), **mail},
            "is_bot": bot, "is_admin": entry["handle"] == "yusuf", "updated": 1769900000,
        }  # fmt: skip

    def _channel(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        number = self.channels[entry["name"]]
        if entry.get("audience") == "direct":
            return {"id": number, "created": 1750000000, "members": [self._id(who) for who in entry["between"]]}
        return {
            "id": number, "name": entry["name"], "created": 1735000000, "creator": self._id("wren"),
            "is_archived": False, "is_general": entry["name"] == "announcements",
            "members": [self._id(who) for who in sorted(self.members[entry["name"]])],
            "topic": {"value": "", "creator": "", "last_set": 0},
            "purpose": {"value": entry["purpose"], "creator": self._id("wren"), "last_set": 1735000000},
            "previous_names": [entry["formerly"][0]] if "formerly" in entry else [], "pins": [],
        }  # fmt: skip

    def _id(self, who: str) -> str:
        return identity("U", who)

    def _ts(self, conversation: str, number: int, at: datetime) -> str:
        return f"{int(at.timestamp())}.{letters(6, conversation, number, alphabet='0123456789')}"


def _channel_id(entry: Mapping[str, Any]) -> str:
    return identity(_KINDS[entry.get("audience", "public")][0], "channel", entry["name"])


def _profile(entry: Mapping[str, Any]) -> dict[str, Any]:
    first, _, last = entry["name"].partition(" ")
    return {"real_name": entry["name"], "display_name": entry["handle"], "first_name": first, "last_name": last,
            "name": entry["handle"], "team": TEAM}  # fmt: skip


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _uuid(ts: str) -> str:
    digits = hexadecimal(32, "message", ts)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
