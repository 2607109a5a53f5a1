"""Slack's Web API, as far as a bot that reads needs it: pages, cursors, windows, threads, pace and refusals."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from builders.loopback import Answer, Asked


class SlackWorkspace:
    """A workspace that answers like Slack."""

    def __init__(self, token: str, *, page: int = 2) -> None:
        self.token = token
        self.page = page
        self.users: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.messages: dict[str, list[dict[str, Any]]] = {}
        """Everything said in a channel, replies included."""
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.counted: Counter[str] = Counter()
        self.pace: dict[int, str] = {}
        """Numbers of calls that are answered with 429, and their Retry-After."""
        self.before: Callable[[str, dict[str, str]], None] = lambda method, form: None
        """Is told of each call before it is answered."""

    def person(self, identity: str, real: str, handle: str, **more: Any) -> None:
        profile = {"real_name": real, "email": f"{handle}@example.org"}
        self.users.append({"id": identity, "name": handle, "profile": profile, **more})

    def channel(self, identity: str, name: str, **more: Any) -> None:
        self.channels.append({"id": identity, "name": name, "is_channel": True, "is_member": True, **more})
        self.messages[identity] = []

    def post(self, channel: str, ts: str, user: str, text: str, thread: str | None = None, **more: Any) -> str:
        """Say something, in a thread where one is named."""
        message: dict[str, Any] = {"type": "message", "ts": ts, "user": user, "text": text, **more}
        if thread is not None:
            message["thread_ts"] = thread
        self.messages[channel].append(message)
        return ts

    def delete(self, channel: str, ts: str) -> None:
        """Delete a message; one with replies leaves a tombstone."""
        for at, message in enumerate(self.messages[channel]):
            if message["ts"] == ts:
                if self._replies(channel, ts):
                    self.messages[channel][at] = {
                        "type": "message",
                        "subtype": "tombstone",
                        "text": "This message was deleted.",
                        "user": "USLACKBOT",
                        "hidden": True,
                        "ts": ts,
                    }
                else:
                    del self.messages[channel][at]
                return

    def answer(self, asked: Asked) -> Answer:
        """Answer a call."""
        method = asked.path.rpartition("/")[2]
        self.calls.append((method, asked.form))
        self.counted[method] += 1
        self.before(method, asked.form)
        wait = self.pace.get(len(self.calls))
        if wait is not None:
            return Answer({"ok": False, "error": "ratelimited"}, 429, (("Retry-After", wait),))
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answer({"ok": False, "error": "invalid_auth"})
        methods: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
            "users.list": lambda form: self._paged("members", self.users, form),
            "conversations.list": self._list,
            "conversations.history": self._history,
            "conversations.replies": self._thread,
        }
        return Answer(methods[method](asked.form) if method in methods else {"ok": False, "error": "unknown_method"})

    def _list(self, form: dict[str, str]) -> dict[str, Any]:
        types = form.get("types", "public_channel").split(",")
        listed = [one for one in self.channels if _type_of(one) in types]
        return self._paged("channels", listed, form)

    def _history(self, form: dict[str, str]) -> dict[str, Any]:
        channel = self._channel(form["channel"])
        if channel is None or not channel["is_member"]:
            return {"ok": False, "error": "channel_not_found" if channel is None else "not_in_channel"}
        low, high = float(form.get("oldest", 0)), float(form.get("latest", "inf"))
        top = [
            self._with_counts(form["channel"], one)
            for one in self.messages[form["channel"]]
            if one.get("thread_ts") in (None, one["ts"]) or one.get("subtype") == "thread_broadcast"
        ]
        listed = [one for one in top if low <= float(one["ts"]) <= high]
        return self._paged("messages", sorted(listed, key=lambda one: -float(one["ts"])), form)

    def _thread(self, form: dict[str, str]) -> dict[str, Any]:
        held = self.messages[form["channel"]]
        parent = next((one for one in held if one["ts"] == form["ts"]), None)
        if parent is None:
            return {"ok": False, "error": "thread_not_found"}
        thread = [self._with_counts(form["channel"], parent), *self._replies(form["channel"], form["ts"])]
        return self._paged("messages", thread, form)

    def _with_counts(self, channel: str, message: dict[str, Any]) -> dict[str, Any]:
        replies = self._replies(channel, message["ts"])
        if not replies:
            return message
        latest = max(replies, key=lambda one: float(one["ts"]))["ts"]
        authors = list(dict.fromkeys(one["user"] for one in replies))
        counted = {"reply_count": len(replies), "reply_users": authors, "latest_reply": latest}
        return {**message, "thread_ts": message["ts"], **counted}

    def _replies(self, channel: str, ts: str) -> list[dict[str, Any]]:
        return [one for one in self.messages[channel] if one.get("thread_ts") == ts and one["ts"] != ts]

    def _channel(self, identity: str) -> dict[str, Any] | None:
        return next((one for one in self.channels if one["id"] == identity), None)

    def _paged(self, key: str, listed: list[dict[str, Any]], form: dict[str, str]) -> dict[str, Any]:
        at = int(form["cursor"].removeprefix("at:")) if form.get("cursor") else 0
        size = min(self.page, int(form.get("limit", 100)))
        following = f"at:{at + size}" if at + size < len(listed) else ""
        return {
            "ok": True,
            key: listed[at : at + size],
            "has_more": bool(following),
            "response_metadata": {"next_cursor": following},
        }


def _type_of(channel: dict[str, Any]) -> str:
    for flag, kind in (("is_im", "im"), ("is_mpim", "mpim"), ("is_private", "private_channel")):
        if channel.get(flag):
            return kind
    return "public_channel"
