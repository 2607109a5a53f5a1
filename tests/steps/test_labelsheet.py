"""Review in a spreadsheet: what goes out comes back through the checks of the page, whole or not at all."""

import csv
import io
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.candidates import NOON, candidate, digest, line
from builders.ready import portal
from findback.errors import DataError, RefusedError, UsageError
from findback.model.candidate import DocumentLink, RedactedSpan, RedactedText
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.bench import open_bench
from findback.steps.labelsheet import LabelExportRequest, LabelImportRequest, export_sheet, import_sheet
from findback.steps.review import open_desk, open_item, save, submit
from findback.steps.sheetcells import read_marked, write_marked
from findback.steps.sheetplan import FORMAT, HEADER

ANA = Reviewer("ana", "Ana", ("reviewer", "lead"), ("public",))
BADGE, LEAVE, VPN = "howto/badge.md", "policies/leave.md", "howto/vpn.md"
Rows = list[dict[str, str]]


def suggestion(start: int, end: int, kind: str = "PERSON") -> RedactedSpan:
    return RedactedSpan(start=start, end=end, type=kind, rule="names", version="1", band="suggested")


def linked(document: str) -> DocumentLink:
    return DocumentLink(document=document, line=1, by="resolver", kind="url-in-text")


@pytest.fixture
def at(tmp_path: Path) -> SimpleNamespace:
    """A workbench with three candidates: two suggestions and a link, a formula, and an internal one."""
    workspace = portal(tmp_path, "[review]\noverlap = 0.0\n")
    query = RedactedText(
        text="Ana or\nBo Lee lost a badge", spans=(suggestion(7, 13, "ORG"), suggestion(0, 3)), raw_hmac="h"
    )
    answer = line("r", "bo", "=1+1 see the leave page", 3, role="resolver")
    with open_bench(workspace) as bench:
        bench.put(
            [
                candidate(
                    "one", query=query, replies=(answer,), links=(linked(LEAVE),), file="a/x.zip!c/1.json", offset=4
                ),
                candidate("two", query="=map of the moon", file="a/x.zip!c/1.json", offset=9),
                candidate("three", audience="internal"),
            ],
            now=NOON,
        )
    sheet = tmp_path / "labels.csv"

    def export(**fields: object) -> Rows:
        export_sheet(workspace, LabelExportRequest(output=sheet, force=True, **fields), reviewer=ANA, now=NOON)
        return list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"))))

    def write(rows: Rows, change: Callable[[str], str] = str, delimiter: str = ",") -> None:
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
        sheet.write_bytes(change(out.getvalue()).encode())

    def read(**fields: object) -> object:
        return import_sheet(workspace, LabelImportRequest(sheet=sheet, **fields), reviewer=ANA, now=NOON)

    def review(name: str = "one") -> Review | None:
        with open_bench(workspace) as bench:
            return next((one.review for one in bench.reviews_of(digest(name))), None)

    def state(name: str = "one") -> str:
        with open_bench(workspace) as bench:
            return bench.get(digest(name)).state

    return SimpleNamespace(
        workspace=workspace, sheet=sheet, export=export, write=write, read=read, review=review, state=state
    )


FILLED = {
    "suggestions": "1 redact; 2 keep",
    "redact": "OTHER: lost",
    "wording": "Vague",
    "gold": f"{BADGE} = 3; {VPN}=2 part 2",
    "dropped": f"{LEAVE} = about holidays; not badges",
    "note": "seen twice",
    "submit": "yes",
}


