"""Bad input on the command line: a sentence, a place, a hint and a status, and nothing half-written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.portal import GOLDEN, write_portal, write_set


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"query": "a", "gold": "x"}\n{"query": "b", "go\n', "asked.jsonl:2"),
        (b"", "asked.jsonl"),
        (b'{"query": "caf\xe9", "gold": "x"}\n', "asked.jsonl:1"),
        (b'{"id": "a", "query": "x", "gold": "d"}\n{"id": "a", "query": "y", "gold": "d"}\n', "asked.jsonl:2"),
        (b'{"query": "a\x00b", "gold": "x"}\n', "asked.jsonl:1"),
        (b'{"text_of_the_thing": "x"}\n', "asked.jsonl"),
    ],
    ids=["truncated", "empty", "latin-1", "duplicate ids", "raw NUL", "no query column"],
)
def test_broken_sets_name_file_and_line(run, tmp_path: Path, content: bytes, said: str) -> None:
    """A set that cannot be read ends with status 3 and names file and line."""
    root = write_portal(tmp_path / "portal")
    (root / "asked.jsonl").write_bytes(content)
    outcome = run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert outcome.status == 3, outcome.err
    assert said in outcome.err
    assert outcome.err.count("hint:") <= 1
    assert "Traceback" not in outcome.err


def test_skip_bad_keeps_the_good_rows(run, tmp_path: Path) -> None:
    """`--skip-bad` scores the rows that can be read and prints how many were left out."""
    root = write_portal(tmp_path / "portal")
    with (root / "asked.jsonl").open("ab") as file:
        file.write(b'{"query": "half\n')
    assert run("evaluate", "--set", "asked.jsonl", cwd=root).status == 3
    outcome = run("evaluate", "--set", "asked.jsonl", "--skip-bad")
    assert outcome.status == 0
    assert "1 bad row left out" in outcome.out


def test_terminal_codes_are_inert(run, tmp_path: Path) -> None:
    """A query full of terminal codes, markup and direction overrides prints no control character."""
    root = write_portal(tmp_path / "portal")
    hostile = r'{"query": "\u001b[31m\u001b]0;owned\u0007 [red]x[/] \u202egnp.exe {{7*7}} <b>", "gold": "howto/vpn.md"}'
    (root / "asked.jsonl").write_text(hostile + "\n")
    outcome = run("evaluate", "--set", "asked.jsonl", "--misses", "5", cwd=root)
    assert outcome.status == 0, outcome.err
    assert not set(outcome.out) & {"\x1b", "\x07", "\u202e"}
    assert run("report", "-o", "r.html").status == 0
    html = (root / "r.html").read_text("utf-8")
    assert "<b>" not in html
    assert not set(html) & {"\x1b", "\x07", "\u202e"}


def test_unknown_names_are_usage_errors(run, tmp_path: Path) -> None:
    """A wrong option, command or retriever ends with a sentence that says what there is."""
    root = write_portal(tmp_path / "portal")
    option = run("evaluate", "--set", "asked.jsonl", "--dpeth", "3", cwd=root)
    assert option.status == 2
    assert "--dpeth" in option.err
    command = run("evalute")
    assert command.status == 2
    retriever = run("evaluate", "elastic", "--set", "asked.jsonl")
    assert retriever.status == 6
    assert "bm25" in retriever.err
    metric = run("evaluate", "--set", "asked.jsonl", "--metrics", "Recal@10")
    assert metric.status == 2
    assert "nDCG" in metric.err
    depth = run("evaluate", "--set", "asked.jsonl", "--depth", "0")
    assert depth.status == 2
    assert "depth" in depth.err
    assert "pydantic" not in depth.err


def test_read_only_folder_is_a_storage_error(run, tmp_path: Path) -> None:
    """Where the report cannot be written, the error names the file and nothing is left behind."""
    root = write_portal(tmp_path / "portal")
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    outcome = run("report", "-o", "nowhere/report.html")
    assert outcome.status == 10
    assert "nowhere/report.html" in outcome.err


def test_nothing_to_report_says_what_to_run(run, tmp_path: Path) -> None:
    """A report before any evaluation names the commands that make one."""
    root = write_portal(tmp_path / "portal")
    outcome = run("report", cwd=root)
    assert outcome.status == 6
    assert "findback evaluate" in outcome.err


def test_init_keeps_what_is_there(run, tmp_path: Path) -> None:
    """Init never overwrites a findback.toml unless asked to, and needs documents."""
    root = write_portal(tmp_path / "portal")
    kept = (root / "findback.toml").read_text()
    assert run("init", cwd=root).status == 2
    assert (root / "findback.toml").read_text() == kept
    empty = tmp_path / "empty"
    empty.mkdir()
    outcome = run("init", cwd=empty)
    assert outcome.status == 2
    assert "--corpus" in outcome.err


def test_unexpected_error_shows_no_text(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error nobody foresaw prints its kind and place, never its message, which may quote a query."""
    root = write_portal(tmp_path / "portal")
    canary = "canary" + "4711"

    def fail(*_: object, **__: object) -> None:
        raise ValueError(canary)

    monkeypatch.setattr("findback.steps.evaluate.score_run", fail)
    outcome = run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert outcome.status == 70
    assert "ValueError" in outcome.err
    assert canary not in outcome.out + outcome.err


