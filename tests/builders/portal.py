"""A small portal with a set and real queries, for steps and the command line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGES = {
    "runbooks/ingest.md": "# Ingest worker\n\nThe ingest worker applies exponential backoff on 429 from the vendor.",
    "runbooks/deploy.md": "# Deploy pipeline\n\nThe deploy pipeline pauses when a canary health check fails twice.",
    "howto/vpn.md": "# VPN\n\nInstall the tunnel client, then enrol the device certificate.",
    "howto/badge.md": "# Badge\n\nA lost badge is blocked at the reception desk within the hour.",
    "policies/leave.md": "# Leave\n\nAnnual leave is requested in the calendar and approved by the team lead.",
    "policies/travel.md": "# Travel\n\nTrains are booked in second class; flights need approval.",
}

GOLDEN = [
    ("g1", "What exponential backoff does the ingest worker apply on 429?", ["runbooks/ingest.md"]),
    ("g2", "When does the deploy pipeline pause after a canary health check?", ["runbooks/deploy.md"]),
    ("g3", "How to install the tunnel client and enrol the device certificate?", ["howto/vpn.md"]),
    ("g4", "Where is a lost badge blocked at the reception desk?", ["howto/badge.md"]),
    ("g5", "Who approves annual leave requested in the calendar?", ["policies/leave.md"]),
    ("g6", "In which class are trains booked and do flights need approval?", ["policies/travel.md"]),
]

ASKED = [
    ("r1", "why does the job keep hammering the api", ["runbooks/ingest.md"]),
    ("r2", "release stuck again", ["runbooks/deploy.md"]),
    ("r3", "cant get in from home", ["howto/vpn.md"]),
    ("r4", "cant find my card for the door", ["howto/badge.md"]),
    ("r5", "how do i book time off", ["policies/leave.md"]),
    ("r6", "is business class ok", ["policies/travel.md"]),
]


def write_pages(folder: Path, pages: Mapping[str, str] = PAGES) -> Path:
    """Write Markdown pages and return their folder."""
    for name, text in pages.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def write_set(file: Path, rows: Sequence[tuple[str, str, list[str]]], **more: Any) -> Path:
    """Write a set as JSON Lines and return its file."""
    lines = [json.dumps({"id": id_, "query": query, "gold": gold} | more) for id_, query, gold in rows]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def write_portal(folder: Path, settings: str = "") -> Path:
    """Write documents, a golden set, real queries and findback.toml; return the folder."""
    write_pages(folder / "docs")
    write_set(folder / "golden.jsonl", GOLDEN)
    write_set(folder / "asked.jsonl", ASKED)
    (folder / "findback.toml").write_text(f"[corpus]\npath = 'docs'\n{settings}", "utf-8")
    return folder
