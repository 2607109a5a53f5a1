"""`findback label export` and `import` as typed."""

import csv
import json
from pathlib import Path

from builders.candidates import NOON, candidate, digest
from builders.portal import write_portal
from cli.conftest import Run
from findback.steps.bench import open_bench
from findback.workspace import open_workspace


def test_out_and_back(run: Run, tmp_path: Path) -> None:
    """A sheet goes out, comes back filled in, and what it led to is said; a conflict ends with status 1."""
    root = write_portal(tmp_path / "portal", "[review]\noverlap = 0.0\n")
    assert run("label", "export", cwd=root).status == 6
    with open_bench(open_workspace(root)) as bench:
        bench.put([candidate("q", query="lost badge"), candidate("r", query="moon map")], now=NOON)
    said = run("label", "export", cwd=root)
    assert "wrote 2 candidates to labels.csv" in said.out
    assert run("label", "export", cwd=root).status == 2
    sheet = root / "labels.csv"
    rows = list(csv.DictReader(sheet.read_text("utf-8-sig").splitlines(keepends=True)))
    rows[0] |= {"wording": "plain", "gold": "howto/badge.md=3", "submit": "yes"}
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    said = run("label", "import", "labels.csv", cwd=root)
    assert said.status == 0
    assert "1 reviews were submitted, 0 saved as drafts; 1 rows change nothing, 0 conflicts" in said.out
    assert "now 1 ready" in said.out
    again = run("label", "import", "labels.csv", "--json", cwd=root)
    assert json.loads(again.out)["unchanged"] == 2
    sheet.write_text(f"key,wording\n{digest('q')},vague\n", "utf-8")
    said = run("label", "import", "labels.csv", cwd=root)
    assert said.status == 1
    assert "row 2 was left alone: the review was changed since the export" in said.out
    sheet.write_text(f"key,wording\n{digest('q')},shouted\n{digest('r')},loud\n", "utf-8")
    said = run("label", "import", "labels.csv", cwd=root)
    assert said.status == 3
    assert "labels.csv has 1 fault; nothing of it was kept" in said.err
    assert "labels.csv:3: row 3, wording: there is no such wording" in said.err