def test_audit_refuses_gold_it_cannot_use(run, tmp_path: Path) -> None:
    """Audit says what evaluate says: an unknown gold column, gold that meets no document, no documents at all."""
    root = write_portal(tmp_path / "portal")
    (root / "odd.csv").write_text("Question,Where it says so\nlost badge,howto/badge.md\n")
    unknown = run("audit", "odd.csv", cwd=root)
    assert unknown.status == 3
    assert "--columns.gold" in unknown.err
    assert run("audit", "odd.csv", "--columns.gold", "Where it says so").status == 0
    write_set(root / "prefixed.jsonl", [(i, q, [f"docs/{g[0]}"]) for i, q, g in GOLDEN])
    prefixed = run("audit", "prefixed.jsonl")
    assert prefixed.status == 3
    assert "--base-url docs/" in prefixed.err
    assert run("audit", "prefixed.jsonl", "--base-url", "docs/").status == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    nowhere = run("audit", str(root / "golden.jsonl"), cwd=empty)
    assert nowhere.status == 6
    assert "--corpus" in nowhere.err


def test_judging_what_is_not_there_is_refused(run, tmp_path: Path) -> None:
    """A question or document that does not exist is an error, and nothing is kept."""
    root = write_portal(tmp_path / "portal")
    assert run("label", "judge", "r2", "--doc", "howto/nowhere.md", "--set", "asked.jsonl", cwd=root).status == 6
    assert run("label", "judge", "r99", "--doc", "howto/vpn.md", "--set", "asked.jsonl").status == 6
    assert [path.name for path in root.glob("*.findback-*")] == []


def test_system_that_only_fails_is_an_error(run, tmp_path: Path) -> None:
    """When every search of a retriever failed, the tables are shown and the command ends with the engine's status."""
    root = write_portal(tmp_path / "portal", "[retrievers.dead]\nkind = 'python'\nfunction = 'dead:search'\n")
    (root / "dead.py").write_text("def search(query, k):\n    raise RuntimeError('no index')\n")
    refused = run("evaluate", "--set", "asked.jsonl", cwd=root)
    digest = refused.err.rpartition("FINDBACK_TRUST=")[2].strip()
    outcome = run("evaluate", "--set", "asked.jsonl", trust=digest)
    assert outcome.status == 8
    assert "every search of dead failed" in outcome.err
    assert "no index" in outcome.err


def test_output_is_checked_before_the_work(run, tmp_path: Path) -> None:
    """A result that could not be written is refused before anything is searched or stored."""
    root = write_portal(tmp_path / "portal")
    assert run("evaluate", "--set", "asked.jsonl", "-o", "none/x.html", cwd=root).status == 10
    assert run("audit", "golden.jsonl", "-o", "none/x.html").status == 10
    assert not list((tmp_path / "state").rglob("evaluation-*.json"))


def test_report_names_its_file_after_its_format(run, tmp_path: Path) -> None:
    """`--format md` writes report.md and leaves report.html alone; a card is a page, nothing else."""
    root = write_portal(tmp_path / "portal")
    run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert run("report").status == 0
    html = (root / "report.html").read_bytes()
    assert run("report", "--format", "md").status == 0
    assert (root / "report.html").read_bytes() == html
    assert (root / "report.md").is_file()
    assert run("report", "--card", "-o", "card.md").status == 2
    assert run("report", "--evaluation", "nope.json").status == 6


def test_several_values_follow_one_option(run, tmp_path: Path) -> None:
    """`--metrics A B` means both."""
    root = write_portal(tmp_path / "portal")
    outcome = run("evaluate", "--set", "asked.jsonl", "--metrics", "MRR@10", "P@5", cwd=root)
    assert outcome.status == 0, outcome.err
    assert "precision@5" in outcome.out


def test_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`findback config show | head -1` ends quietly."""
    root = write_portal(tmp_path / "portal")
    code = "from findback.cli.main import main; main()"
    line = f"{sys.executable} -c '{code}' config show --json | head -1"
    for _ in range(3):
        done = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, text=True, check=False)
        assert done.stderr == ""


@pytest.mark.parametrize(
    "options",
    [
        ("--part", "100"),
        ("--part", "0"),
        ("--grade", "-1"),
        ("--grade", "4"),
        ("--doc", ""),
        ("--doc", "\udcff"),
    ],
)
def test_judgements_beyond_the_scale_are_usage_errors(run, tmp_path: Path, options: tuple[str, str]) -> None:
    """A part or grade that no judgement may have ends with status 2, the option's name and nothing kept."""
    root = write_portal(tmp_path / "portal")
    words = {"--doc": "howto/vpn.md", "--set": "asked.jsonl"} | dict([options])
    outcome = run("label", "judge", "r2", *(word for pair in words.items() for word in pair), cwd=root)
    assert outcome.status == 2, outcome.err
    assert options[0] in outcome.err
    assert [path.name for path in root.glob("*.findback-*")] == []


