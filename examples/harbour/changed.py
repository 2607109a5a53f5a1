"""Write Harbour's pages as they stand some months later: moved, merged, split, deleted, edited and new ones.

    python examples/harbour/changed.py FOLDER

What `findback refresh` has to find is known by construction: `CHANGES` says what becomes of each page that a question
is about. It needs nothing but Python, gives the same bytes every time, and leaves the pages beside it as they are.
"""

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent / "docs"

CHANGES = {
    "runbooks/paperchain-inode-exhaustion.md": "moved",
    "de/krankmeldung.md": "moved",
    "how-to/set-up-vpn.md": "moved",
    "runbooks/label-printer-spooler.md": "moved",
    "how-to/replace-mfa-device.md": "merged",
    "how-to/print-gate-pass-norrhaven.md": "merged",
    "how-to/print-gate-pass-castell-bay.md": "merged",
    "runbooks/carrier-ingest-429.md": "split",
    "runbooks/milestone-hub-consumer-lag-castell-bay.md": "split",
    "runbooks/geofence-drift.md": "split",
    "policies/travel.md": "gone",
    "how-to/claim-expenses.md": "gone",
    "de/reisekosten.md": "gone",
    "services/weigh-link.md": "gone",
    "how-to/order-handheld.md": "gone",
    "policies/change-freeze.md": "edited",
    "runbooks/duplicate-invoices.md": "edited",
    "policies/leave.md": "edited",
    "services/name-changes.md": "edited",
    "runbooks/connection-pool-exhausted.md": "superseded",
}
"""Page to what becomes of it; all others stay as they are."""

MOVED = {
    "runbooks/paperchain-inode-exhaustion.md": "runbooks/paperchain-out-of-inodes.md",
    "de/krankmeldung.md": "de/personal/krankmeldung.md",
    "how-to/set-up-vpn.md": "how-to/connect-from-home.md",
    "runbooks/label-printer-spooler.md": "runbooks/printing/label-printers.md",
}
"""Old place to new place. The first two leave no trace, the third a redirect, the fourth an alias."""

DELETED = (
    "policies/travel.md",
    "how-to/claim-expenses.md",
    "de/reisekosten.md",
    "services/weigh-link.md",
    "how-to/order-handheld.md",
)

EDITED = {
    "how-to/connect-from-home.md": (("Private machines are not admitted.", "Private machines stay outside."),),
    "policies/change-freeze.md": (
        ("No production changes to tier 0 and tier 1:", "Nobody makes production changes to tier 0 and tier 1:"),
        (
            "Repairs for a severity 1 or 2 incident need only the incident lead.",
            "Repairs for a severity 1 or 2 incident need just the incident lead.",
        ),
    ),
    "runbooks/duplicate-invoices.md": (
        (
            "Duplicates appear when the key differs although the charge is the same.",
            "A second bill goes out whenever two keys stand for one fee.",
        ),
    ),
    "policies/leave.md": (
        (
            "Report before your shift begins, by phone to the shift leader.",
            "Illness: tell whoever leads your crew, by any channel, no later than the start of work.",
        ),
        ("Brunshafen has its own agreement.", "Brunshafen has an agreement of its own."),
    ),
}
"""Page to its edits, old words and new. Of change-freeze the quotes still hold, of the other two one each does not."""

NEW = {
    "policies/staff-parking.md": """---
title: "Staff parking"
created: 2026-06-02
updated: 2026-06-02
---
# Staff parking

A parking permit for the staff garage is ordered in the HR portal. It costs 20 a month and is bound to one number plate.

Shift crews come first. Who gets none stands on a waiting list; Facilities tells you within two weeks.
""",
    "services/barge-times.md": """---
title: "Barge sailing times"
created: 2026-06-09
updated: 2026-06-09
---
# Barge sailing times

The sailing times of barges for this week and the next are on the board of the barge desk. Customers may have the link.

A barge that misses its window waits for the one after. Nobody promises a customer a time by phone.
""",
}
"""Pages that were not there; each answers a question that had no answer."""


