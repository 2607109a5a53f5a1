"""Documents from Zendesk Guide: the answers of its articles API, saved as JSON or JSON Lines."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from findback.corpus.findings import Findings
from findback.corpus.html import read_html
from findback.corpus.jsonl import read_rows
from findback.corpus.shape import Found, Shape
from findback.corpus.tables import Row, list_tables, name_of
from findback.corpus.textfile import unreadable
from findback.errors import DataError
from findback.model.document import Document
from findback.model.settings import CorpusSettings

SUFFIXES = (".json", ".jsonl", ".ndjson")
MOST_BYTES = 500_000_000
"""Most bytes of one saved answer."""

_NAMES = {
    "url_field": "html_url",
    "created_field": "created_at",
    "modified_field": "updated_at",
    "language_field": "locale",
}
_KEPT = ("section_id", "label_names", "author_id", "permission_group_id", "user_segment_id")


def read_zendesk_guide(path: Path, settings: CorpusSettings, findings: Findings) -> Iterator[Document]:
    """Yield the published articles of a file, or of every page of answers in a folder.

    The text is what a reader sees, its title as a heading; drafts and outdated articles are left out and counted.
    An article's id is its number; its address leads to it in every spelling.

    Raises:
        DataError: If a file is no JSON.
    """
    shape = Shape(settings, findings)
    for file in list_tables(path, SUFFIXES, settings):
        shown = name_of(file, path, settings)
        for row in _articles(file, shown, findings):
            document = shape.document(found) if (found := _article(row, shown, settings, findings)) else None
            if document is not None:
                yield document


def _article(row: Row, shown: str, settings: CorpusSettings, findings: Findings) -> Found | None:
    article = row.fields
    if article.get("draft") is True or article.get("outdated") is True:
        findings.count("drafts and outdated articles, left out")
        return None
    identity, body, title = article.get("id"), article.get("body"), article.get("title") or article.get("name")
    if not isinstance(identity, (int, str)) or not isinstance(body, (str, type(None))):
        findings.fault(shown, row.line, "an article needs an `id` and a `body` of HTML")
        return None
    heading = title if isinstance(title, str) else None
    text = read_html(body or "").text
    fields = {getattr(settings, ours): article.get(theirs) for ours, theirs in _NAMES.items()}
    kept = {name: article[name] for name in _KEPT if article.get(name) not in (None, [])}
    return Found(
        shown=shown,
        line=row.line,
        fields={**kept, **{name: value for name, value in fields.items() if value}, settings.id_field: str(identity)},
        text=f"# {heading}\n\n{text}" if heading else text,
        title=heading,
        aliases=tuple(alias for alias in (article.get("url"),) if isinstance(alias, str)),
    )


def _articles(file: Path, shown: str, findings: Findings) -> Iterator[Row]:
    if file.suffix.lower() != ".json":
        yield from read_rows(file, shown, findings)
        return
    try:
        with file.open("rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except OSError as refused:
        findings.fault(*unreadable(shown, refused))
        return
    if len(raw) > MOST_BYTES:
        raise DataError(f"{shown} is longer than {MOST_BYTES:,} bytes", hint="save one page of answers a file")
    try:
        answer = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as bad:
        findings.fault(shown, bad.lineno, f"not valid JSON: {bad.msg.partition(': line ')[0]}")
        return
    articles = answer.get("articles") if isinstance(answer, Mapping) else answer
    if not isinstance(articles, list):
        findings.fault(shown, None, "no list of `articles`")
        return
    for number, article in enumerate(articles, 1):
        if isinstance(article, dict):
            yield Row(None, article)
        else:
            findings.fault(shown, None, f"article {number} is no object")
