"""How long a decision takes while 20 people review 2,000 candidates at once, beside a bare FastAPI route.

The page runs in a process of its own, as `findback serve` does; so does an application with one route that reads the
same form and answers 303. Every reviewer sends each form to the one, then to the other, so that both meet the same
load. At the end the database is compared with what every reviewer was told: nothing may be lost or doubled. Without
a pause everybody clicks as fast as the page answers, and the time is mostly that in the line behind the other 19.

    python benchmarks/review_load.py [--candidates 2000] [--reviewers 20] [--pause 0] [--databases …]
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import RedirectResponse

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from builders.postgresql import make_database, run_postgresql
from builders.reviewload import Person, check_all, make_questions, review_all
from builders.reviewteam import Clock, Team, open_site, open_team, write_team
from findback.web.server import configure

SIDES = ("findback: a decision checked and stored", "FastAPI: the same form read, nothing done")


def main() -> None:
    """Measure on each database and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=2_000)
    parser.add_argument("--reviewers", type=int, default=20)
    parser.add_argument("--databases", nargs="+", choices=("sqlite", "postgresql"), default=("sqlite", "postgresql"))
    parser.add_argument("--pause", type=float, default=0, help="seconds somebody thinks before a change, on average")
    parser.add_argument("--serve", choices=("findback", "bare"), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options)
        return
    for kind in options.databases:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            if kind == "sqlite":
                url = str(Path(folder) / "database" / "workbench.sqlite")
            else:
                url = stack.enter_context(make_database(stack.enter_context(run_postgresql()), "load"))
            measure(kind, Path(folder) / "team", url, options)


def measure(kind: str, folder: Path, url: str, options: argparse.Namespace) -> None:
    """Let everybody review and print how long it took them."""
    workspace = write_team(folder, url)
    with running("findback", folder, url) as address, running("bare", folder, url) as bare, ExitStack() as stack:
        clock = Clock()
        site = stack.enter_context(open_site(workspace, address, clock))
        site.bench.put(make_questions(options.candidates), now=datetime.now(UTC))
        team = Team(address, site, clock, stack)
        people = []
        for number in range(options.reviewers):
            beside = team.open_browser(base_url=bare)
            people.append(Person(f"reviewer {number}", team.log_in(f"reviewer {number}"), beside, pause=options.pause))
        began = time.perf_counter()
        review_all(people)
        seconds = time.perf_counter() - began
        states = check_all(site, people)
    told = [one for person in people for one in person.told]
    print(f"\n{kind}: {options.reviewers} reviewers, {options.candidates} candidates")
    print(f"{len(told)} changes acknowledged in {seconds:.0f} s, each stored once and nothing else stored")
    print(", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    print(f"\n{'':<44} {'median':>9} {'p95':>9}")
    for name, times in zip(SIDES, ([one.seconds for one in told], [one.beside for one in told]), strict=True):
        ranked = sorted(times)
        middle, late = ranked[len(ranked) // 2], ranked[int(len(ranked) * 0.95)]
        print(f"{name:<44} {middle * 1e3:>6.1f} ms {late * 1e3:>6.1f} ms")


@contextmanager
def running(what: str, folder: Path, url: str) -> Iterator[str]:
    """Run a server in a process of its own and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, __file__, "--serve", what, "--port", str(port), "--folder", str(folder)]
    with subprocess.Popen(command, env={**os.environ, "BENCH": url}) as process:
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    """Wait until a server answers."""
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def serve(options: argparse.Namespace) -> None:
    """Be one of the servers."""
    if options.serve == "bare":
        uvicorn.run(bare_app(), port=options.port, log_level="warning", access_log=False)
        return
    workspace = open_team(options.folder, os.environ["BENCH"])
    with open_site(workspace, f"http://127.0.0.1:{options.port}", Clock()) as site:
        site.desk.find("search")
        config = configure(site)
        config.port = options.port
        uvicorn.Server(config).run()


def bare_app() -> FastAPI:
    """Return an application that does nothing with a form."""
    app = FastAPI(openapi_url=None)

    @app.post("/")
    async def decide(request: Request) -> RedirectResponse:
        await request.form()
        return RedirectResponse("/", status_code=303)

    return app


if __name__ == "__main__":
    main()
