"""The command line as a newcomer meets it."""

import json
import os
from pathlib import Path

import pytest

from builders.portal import write_pages, write_portal, write_set


def test_newcomers_path(run, tmp_path: Path) -> None:
    """init, doctor, audit, evaluate, report and status work one after the other on a folder of Markdown."""
    root = tmp_path / "wiki"
    write_pages(root / "pages")
    sets = write_portal(tmp_path / "sets")
    assert run("init", cwd=root).status == 0
    assert "pages" in (root / "findback.toml").read_text()
    doctor = run("doctor")
    assert doctor.status == 0, doctor.out
    assert "6 documents" in doctor.out
    audit = run("audit", str(sets / "golden.jsonl"), "--real", str(sets / "asked.jsonl"))
    assert audit.status == 0, audit.err
    assert "unreleased set, sha256" in audit.out
    assert "RR@10" in audit.out
    evaluate = run("evaluate", "--set", str(sets / "asked.jsonl"))
    assert evaluate.status == 0, evaluate.err
    assert "What this does not tell you" in evaluate.out
    report = run("report", "-o", "out.html")
    assert report.status == 0, report.err
    assert "<script" not in (root / "out.html").read_text()
    status = run("status")
    assert "findback report" in status.out
    runs = run("runs", "--json")
    assert json.loads(runs.out)["runs"][0]["questions"] == 6