def test_what_is_written(at: SimpleNamespace) -> None:
    """Words unchanged with suggestions marked, the thread masked, evidence at grade 3, what is missing; owner only."""
    first, second = at.export()
    assert tuple(first) == HEADER
    assert (first["format"], first["key"], first["revision"], first["look"]) == (FORMAT, digest("one"), "0", "1")
    assert first["query"] == "⟦?1 PERSON: Ana⟧ or\n⟦?2 ORG: Bo Lee⟧ lost a badge"
    assert read_marked(first["query"]) == "Ana or\nBo Lee lost a badge"
    assert "Ana" not in first["thread"]
    assert "> asker" in first["thread"]
    assert f"{LEAVE} – " in first["documents"]
    assert (first["gold"], first["wording"], first["submit"]) == (f"{LEAVE}=3", "", "no")
    assert "2 suggested redaction(s)" in first["missing"]
    assert second["query"] == "'=map of the moon"
    assert first["reference"] == "x.zip!c/1.json#4"
    assert at.sheet.stat().st_mode & 0o777 == 0o600
    assert digest("three") not in at.sheet.read_text("utf-8")
    with pytest.raises(UsageError, match="there already"):
        export_sheet(at.workspace, LabelExportRequest(output=at.sheet), reviewer=ANA)
    assert at.export(state=("ready",)) == []


def test_round_trip_without_a_change_changes_nothing(at: SimpleNamespace) -> None:
    """Importing what was exported saves no review."""
    at.export()
    found = at.read()
    assert (found.applied, found.unchanged, found.conflicts) == ((), 2, ())
    assert at.review() is None
    assert at.state() == "new"


def test_a_filled_row_becomes_a_review(at: SimpleNamespace) -> None:
    """Every column arrives, the candidate is ready; the same sheet again, or a new export, changes nothing."""
    rows = at.export()
    rows[0] |= FILLED
    at.write(rows)
    dry = at.read(dry_run=True)
    assert [one.stage for one in dry.applied] == ["submitted"]
    assert at.review() is None
    found = at.read()
    assert [(one.row, one.state) for one in found.applied] == [(2, "second-opinion")]
    review = at.review()
    assert review is not None
    assert sorted((one.start, one.end, one.type, one.action) for one in review.spans if one.place == "query") == [
        (0, 3, "PERSON", "redact"),
        (7, 13, "ORG", "keep"),
        (14, 18, "OTHER", "redact"),
    ]
    assert review.judged == (
        Judgement(doc=BADGE, grade=3, found_by="reviewer"),
        Judgement(doc=VPN, grade=2, part=2, found_by="reviewer"),
    )
    assert [(one.document, one.reason) for one in review.dropped] == [(LEAVE, "about holidays; not badges")]
    assert (review.wording, review.note) == ("vague", "seen twice")
    again = at.read()
    assert (again.applied, again.unchanged, again.conflicts) == ((), 2, ())
    exported = at.export()
    assert (exported[0]["redact"], exported[0]["submit"], exported[0]["revision"]) == ("OTHER: lost", "yes", "1")
    assert at.read().applied == ()


def test_words_are_given_back_when_they_leave_the_sheet(at: SimpleNamespace) -> None:
    """What a sheet redacted beside the suggestions goes when it is taken out of the column, in every text."""
    rows = at.export()
    at.write([rows[0] | {"redact": "OTHER: lost"}])
    at.read()
    assert {(one.place, one.start) for one in at.review().spans} == {("query", 14), ("line", 14)}
    rows = at.export()
    at.write([rows[0] | {"redact": ""}])
    at.read()
    assert at.review().spans == ()


