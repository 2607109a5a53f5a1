"""Backups, restores and upgrades that are killed: at each step on the disk and at random times. A program of its own.

Each runs in a child. This process itself must not have loaded the scanner of secrets, whose threads survive no fork.
"""

import random
import shutil
import sys
import time
from pathlib import Path

import alembic.command  # noqa: F401  (a child must not spend its time importing)
from sqlalchemy import create_engine

from builders.backups import back_up, keys_in, keys_of, put_back, put_some, workspace_at
from builders.killed import exit_at, run_child
from builders.oldbenches import content_of, make_old_bench, rows_of
from findback.files import TEMPORARY
from findback.steps.bench import bench_address
from findback.workbench.archive import open_archive
from findback.workbench.database import connect_database
from findback.workbench.migration import FORMAT, format_of
from findback.workbench.open import open_workbench
from findback.workspace import Workspace

OLD = tuple(f"old{number}" for number in range(150))
NEW = tuple(f"new{number}" for number in range(450))


def count_rows(file: Path) -> int:
    """Read a backup whole and return how many candidates it holds."""
    with open_archive(file, file.name) as archive:
        counts = {table: sum(1 for _ in archive.rows(table)) for table in archive.tables()}
    assert counts["findback_texts"] == 3 * counts["findback_candidates"]
    return counts["findback_candidates"]


def took(work: object) -> float:
    started = time.monotonic()
    assert run_child(work) == 0  # type: ignore[arg-type]
    return time.monotonic() - started


def kill_backups(workspace: Workspace, folder: Path, kills: int) -> tuple[int, int]:
    """Kill backups over an older one; return how often the old one was left, and how often the new one."""
    file, old = folder / "killed.backup", folder / "old.backup"
    seen = {len(OLD): 0, len(OLD) + len(NEW): 0}

    def again() -> None:
        back_up(workspace, file)

    shutil.copy(old, file)
    lasts = took(again)
    draw = random.Random(7)
    for _ in range(kills):
        shutil.copy(old, file)
        run_child(again, kill_after=draw.uniform(0, lasts * 1.1))
        seen[count_rows(file)] += 1
    step, ended = 0, 9
    while ended == 9:
        step += 1
        shutil.copy(old, file)
        ended = run_child(lambda step=step: (sys.addaudithook(exit_at(step, folder)), again()))
        seen[count_rows(file)] += 1
    assert ended == 0
    assert all(TEMPORARY in one.name or one.name in ("killed.backup", "old.backup") for one in folder.iterdir())
    return tuple(seen.values())  # type: ignore[return-value]


def kill_restores(workspace: Workspace, folder: Path, kills: int) -> tuple[int, int]:
    """Kill restores over another content; return how often that was left, and how often the backup's was there."""
    before, after = keys_of(*OLD, *NEW), keys_of(*OLD)
    back_up(workspace, folder / "all.backup")
    left = {True: 0, False: 0}

    def again() -> None:
        put_back(workspace, folder / "old.backup", replace=True)

    lasts = took(again)
    draw = random.Random(8)
    for _ in range(kills):
        put_back(workspace, folder / "all.backup", replace=True)
        run_child(again, kill_after=draw.uniform(lasts * 0.3, lasts * 1.1))
        found = keys_in(workspace)
        assert found in (before, after), len(found)
        left[found == before] += 1
        put_back(workspace, folder / "old.backup", replace=True)
        assert keys_in(workspace) == after
        assert list((workspace.private / "tmp").iterdir()) == []
    return left[True], left[False]


def start_old(workspace: Workspace, url: str | None) -> None:
    """Leave nothing but a workbench of format 1, with many questions."""
    if url is None:
        for file in (workspace.private / "workbench").glob("workbench.sqlite*"):
            file.unlink()
    else:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE")
            connection.exec_driver_sql("CREATE SCHEMA public")
        engine.dispose()
    make_old_bench(bench_address(workspace), 1)


def kill_upgrades(workspace: Workspace, url: str | None, kills: int) -> tuple[int, int]:
    """Kill upgrades from format 1; return how often that was left, and how often today's was there."""
    address, seen = bench_address(workspace), {1: 0, FORMAT: 0}

    def again() -> None:
        open_workbench(address, key_check="c0ffee").close()

    start_old(workspace, url)
    lasts = took(again)
    draw = random.Random(9)
    for _ in range(kills):
        start_old(workspace, url)
        run_child(again, kill_after=draw.uniform(0, lasts))
        database = connect_database(address)
        with database.reading() as connection:
            seen[format_of(connection)] += 1
        database.close()
        for _ in range(2):
            found = content_of(address)
            for name, rows in rows_of(1).items():
                assert all(any(row.items() <= one.items() for one in found[f"findback_{name}"]) for row in rows), name
            again()
    return seen[1], seen[FORMAT]


def main(place: Path, url: str | None, kills: int) -> None:
    workspace = workspace_at(place / "team", url)
    folder = place / "backups"
    folder.mkdir(parents=True)
    put_some(workspace, OLD)
    back_up(workspace, folder / "old.backup")
    put_some(workspace, NEW)
    print("backups: {} old, {} new".format(*kill_backups(workspace, folder, kills)))
    print("restores: {} old, {} new".format(*kill_restores(workspace, folder, kills)))
    print("upgrades: {} old, {} new".format(*kill_upgrades(workspace, url, kills)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] or None, int(sys.argv[3]))
