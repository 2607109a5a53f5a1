"""How fast a Slack export is scanned, beside the time orjson takes to parse its JSON.

Builds an export of invented chatter in the real shape, of which one or two messages in a hundred are candidates,
and lets the sides take turns: parsing every day file, scanning (parse, threads, rules) in one process, and as
`findback mine` does it, with two further processes that read. Wall time and the peak of memory are printed; redaction
is not part of it.

    python benchmarks/chat_scan.py [--megabytes 200] [--rounds 3]
"""

# ruff: noqa: PLC0415 - each side loads only what it needs
import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import orjson

SIDES = ("parse", "scan", "scan2")
NAMES = {
    "parse": "orjson: every day file parsed, nothing kept",
    "scan": "findback: parse, threads and rules, one process",
    "scan2": "findback: the same, two processes read",
}
CHATTER = (
    "the a i you we it to of and in is that for on with this was be are not have just so but do at if my your "
    "will can what or from all me up out like get think know good now time make yes no ok yeah lunch meeting "
    "today tomorrow build deploy branch merge review ticket server client release sprint board design looks great "
    "sounds fine sure maybe later morning back home train coffee weekend agree should would could need going done "
    "working test prod staging api cache queue log metric alert rollback customer call team plan update number "
    "graph budget quarter roadmap feature flag bug fix patch version library upgrade config value key token "
    "session account order shipping box office floor printer desk "
)
WORDS = CHATTER.split()
ASKED = (
    "can't find the runbook for {}",
    "anyone know where the {} docs are?",
    "is there a guide for {}",
    "{} is broken again?",
)
DOCUMENTS = tuple(f"guide-{number}" for number in range(200))


