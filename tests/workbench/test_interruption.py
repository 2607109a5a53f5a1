"""Several processes, and processes that die."""

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from builders.candidates import NOON, candidate, digest
from builders.writers import Writers, nth
from findback.workbench.open import open_workbench
from findback.workbench.people import normalised
from findback.workbench.store import Workbench

MANY = 2000


def test_a_put_killed_ten_times_ends_where_an_undisturbed_one_does(
    open_again: Callable[..., Workbench], url: str
) -> None:
    """Each time what is stored is whole, and giving everything once more completes it."""
    luck = random.Random(7)
    before = 0
    with Writers(url) as writers:
        workbench = open_again()
        for _ in range(10):
            writer = writers.start("put", 0, MANY, 10)
            while sum(workbench.count().values()) <= before:
                time.sleep(0.002)
            time.sleep(luck.uniform(0, 0.03))
            writers.kill(writer)
            stored = workbench.list_candidates(limit=2 * MANY)
            assert [one.candidate for one in stored] == [normalised(nth(n)) for n in range(len(stored))]
            assert len(stored) % 10 == 0
            assert before < len(stored) < MANY
            before = len(stored)
        assert writers.ended == {}
        new, updated, unchanged, given = map(int, writers.wait([writers.start("put", 0, MANY, 200)])[0].split())
    assert (updated, given) == (0, MANY)
    assert new + unchanged == MANY
    stored = workbench.list_candidates(limit=2 * MANY)
    assert [one.candidate for one in stored] == [normalised(nth(n)) for n in range(MANY)]
    if workbench.path:
        with workbench._database.reading() as connection:
            assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"


def test_processes_that_put_overlapping_batches_at_once_do_not_double(
    open_again: Callable[..., Workbench], url: str
) -> None:
    """Three processes open a workbench that is not there yet, and put halves that overlap: each is stored once."""
    with Writers(url) as writers:
        started = [writers.start("put", first, first + 400, 25) for first in (0, 200, 100)]
        said = [list(map(int, one.split())) for one in writers.wait(started)]
    assert sum(new for new, *_ in said) == 600
    assert [(updated, given) for _, updated, _, given in said] == [(0, 400)] * 3
    stored = open_again().list_candidates(limit=1000)
    assert {one.candidate.key for one in stored} == {digest(f"q{n}") for n in range(600)}
    assert len(stored) == 600
    assert all(one.candidate == normalised(nth(int(one.candidate.query.text[25:-1]))) for one in stored)


def test_many_processes_may_open_a_new_workbench_at_once(url: str) -> None:
    """Its tables are made once, and nobody is refused."""
    with Writers(url) as writers:
        assert writers.wait([writers.start("open") for _ in range(6)]) == ["opened"] * 6


READER = """
import sys
from findback.workbench.open import open_workbench
with open_workbench(sys.argv[1], key_check="k") as bench:
    print(sum(bench.count().values()))
"""


def test_opening_it_twice_in_one_process_loses_nothing(tmp_path: Path) -> None:
    """A second opening that ends keeps the first one's locks: other processes see what it writes afterwards."""
    place = tmp_path / "private" / "workbench.sqlite"

    def count_elsewhere() -> int:
        done = subprocess.run([sys.executable, "-c", READER, str(place)], capture_output=True, text=True, check=True)
        return int(done.stdout)

    with open_workbench(place, key_check="k") as bench:
        bench.put([candidate("first")], now=NOON)
        with open_workbench(place, key_check="k") as second:
            assert sum(second.count().values()) == 1
        assert count_elsewhere() == 1
        bench.put([candidate("second")], now=NOON)
        assert count_elsewhere() == 2
    assert count_elsewhere() == 2
