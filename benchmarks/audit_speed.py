"""How long the wording figures of 100,000 pairs of 2 kB take, beside the article's own functions.

Every side is a process of its own (the full audit has a child measure half), reads the same JSON Lines file and
writes nothing but a checksum. Sides take turns; the table gives medians and ratios.

    python benchmarks/audit_speed.py [--pairs 100000] [--rounds 3]
"""

import argparse
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate, islice
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src/findback"
SIDES = ("article", "findback-article", "findback-audit")
NAMES = {
    "article": "the article's functions",
    "findback-article": "the articles' figures, findback",
    "findback-audit": "full audit, findback (windows, stems, floors, intervals)",
}


def main() -> None:
    """Make the pairs, let the sides take turns, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(RUN[options.side](options.file))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        write_pairs(file, options.pairs)
        print_table(file, options.rounds)


def print_table(file: Path, rounds: int) -> None:
    """Time every side in turn and print medians, and ratios to the article."""
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    worked: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            started, before = time.perf_counter(), children_cpu()
            command = [sys.executable, __file__, "--side", side, "--file", str(file)]
            checksum = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            seconds[side].append(time.perf_counter() - started)
            worked[side].append(children_cpu() - before)
            print(f"  {side}: {seconds[side][-1]:.2f} s, {worked[side][-1]:.2f} s CPU, {checksum}", file=sys.stderr)
    reference = statistics.median(seconds["article"])
    print("| side | median s | article's time over it | CPU s |\n|---|---|---|---|")
    for side in SIDES:
        taken = statistics.median(seconds[side])
        print(f"| {NAMES[side]} | {taken:.2f} | {reference / taken:.1f} | {statistics.median(worked[side]):.2f} |")


def children_cpu() -> float:
    """Return the CPU seconds of all processes that have ended, their own children included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_pairs(file: Path, pairs: int) -> None:
    """Write pairs of a query and a gold text of about 2,000 characters, words as frequent as in English."""
    import wordfreq  # noqa: PLC0415 -- only this side pays for it

    chance = random.Random(0)
    listed = wordfreq.top_n_list("en", 60_000, ascii_only=True)
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(listed))))
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(pairs):
            gold = chance.choices(listed, cum_weights=weights, k=360)
            asked = chance.sample(gold, 6) + chance.choices(listed, cum_weights=weights, k=6)
            pair = {"query": " ".join(asked) + "?", "gold_chunk": ". ".join(gold[:5]) + " " + " ".join(gold[5:])}
            lines.write(json.dumps(pair) + "\n")


def run_article(file: Path) -> str:
    """Compute both figures the way the articles print it."""
    import wordfreq  # noqa: PLC0415 -- only this side pays for it

    listed = (SOURCE / "measure/data/article_stop_words.txt").read_text(encoding="utf-8")
    stop = set(listed.splitlines()[-1].split())
    common = frozenset(wordfreq.top_n_list("en", 3000))

    def tokens(text: str) -> set[str]:
        return {token for token in re.findall(r"[a-z0-9_]+", text.lower()) if token not in stop and len(token) > 2}

    def rare(text: str) -> set[str]:
        return {word for word in re.findall(r"[a-z]{5,}", text.lower()) if word not in common}

    overlaps, leaks = [], []
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            asked, lifted = tokens(row["query"]), rare(row["query"])
            overlaps.append(len(asked & tokens(row["gold_chunk"])) / len(asked) if asked else 0.0)
            leaks.append(len(lifted & rare(row["gold_chunk"])) / max(len(lifted), 1))
    return f"{statistics.fmean(overlaps):.6f} {statistics.fmean(leaks):.6f}"


def read_pairs(file: Path, count: int | None = None) -> Iterator[tuple[list[str], list[str]]]:
    """Yield queries and gold texts, `count` at a time, or all at once."""
    import orjson  # noqa: PLC0415 -- only this side pays for it

    with file.open("rb") as lines:
        while rows := [orjson.loads(line) for line in islice(lines, count)]:
            yield [row["query"] for row in rows], [row["gold_chunk"] for row in rows]


def run_findback_article(file: Path) -> str:
    """Compute the same two figures with findback."""
    from findback.measure.article import as_printed_by_article, measure_article_figures  # noqa: PLC0415 -- only here

    overlap, leak = [], []
    for queries, golds in read_pairs(file, 500):
        figures = measure_article_figures(queries, golds)
        overlap += as_printed_by_article(figure.overlap for figure in figures)
        leak += as_printed_by_article(figure.leak for figure in figures)
    return f"{statistics.fmean(overlap):.6f} {statistics.fmean(leak):.6f}"


def run_findback_audit(file: Path) -> str:
    """Measure the whole set: windows, stems, document frequencies, chance floors, both articles' figures, intervals."""
    from findback.measure.halves import Corpus, measure_large_set  # noqa: PLC0415 -- only this side pays for it
    from findback.measure.wordings import Wording  # noqa: PLC0415 -- only this side pays for it
    from findback.measure.yardstick import choose_window  # noqa: PLC0415 -- only this side pays for it
    from findback.steps.wording import Unit, yardsticks  # noqa: PLC0415 -- only this side pays for it

    ((queries, golds),) = read_pairs(file)
    window = choose_window([len(gold) for gold in golds]).window or 1
    wordings = [Wording(query, gold, at) for at, (query, gold) in enumerate(zip(queries, golds, strict=True))]
    measured = measure_large_set(wordings, Corpus(golds), window=window, seed=0, processes=2)
    units = [Unit(str(at), str(at)) for at in range(len(wordings))]
    shown = [yard.figures.mean for yard in yardsticks(measured.rows, measured.articles, units, 0)]
    return f"{', '.join(f'{mean.value:.4f} [{mean.low:.4f}, {mean.high:.4f}]' for mean in shown)}, window {window}"


RUN = {
    "article": run_article,
    "findback-article": run_findback_article,
    "findback-audit": run_findback_audit,
}

if __name__ == "__main__":
    main()