def test_every_fault_is_said_at_once_and_nothing_is_kept(at: SimpleNamespace) -> None:
    """Line and column of each, unknown candidates and documents by name; a sound row beside them is not kept."""
    rows = at.export()
    bad = rows[0] | {
        "suggestions": "3 redact",
        "wording": "shouted",
        "gold": "nowhere.md=3",
        "dropped": LEAVE,
        "redact": "Bo",
        "document_wanted": "perhaps",
        "revision": "some",
    }
    fine = rows[1] | {"wording": "plain"}
    incomplete = rows[1] | {"key": "", "reference": "c/1.json#9", "submit": "yes"}
    at.write([bad | {"revision": "0"}, fine, incomplete | {"key": digest("never"), "reference": ""}])
    with pytest.raises(DataError) as caught:
        at.read()
    said = {fault.message.partition(":")[0]: fault for fault in caught.value.faults}
    columns = ("suggestions", "redact", "wording", "gold", "dropped", "document_wanted")
    assert set(said) == {*(f"row 2, {column}" for column in columns), "row 4, key"}
    lines = at.sheet.read_text("utf-8").split("\n")
    assert {lines[fault.line - 1][:2] for fault in said.values()} == {"1,"}
    assert "nowhere.md" in said["row 2, gold"].message
    assert digest("never")[:10] in said["row 4, key"].message
    assert at.review("two") is None
    at.write([bad, rows[1], rows[1]])
    with pytest.raises(DataError, match="is no number"):
        at.read()
    at.write([rows[1] | {"submit": "yes"}])
    with pytest.raises(DataError, match="row 2, submit: the wording is not said"):
        at.read()
    at.write([rows[1], rows[1]])
    with pytest.raises(DataError, match="row 2 is about the same candidate"):
        at.read()
    at.write([rows[1] | {"format": "2"}])
    with pytest.raises(DataError, match="a newer one wrote the sheet"):
        at.read()
    at.write([{"query": "x", "wording": "plain"}])
    with pytest.raises(DataError, match="no column `key` or `reference`"):
        at.read()


def test_what_changed_since_the_export_is_left_alone(at: SimpleNamespace) -> None:
    """A row about a review that went on is a conflict and named; the other rows are kept."""
    rows = at.export()
    with open_bench(at.workspace) as bench, open_desk(at.workspace, bench) as desk:
        save(desk, ANA, digest("one"), Review(wording="plain"), revision=0, now=NOON)
    at.write([rows[0] | {"wording": "vague"}, rows[1] | {"wording": "vague"}])
    found = at.read()
    assert [(one.row, one.key) for one in found.conflicts] == [(2, digest("one"))]
    assert "changed since the export (revision 0 there, 1 now)" in found.conflicts[0].reason
    assert (at.review().wording, at.review("two").wording) == ("plain", "vague")
    rows = at.export()
    at.write([rows[0] | {"wording": "vague", "query": "Ann or Bo Lee lost a badge"}])
    assert "the question reads differently" in at.read().conflicts[0].reason
    assert at.review().wording == "plain"


def test_one_sheet_is_no_second_look(at: SimpleNamespace) -> None:
    """A day later the same sheet does not confirm itself: the look it was written for is done."""
    rows = at.export()
    at.write([rows[0] | FILLED])
    at.read()
    later = NOON + timedelta(hours=30)
    with open_bench(at.workspace) as bench, open_desk(at.workspace, bench) as desk:
        assert open_item(desk, ANA, digest("one"), now=later).look == 2
    request = LabelImportRequest(sheet=at.sheet)
    assert import_sheet(at.workspace, request, reviewer=ANA, now=later).unchanged == 1
    at.write([rows[0] | FILLED | {"wording": "plain"}])
    found = import_sheet(at.workspace, request, reviewer=ANA, now=later)
    assert "another look at it is due" in found.conflicts[0].reason
    assert at.state() == "second-opinion"


def test_spreadsheet_habits(at: SimpleNamespace) -> None:
    """Semicolons, CRLF, a byte order mark, other order, own columns, blank rows, 1.0 for 1: all read; own named."""
    row = at.export()[0]
    turned = dict(reversed(list((row | FILLED).items()))) | {"mine": "x", "revision": "0.0", "format": ""}
    blank = dict.fromkeys(turned, "")
    at.write([turned, blank], lambda text: "\ufeff" + text.replace("Ana⟧ or\n", "Ana⟧ or\r\n"), delimiter=";")
    found = at.read()
    assert [one.row for one in found.applied] == [2]
    assert found.notes == ("columns that mean nothing here: 'mine'",)
    assert at.review().wording == "vague"


