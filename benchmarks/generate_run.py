"""Let a model write about hundreds of documents: how near the server's limit, and what a killed run costs.

    python benchmarks/generate_run.py [documents] [kills] [limit]

A server on this machine states a limit in requests a second and goes wrong as servers do. One run is left in peace.
Others are killed at random points and started again: the server counts what was asked twice, and the result must be
that of the undisturbed run.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from builders.generaterun import Place, moody, read_documents, same_result, serve, write_documents
from builders.llmserver import LlmServer

FIRST = 50
"""Requests in which the pace is found."""
LATENCY = 0.3


def report_pace(server: LlmServer, limit: float, took: float) -> None:
    """Print how the server's limit was used."""
    counts = server.counts
    times = counts.times[FIRST:]
    spent, allowed = times[-1] - times[0], (len(times) - 1) / limit
    print(
        f"requests accepted: {counts.accepted}, refused by the limit: {counts.limited}, most at a time: {counts.most}"
    )
    print(
        f"after the first {FIRST}: {spent:.1f} s for what the limit allows in {allowed:.1f} s: {spent / allowed:.2f}x"
    )
    print(f"whole run: {took:.1f} s; asked twice though answered well: {counts.duplicates}")


def main(count: int, kills: int, limit: float) -> None:
    """Run, kill and compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write_documents(folder / "docs", round(count * 1.6))
        documents = read_documents(pages)
        with serve(documents, rate=limit, latency=LATENCY, mood=moody) as server:
            place = Place(folder / "whole", pages, server, connections=128)
            began = time.monotonic()
            place.run(count)
            whole, candidates = place.result(), place.candidates()
            ended = ", ".join(f"{one.count} {one.outcome}" for one in whole.ended)
            print(f"{count} asked for of {len(documents)} documents: {ended}; {whole.texts} texts")
            assert len({one.document for one in whole.described}) == len(whole.described)
            report_pace(server, limit, time.monotonic() - began)
        with serve(documents, rate=limit, latency=LATENCY, mood=moody) as server:
            place = Place(folder / "killed", pages, server, connections=128)
            draw = random.Random(7)
            for at in range(kills):
                after = draw.randrange(1, max(2, 2 * sum(bill.calls for bill in whole.bills) // (kills + 1)))
                print(
                    f"kill {at + 1}: ended {place.kill(count, server, after)} after {server.counts.accepted} requests"
                )
            place.run(count)
            again = place.result()
            assert same_result(whole, again), "another result"
            assert candidates == place.candidates(), "other candidates"
            print(
                f"after {kills} kills: the same result; asked {server.counts.accepted} in all,"
                f" {server.counts.duplicates} of them once answered to a run that was killed before it read that;"
                f" the last run paid {sum(bill.calls for bill in again.bills)} calls,"
                f" knew {sum(bill.cached for bill in again.bills)}"
            )


if __name__ == "__main__":
    numbers = [float(one) for one in sys.argv[1:]]
    given = dict(enumerate(numbers))
    main(int(given.get(0, 500)), int(given.get(1, 10)), given.get(2, 40.0))