def test_every_output_fits_the_terminal(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns no line of audit and evaluate is longer."""
    root = write_portal(tmp_path / "portal")
    monkeypatch.setenv("COLUMNS", "80")
    for words in (("audit", "golden.jsonl", "--real", "asked.jsonl"), ("evaluate", "--set", "asked.jsonl")):
        outcome = run(*words, cwd=root)
        assert outcome.status == 0, outcome.err
        assert max(len(line) for line in outcome.out.splitlines()) <= 80


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_results_are_written_by_file_name(run, tmp_path: Path, suffix: str) -> None:
    """`-o` writes the format the file's name asks for."""
    root = write_portal(tmp_path / "portal")
    assert run("audit", "golden.jsonl", "-o", f"audit{suffix}", cwd=root).status == 0
    text = (root / f"audit{suffix}").read_text("utf-8")
    if suffix == ".json":
        assert json.loads(text)["set"]["set"]["questions"] == 6
    else:
        assert "median question" in text
    wrong = run("audit", "golden.jsonl", "-o", "audit.pdf")
    assert wrong.status == 2
    assert ".html" in wrong.err


def test_json_is_the_record(run, tmp_path: Path) -> None:
    """`--json` prints the whole record: numbers are exact, undefined ones are null with a reason."""
    root = write_portal(tmp_path / "portal")
    result = json.loads(run("evaluate", "--set", "asked.jsonl", "--json", cwd=root).out)
    first = result["retrievers"][0]["groups"][0]["scores"][0]["estimate"]
    assert first["low"] is None
    assert "too few" in first["reason"]


def test_shared_report_and_card_hold_no_text(run, tmp_path: Path) -> None:
    """`--share` and `--card` leave out every query, id and file name of the set."""
    root = write_portal(tmp_path / "portal")
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert run("report", "--share", "-o", "shared.html").status == 0
    assert run("report", "--card", "-o", "card.html").status == 0
    for name in ("shared.html", "card.html", "card.svg"):
        text = (root / name).read_text("utf-8")
        for secret in ("hammering", "runbooks/ingest.md", "asked.jsonl", str(root)):
            assert secret not in text, (name, secret)


def test_judged_by_hand_counts_next_time(run, tmp_path: Path) -> None:
    """`label judge` keeps a grade beside the set, and the next evaluation uses it and says so."""
    root = write_portal(tmp_path / "portal")
    before = json.loads(run("evaluate", "--set", "asked.jsonl", "--json", cwd=root).out)
    judged = run("label", "judge", "r2", "--doc", "howto/vpn.md", "--set", "asked.jsonl", "--grade", "2")
    assert judged.status == 0, judged.err
    after = json.loads(run("evaluate", "--set", "asked.jsonl", "--json").out)
    assert after["set"]["golds"] == before["set"]["golds"]
    assert any("added by hand" in note for note in after["set"]["notes"])
    assert (before["set"]["judged_by_hand"], after["set"]["judged_by_hand"]) == (0, 1)
    assert "Judged by hand  1 judgement applied" in run("evaluate", "--set", "asked.jsonl").out
    for options in (("--share",), ("--card",)):
        assert run("report", *options, "-o", "r.html").status == 0
        assert "1 judgement applied" in (root / "r.html").read_text("utf-8")
    refused = run("label", "judge", "r2", "--doc", "howto/vpn.md")
    assert refused.status == 2
    assert "--set" in refused.err


def test_import_and_export_round_trip(run, tmp_path: Path) -> None:
    """A set goes to BEIR, TREC and Quepid and back with the same questions and gold."""
    root = write_portal(tmp_path / "portal")
    assert run("import", "asked.jsonl", "-o", "set.jsonl", cwd=root).status == 0
    for name, target in (("beir", "beir"), ("trec", "trec"), ("quepid", "quepid.csv")):
        exported = run("export", "set.jsonl", "--to", name, "-o", target)
        assert exported.status == 0, exported.err
        back = run("import", target, "-o", f"back-{name}.jsonl")
        assert back.status == 0, back.err
        first, second = ((root / file).read_text() for file in ("set.jsonl", f"back-{name}.jsonl"))
        strip = [
            {key: json.loads(line)[key] for key in ("query", "judged")}
            for text in (first, second)
            for line in text.splitlines()
        ]
        for row in strip:
            for judgement in row["judged"]:
                judgement.pop("found_by")
        half = len(strip) // 2
        assert strip[:half] == strip[half:]


def test_cloned_workspace_is_asked_about(run, tmp_path: Path) -> None:
    """A workspace that names a command runs nothing before somebody agreed; doctor shows it and does not run it."""
    marker = tmp_path / "ran"
    root = write_portal(
        tmp_path / "clone",
        f"[retrievers.theirs]\nkind = 'command'\ncommand = ['sh', '-c', 'touch {marker}; cat']\n",
    )
    refused = run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert refused.status == 5
    assert "touch" in refused.err
    assert "FINDBACK_TRUST=" in refused.err
    assert run("audit", "golden.jsonl").status == 5
    doctor = run("doctor")
    assert "not trusted" in doctor.out
    assert not marker.exists()


def test_audit_fails_over_a_limit(run, tmp_path: Path) -> None:
    """`--fail-over` ends with status 1 when the overlap is surely above the limit, else with 0."""
    root = write_portal(tmp_path / "portal")
    many = [
        (f"g{n}", "What exponential backoff does the ingest worker apply?", ["runbooks/ingest.md"]) for n in range(40)
    ]
    write_set(root / "golden.jsonl", [(i, f"{q[:-1]} {n}?", g) for n, (i, q, g) in enumerate(many)])
    assert run("audit", "golden.jsonl", "--fail-over", "1.0", cwd=root).status == 0


def test_no_temporary_file_is_left_or_made_elsewhere(run, tmp_path: Path) -> None:
    """After the main job home, temp and the working folder hold nothing but what was asked for."""
    root = write_portal(tmp_path / "portal")
    before = set(root.rglob("*"))
    temp = Path(os.environ.get("TMPDIR", "/tmp"))
    there = set(os.listdir(temp))
    assert run("evaluate", "--set", "asked.jsonl", cwd=root).status == 0
    assert set(root.rglob("*")) == before
    assert not list((tmp_path / "home").rglob("*"))
    assert {name for name in set(os.listdir(temp)) - there if "findback" in name} == set()
    leftovers = [path for path in (tmp_path / "state").rglob("*") if ".findback-tmp-" in path.name]
    assert leftovers == []


def test_private_files_are_private_and_on_the_map(run, tmp_path: Path) -> None:
    """Every private file is 0600 in a 0700 folder, and lies in a place the private-data map names."""
    from findback.places import PLACES

    root = write_portal(tmp_path / "portal")
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    run("audit", "golden.jsonl")
    (workspace,) = (path for path in (tmp_path / "state" / "findback").iterdir() if path.is_dir())
    for path in workspace.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o777 == wanted, path
        assert path.relative_to(workspace).parts[0] in PLACES


def test_config_show_names_the_private_folder(run, tmp_path: Path) -> None:
    """`config show` prints settings with their origin and where private things are."""
    root = write_portal(tmp_path / "portal")
    shown = run("config", "show", cwd=root)
    assert "corpus.path" in shown.out
    assert str(tmp_path / "state" / "findback") in shown.out.replace("\n", "")


def test_shared_report_keeps_no_imported_name(run, tmp_path: Path) -> None:
    """Names of wordings that came with a set are free text, and do not reach a shared report."""
    root = write_portal(tmp_path / "portal")
    canary = "reorg" + "4711"
    lines = (root / "asked.jsonl").read_text().splitlines()
    rows = [json.loads(line) | {"wording": canary if n % 2 else "plain"} for n, line in enumerate(lines)]
    (root / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("evaluate", "--set", "asked.jsonl", cwd=root).status == 0
    run("report", "-o", "own.html")
    assert canary in (root / "own.html").read_text("utf-8")
    for name in ("shared.html", "shared.md", "shared.json"):
        assert run("report", "--share", "-o", name).status == 0
        assert canary not in (root / name).read_text("utf-8"), name
