"""Which column of a table holds what: the settings' names, or well-known others where those are absent."""

from collections.abc import Collection, Iterable
from typing import Any

from findback.corpus.findings import Findings
from findback.errors import DataError
from findback.model.settings import CorpusSettings

_KNOWN = {
    "id_field": ("_id", "doc_id", "docid", "document_id", "key", "path", "url"),
    "text_field": ("contents", "content", "body", "page_content", "markdown"),
    "title_field": ("name", "heading", "subject"),
    "url_field": ("link", "permalink", "canonical_url", "source_url"),
    "aliases_field": ("redirect_from",),
    "created_field": ("created_at", "date", "published", "published_at"),
    "modified_field": (
        "updated_at",
        "modified",
        "modified_at",
        "last_modified",
        "lastmod",
        "last_modified_datetime",
    ),
    "language_field": ("lang", "locale"),
}
"""What others call a column, most telling first."""
_NEEDED = {"id_field": "id", "text_field": "text"}


def find_columns(settings: CorpusSettings, columns: Collection[str], shown: str, findings: Findings) -> CorpusSettings:
    """Return the settings with the column names this table really has.

    A name the user set is never replaced. What is taken instead of a default is remarked on.

    Raises:
        DataError: If there is no column for the id or the text.
    """
    found: dict[str, Any] = {}
    for option, known in _KNOWN.items():
        name = getattr(settings, option)
        if name in columns:
            continue
        if option == "id_field" and settings.id_from == "url":
            continue
        other = next((one for one in known if one in columns), None)
        if name == CorpusSettings.model_fields[option].default and other is not None:
            found[option] = other
            if option in _NEEDED:
                findings.remark(f"{shown}: the {_NEEDED[option]} is taken from {other!r} (there is no {name!r})")
        elif option in _NEEDED:
            raise missing_column(shown, name, option, columns)
    return settings.model_copy(update=found) if found else settings


def missing_column(shown: str, name: str, option: str, columns: Iterable[str]) -> DataError:
    """Return the error for a table without a column that is needed."""
    listed = [repr(column[:60]) for column in columns]
    some = ", ".join(listed[:20]) + (", …" if len(listed) > 20 else "")
    return DataError(
        f"{shown} has no column {name!r}",
        hint=f"its columns are {some or 'none'}; name one with {option} under [corpus]",
    )
