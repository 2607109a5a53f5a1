"""A small Slack export, and a portal whose page may read it again to show what stood behind a placeholder."""

import json
import zipfile
from pathlib import Path

from builders.portal import write_portal
from findback.workspace import Workspace, open_workspace

SITE = "https://docs.example.org"
ASKED = "how do i get in from home with grafana@tool.example, ask Minh Tran?"


def rows(asked: str, secret: str) -> list[dict[str, str]]:
    said = [("1790003600.000100", "U2", asked), ("1790003660.000100", "U1", f"<{SITE}/howto/vpn/> not with {secret}")]
    said.append(("1790003720.000100", "U2", "thanks, that was it"))
    return [
        {"type": "message", "ts": ts, "user": user, "text": text, "thread_ts": said[0][0]} for ts, user, text in said
    ]


def write_slack(place: Path, asked: str = ASKED, secret: str = "nothing", *, packed: bool) -> Path:
    files = {
        "users.json": [
            {"id": "U1", "name": "minh.tran", "profile": {"real_name": "Minh Tran", "email": "minh@example.org"}},
            {"id": "U2", "name": "anja.roth", "profile": {"real_name": "Anja Roth", "email": "anja@example.org"}},
        ],
        "channels.json": [{"id": "C1", "name": "help-desk"}],
        "help-desk/2026-09-21.json": rows(asked, secret),
    }
    place.parent.mkdir(parents=True, exist_ok=True)
    if packed:
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, json.dumps(content))
        return place
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(json.dumps(content))
    return place


def open_portal(folder: Path, export: Path, *, packed: bool, settings: str = "") -> tuple[Workspace, Path]:
    """Write the portal and its export, with a secret in it; return both, nothing mined yet."""
    extra = f"base_url = '{SITE}/'\n[mining]\nnames = false\n[review]\nshow_original = true\noverlap = 0.0\n{settings}"
    root = write_portal(folder / "portal", extra)
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)})
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    return workspace, write_slack(export, secret=secret, packed=packed)
