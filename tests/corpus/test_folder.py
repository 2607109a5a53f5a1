"""Pages in a folder: what their front matter, headings, folders and history say."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from findback.corpus.corpus import Corpus
from findback.corpus.open import open_corpus
from findback.errors import DataError
from findback.model.settings import CorpusSettings

JANUARY = datetime(2023, 1, 5, tzinfo=UTC)


def pages(folder: Path, contents: dict[str, str], **options: object) -> Corpus:
    """Write pages and open them."""
    for name, text in contents.items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return open_corpus(CorpusSettings(path="docs", **options), base=folder)


def test_front_matter_fills_the_document(tmp_path: Path) -> None:
    """Title, subject, times, aliases, language, address and other fields come from front matter."""
    page = (
        "---\ntitle: Refunds\nteam: Billing\ncreated: 2023-01-05\nupdated: 2023-02-01T10:00:00+02:00\n"
        "aliases: [/old/refunds/, money-back]\nlanguage: en-GB\nurl: /help/refunds\nversion: 1.10\n"
        "tags: [a, b]\n---\n# Ignored\n\nAsk first.\n"
    )
    corpus = pages(tmp_path, {"billing/refunds.md": page}, subject_field="team", base_url="https://example.org/kb")
    document = corpus.get("billing/refunds.md")
    assert document is not None
    assert document.text == "# Ignored\n\nAsk first.\n"
    assert (document.title, document.subject, document.language) == ("Refunds", "Billing", "en")
    assert document.created == JANUARY
    assert document.modified == datetime(2023, 2, 1, 8, tzinfo=UTC)
    assert document.url == "https://example.org/help/refunds"
    assert document.aliases == ("/old/refunds/", "money-back")
    assert document.metadata == {"version": "1.10", "tags": "a; b"}
    for name in ("money-back", "billing/money-back", "/old/refunds", "https://www.example.org/help/refunds/"):
        assert corpus.resolve(name) == "billing/refunds.md"


def test_toml_front_matter(tmp_path: Path) -> None:
    """TOML between plus signs is read too, and generators' own key names."""
    corpus = pages(tmp_path, {"a.md": '+++\ntitle = "A"\ndate = 2023-01-05\nlastmod = 2023-01-05T00:00:00Z\n+++\nx'})
    (document,) = corpus
    assert (document.title, document.created, document.modified, document.text) == (
        "A",
        JANUARY,
        JANUARY,
        "x",
    )


def test_a_rule_is_no_front_matter(tmp_path: Path) -> None:
    """A horizontal rule at the top of a page is left as text."""
    text = "---\nJust prose\n---\nMore"
    (document,) = pages(tmp_path, {"a.md": text})
    assert document.text == text


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "intro\n\n## The [grid](grid.md) `v2` ##\n", "The grid v2"),
        ("a.md", "```\n# no\n```\n# Yes {#anchor}\n", "Yes"),
        ("a.md", "Set up\n======\n", "Set up"),
        ("a.md", "no heading", None),
        ("a.html", "<h1>Set\n up</h1>", "Set up"),
        ("a.html", "<title> A &amp; B </title><h1>C</h1>", "A & B"),
        ("a.rst", "======\nSet up\n======\n", "Set up"),
        ("a.txt", "# not markup", None),
    ],
)
def test_titles(name: str, text: str, title: str | None, tmp_path: Path) -> None:
    """The title is the page's first heading or its title element."""
    (document,) = pages(tmp_path, {name: text})
    assert document.title == title


def test_unknown_times_stay_unknown(tmp_path: Path) -> None:
    """Without front matter or history there is no time, and a value that is no date is counted."""
    corpus = pages(tmp_path, {"a.md": "x", "b.md": "---\nupdated: soon\n---\nx"})
    assert [(document.created, document.modified) for document in corpus] == [(None, None)] * 2
    assert "values of 'updated' that are no date, taken as unknown: 1" in corpus.notes


def test_subjects_come_from_rules_then_folders(tmp_path: Path) -> None:
    """A rule wins, then the first folder; a page at the top has none."""
    contents = {"ops/db/a.md": "x", "ops/b.md": "x", "c.md": "x"}
    corpus = pages(tmp_path, contents, subjects={"ops/db/**": "Databases"})
    assert {document.id: document.subject for document in corpus} == {
        "ops/db/a.md": "Databases",
        "ops/b.md": "ops",
        "c.md": None,
    }


