"""What exports lose is named: nothing else may be missing when the side file is taken away."""

from pathlib import Path

import orjson
import pytest

from builders.sets import question_set
from evalset.test_formats import RICH, TARGETS
from findback.errors import DataError
from findback.evalset.extra import SUFFIX, SideHead, find_head, read_head, side_file
from findback.evalset.format import ReadOptions, WritableFormat
from findback.evalset.formats import autorag, beir, quepid
from findback.evalset.losses import LOSSES, count_losses
from findback.evalset.trec import decode_id
from findback.model.case import Judgement
from findback.model.question import Question, QuestionSet


def decode(question: Question) -> Question:
    """Return a question with its ids as they were before TREC's encoding."""
    judged = question.judged
    if judged is not None:
        judged = tuple(one.model_copy(update={"doc": decode_id(one.doc)}) for one in judged)
    return question.model_copy(update={"id": decode_id(question.id), "judged": judged})


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
def test_without_its_side_file_only_what_it_names_is_lost(tmp_path: Path, form: WritableFormat, target: str) -> None:
    """A set whose side file is gone still has everything that the side file did not name as kept there."""
    *_, extra = form.write(RICH, tmp_path / target)
    head = read_head(extra)
    assert head is not None
    assert head.format == form.name
    extra.unlink()
    back = form.read(tmp_path / target, ReadOptions()).questions
    assert len(back) == len(RICH.questions)
    if "ids with blanks" in head.kept:
        # They are there, percent-encoded.
        back = tuple(map(decode, back))
    # Without any ids there are none with blanks either.
    named = {*head.kept, "ids with blanks"} if "ids" in head.kept else set(head.kept)
    for loss, held in LOSSES.items():
        if loss not in named:
            assert [held(question) for question in back] == [held(question) for question in RICH.questions], loss
    if "blanks in queries" not in head.kept:
        assert [question.query for question in back] == [question.query for question in RICH.questions]


@pytest.mark.parametrize(("form", "target"), TARGETS, ids=lambda value: getattr(value, "name", value))
def test_one_shape_for_all_side_files(tmp_path: Path, form: WritableFormat, target: str) -> None:
    """The first line of every side file says format, what is kept with counts, what is lost; then come questions."""
    extra = form.write(RICH, tmp_path / target)[-1]
    first, *lines = map(orjson.loads, extra.read_bytes().splitlines())
    assert list(first) == ["findback_extra", "format", "kept", "lost"]
    assert first["kept"] == count_losses(form.losses, RICH.questions)
    assert first["lost"] == []
    assert [set(line) for line in lines] == [{"key", "question"}] * len(RICH.questions)
    found = find_head(tmp_path / target)
    assert found is not None
    assert found.format == form.name


def test_losses_are_counted_by_hand() -> None:
    """Of the five questions two say that nothing answers, three have details of judgements, one has parts."""
    counts = count_losses(LOSSES, RICH.questions)
    assert counts["ids"] == 5
    assert counts["parts"] == counts["anchors"] == counts["context"] == counts["tags"] == 1
    assert counts["no-answer"] == 2
    assert counts["grades"] == counts["grade 0"] == 2
    assert counts["found_by"] == 3
    assert counts["blanks in queries"] == 3


def test_a_release_names_what_no_format_holds(tmp_path: Path) -> None:
    """What a released case is beside its question is named as lost, and so are the cases that are left out."""
    released = QuestionSet(
        name="1",
        kind="release",
        release=1,
        questions=(Question(id="c1", query="why"),),
        notes=("read as findback: a release", "2 held-out cases left out"),
    )
    head = read_head(beir.write(released, tmp_path / "b")[-1])
    assert head is not None
    assert {"labelled_by", "seen_on", "redaction", "split", "rule", "2 held-out cases left out"} <= set(head.lost)
    assert not {"query", "judged", "format"} & set(head.lost)


def test_side_files_without_a_head_are_read(tmp_path: Path) -> None:
    """A side file from before there was a first line still adds what it keeps."""
    path = tmp_path / "r.csv"
    quepid.write(question_set(Question(id="q9", query="why", wording="vague")), path)
    extra = side_file(path)
    extra.write_bytes(b"".join(extra.read_bytes().splitlines(keepends=True)[1:]))
    assert quepid.read(path, ReadOptions()).questions[0].wording == "vague"
    assert read_head(extra) is None


def test_side_files_of_tomorrow_are_refused(tmp_path: Path) -> None:
    """A side file of another version is a fault with its line, not read wrongly."""
    path = tmp_path / "r.csv"
    quepid.write(question_set(Question(id="q9", query="why")), path)
    extra = side_file(path)
    extra.write_bytes(extra.read_bytes().replace(b'"findback_extra":1', b'"findback_extra":2'))
    with pytest.raises(DataError, match=rf"{SUFFIX}:1: `findback_extra` must be 1"):
        quepid.read(path, ReadOptions())


def test_a_document_taken_out_by_hand_is_out(tmp_path: Path) -> None:
    """Where the exported file has lost a part's document and gained another, grades of the others stay."""
    pytest.importorskip("pyarrow")

    def made(*docs: str) -> Question:
        judged = tuple(Judgement(doc=doc, grade=2, found_by="reviewer") for doc in docs)
        return Question(id="q1", query="why", judged=(*judged, Judgement(doc="z", grade=0, found_by="pool")))

    autorag.write(question_set(made("a", "b")), tmp_path / "one.parquet")
    autorag.write(question_set(made("a", "c")), tmp_path / "two.parquet")
    (tmp_path / "one.parquet").write_bytes((tmp_path / "two.parquet").read_bytes())
    (question,) = autorag.read(tmp_path / "one.parquet", ReadOptions()).questions
    assert [(j.doc, j.grade, j.found_by) for j in question.judged or ()] == [
        ("a", 2, "reviewer"),
        ("c", 1, "import"),
        ("z", 0, "pool"),
    ]


def test_heads_are_records() -> None:
    """A head with nothing to say is a whole record."""
    assert SideHead(format="beir").model_dump() == {"findback_extra": 1, "format": "beir", "kept": {}, "lost": ()}