def main() -> int:
    """Write the changed pages into the folder named on the command line."""
    if len(sys.argv) != 2:
        print("usage: python changed.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if folder.exists() and any(folder.iterdir()):
        print(f"{folder} is not empty", file=sys.stderr)
        return 2
    build(folder)
    print(f"{sum(1 for _ in folder.rglob('*.md'))} pages in {folder}")
    return 0


def build(folder: Path) -> None:
    """Write the changed pages into a folder that is empty or not there."""
    shutil.copytree(DOCS, folder, dirs_exist_ok=True)
    for name, new in MOVED.items():
        _write(folder, new, _take(folder, name))
    _redirect(folder, "how-to/set-up-vpn", "how-to/connect-from-home")
    _alias(folder, "runbooks/printing/label-printers.md", "/runbooks/label-printer-spooler")
    _merge(folder)
    _split(folder)
    for name in DELETED:
        _take(folder, name)
    for name, edits in EDITED.items():
        for old, new in edits:
            _replace(folder, name, old, new)
    _copy_renewed(folder)
    _forget_name(folder)
    for name, text in NEW.items():
        _write(folder, name, text)


def _merge(folder: Path) -> None:
    """Put one page at the end of another, and two twins into one new page."""
    device = _body(_take(folder, "how-to/replace-mfa-device.md"))
    access = folder / "how-to" / "request-access.md"
    access.write_text(access.read_text("utf-8") + "\n" + device.replace("# ", "## "), "utf-8")
    halves = [_body(_take(folder, f"how-to/print-gate-pass-{site}.md")) for site in ("norrhaven", "castell-bay")]
    head = (
        '---\ntitle: "Printing a gate pass"\ncreated: 2026-05-11\nupdated: 2026-05-11\n---\n# Printing a gate pass\n\n'
    )
    _write(folder, "how-to/print-gate-pass.md", head + "\n".join(half.replace("# ", "## ") for half in halves))


def _split(folder: Path) -> None:
    """Tear two pages in two at a heading, and move the end of a third one out of it."""
    for name, heading in (
        ("runbooks/carrier-ingest-429.md", "## Remedy"),
        ("runbooks/milestone-hub-consumer-lag-castell-bay.md", "## Steps"),
    ):
        first, second = _tear(_body(_take(folder, name)), heading)
        stem = name.removesuffix(".md")
        _write(folder, f"{stem}-why.md", _page("Why it happens", first))
        _write(folder, f"{stem}-what-to-do.md", _page("What to do", second))
    page = folder / "runbooks" / "geofence-drift.md"
    kept, moved = _tear(page.read_text("utf-8"), "## Effects")
    page.write_text(kept, "utf-8")
    _write(folder, "runbooks/geofence-correction.md", _page("Correcting a geofence", moved))


def _copy_renewed(folder: Path) -> None:
    """Write a newer page beside an old one that it nearly repeats."""
    name = "runbooks/connection-pool-exhausted-2026.md"
    shutil.copyfile(folder / "runbooks" / "connection-pool-exhausted.md", folder / name)
    _replace(folder, name, "waits 3 s", "waits 5 s")
    text = (folder / name).read_text("utf-8")
    _write(folder, name, re.sub(r"^(created|updated): .*$", r"\1: 2026-06-10", text, flags=re.MULTILINE))


def _forget_name(folder: Path) -> None:
    """Take the only mention of a service's former name out."""
    page = folder / "services" / "name-changes.md"
    lines = page.read_text("utf-8").splitlines(keepends=True)
    page.write_text("".join(line for line in lines if not line.startswith("| Dockmaster")), "utf-8")


def _redirect(folder: Path, old: str, new: str) -> None:
    file = folder / "_redirects"
    file.write_text(file.read_text("utf-8") + f"/{old} /{new} 301\n", "utf-8")


def _alias(folder: Path, name: str, alias: str) -> None:
    _replace(folder, name, "\n---\n", f"\naliases:\n  - {alias}\n---\n")


def _page(title: str, body: str) -> str:
    return f'---\ntitle: "{title}"\ncreated: 2026-05-20\nupdated: 2026-05-20\n---\n# {title}\n\n{body}'


def _tear(text: str, heading: str) -> tuple[str, str]:
    first, found, second = text.partition(heading)
    if not found:
        raise SystemExit(f"no heading {heading!r} to tear a page at")
    return first, heading + second


def _body(text: str) -> str:
    """Return a page without its front matter."""
    return text.split("---\n", 2)[2]


def _take(folder: Path, name: str) -> str:
    """Return a page's text, and delete the page."""
    page = folder / name
    text = page.read_text("utf-8")
    page.unlink()
    return text


def _replace(folder: Path, name: str, old: str, new: str) -> None:
    page = folder / name
    text = page.read_text("utf-8")
    if old not in text:
        raise SystemExit(f"{name} does not hold what is to be edited: {old!r}")
    page.write_text(text.replace(old, new, 1), "utf-8")


def _write(folder: Path, name: str, text: str) -> None:
    page = folder / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