def test_include_and_exclude(tmp_path: Path) -> None:
    """Patterns choose the files, include also those of a kind not read otherwise."""
    contents = {"a.md": "x", "b/c.adoc": "= C", "b/d.md": "x", "drafts/e.md": "x"}
    assert [document.id for document in pages(tmp_path, contents)] == ["a.md", "b/d.md", "drafts/e.md"]
    chosen = pages(tmp_path, contents, include=("b/**", "*.md"), exclude=("drafts/",))
    assert [document.id for document in chosen] == ["a.md", "b/c.adoc", "b/d.md"]
    assert "files left out by exclude: 1" in chosen.notes


def test_ids_from_fields_and_addresses(tmp_path: Path) -> None:
    """The id is the path, the address or a field; the path stays a name of the page."""
    contents = {"a.md": "---\nid: KB-1\n---\nx", "b.md": "---\nid: KB-2\n---\nx"}
    by_field = pages(tmp_path, contents, id_from="field")
    assert [document.id for document in by_field] == ["KB-1", "KB-2"]
    assert by_field.resolve("b.html") == "KB-2"
    by_url = pages(tmp_path, contents, id_from="url", base_url="https://example.org")
    assert [document.id for document in by_url] == ["https://example.org/a", "https://example.org/b"]
    assert by_url.resolve("a.md") == "https://example.org/a"


def test_the_same_id_on_two_pages(tmp_path: Path) -> None:
    """Two pages of one id are a fault that names both."""
    corpus = pages(tmp_path, {"a.md": "---\nid: 1\n---\n", "b.md": "---\nid: 1\n---\n"}, id_from="field")
    with pytest.raises(DataError) as caught:
        len(corpus)
    assert [str(fault) for fault in caught.value.faults] == ["docs/b.md: the id '1' is there twice, first in docs/a.md"]


def test_html_reads_as_a_reader_sees_it(tmp_path: Path) -> None:
    """Scripts, styles, navigation and footers are gone; the main part is kept; headings can be followed."""
    page = (
        '<!DOCTYPE html><html lang="de"><head><title>T</title><style>p{}</style>'
        '<link rel="canonical" href="https://example.org/x"><meta name="team" content="Ops">'
        "<script>if (a < b) { document.write('<p>no</p>') }</script></head><body><nav>Home</nav>"
        "<main><h2>Set&nbsp;up</h2><p>a &lt; b<br>next <b>bold</b></p><pre>x\n  y</pre>"
        "<!-- hidden --><ul><li>one<li>two</ul></main><footer>(c)</footer></body></html>"
    )
    (document,) = pages(tmp_path, {"a.html": page})
    assert document.text == "## Set up\na < b\nnext bold\nx\n  y\none\ntwo"
    assert (document.language, document.url, document.metadata) == (
        "de",
        "https://example.org/x",
        {"team": "Ops"},
    )


def test_an_element_that_closes_itself_drops_nothing(tmp_path: Path) -> None:
    """Behind `<svg/>` or `<object/>`, as XHTML pages have them, the page goes on."""
    page = '<p>a<svg class="icon"/>b</p><object data="x" /><p>c</p><svg><text>no</text></svg><p>d</p>'
    (document,) = pages(tmp_path, {"a.html": page})
    assert document.text == "ab\nc\nd"


def test_rst_reads_as_a_reader_sees_it(tmp_path: Path) -> None:
    """Headings can be followed, directives and roles are gone, what they say to readers stays."""
    page = (
        ":created: 2023-01-05\n\nSet up\n======\n\n.. toctree::\n   :maxdepth: 2\n\n   other\n\n"
        ".. note:: Mind the ``gap``.\n\n.. _label:\n\nParts\n-----\n\nSee :ref:`the form <form>` and "
        "`us <https://example.org>`_.\n\n.. code-block:: sh\n   :linenos:\n\n   run it\n"
    )
    (document,) = pages(tmp_path, {"a.rst": page})
    lines = [line for line in document.text.split("\n") if line.strip()]
    assert lines == ["# Set up", "Mind the gap.", "## Parts", "See the form and us.", "   run it"]
    assert document.created == JANUARY


