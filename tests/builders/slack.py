"""Slack exports in the shape the real ones have."""

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PACIFIC = timedelta(hours=-7)
"""Day files are cut at US Pacific time, whatever zone anybody lives in."""
START = 1_788_238_800
"""2026-09-01 05:00 UTC, which is still August in the day files."""


def stamp(seconds: float) -> str:
    """Return a Slack time stamp so many seconds after the start of every built export."""
    return f"{START + seconds:.6f}"


class SlackExport:
    """An export being put together."""

    def __init__(self) -> None:
        self.lists: dict[str, list[dict[str, Any]]] = {"channels.json": [], "users.json": []}
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}

    def person(
        self, identity: str, real: str, handle: str, *, deleted: bool = False, bot: bool = False, **profile: str
    ) -> str:
        profile = {"real_name": real, "display_name": handle, "email": f"{handle}@example.org", **profile}
        self.lists["users.json"].append(
            {"id": identity, "name": handle, "deleted": deleted, "is_bot": bot, "real_name": real, "profile": profile}
        )
        return identity

    def channel(
        self, identity: str, name: str, *, file: str = "channels.json", folder: str | None = None, **more: Any
    ) -> str:
        self.lists.setdefault(file, []).append({"id": identity, "name": name, "members": [], **more})
        folder = folder or name
        self.messages.setdefault(folder, [])
        return folder

    def post(
        self, folder: str, user: str | None, seconds: float, text: str, *, thread: str | None = None, **more: Any
    ) -> str:
        ts = stamp(seconds)
        message: dict[str, Any] = {"type": "message", "text": text, "ts": ts}
        if user is not None:
            message["user"] = user
        if thread is not None:
            message["thread_ts"] = thread
        message.update(more)
        self.messages.setdefault(folder, []).append(message)
        return ts

    def members(self) -> dict[str, bytes]:
        """Return every file of the export by name."""
        files = {name: json.dumps(entries).encode() for name, entries in self.lists.items()}
        for folder, messages in self.messages.items():
            days: dict[str, list[dict[str, Any]]] = {}
            for message in messages:
                days.setdefault(pacific_day(message["ts"]), []).append(message)
            for day, held in days.items():
                files[f"{folder}/{day}.json"] = json.dumps(held).encode()
        return files | self.files

    def write(self, folder: Path) -> Path:
        for name, content in self.members().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder

    def zip(self, path: Path, *, below: str = "") -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.members().items():
                archive.writestr(below + name, content)
        return path


def pacific_day(ts: Any) -> str:
    return (datetime.fromtimestamp(float(ts), UTC) + PACIFIC).strftime("%Y-%m-%d")


def small_export() -> SlackExport:
    """Return two people and one help channel."""
    export = SlackExport()
    export.person("U1AAAA", "Ida Torvund", "ida")
    export.person("U2BBBB", "Bo Quiroz", "bo")
    export.channel("C1HELP", "help-network")
    return export
