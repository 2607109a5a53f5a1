"""The experiment with generated questions: its texts are about Harbour, and its page says what it printed."""

import importlib.util
import json
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from findback.corpus.sampling import sample_documents
from findback.measure.intervals import estimate_mean
from findback.model.generated import Generated
from findback.model.question import QuestionSet
from findback.text.languages import guess_language

ROOT = Path(__file__).resolve().parent.parent
BENCHMARK = ROOT / "benchmarks" / "generated_exam.py"
PRINTED = ROOT / "benchmarks" / "data" / "generated_exam.md"
PAGE = ROOT / "docs" / "generated-exam.md"


@lru_cache(maxsize=1)
def load() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("generated_exam", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["generated_exam"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Exam(NamedTuple):
    """Harbour once its pages were described and the texts filtered."""

    place: Any
    result: Generated
    sets: dict[str, QuestionSet]


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    """Run what needs no embedder."""
    place = load().prepare(tmp_path_factory.mktemp("exam"))
    result = load().write(place)
    return Exam(place, result, load().read_sets(place))


def list_texts() -> list[dict[str, Any]]:
    """Return the lines of the file of descriptions."""
    return [json.loads(line) for line in load().TEXTS.read_text("utf-8").splitlines()]


def test_descriptions_name_pages_of_harbour() -> None:
    """Every line names another page of Harbour, its texts are one to three, and each is about pages that exist."""
    rows = list_texts()
    names = [row["document"] for row in rows]
    assert len(set(names)) == len(rows) == 96
    for row in rows:
        assert 1 <= len(row["texts"]) <= 3, row["document"]
        for name in [row["document"], *(one for text in row["texts"] for one in text.get("about", ()))]:
            assert (load().HARBOUR / "docs" / name).is_file(), name


def test_german_pages_are_described_in_german() -> None:
    """Texts about the ten German pages are in German, all others are not."""
    languages = {
        (row["document"].startswith("de/"), guess_language(text["text"]))
        for row in list_texts()
        for text in row["texts"]
    }
    assert sum(row["document"].startswith("de/") for row in list_texts()) == 10
    assert languages <= {(True, "de"), (True, None), (False, "en"), (False, None)}


def test_faults_are_named_and_say_what_they_are_about() -> None:
    """What is planted is a copy, empty talk, or about another page, which it then names."""
    texts = [(row["document"], text) for row in list_texts() for text in row["texts"]]
    assert {text.get("fault") for _, text in texts} == {None, *load().FAULTS}
    for document, text in texts:
        elsewhere = document not in text.get("about", (document,))
        assert elsewhere == (text.get("fault") == "another"), text


def test_every_fit_page_is_described(exam: Exam) -> None:
    """The file has exactly the pages that a sample of Harbour may hold."""
    place = exam.place
    settings = place.workspace.settings
    sample = sample_documents(place.corpus, 200, seed=1, not_knowledge=settings.mining.not_knowledge)
    assert {one.id for one in sample.drawn} == {row["document"] for row in list_texts()}


def test_page_says_what_was_printed() -> None:
    """Every line the script printed stands on the page, in its order."""
    page = iter(PAGE.read_text("utf-8").splitlines())
    for line in PRINTED.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            assert line in page, f"not on the page, or not in its place: {line}"


def test_filters_say_today_what_was_printed(exam: Exam) -> None:
    """What was turned down, the judge's calibration and the wording of the three sets are still as printed."""
    lines = [
        *load().show_written(exam.place, exam.result),
        *load().show_judge(exam.result),
        *load().show_wording(load().measure(exam.place, exam.sets)),
    ]
    printed = iter(PRINTED.read_text("utf-8").splitlines())
    for line in lines:
        assert line in printed, f"python benchmarks/generated_exam.py > {PRINTED.relative_to(ROOT)}: {line}"


def test_keyword_search_scores_what_was_printed(exam: Exam) -> None:
    """BM25 on the three sets has the levels that were printed."""
    printed = PRINTED.read_text("utf-8").splitlines()
    for name, questions in exam.sets.items():
        sample = load().search(exam.place, questions, ("bm25",)).sample
        mean = estimate_mean(sample.matrix[:, 0], sample.codes.tolist(), sample.golds, bounds=(0.0, 1.0))
        begins = f"| {load().CALLED[name]} | {len(sample.matrix)} | {load().shown(mean)} |"
        assert any(line.startswith(begins) for line in printed), begins