@pytest.mark.parametrize(
    "page",
    [
        "<" * 2_000_000,
        "<a " * 700_000,
        '<a "' * 500_000,
        "<!--" * 500_000,
        "<script>" * 300_000,
        "<title>" * 300_000,
        "<meta " + "a" * 1_000_000 + ">",
        "<p>" + "&" * 2_000_000,
    ],
)
def test_hostile_html_is_linear(page: str, tmp_path: Path) -> None:
    """Megabytes of broken markup are read in the time of any other page."""
    began = datetime.now(UTC)
    len(pages(tmp_path, {"a.html": page + "x", "b.md": "b"}))
    assert (datetime.now(UTC) - began).total_seconds() < 10


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a.rst", "`" * 1_000_000),
        ("a.rst", ":a:`" * 300_000),
        ("a.rst", "`a <" * 300_000),
        ("a.rst", "\n" * 1_000_000),
        ("a.rst", "=\n" * 500_000),
        ("a.md", "#" * 1_000_000),
        ("a.md", "[" * 900 + "\n" + "[a](" * 200 + "\n=="),
        ("a.md", "---\n" * 300_000),
        ("a.md", "---\na: " + "[" * 60_000 + "\n---\n"),
    ],
)
def test_hostile_pages_are_linear(name: str, page: str, tmp_path: Path) -> None:
    """Megabytes of marks are read, or refused, in the time of any other page."""
    began = datetime.now(UTC)
    try:
        len(pages(tmp_path, {name: page, "b.md": "b"}))
    except DataError as error:
        assert len(error.faults) == 1  # noqa: PT017
    assert (datetime.now(UTC) - began).total_seconds() < 10


def test_redirects_are_followed(tmp_path: Path) -> None:
    """Chains of old addresses end at the page; loops and dead ends mean nothing and are counted."""
    (tmp_path / "_redirects").write_text(
        "# moved\n/first /second 301\n/second /new.html\n/x /y\n/y /x\n/blog/* /docs/:splat 302\n"
        "/gone /nowhere\n"
        "/old-name https://example.org/new?from=redirect 301!\n"
    )
    (tmp_path / "moved.csv").write_text("old;new\nkb-7;docs/a\n")
    contents = {"new.md": "New", "docs/a.md": "A"}
    corpus = pages(tmp_path, contents, base_url="https://example.org/", aliases_from=("_redirects", "moved.csv"))
    assert corpus.resolve("/first") == corpus.resolve("https://example.org/second/") == "new.md"
    assert corpus.resolve("/old-name") == "new.md"
    assert corpus.resolve("/blog/a") == corpus.resolve("KB-7") == "docs/a.md"
    assert corpus.resolve("/x") is corpus.resolve("/gone") is corpus.resolve("/blog/b") is None
    assert corpus.aliases["/first"] == "new.md"
    document = corpus.get("new.md")
    assert document is not None
    assert document.aliases == ("/first", "/second", "/old-name")
    assert "redirects that lead to no document: 3" in corpus.notes


def test_confirmed_same_documents(tmp_path: Path) -> None:
    """Rows of the same file become groups that share what overlaps; unknown names are faults with line."""
    contents = {"en/a.md": "A", "de/a.md": "Ä", "fr/a.md": "Á", "b.md": "B"}
    (tmp_path / "same.csv").write_text("english,german\nen/a,de/a.html\nde/a,fr/a\n")
    corpus = pages(tmp_path, contents, same="same.csv")
    assert corpus.same == {"en/a.md": "en/a.md", "de/a.md": "en/a.md", "fr/a.md": "en/a.md"}
    (tmp_path / "same.csv").write_text("en/a,de/a\nen/a,nowhere\n")
    with pytest.raises(DataError) as caught:
        len(pages(tmp_path, contents, same="same.csv"))
    assert [str(fault) for fault in caught.value.faults] == ["same.csv:2: no document is called 'nowhere'"]