def test_a_reference_names_a_candidate_in_another_workbench(at: SimpleNamespace, tmp_path: Path) -> None:
    """Keys differ there; the file's name and the place in it are the same, wherever the file lay."""
    rows = at.export()
    at.write([rows[0] | FILLED])
    other = portal(tmp_path / "other", "[review]\noverlap = 0.0\n")
    query = RedactedText(
        text="Ana or\nBo Lee lost a badge", spans=(suggestion(7, 13, "ORG"), suggestion(0, 3)), raw_hmac="i"
    )
    with open_bench(other) as bench:
        moved = candidate("elsewhere", query=query, links=(linked(LEAVE),), file="/b/x.zip!c/1.json", offset=4)
        bench.put([moved, candidate("same", file="/c/y.zip", offset=4)], now=NOON)
    found = import_sheet(other, LabelImportRequest(sheet=at.sheet), reviewer=ANA, now=NOON)
    assert [one.key for one in found.applied] == [digest("elsewhere")]
    at.write([rows[0] | {"reference": "c/1.json#5", "wording": "plain"}])
    with pytest.raises(DataError, match=r"row 2, reference: no candidate is from 'c/1.json#5'"):
        import_sheet(other, LabelImportRequest(sheet=at.sheet), reviewer=ANA, now=NOON)


def test_later_never_and_nothing(at: SimpleNamespace) -> None:
    """Reasons move candidates as on the page; a row without submit is a draft."""
    one, two = at.export()
    at.write(
        [
            one | {"unrateable_reason": "a joke", "submit": "yes"},
            two | {"no_answer_reason": "no\nmap", "document_wanted": "x"},
        ]
    )
    found = at.read()
    assert [(row.stage, row.state) for row in found.applied] == [("submitted", "rejected"), ("draft", "in-review")]
    assert (at.review("two").no_answer_reason, at.review("two").document_wanted) == ("no\nmap", True)
    two = at.export()[0]
    at.write([two | {"later_reason": "ask the moon office", "submit": "yes"}])
    assert at.read().applied[0].state == "needs-labels"


def test_somebody_else_in_between_is_a_conflict(at: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A review that changes after the check and before the keeping is not written over."""
    rows = at.export()
    at.write([rows[1] | {"wording": "vague"}])
    with open_bench(at.workspace) as bench, open_desk(at.workspace, bench) as desk:

        def late(*arguments: object, **fields: object) -> object:
            submit(desk, ANA, digest("two"), Review(unrateable_reason="a joke"), revision=0, now=NOON)
            return save(*arguments, **fields)

        monkeypatch.setattr("findback.steps.labelsheet.save", late)
        found = at.read()
    assert (found.applied, len(found.conflicts)) == ((), 1)
    assert at.review("two").unrateable_reason == "a joke"


PIECES = st.lists(st.text(st.sampled_from("ab c\n[]?:=⟨"), min_size=1, max_size=6), min_size=1, max_size=6)


@given(PIECES, st.data())
def test_marks_are_reversible(pieces: list[str], data: st.DataObject) -> None:
    """Whatever stretches are suggested, the marked text gives the stored one back."""
    spans, at = [], 0
    for piece in pieces:
        if data.draw(st.booleans()):
            spans.append(suggestion(at, at + len(piece)))
        at += len(piece)
    text = RedactedText(text="".join(pieces), spans=tuple(spans), raw_hmac="h")
    assert read_marked(write_marked(text)) == text.text


def test_a_sheet_that_git_could_commit_is_refused(at: SimpleNamespace, tmp_path: Path) -> None:
    """In a work tree that does not ignore it no sheet is written; ignored, it is."""
    workspace = at.workspace
    subprocess.run(["git", "init", "-q", str(workspace.root)], check=True)
    inside = workspace.root / "sheet.csv"
    with pytest.raises(RefusedError, match="does not ignore it") as caught:
        export_sheet(workspace, LabelExportRequest(output=inside), reviewer=ANA, now=NOON)
    assert (caught.value.hint, inside.exists()) == (
        "write it outside the repository with -o, or add it to .gitignore",
        False,
    )
    (workspace.root / ".gitignore").write_text("sheet.csv\n")
    assert export_sheet(workspace, LabelExportRequest(output=inside), reviewer=ANA, now=NOON).rows == 2
