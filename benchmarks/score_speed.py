"""How fast a run is scored, whole processes, beside pytrec_eval.

Each comparison runs both sides in turn, several times, in processes of their own; medians and their
ratio are printed. Times are wall and processor seconds from start to end of the process, memory is the
peak resident size. Both sides compute RR, nDCG@10, R@100, AP and P@10 and print their means.

    python benchmarks/score_speed.py --queries 10000 --depth 1000 --rounds 3
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

PEER = """
import sys, pytrec_eval
with open(sys.argv[2]) as f: qrels = pytrec_eval.parse_qrel(f)
with open(sys.argv[1]) as f: run = pytrec_eval.parse_run(f)
names = {"recip_rank", "ndcg_cut.10", "recall.100", "map", "P.10"}
found = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
for name in ("recip_rank", "ndcg_cut_10", "recall_100", "map", "P_10"):
    print(name, format(sum(q[name] for q in found.values()) / len(found), ".6f"))
"""
OURS = """
import sys
from pathlib import Path
from findback.evalset.{module} import {reader}
from findback.evalset.trec import read_qrels
from findback.measure.scoring import score
run = {reader}(Path(sys.argv[1])){field}
scores = score(run, read_qrels(Path(sys.argv[2])), ("RR", "nDCG@10", "R@100", "AP", "P@10"))
for name, column in scores.columns.items():
    print(name, format(column.mean, ".6f"))
"""
FROM_FILE = OURS.format(module="runs", reader="load_run", field="")
FROM_TEXT = OURS.format(module="trec", reader="read_run", field=".run")


class Spent(NamedTuple):
    """What one process used."""

    wall: float
    cpu: float
    megabytes: float
    printed: str


def make_data(folder: Path, queries: int, depth: int, documents: int, seed: int) -> None:
    """Write a TREC run `run.trec`, its judgements `qrels`, and the same run as findback keeps it, `run`.

    Results of a query stand in no order; scores have six decimals; a query has one to five right documents,
    most of them returned.
    """
    # Imported here, so that the process that measures the others stays small.
    import numpy as np  # noqa: PLC0415

    from findback.evalset.runs import save_run  # noqa: PLC0415
    from findback.evalset.trec import read_run  # noqa: PLC0415

    draw = np.random.default_rng(seed)
    text, qrels, kept = folder / "run.trec", folder / "qrels", folder / "run"
    with text.open("w") as out, qrels.open("w") as judged:
        for query in range(queries):
            found = draw.permutation(np.unique(draw.integers(documents, size=depth * 2)))[:depth]
            scores = np.sort(draw.gamma(2.0, 5.0, size=depth))[::-1]
            order = draw.permutation(depth)
            out.writelines(f"q{query} Q0 doc{found[at]:07d} {at + 1} {scores[at]:.6f} bench\n" for at in order.tolist())
            places = draw.geometric(0.02, size=int(draw.integers(1, 6))).tolist()
            right = {int(found[min(place, depth) - 1]) for place in places if draw.random() < 0.8}
            right = right or {int(draw.integers(documents))}
            judged.writelines(f"q{query} 0 doc{document:07d} 1\n" for document in sorted(right))
    save_run(read_run(text).run, kept)


def measure(code: str, run: Path, qrels: Path) -> Spent:
    """Run a piece of Python in a process of its own and return what it used."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code, str(run), str(qrels)], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"a process ended with status {process.returncode}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, printed)


def compare(ours: tuple[str, Path], peer: tuple[str, Path], qrels: Path, rounds: int) -> dict[str, float]:
    """Run both sides in turn and return medians and ratios."""
    pairs = []
    for _ in range(rounds):
        pair = measure(peer[0], peer[1], qrels), measure(ours[0], ours[1], qrels)
        means = [[float(line.split()[1]) for line in side.printed.splitlines()] for side in pair]
        if any(abs(a - b) > 2e-6 for a, b in zip(*means, strict=True)):
            raise SystemExit(f"the two sides disagree: {means}")
        pairs.append(pair)
    table = {}
    for name in ("wall", "cpu", "megabytes"):
        table[f"peer_{name}"] = median(getattr(pair[0], name) for pair in pairs)
        table[f"ours_{name}"] = median(getattr(pair[1], name) for pair in pairs)
        table[f"ratio_{name}"] = median(getattr(p, name) / getattr(o, name) for p, o in pairs)
    return {key: round(value, 3) for key, value in table.items()}


def main() -> None:
    """Generate data, compare, print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--queries", type=int, default=10_000)
    asked.add_argument("--depth", type=int, default=1_000)
    asked.add_argument("--documents", type=int, default=1_000_000)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--json", action="store_true")
    asked.add_argument("--only-make", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.only_make:
        make_data(given.only_make, given.queries, given.depth, given.documents, given.seed)
        return
    with tempfile.TemporaryDirectory(prefix="findback-bench-") as folder:
        # A process of its own: what this one has in memory would count as its children's peak.
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--only-make", folder], check=True)
        text, qrels, kept = (Path(folder) / name for name in ("run.trec", "qrels", "run"))
        table = {
            "from the run file": compare((FROM_FILE, kept), (PEER, text), qrels, given.rounds),
            "from TREC text": compare((FROM_TEXT, text), (PEER, text), qrels, given.rounds),
        }
    if given.json:
        print(json.dumps({"queries": given.queries, "depth": given.depth, **table}, indent=2))
        return
    print(f"{given.queries:,} queries × {given.depth:,} results, medians of {given.rounds} paired rounds")
    for name, row in table.items():
        for what, unit in (("wall", "s"), ("cpu", "s"), ("megabytes", "MB")):
            print(
                f"{name:18} {what:9} findback {row[f'ours_{what}']:9.3f} {unit:2} "
                f"pytrec_eval {row[f'peer_{what}']:9.3f} {unit:2} ratio {row[f'ratio_{what}']:6.2f}"
            )


if __name__ == "__main__":
    main()
