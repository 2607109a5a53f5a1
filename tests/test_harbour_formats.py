"""A released Harbour set goes out to every format, and comes back as it was."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from findback.evalset.extra import read_head, side_file
from findback.evalset.format import WritableFormat
from findback.evalset.open import installed_formats, open_set
from findback.evalset.trec import decode_id
from findback.model.question import Question
from findback.steps.exchange import ExportRequest, ImportRequest, export_set, import_set
from findback.steps.labelsheet import LabelImportRequest, import_sheet
from findback.steps.mine import MineRequest, mine
from findback.steps.release import ReleaseRequest, release
from findback.workspace import Workspace, open_workspace

HARBOUR = Path(__file__).resolve().parent.parent / "examples" / "harbour"
TARGETS = {
    "argilla": "records.json",
    "autorag": "autorag",
    "beir": "beir",
    "elasticsearch": "rank_eval.json",
    "ir-datasets": "ir",
    "label-studio": "tasks.json",
    "langfuse": "items.jsonl",
    "langsmith": "examples.jsonl",
    "mapped": "table.csv",
    "mteb": "mteb",
    "opensearch": "opensearch",
    "phoenix": "examples.json",
    "questions": "questions.jsonl",
    "quepid": "book.json",
    "ragas": "ragas.jsonl",
    "ranx": "ranx",
    "rre": "ratings.json",
    "trec": "trec",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Harbour with a release."""
    folder = tmp_path_factory.mktemp("harbour")
    build = [sys.executable, "-B", str(HARBOUR / "exports" / "build.py"), str(folder / "exports")]
    subprocess.run(build, check=True)
    root = folder / "harbour"
    shutil.copytree(HARBOUR, root, ignore=shutil.ignore_patterns("portal", "report.*"))
    workspace = open_workspace(root, environment={"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")})
    for name in ("slack.zip", "zendesk.jsonl", "traces.jsonl", "ubi.ndjson"):
        mine(workspace, MineRequest(exports=(folder / "exports" / name,)))
    import_sheet(workspace, LabelImportRequest(sheet=root / "labels.csv"))
    assert release(workspace, ReleaseRequest(message="first")).number == 1
    return workspace


def read_back(place: Path) -> tuple[Question, ...]:
    """Return the questions of a file, without redaction and without a corpus."""
    return open_set(place).questions


def test_every_writable_format_is_tried() -> None:
    """No format that findback writes is left out here."""
    assert set(TARGETS) == {name for name, form in installed_formats().items() if isinstance(form, WritableFormat)}


@pytest.mark.parametrize("name", TARGETS)
def test_out_and_back(harbour: Workspace, tmp_path: Path, name: str) -> None:
    """Every question comes back whole from every format, recognised by itself, and the export says what it lost."""
    target, again = tmp_path / TARGETS[name], tmp_path / "again.jsonl"
    sent = export_set(harbour, ExportRequest(release=1, to=name, output=target))
    assert import_set(harbour, ImportRequest(set=target, output=again)).questions == sent.questions
    released = open_set(harbour.evalset / "releases" / "1").questions
    assert read_back(again) == released
    if name == "questions":
        return
    head = read_head(Path(sent.files[-1]))
    assert head is not None
    assert {"labelled_by", "seen_on", "filter"} <= set(head.lost)
    assert any(note.startswith("kept in neither: ") for note in sent.notes)


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "questions"])
def test_the_file_alone_still_asks(harbour: Workspace, tmp_path: Path, name: str) -> None:
    """Without its side file an export still asks every question, with the gold that the format can hold."""
    target = tmp_path / TARGETS[name]
    sent = export_set(harbour, ExportRequest(release=1, to=name, output=target))
    Path(sent.files[-1]).unlink()
    assert not side_file(target).exists()
    released = open_set(harbour.evalset / "releases" / "1").questions
    back = read_back(target)
    assert [" ".join(question.query.split()) for question in back] == [" ".join(q.query.split()) for q in released]
    if name != "ragas":
        gold = [{decode_id(judgement.doc) for judgement in question.gold} for question in back]
        assert gold == [{judgement.doc for judgement in question.gold} for question in released]
