"""`findback glossary`."""

import json
from pathlib import Path

import pytest

from builders.glossary import released_workspace
from builders.solrsynonyms import read_synonyms


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a workspace with one release."""
    return released_workspace(tmp_path, settings="[retrievers.words]\nkind = 'bm25'\n").root


def test_from_questions_to_synonyms(run, root: Path) -> None:
    """Suggest, accept, evaluate and export, one after the other."""
    found = run("glossary", "suggest", "--most", "5", cwd=root)
    assert found.status == 0, found.err
    assert "wireless" in found.out
    assert "next: findback glossary accept" in found.out
    accepted = run("glossary", "accept", "wifi => wireless", "paperjam => printer", "--role", "reviewer")
    assert accepted.status == 0, accepted.err
    assert "accepted: wifi => wireless" in accepted.out
    measured = run("glossary", "evaluate", "--folds", "2", "--json")
    assert measured.status == 0, measured.err
    scores = json.loads(measured.out)["scores"]
    assert [one["glossary"] for one in scores] == ["accepted", "as proposed"]
    exported = run("glossary", "export", "--for", "solr")
    assert exported.status == 0, exported.err
    assert read_synonyms(exported.out) == {"wifi": ["wifi", "wireless"], "paperjam": ["paperjam", "printer"]}
    assert "warning: rules are for the query analyser alone" in exported.err


def test_reports_are_written_where_asked(run, root: Path) -> None:
    """Markdown and JSON by the file's name; other endings are refused before any work."""
    assert run("glossary", "suggest", "-o", "terms.md", cwd=root).status == 0
    assert "# Terms for the glossary: release 1" in (root / "terms.md").read_text("utf-8")
    assert run("glossary", "evaluate", "--folds", "2", "-o", "worth.json").status == 0
    assert json.loads((root / "worth.json").read_text("utf-8"))["folds"] == 2
    refused = run("glossary", "evaluate", "-o", "worth.html")
    assert (refused.status, "cannot tell the format" in refused.err) == (2, True)


def test_exports_replace_nothing_by_accident(run, root: Path) -> None:
    """A file that is there needs --force; the glossary itself, settings and documents are never replaced."""
    run("glossary", "suggest", cwd=root)
    run("glossary", "accept", "1")
    assert run("glossary", "export", "--for", "typesense", "-o", "out.json").status == 0
    assert json.loads((root / "out.json").read_text())["items"][0]["synonyms"]
    again = run("glossary", "export", "--for", "json", "-o", "out.json")
    assert (again.status, "there already" in again.err) == (2, True)
    assert run("glossary", "export", "--for", "json", "-o", "out.json", "--force").status == 0
    for target in ("evalset/glossary.toml", "findback.toml", "docs/badge/setup.md"):
        before = (root / target).read_bytes()
        assert run("glossary", "export", "--for", "json", "-o", target, "--force").status == 2, target
        assert (root / target).read_bytes() == before


def test_a_tool_description_is_bounded(run, root: Path) -> None:
    """What does not fit is named on stderr."""
    run("glossary", "suggest", cwd=root)
    run("glossary", "accept", "1", "2", "3")
    short = run("glossary", "export", "--for", "tool-description", "--tokens", "53")
    assert short.status == 0, short.err
    assert "further entr" in short.out
    assert "warning: left out:" in short.err


def test_without_a_glossary_there_is_nothing_to_export(run, root: Path) -> None:
    """It says how to get one."""
    outcome = run("glossary", "export", cwd=root)
    assert (outcome.status, "findback glossary suggest" in outcome.err) == (6, True)


def test_nobody_is_asked_where_nobody_is_there(run, root: Path) -> None:
    """Without a terminal, terms have to be named."""
    run("glossary", "suggest", cwd=root)
    outcome = run("glossary", "accept")
    assert (outcome.status, "say which terms" in outcome.err) == (2, True)


def test_each_term_is_asked_about_in_a_terminal(run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Yes accepts, no refuses, Enter leaves, q stops; each decision is kept when it is made."""
    run("glossary", "suggest", "--most", "6", cwd=root)
    answers = iter(["", "y", "n", "q"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    outcome = run("glossary", "accept")
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("accepted:") == 1
    assert outcome.out.count("refused: 1") == 1
    assert next(answers, None) is None
    left = json.loads(next((root.parent / "state").rglob("proposals.json")).read_text())
    assert [one["number"] for one in left["proposals"]] == [1, 4, 5, 6]


def test_expand_searches_with_the_glossary(run, root: Path) -> None:
    """A retriever of kind expand finds what the plain one misses, and the report names it."""
    run("glossary", "suggest", cwd=root)
    run("glossary", "accept", "wifi => wireless", "paperjam => printer", "moneybox => payroll")
    settings = (root / "findback.toml").read_text()
    (root / "findback.toml").write_text(f"{settings}[retrievers.more]\nkind = 'expand'\nof = 'words'\n")
    outcome = run("evaluate", "--metrics", "RR@10", "-o", "scores.json")
    assert outcome.status == 0, outcome.err
    found = {one["name"]: one for one in json.loads((root / "scores.json").read_text())["retrievers"]}
    plain, more = (found[name]["groups"][0]["scores"][0]["estimate"]["value"] for name in ("words", "more"))
    assert found["more"]["kind"] == "expand"
    assert more == pytest.approx(1.0)
    assert plain < 0.8


def test_options_that_make_no_sense_are_refused(run, root: Path) -> None:
    """A weight that would write a question a million times over, and what is no language code."""
    heavy = run("glossary", "evaluate", "--weight", "1000000", cwd=root)
    assert (heavy.status, "--weight" in heavy.err) == (2, True)
    for language in ("../x", "EN", "english"):
        refused = run("glossary", "suggest", "--language", language)
        assert (refused.status, "--language: must be a two- or three-letter language code" in refused.err) == (2, True)
    assert "there is no stemmer for zz" in run("glossary", "suggest", "--language", "zz").out


def test_a_broken_glossary_is_a_fault_of_the_set(run, root: Path) -> None:
    """Doctor and verify name the file and the line."""
    (root / "evalset" / "glossary.toml").write_text("format = 1\nbroken [\n")
    for command in (("doctor", "--offline", "--json"), ("verify",)):
        found = run(*command, cwd=root)
        assert (found.status, "glossary.toml:2: no valid TOML" in found.out.replace("\n", "")) == (1, True)
