"""Writes Harbour's exports, in the shapes the real systems give them, with the truth beside them.

    python examples/harbour/exports/build.py FOLDER

The folder must lie outside the repository: the exports hold what looks like personal data and secrets.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shapes.people import People
from shapes.searches import DocsSearches, UbiLog
from shapes.slack import SlackExport
from shapes.texts import Texts
from shapes.tickets import ZendeskExport
from shapes.traces import Traces

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
REPOSITORY = HERE.parents[2]
NAMES = {
    "slack": "slack.zip",
    "zendesk": "zendesk.jsonl",
    "ubi": "ubi.ndjson",
    "otel": "traces.jsonl",
    "readthedocs": "readthedocs.csv",
}


def build(folder: Path) -> list[dict[str, Any]]:
    """Write everything into a folder, and return the truth."""
    people, titles = People(HERE / "data" / "people.toml"), read_titles(DOCS)
    texts = Texts(people.rosters())
    slack, zendesk = SlackExport(people, titles, texts), ZendeskExport(people, titles, texts)
    ubi, traces, docs = UbiLog([path.removesuffix(".md") for path in titles], texts), Traces(texts), DocsSearches(texts)
    truth = [
        *slack.add([*read("chat_failures"), *read("chat_others")]),
        *zendesk.add(read("tickets")),
        *ubi.add(read("searches")),
        *traces.add(read("turns")),
        *docs.add(read("docs_searches")),
    ]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(folder / NAMES["slack"], slack.zipped())
    write(folder / NAMES["zendesk"], join(zendesk.lines()))
    write(folder / NAMES["ubi"], join(ubi.lines()))
    write(folder / NAMES["otel"], join(traces.lines()))
    write(folder / NAMES["readthedocs"], docs.text().encode())
    write(folder / "truth.jsonl", join(json.dumps(entry, ensure_ascii=False) for entry in truth))
    write(folder / "planted.jsonl", join(json.dumps(entry, ensure_ascii=False) for entry in texts.planted))
    return truth


def read(name: str) -> list[Any]:
    """Return the records of a data file."""
    return [json.loads(line) for line in (HERE / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def read_titles(docs: Path) -> dict[str, str]:
    """Return the title of every page by its path."""
    titles = {}
    for path in sorted(docs.rglob("*.md")):
        line = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("title: "))
        titles[path.relative_to(docs).as_posix()] = line.removeprefix("title: ").strip('"')
    return titles


def join(lines: Iterable[str]) -> bytes:
    """Return lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def write(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


def main() -> int:
    """Build into the folder that was named, and say what is in it."""
    parser = argparse.ArgumentParser(description="Write Harbour's exports and the truth about them.")
    parser.add_argument("folder", type=Path, help="where to, outside the repository")
    folder = parser.parse_args().folder.resolve()
    if folder.is_relative_to(REPOSITORY):
        print(f"{folder} lies inside the repository {REPOSITORY}: name a folder outside it", file=sys.stderr)
        return 2
    truth = build(folder)
    for source, name in NAMES.items():
        rules = Counter(entry["rule"] for entry in truth if entry["source"] == source)
        others = rules["not a failure"] + rules["not read"]
        print(f"{name:<16} {rules.total() - others:>3} failures, {others:>3} others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