def main() -> None:
    """Build the export, let the sides take turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--export", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(run(options.side, options.export)))
        return
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / "export"
        size, messages = build(export, options.megabytes * 1_000_000)
        print(f"{size / 1e6:,.0f} MB, {messages:,} messages")
        results: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
        for _ in range(options.rounds):
            for side in SIDES:
                command = [sys.executable, __file__, "--side", side, "--export", str(export)]
                results[side].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        base, base_cpu = (statistics.median(result[key] for result in results["parse"]) for key in ("seconds", "cpu"))
        for side in SIDES:
            seconds = statistics.median(result["seconds"] for result in results[side])
            cpu = statistics.median(result["cpu"] for result in results[side])
            last = results[side][-1]
            print(
                f"{NAMES[side]:50} {seconds:7.2f} s ({seconds / base:.2f}x)  CPU {cpu:7.2f} s ({cpu / base_cpu:.2f}x)  "
                f"peak {last['peak']:6.0f} MB  candidates {last['found']:,.0f} ({last['found'] / messages:.1%})"
            )


def run(side: str, export: Path) -> dict[str, float]:
    """Return wall and CPU seconds, peak memory and how much one side found."""
    work = {"parse": parse, "scan": lambda path: scan(path, 1), "scan2": lambda path: scan(path, 2)}[side]
    if side != "parse":
        import findback.mining.threads
        import findback.sources.chat.slack  # noqa: F401
    started, cpu = time.perf_counter(), _cpu()
    found = work(export)
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": time.perf_counter() - started,
        "cpu": _cpu() - cpu,
        # The children are alike, and only the larger one's peak is told.
        "peak": (own + (2 * children if side == "scan2" else 0)) / 1024,
        "found": found,
    }


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def parse(export: Path) -> int:
    """Parse every day file and return 0, for nothing is looked for."""
    for path in sorted(export.glob("*/*.json")):
        orjson.loads(path.read_bytes())
    return 0


def scan(export: Path, processes: int) -> int:
    """Return how many candidates the rules find."""
    from findback.corpus.corpus import corpus_of
    from findback.mining.cues import Cues
    from findback.mining.links import LinkResolver
    from findback.mining.screen import Screen
    from findback.mining.threads import ThreadRules, ThreadSettings
    from findback.model.document import Document
    from findback.sources.chat import slack
    from findback.sources.format import SourceOptions

    cues = Cues()
    corpus = corpus_of(Document(name, name) for name in DOCUMENTS)
    resolver = LinkResolver(corpus, patterns=["https://docs.example.org/{document}"])
    screen = Screen(cues, hosts=resolver.hosts())
    reading = slack.read(export, SourceOptions(screen=screen, processes=processes))
    rules = ThreadRules(resolver, cues, ThreadSettings(until=reading.until))
    return sum(1 for _ in rules.find(reading.threads or ()))


def build(folder: Path, size: int) -> tuple[int, int]:
    """Write an export of at least so many bytes; return its bytes and messages."""
    lot = random.Random(5)
    users = [f"U{number:08X}" for number in range(400)]
    people = [{"id": user, "name": user.lower(), "real_name": user, "profile": {}} for user in users]
    channels, written, messages = [], 0, 0
    while written < size:
        name = f"team-{len(channels)}"
        channels.append({"id": f"C{len(channels):08X}", "name": name})
        (folder / name).mkdir(parents=True)
        at = 1_700_000_000.0
        for day in range(28):
            posts = []
            for _ in range(100):
                at += lot.random() * 700
                posts += conversation(lot, users, at)
            messages += len(posts)
            raw = orjson.dumps(posts)
            written += len(raw)
            (folder / name / f"2023-11-{day + 1:02d}.json").write_bytes(raw)
    (folder / "users.json").write_bytes(orjson.dumps(people))
    (folder / "channels.json").write_bytes(orjson.dumps(channels))
    return written, messages


def conversation(lot: random.Random, users: list[str], at: float) -> list[dict[str, object]]:
    """Return a message, and replies where there are any."""
    kind, ts = lot.random(), f"{at:.6f}"
    if kind < 0.1:
        return [
            {
                "subtype": "bot_message",
                "text": sentence(lot),
                "username": "ci",
                "type": "message",
                "ts": ts,
                "bot_id": "B1",
            }
        ]
    if kind < 0.6:
        return [message(lot, lot.choice(users), ts, sentence(lot))]
    asker = lot.choice(users)
    failed = lot.random()
    text = lot.choice(ASKED).format(lot.choice(WORDS)) if failed < 0.03 else sentence(lot)
    replies = [
        message(lot, lot.choice(users), f"{at + 30 * number:.6f}", sentence(lot), thread_ts=ts, parent_user_id=asker)
        for number in range(1, lot.randint(2, 5))
    ]
    if failed < 0.06:
        replies[0]["text"] = f"see <https://docs.example.org/{lot.choice(DOCUMENTS)}>"
    parent = message(lot, asker, ts, text, thread_ts=ts, reply_count=len(replies), latest_reply=replies[-1]["ts"])
    return [parent, *replies]


def sentence(lot: random.Random) -> str:
    """Return a few words of chatter."""
    return " ".join(lot.choices(WORDS, k=lot.randint(3, 22)))


def message(lot: random.Random, user: str, ts: str, text: str, **more: object) -> dict[str, object]:
    """Return a message with everything Slack puts into one today."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {
        "user": user,
        "type": "message",
        "ts": ts,
        "client_msg_id": str(uuid.UUID(int=lot.getrandbits(128))),
        "text": text,
        "team": "T01234567",
        "user_team": "T01234567",
        "source_team": "T01234567",
        "user_profile": {
            "avatar_hash": "g12345678",
            "image_72": "https://avatars.example.org/2023-11-01/1234567890_72.png",
            "first_name": "Ida",
            "real_name": "Ida Torvund",
            "display_name": "ida",
            "team": "T01234567",
            "name": "ida",
            "is_restricted": False,
            "is_ultra_restricted": False,
        },
        "blocks": [{"type": "rich_text", "block_id": "aB3", "elements": [section]}],
        **more,
    }


if __name__ == "__main__":
    main()
