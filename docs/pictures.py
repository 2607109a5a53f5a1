"""Take the pictures of the review page that the docs show: `python docs/pictures.py`, on the Harbour example.

Everything a user would do is done first, in a temporary folder: mine, import prepared decisions, release, evaluate.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
HARBOUR = HERE.parent / "examples" / "harbour"
PICTURES = HERE / "pictures"
PAGES = ("queue", "week", "cases", "scores", "gaps", "glossary", "releases", "agreement", "jobs", "privacy", "tokens")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


def main() -> int:
    """Prepare an example, run its page, and photograph every page of it."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="findback-pictures-") as folder:
        place, environment = prepare(Path(folder))
        findback = Path(sys.executable).parent / "findback"
        command = [findback, "review", "--no-browser", "--port", "0"]
        with subprocess.Popen(  # noqa: S603
            command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                photograph(read_link(server))
            finally:
                server.terminate()
    print(f"{len(list(PICTURES.glob('*.png')))} pictures in {PICTURES}")
    return 0


def prepare(folder: Path) -> tuple[Path, dict[str, str]]:
    """Copy the example, mine its exports, import decisions, release and evaluate; return folder and environment."""
    place, exports = folder / "harbour", folder / "exports"
    shutil.copytree(HARBOUR, place, ignore=shutil.ignore_patterns("portal", "report.*"))
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONUNBUFFERED": "1"}
    subprocess.run([sys.executable, HARBOUR / "exports" / "build.py", exports], check=True)  # noqa: S603
    findback = str(Path(sys.executable).parent / "findback")
    steps = (
        *(["mine", str(exports / name)] for name in ("slack.zip", "zendesk.jsonl", "traces.jsonl", "ubi.ndjson")),
        ["label", "import", "labels.csv"],
        ["release", "-m", "First exam, from the help channels"],
        ["evaluate", "bm25"],
        ["glossary", "suggest"],
    )
    for step in steps:
        subprocess.run([findback, *step], cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return place, environment


def read_link(server: "subprocess.Popen[str]") -> str:
    """Return the one-time link that the server prints."""
    for line in server.stdout or ():
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise SystemExit("the page did not start")


def photograph(link: str) -> None:
    """Take every page at 1280 pixels, and those people use on the move at 390, dark."""
    address = link.partition("/enter")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        context = browser.new_context(viewport=WIDE)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(link)
        for name in PAGES:
            take(page, f"{address}/{name}", name)
        page.goto(f"{address}/queue?states=new&suggestions=yes")
        item = f"{address}{page.locator('tbody a').first.get_attribute('href')}"
        page.goto(item)
        while page.get_by_text("The retrievers are getting ready").count():
            page.wait_for_timeout(1_000)
            page.reload()
        take(page, item, "item")
        take(page, f"{address}{page.locator('a[data-row-key=o]').first.get_attribute('href')}", "document")
        narrow = browser.new_context(
            viewport=NARROW,  # type: ignore[arg-type]
            storage_state=context.storage_state(),
            color_scheme="dark",
        ).new_page()
        take(narrow, item, "item-narrow")
        take(narrow, f"{address}/queue", "queue-narrow")
        browser.close()


def take(page: Page, address: str, name: str) -> None:
    """Take one picture."""
    answer = page.goto(address)
    if answer is None or not answer.ok:
        print(f"{name}: {answer.status if answer else 'no answer'}")
        return
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
