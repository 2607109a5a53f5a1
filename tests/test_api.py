"""findback from Python: what goes wrong says what to do, and nothing is said twice."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import findback
from builders.portal import PAGES, write_portal
from findback.errors import FindbackError, MissingError, UsageError
from findback.model.document import Document


@pytest.fixture
def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with documents and sets, and go there."""
    root = write_portal(tmp_path / "portal")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return root


def find(query: str, k: int) -> list[str]:
    return sorted(PAGES)[:k]


CALLS: dict[str, Callable[..., Any]] = {
    "load_corpus": lambda **options: findback.load_corpus("docs", **options),
    "load_corpus of documents": lambda **options: findback.load_corpus([Document("a", "text")], **options),
    "load_cases": lambda **options: findback.load_cases("asked.jsonl", corpus="docs", **options),
    "evaluate": lambda **options: findback.evaluate(find, "asked.jsonl", corpus="docs", **options),
    "audit": lambda **options: findback.audit("asked.jsonl", corpus="docs", **options),
    "compare": lambda **options: findback.compare({"a": find, "b": find}, "asked.jsonl", corpus="docs", **options),
}


@pytest.mark.parametrize("name", CALLS)
def test_unknown_options_are_named_with_those_there_are(portal: Path, name: str) -> None:
    """A misspelt option is a usage error that names it; the hint lists those there are, without arguments."""
    with pytest.raises(UsageError) as caught:
        CALLS[name](base_ulr="https://docs.example.org/")
    assert str(caught.value) == "base_ulr: there is no such option"
    assert caught.value.hint is not None
    listed = caught.value.hint.removeprefix("options: ").split(", ")
    assert "base_url" in listed
    assert not {"set", "corpus", "path"} & set(listed)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("load_corpus", {"git": "perhaps"}, "git: input should be a valid boolean"),
        ("load_corpus of documents", {"base_url": 5}, "base_url: input should be a valid string"),
        ("load_corpus of documents", {"git": True}, "git: there is no such option"),
        ("load_cases", {"columns": "query"}, "columns: input should be a valid dictionary"),
        ("load_cases", {"release": 3}, "release: there is no such option"),
        ("evaluate", {"depth": "deep", "metrics": "RR@10"}, "metrics: input should be a valid tuple; depth: input"),
        ("evaluate", {"retrievers": ("bm25",)}, "retrievers: there is no such option"),
        ("evaluate", {"set": "other.jsonl"}, "set: there is no such option"),
        ("compare", {"concurrency": 0}, "concurrency: input should be greater than 0"),
        ("audit", {"fail_over": 2}, "fail_over: input should be less than or equal to 1"),
    ],
)
def test_wrong_values_are_usage_errors(portal: Path, name: str, options: dict[str, Any], said: str) -> None:
    """A value of the wrong type or range is a usage error with every option's name, not a validator's own."""
    with pytest.raises(UsageError) as caught:
        CALLS[name](**options)
    assert str(caught.value).startswith(said)
    assert (caught.value.hint or "").startswith("options: ")


def test_tracebacks_show_the_hint_once() -> None:
    """A traceback ends with what to do; message and hint themselves stay apart for those who print them apart."""
    with pytest.raises(FindbackError) as caught:
        findback.load_corpus("nowhere")
    error = caught.value
    assert isinstance(error, MissingError)
    shown = "".join(traceback.format_exception(error))
    assert shown.count(f"hint: {error.hint}") == 1
    assert str(error) == error.message
    assert "hint" not in str(error)
    assert "hint" not in "".join(traceback.format_exception(FindbackError("no advice")))


def notes_on_gold(result: Any) -> list[str]:
    return [note for note in result.set.notes if note.startswith("gold ")]


def test_gold_resolved_is_said_once(portal: Path) -> None:
    """Cases read with the documents are not resolved again, with the same documents or with none."""
    documents = findback.load_corpus("docs")
    for cases in (
        findback.load_cases("asked.jsonl", corpus="docs"),
        findback.load_cases("asked.jsonl", corpus=documents),
    ):
        for corpus in ("docs", documents, None):
            assert notes_on_gold(findback.evaluate(find, cases, corpus=corpus)) == ["gold resolved: 6 by id"]


def test_cases_read_alone_are_resolved_when_documents_come(
    tmp_path: Path, portal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once documents are there, nothing says any more that gold was not checked; without them it is said once."""
    (portal / "findback.toml").unlink()
    cases = findback.load_cases("asked.jsonl")
    unchecked = "gold was not checked against documents: no corpus was given"
    assert notes_on_gold(findback.evaluate(find, cases)) == [unchecked]
    assert notes_on_gold(findback.evaluate(find, cases, corpus="docs")) == ["gold resolved: 6 by id"]


def test_dangling_gold_is_counted_once(portal: Path) -> None:
    """Gold that is no document counts once, however often the set meets the documents."""
    with (portal / "asked.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "r7", "query": "menu of the day", "gold": ["canteen.md"]}\n')
    cases = findback.load_cases("asked.jsonl", corpus="docs")
    result = findback.evaluate(find, cases, corpus="docs")
    assert sum("1 of 7 gold references" in note for note in result.set.notes) == 1
    assert cases.questions[-1].unresolved == ("canteen.md",)


def test_functions_and_kept_runs_are_compared_alike(portal: Path) -> None:
    """Two search functions, and the runs they left, give the same comparison, which prints and draws itself."""
    systems = {"pages": find, "none": lambda query, k: []}
    result = findback.compare(systems, "asked.jsonl", corpus="docs", production="pages")
    assert [(pair.first, pair.second) for pair in result.pairs] == [("pages", "none")]
    assert "Too few cases to tell pages and none apart" in str(result)
    page = result._repr_html_()
    assert "<svg" in page
    assert "RR@10, first minus second" in page
    runs = [one.run for one in result.systems if one.run is not None]
    again = findback.compare(runs, "asked.jsonl", corpus="docs")
    assert again.pairs == result.pairs
    cases = findback.load_cases("asked.jsonl", corpus="docs")
    assert findback.compare(systems, cases).pairs == result.pairs