@pytest.mark.parametrize("place", ["/", ".", ".."])
def test_sets_without_a_name_of_their_own(run, tmp_path: Path, place: str) -> None:
    """A folder named by `/`, `.` or `..` that holds no set is a sentence and a status for every command."""
    root = write_portal(tmp_path / "portal")
    for words in (
        ("label", "judge", "r2", "--doc", "howto/vpn.md", "--set", place),
        ("evaluate", "--set", place),
        ("import", place, "-o", "out.jsonl"),
    ):
        outcome = run(*words, cwd=root)
        assert outcome.status == 3, (words, outcome.err)


def test_set_in_the_current_folder(run, tmp_path: Path) -> None:
    """A BEIR folder read as `.` is evaluated, judged and kept beside like any other."""
    root = write_portal(tmp_path / "portal")
    (root / "qrels").mkdir()
    (root / "queries.jsonl").write_text('{"_id": "1", "text": "lost badge"}\n')
    (root / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\thowto/badge.md\t1\n")
    assert run("evaluate", "--set", ".", cwd=root).status == 0
    judged = run("label", "judge", "1", "--doc", "howto/vpn.md", "--set", ".")
    assert judged.status == 0, judged.err
    assert (tmp_path / "portal.findback-judgements.jsonl").is_file()


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_set_that_is_no_file_says_so(run, tmp_path: Path, kind: str) -> None:
    """A pipe or device as a set is called what it is; nothing waits for it."""
    root = write_portal(tmp_path / "portal")
    os.mkfifo(root / "pipe")
    outcome = run("evaluate", "--set", "pipe" if kind == "pipe" else "/dev/null", cwd=root)
    assert outcome.status == 3
    assert "not a regular file" in outcome.err


def test_file_names_do_not_split_an_error(run, tmp_path: Path) -> None:
    """A line end in a file's name shows as a blank: every line of an error is one that findback wrote."""
    root = write_portal(tmp_path / "portal")
    name = "set\nerror: all is lost.jsonl"
    (root / name).write_bytes(b'{"query": "a", "go\n{"query": "b", "gold": "x"}\n{"query"\n')
    for set_ in (name, "no\nsuch.csv"):
        outcome = run("evaluate", "--set", set_, cwd=root)
        assert not any(line.startswith(("error: all", "such")) for line in outcome.err.splitlines()), outcome.err
    broken = run("evaluate", "--set", name)
    assert len(broken.err.splitlines()) == 4
    assert sum(line.startswith("  ") for line in broken.err.splitlines()) == 2


def test_old_line_ends_are_a_fault_of_the_file(run, tmp_path: Path) -> None:
    """A CSV file with lone carriage returns is refused with its line, not as a fault of findback."""
    root = write_portal(tmp_path / "portal")
    (root / "mac.csv").write_bytes(b"query,gold\rlost badge,howto/badge.md\r")
    outcome = run("evaluate", "--set", "mac.csv", cwd=root)
    assert outcome.status == 3, outcome.err
    assert "carriage return" in outcome.err


def test_what_the_disk_says_is_a_sentence(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk that nobody turned into one of ours still names the file and ends with status 10."""
    root = write_portal(tmp_path / "portal")

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "place")

    monkeypatch.setattr("findback.steps.evaluate.score_run", fail)
    outcome = run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert (outcome.status, "place: permission denied" in outcome.err) == (10, True)


def test_trust_question_masks_secrets(run, tmp_path: Path) -> None:
    """What a workspace wants to run is shown without the secrets somebody wrote into it."""
    secret = "hunter" + "2"
    root = write_portal(
        tmp_path / "portal",
        f"[retrievers.a]\nkind = 'command'\ncommand = ['curl', '-H', 'Authorization: {secret}']\n",
    )
    outcome = run("evaluate", "--set", "asked.jsonl", cwd=root)
    assert outcome.status == 5
    assert "curl" in outcome.err
    assert secret not in outcome.err


@pytest.mark.parametrize(("name", "said"), [("a.jsonl", "JSON object"), ("a.csv", "column names")])
def test_the_hint_for_an_empty_set_fits_its_name(run, tmp_path: Path, name: str, said: str) -> None:
    """JSON Lines need objects, a table needs column names."""
    root = write_portal(tmp_path / "portal")
    (root / name).write_bytes(b"")
    outcome = run("evaluate", "--set", name, cwd=root)
    assert outcome.status == 3
    assert said in outcome.err
