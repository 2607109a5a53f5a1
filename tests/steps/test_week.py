"""The half hour: what comes first in it, and that no text is in its digest."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from builders import results
from builders.candidates import candidate, digest, full, line, text
from builders.ready import Ready, asked, portal
from builders.weeks import NOW, about_printers, exam, incoming, like_the_exam, plan, put, released, searched
from findback.cli.main import app
from findback.errors import MissingError
from findback.evalset.cases import read_cases
from findback.model.audit import Audit
from findback.model.candidate import RuleHit
from findback.model.flag import FlagRequest
from findback.model.week import Week, WeekPart
from findback.reporting.week import render_digest
from findback.steps.bench import open_bench
from findback.steps.expected import ExamWords, expect_value
from findback.steps.flag import open_flag_desk
from findback.steps.kept import load, newest
from findback.steps.report import ReportRequest, report
from findback.steps.week import WeekRequest, plan_week
from findback.steps.withdraw import WithdrawRequest, withdraw
from findback.workspace import Workspace, open_workspace

CANARY = "canaryquail"


def part(week: Week, kind: str) -> WeekPart:
    return next(one for one in week.parts if one.kind == kind)


def ids(week: Week, kind: str) -> list[str]:
    return [one.id for one in part(week, kind).items]


def short(*names: str) -> list[str]:
    return [digest(name)[:12] for name in names]


def test_value_is_times_asked_by_newness_by_cost() -> None:
    """Counted by hand: five times, a quarter of the words shared, nothing found: 5 · ¾ · 2; a control is worth half."""
    exam_words = ExamWords([exam(1)[0].model_copy(update={"query": "rotate signing key"})])
    failed = searched("a", query="signing webhook", asked="5-19", language="en")
    # Of signing, webhook, rotate and key one of four is shared.
    assert expect_value(failed, exam_words).value == pytest.approx(5 * 0.75 * 2)
    assert expect_value(failed, exam_words).why == ("asked 5-19", "nothing was found")
    plain = candidate("b", query="book leave", language="en", stratum="control")
    assert expect_value(plain, exam_words) == (0.5, ("new to the exam", "control"))
    known = candidate("c", query="Rotate signing key?", language="en", outcome=False)
    assert expect_value(known, exam_words).value == pytest.approx(0.1 * 2)
    assert expect_value(known, exam_words).why == ("the exam has nearly this", "its task failed")


def test_what_is_worth_most_comes_first(tmp_path: Path) -> None:
    """Asked often before asked once, new before known, costly before cheap; flags stand apart."""
    workspace = released(tmp_path)
    put(
        workspace,
        candidate("known", "a", query=asked(2), language="en"),
        candidate("new", "b", query="parking permit for visitors", language="en"),
        searched("costly", "c", query="garage closes when", language="en"),
        candidate("often", "d", query="aquarium feeding rota", language="en", asked="20+"),
        candidate("flag", "e", query="sauna key", language="en", origin="flagged"),
    )
    week = plan(workspace, quick=True)
    assert ids(week, "candidate") == short("often", "costly", "new", "known")
    assert ids(week, "flag") == short("flag")
    assert (week.monday.isoformat(), week.minutes, week.incoming, week.tracker) == ("2026-03-02", 30, None, None)


def test_everything_that_waits_is_counted(tmp_path: Path) -> None:
    """Doubted cases are listed by id, those without a change since; other kinds are there and empty."""
    workspace = released(tmp_path)
    put(workspace, *like_the_exam(3))
    case = read_cases(workspace.evalset / "cases.jsonl")[0].id
    with open_bench(workspace) as bench:
        bench.add_case_change(case, "questioned", role="lead", now=NOW, why=CANARY)
        bench.add_case_change("c0000000000", "questioned", role="lead", now=NOW)
    week = plan(workspace, quick=True)
    assert [(one.kind, one.total) for one in week.parts] == [
        ("flag", 0),
        ("candidate", 3),
        ("stale", 0),
        ("disagreement", 0),
        ("doubt", 1),
    ]
    assert ids(week, "doubt") == [case]
    assert CANARY not in week.model_dump_json()


def test_what_a_refresh_found_is_listed(tmp_path: Path) -> None:
    """A gold page that is gone makes its cases stale: the week lists them after `findback refresh`."""
    from findback.steps.refresh import RefreshRequest, refresh

    workspace = released(tmp_path)
    put(workspace, *like_the_exam(1))
    (workspace.root / "docs" / "howto" / "vpn.md").unlink()
    refresh(workspace, RefreshRequest())
    week = plan(workspace, quick=True)
    gone = [one.id for one in read_cases(workspace.evalset / "cases.jsonl") if one.judged[0].doc == "howto/vpn.md"]
    assert len(gone) == 10
    assert {one.id for one in part(week, "stale").items if "gone" in one.why} == set(gone)


def planted(folder: Path) -> Workspace:
    """A workspace with a canary in every text: queries, threads, titles, flags, doubts, and the owner named."""
    workspace = released(folder, "[set]\nowner = 'docs team'\n")
    odd = full("odd").model_copy(update={"audience": "public", "query": text(f"{CANARY} one {{}}", "ana")})
    many = [
        incoming(f"c {at}", "howto/vpn.md", f"{CANARY} {asked(at * 2 + 1)}", at, title=text(f"{CANARY} title"))
        for at in range(30)
    ]
    thread = candidate("t", "bo", [line("r", "cy", f"{CANARY} reply", role="resolver")], query=f"{CANARY} thread")
    put(workspace, odd, *many, thread, candidate("no", no_answer_hint=f"{CANARY} hint"), days=20)
    with open_flag_desk(workspace) as desk:
        for at in range(12):
            request = FlagRequest(query=f"{CANARY} flag {at}", note=f"{CANARY} note", page=f"/{CANARY}/page")
            desk.flag(request, via="widget", now=NOW - timedelta(days=9 - at / 2))
    case = read_cases(workspace.evalset / "cases.jsonl")[0].id
    with open_bench(workspace) as bench:
        bench.add_case_change(case, "questioned", role="lead", now=NOW, why=f"{CANARY} why")
        bench.reject(digest("no"), f"{CANARY} reason", reviewer=f"{CANARY}-person", version=1, now=NOW)
    return workspace


def test_no_text_is_in_the_digest(tmp_path: Path) -> None:
    """A canary in every text and name is found neither in digest, record, tables nor report; ids and counts are."""
    workspace = planted(tmp_path)
    week = plan(workspace)
    found = render_digest(week)
    assert week.incoming is not None
    assert week.flags is not None
    assert week.flags.overall.events == 10
    assert "docs team" in found
    assert part(week, "flag").items[0].id in found
    assert CANARY not in found
    assert CANARY not in week.model_dump_json()
    # Neither do queries of the exam stand there, nor words that only documents and questions share.
    for case in read_cases(workspace.evalset / "cases.jsonl"):
        assert case.query not in found
    assert "tunnel" not in found


def test_the_command_prints_writes_and_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`findback week` fits 80 columns; --markdown writes the digest; JSON is the record; the report takes it up."""
    workspace = planted(tmp_path)
    monkeypatch.chdir(workspace.root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> str:
        app(list(words), exit_on_error=False, result_action="return_value")
        return capsys.readouterr().out

    printed = run("week")
    assert max(map(len, printed.splitlines())) <= 80
    assert "New flags" in printed
    assert "Owner: docs team." in printed
    assert run("week", "--quick", "--markdown", str(tmp_path / "week.md")).startswith("wrote ")
    digest_file = (tmp_path / "week.md").read_text("utf-8")
    assert digest_file.startswith("# Week of ")
    assert CANARY not in printed + digest_file
    record = json.loads(run("week", "--json"))
    assert record["upkeep"]["owner"] == "docs team"
    kept = newest(open_workspace(), Week)
    assert kept.result is not None
    assert kept.result.incoming is not None


def test_the_report_says_which_weeks_were_skipped(tmp_path: Path) -> None:
    """The report holds owner, skipped weeks, drift, flag rate and scores by release; shared, no owner and no name."""
    workspace = planted(tmp_path)
    plan(workspace)
    audit = tmp_path / "audit.json"
    audit.write_text(results.audit().model_dump_json())
    assert load(audit, Audit)
    said = {}
    for suffix in ("html", "md", "json"):
        for share in (False, True):
            file = tmp_path / f"r-{share}.{suffix}"
            report(workspace, ReportRequest(output=file, audit=audit, share=share))
            said[suffix, share] = file.read_text("utf-8")
    for (suffix, share), page in said.items():
        assert ("docs team" in page) is not share
        assert CANARY not in page
        if suffix != "json":
            for title in ("Who looks after the exam", "Is the exam still like the questions?", "How often people flag"):
                assert title in page
            assert "Scores by release" in page
            assert "skipped" in page


def test_a_withdrawn_case_leaves_the_kept_week(tmp_path: Path) -> None:
    """The id of a withdrawn case stands in no kept week, which can still be read."""
    workspace = planted(tmp_path)
    week = plan(workspace)
    (case,) = ids(week, "doubt")
    withdraw(workspace, WithdrawRequest(cases=(case,), reason="asked to"), ready=Ready())
    kept = newest(workspace, Week)
    assert kept.unreadable == ()
    assert kept.result is not None
    assert case not in kept.result.model_dump_json()


def test_there_is_no_week_before_anything_came_in(tmp_path: Path) -> None:
    """Without a workbench the command says what to do, and makes none; without a release it plans all the same."""
    workspace = portal(tmp_path)
    with pytest.raises(MissingError, match="nothing has been mined"):
        plan_week(workspace, WeekRequest(), now=NOW)
    assert not (workspace.private / "workbench").exists()
    put(workspace, *about_printers(2))
    week = plan(workspace)
    assert (part(week, "candidate").total, week.incoming, week.tracker) == (2, None, None)
    assert "Nothing was released yet" not in render_digest(week)


def test_zero_results_count_as_costly() -> None:
    """A rule that says that nothing was found makes a question costly; a click rule does not."""
    words = ExamWords([])
    no_click = searched("a", query="x y").model_copy(update={"rules": (RuleHit(rule="no-click", strength="medium"),)})
    assert expect_value(searched("a", query="webhook"), words).value == 2.0
    assert expect_value(no_click, words).value == 1.0
