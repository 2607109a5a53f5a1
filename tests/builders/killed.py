"""Releases that are killed: at each step on the disk, and after random times. Run as a program of its own.

Every release runs in a child. This process itself makes none: the scanner that a release loads brings a runtime with
threads of its own, and a child forked after that may wait for them for ever.
"""

import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from builders.candidates import candidate, digest
from builders.ready import StoredReady, asked, reviewed
from findback.errors import UsageError
from findback.evalset.release import list_numbers, read_release, release_folder
from findback.files import TEMPORARY
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.release import ReleaseRequest, release
from findback.steps.review import submit
from findback.steps.reviewdesk import open_desk
from findback.workspace import Workspace, open_workspace

DAY = datetime(2024, 6, 3, tzinfo=UTC)
STEPS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}


def workspace_in(folder: Path) -> Workspace:
    return open_workspace(folder / "portal", environment={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)})


def ready_in(folder: Path) -> StoredReady | None:
    """The candidates of a file; None where the folder has a real workbench."""
    if (folder / "bench").exists():
        return None
    return StoredReady(folder / "released.json", *map(reviewed, range(9 if (folder / "more").exists() else 4)))


def publish(folder: Path, message: str, *, dry_run: bool = False) -> None:
    request = ReleaseRequest(message=message, dry_run=dry_run)
    release(workspace_in(folder), request, ready=ready_in(folder), reviewer="noor", made=DAY)


def first(folder: Path, *, bench: bool) -> None:
    (folder / "portal").mkdir(parents=True)
    (folder / "portal" / "findback.toml").write_text("[review]\noverlap = 0.0\n")
    if bench:
        (folder / "bench").touch()
        with open_bench(workspace_in(folder)) as opened:
            opened.put([candidate(asked(number), query=asked(number)) for number in range(9)], now=DAY)
        review_some(folder, range(4))
    publish(folder, "first")
    (folder / "more").touch()
    if bench:
        review_some(folder, range(4, 9))
        # Case ids are random; once given they stay, so that every copy releases the same.
        publish(folder, "second", dry_run=True)


def review_some(folder: Path, numbers: range) -> None:
    noor = Reviewer("noor", None, ("reviewer",), ("public",))
    workspace = workspace_in(folder)
    with open_bench(workspace) as opened, open_desk(workspace, opened) as desk:
        for number in numbers:
            gold = Judgement(doc=f"page-{number}.md", grade=3, found_by="reviewer")
            said = Review(wording="plain", judged=(gold,))
            submit(desk, noor, digest(asked(number)), said, revision=0, now=DAY)


def second(folder: Path) -> None:
    publish(folder, "second")


def complete(folder: Path) -> None:
    """Make the second release; nothing is left to do where the interrupted one came to its end."""
    with suppress(UsageError):
        second(folder)


def unmarked(folder: Path) -> int:
    """How many candidates are not known to be released."""
    ready = ready_in(folder)
    if ready is not None:
        assert {case.added_in for case in ready.released.values()} == {1, 2}
        return len(ready.collect())
    with open_bench(workspace_in(folder)) as opened:
        assert [case.release for case in opened.cases()].count(1) == 4
        return 9 - opened.count()["released"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "portal" / "evalset").rglob("*"))
        if path.is_file() and TEMPORARY not in str(path)
    }


def exit_at(step: int, folder: Path) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that ends the process before the n-th change of something below a folder."""
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (event in STEPS or writes) and str(arguments[0]).startswith(str(folder)):
            seen += 1
            if seen == step:
                os._exit(9)

    return hook


def run_child(work: Callable[[], None], kill_after: float | None = None) -> int:
    """Do something in a child process; return how it ended."""
    assert "betterleaks" not in sys.modules, "the scanner was loaded here, and its threads do not survive a fork"
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the child must end here
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def stop_at(step: int, folder: Path) -> None:
    """Make the second release, and end before its n-th change of the disk."""
    sys.addaudithook(exit_at(step, folder))
    second(folder)


def check(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Check that there is the old release or the new one, finish it, and return whether the new one was there."""
    evalset = folder / "portal" / "evalset"
    numbers = list_numbers(evalset)
    assert numbers in ([1], [1, 2]), numbers
    for number in numbers:
        read_release(release_folder(evalset, number))
    found = files_of(folder)
    head = found["portal/evalset/cases.jsonl"]
    assert head in (before["portal/evalset/cases.jsonl"], after["portal/evalset/cases.jsonl"])
    releases = {name: data for name, data in found.items() if "/releases/" in name}
    wanted = after if numbers == [1, 2] else before
    assert releases == {name: data for name, data in wanted.items() if "/releases/" in name}
    assert run_child(lambda: complete(folder)) == 0
    assert files_of(folder) == after
    assert unmarked(folder) == 0
    return numbers == [1, 2]


class Origin:
    """A set with one release and more that is ready, to be copied and killed."""

    def __init__(self, place: Path, *, bench: bool) -> None:
        self.place, self.origin = place, place / "origin"
        assert run_child(lambda: first(self.origin, bench=bench)) == 0
        self.before = files_of(self.origin)
        whole = self.copy("whole")
        started = time.monotonic()
        assert run_child(lambda: second(whole)) == 0
        self.took = time.monotonic() - started
        self.after = files_of(whole)

    def copy(self, name: str) -> Path:
        target = self.place / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.origin, target)
        # A workspace's private folder is called after where it lies.
        for state in (target / "state" / "findback").glob("portal-*"):
            state.rename(state.with_name(workspace_in(target).id))
        return target

    def kill(self, count: int) -> None:
        draw = random.Random(7)
        for _ in range(count):
            folder = self.copy("kill")
            ended = run_child(lambda folder=folder: second(folder), kill_after=draw.uniform(0, self.took * 1.2))
            assert ended in (0, -signal.SIGKILL), ended
            check(folder, self.before, self.after)

    def stop_at_each_step(self) -> tuple[int, int]:
        """Return how often the old release was left, and how often the new one."""
        old, new = 0, 0
        while True:
            step, folder = old + new + 1, self.copy("step")
            ended = run_child(lambda step=step, folder=folder: stop_at(step, folder))
            assert ended in (0, 9), ended
            there = check(folder, self.before, self.after)
            if ended == 0:
                return old, new
            old, new = old + (not there), new + there


def main(place: Path, kills: int, bench_kills: int) -> None:
    stored = Origin(place / "stored", bench=False)
    old, new = stored.stop_at_each_step()
    stored.kill(kills)
    Origin(place / "bench", bench=True).kill(bench_kills)
    print(f"{old + new} steps: {old} left the old release, {new} the new one; {kills + bench_kills} kills")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