def commit(folder: Path, day: str) -> None:
    """Commit everything in a folder as of a day."""
    git = [
        "git",
        "-c",
        "user.name=Nobody",
        "-c",
        "user.email=nobody@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    moment = f"{day}T00:00:00Z"
    environment = {
        "GIT_COMMITTER_DATE": moment,
        "GIT_AUTHOR_DATE": moment,
        "PATH": "/usr/bin:/bin:/usr/local/bin",
    }
    subprocess.run([*git, "add", "-A"], cwd=folder, check=True, env=environment)
    subprocess.run([*git, "commit", "-qm", day], cwd=folder, check=True, env=environment)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder with history: written, moved, moved and changed; then the first name is taken again."""
    if shutil.which("git") is None:
        pytest.skip("git-missing: git is not installed")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    docs = tmp_path / "docs"
    docs.mkdir()
    text = "".join(f"line {number} of the page\n" for number in range(10))
    (docs / "a.md").write_text(text)
    commit(tmp_path, "2020-01-01")
    (docs / "a.md").rename(docs / "b.md")
    commit(tmp_path, "2021-01-01")
    (docs / "new").mkdir()
    (docs / "b.md").rename(docs / "new" / "ü c.md")
    (docs / "new" / "ü c.md").write_text(text + "more\n")
    commit(tmp_path, "2022-01-01")
    (docs / "a.md").write_text("another page\n")
    commit(tmp_path, "2023-01-01")
    return tmp_path


def test_git_tells_times_and_old_names(repository: Path) -> None:
    """Creation survives renames, a mere move is no change, old names are followed through chains."""
    corpus = open_corpus(CorpusSettings(path="docs", git=True), base=repository)
    moved, newcomer = corpus.get("new/ü c.md"), corpus.get("a.md")
    assert moved is not None
    assert newcomer is not None
    assert (moved.created, moved.modified) == (
        datetime(2020, 1, 1, tzinfo=UTC),
        datetime(2022, 1, 1, tzinfo=UTC),
    )
    assert (newcomer.created, newcomer.modified) == (datetime(2023, 1, 1, tzinfo=UTC),) * 2
    assert moved.aliases == ("b.md", "a.md")
    assert corpus.resolve("b.md") == "new/ü c.md"
    assert corpus.resolve("a.md") == "a.md"


def test_git_runs_no_program_of_the_repository(repository: Path) -> None:
    """What a repository's own configuration names is not run."""
    marker = repository / "ran"
    script = repository / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand", "gpg.program"):
        subprocess.run(["git", "config", name, str(script)], cwd=repository, check=True)
    subprocess.run(["git", "config", "log.showSignature", "true"], cwd=repository, check=True)
    len(open_corpus(CorpusSettings(path="docs", git=True), base=repository))
    assert not marker.exists()


def test_a_shallow_clone_does_not_invent_times(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Beyond the cut of a shallow clone times stay unknown."""
    clone = tmp_path_factory.mktemp("clone") / "work"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository}", str(clone)], check=True)
    corpus = open_corpus(CorpusSettings(path="docs", git=True), base=clone)
    assert [(document.created, document.modified) for document in corpus] == [(None, None)] * 2
    assert any("shallow" in note for note in corpus.notes)


def test_without_git_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a repository, or without git, the documents are read and a note says what is unknown."""
    contents = {"a.md": "A"}
    assert any("no history" in note for note in pages(tmp_path, contents, git=True).notes)
    monkeypatch.setenv("PATH", "")
    assert any("git is not installed" in note for note in pages(tmp_path, contents, git=True).notes)


def test_pages_of_a_confluence_export(tmp_path: Path) -> None:
    """Of a page of a Confluence export only its content is read: not the space, its authors or attachments."""
    page = (
        '<html><head><title>IT : Lost badge</title></head><body><div id="page"><div id="main">'
        '<div id="breadcrumb-section"><ol><li>IT</li></ol></div><h1 id="title-heading">IT : Lost badge</h1>'
        '<div class="page-metadata">Created by <span class="author">Bo Ek</span></div>'
        '<div id="main-content" class="wiki-content group"><div class="panel"><h2>Where</h2></div><p>At the desk.</p>'
        '</div><div class="pageSection">Attachments: badge.png</div></div></div><div id="footer">Atlassian</div></body>'
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "Lost-badge_12345.html").write_text(page, "utf-8")
    (document,) = open_corpus(CorpusSettings(path="docs"), base=tmp_path)
    assert (document.id, document.title) == ("Lost-badge_12345.html", "Lost badge")
    assert document.text == "## Where\nAt the desk."


def test_pages_of_a_notion_export(tmp_path: Path) -> None:
    """A page of a Notion export is found by its address, with its words or its number alone."""
    number, parent = "0123456789abcdef" * 2, "f" * 32
    folder = tmp_path / "notion" / f"IT {parent}"
    folder.mkdir(parents=True)
    (folder / f"Lost badge, or card {number}.md").write_text("# Lost badge, or card\nReport it.\n", "utf-8")
    corpus = open_corpus(CorpusSettings(path="notion", base_url="https://www.notion.so/acme/"), base=tmp_path)
    (document,) = corpus
    assert document.title == "Lost badge, or card"
    for address in (f"acme/Lost-badge-or-card-{number}?pvs=4", f"acme/{number}"):
        assert corpus.resolve(f"https://www.notion.so/{address}") == document.id
