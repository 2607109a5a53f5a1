"""Documents from a folder of Markdown, reStructuredText, text and HTML files, and of office files where asked for."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from findback.corpus.findings import Findings
from findback.corpus.git import History, read_history
from findback.corpus.html import read_html
from findback.corpus.markdown import find_heading, read_markdown
from findback.corpus.office import SUFFIXES as OFFICE
from findback.corpus.office import Office
from findback.corpus.patterns import matches_any
from findback.corpus.rst import read_rst
from findback.corpus.shape import Found, Shape
from findback.corpus.textfile import read_text
from findback.corpus.walk import Tree, list_link_names, walk_folder
from findback.errors import DataError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

MARKDOWN = (".md", ".markdown", ".mdown", ".mdx")
HTML = (".html", ".htm", ".xhtml")
RST = (".rst",)
TEXT = (".txt", ".text")
SUFFIXES = (*MARKDOWN, *HTML, *RST, *TEXT)

_NOTION = re.compile(r"(?:.*/)?(?P<title>[^/]{1,200}) (?P<number>[0-9a-f]{32})\.md")
"""How a Notion export names a page's file."""

_OTHER_NAMES = {
    "created_field": ("date", "created_at"),
    "modified_field": ("lastmod", "modified", "last_modified", "updated_at"),
    "language_field": ("lang",),
    "aliases_field": ("redirect_from",),
    "url_field": ("permalink", "canonical_url"),
}
"""What site generators call the same front-matter key, where the user set none."""


def read_folder(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the documents of a folder in the order of their paths; a single file is a folder of one.

    Text is what a reader sees: line ends are line feeds, front matter is taken off, HTML and
    reStructuredText lose their markup, Markdown and text stay as they are; PDF and Office files become Markdown
    where the settings say so. Files of other kinds are left out and counted, unless an include pattern asks for them.
    """
    with Office() as office:
        yield from _read_files(path, settings, findings, office)


def _read_files(path: Path, settings: CorpusSettings, findings: Findings, office: Office) -> Iterator[Document]:
    shape = Shape(settings, findings)
    single = path.is_file()
    root = path.parent if single else path
    tree = Tree({path.name: path.name}, {}) if single else walk_folder(root, findings)
    history = read_history(root, findings) if settings.git else History()
    for name, on_disk in tree.files.items():
        if not (single or _is_wanted(name, settings, findings)):
            continue
        shown = settings.path if single else f"{settings.path.rstrip('/')}/{name}"
        try:
            found = _read_page(root / on_disk, name, shown, office if settings.office else None)
        except DataError as bad:
            if bad.faults and "NUL byte" in bad.faults[0].message and not name.lower().endswith(SUFFIXES):
                findings.count("binary files, left out")
                continue
            for fault in bad.faults:
                findings.fault(*fault)
            continue
        found.fields = _rename(found.fields, settings)
        links = list_link_names(name, tree.links)
        found.aliases = (*links, *history.renamed.get(on_disk, ()), *_list_notion_names(name))
        found.created, found.modified = history.created.get(on_disk), history.modified.get(on_disk)
        document = shape.document(found)
        if document is not None:
            yield document


def _list_notion_names(name: str) -> tuple[str, ...]:
    """Return what a page of a Notion export is called in addresses: words and number, or the number alone."""
    page = _NOTION.fullmatch(name)
    if page is None:
        return ()
    words = re.sub(r"\W+", "-", page["title"]).strip("-")
    return f"{words}-{page['number']}", page["number"]


def _is_wanted(name: str, settings: CorpusSettings, findings: Findings) -> bool:
    if matches_any(name, settings.exclude):
        findings.count("files left out by exclude")
        return False
    if settings.include:
        if matches_any(name, settings.include):
            return True
        findings.count("files left out by include")
        return False
    if name.lower().endswith((*SUFFIXES, *OFFICE) if settings.office else SUFFIXES):
        return True
    suffix = PurePosixPath(name).suffix.lower()
    findings.count(f"files of another kind ({suffix if 1 < len(suffix) < 12 else 'no ending'}), left out")
    return False


def _read_page(file: Path, name: str, shown: str, office: Office | None) -> Found:
    lowered = name.lower()
    if office is not None and lowered.endswith(OFFICE):
        converted = office.convert(file, shown)
        title = converted.title or find_heading(converted.text)
        return Found(shown, None, {}, converted.text, path=name, title=title)
    source = read_text(file, shown)
    if lowered.endswith(HTML):
        page = read_html(source)
        return Found(
            shown,
            None,
            page.fields,
            page.text,
            path=name,
            title=page.title or find_heading(page.text),
            url=page.url,
            language=page.language,
        )
    if lowered.endswith(RST):
        parsed = read_rst(source)
        return Found(shown, None, parsed.fields, parsed.text, path=name, title=parsed.title)
    if lowered.endswith(TEXT):
        return Found(shown, None, {}, source, path=name)
    try:
        written, heading = read_markdown(source)
    except ValueError as bad:
        raise _bad_front_matter(shown, bad) from None
    return Found(shown, None, written.fields, written.text, path=name, title=heading)


def _bad_front_matter(shown: str, bad: ValueError) -> DataError:
    findings = Findings(skip_bad=True)
    findings.fault(shown, 1, str(bad))
    return findings.error("front matter")


def _rename(fields: Any, settings: CorpusSettings) -> dict[str, Any]:
    named = dict(fields)
    for option, others in _OTHER_NAMES.items():
        name = getattr(settings, option)
        if name in named or name != CorpusSettings.model_fields[option].default:
            continue
        for other in others:
            if other in named:
                named[name] = named.pop(other)
                break
    return named
