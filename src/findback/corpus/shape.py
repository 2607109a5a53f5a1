"""What a reader found, made into a document: id, title, subject, times, aliases and language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from findback.corpus.address import Site
from findback.corpus.findings import Findings
from findback.corpus.patterns import matches_pattern
from findback.corpus.textfile import MOST_BYTES, fold_newlines, too_long
from findback.corpus.values import (
    check_id,
    is_unknown,
    parse_id,
    parse_language,
    parse_list,
    parse_roles,
    parse_text,
    parse_time,
)
from findback.errors import SettingsError
from findback.model.document import Document
from findback.model.settings import CorpusSettings


@dataclass(slots=True)
class Found:
    """One document as it stands in its source."""

    shown: str
    """File, as the user named it."""
    line: int | None
    """Line where it starts, or None."""
    fields: Mapping[str, Any]
    """Front matter or row."""
    text: str
    path: str | None = None
    """Path below the corpus' folder; None for a row of a table."""
    title: str | None = None
    """What the text itself gives as its title."""
    url: str | None = None
    """What the text itself gives as its address."""
    language: str | None = None
    """What the text itself gives as its language tag."""
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    modified: datetime | None = None
    used: frozenset[str] = field(default_factory=frozenset)
    """Fields that are no metadata because the reader has used them."""


class Shape:
    """Makes documents under one corpus' settings."""

    def __init__(self, settings: CorpusSettings, findings: Findings) -> None:
        """Take the settings.

        Raises:
            SettingsError: If the language is no two-letter code, or the base address none.
        """
        self.settings = settings
        self.findings = findings
        self.site = Site(settings.base_url)
        self._rules = tuple(settings.subjects.items())
        self._language = parse_language(settings.language)
        if settings.language is not None and self._language is None:
            raise SettingsError(
                "corpus.language is not a two-letter code",
                hint='write an ISO 639-1 code such as "en" or "de"',
            )
        self._own = frozenset(
            name
            for name in (
                settings.id_field,
                settings.text_field,
                settings.title_field,
                settings.url_field,
                settings.aliases_field,
                settings.created_field,
                settings.modified_field,
                settings.subject_field,
                settings.language_field,
                settings.audience_field,
            )
            if name is not None
        )

    def document(self, found: Found) -> Document | None:
        """Return the document, or None after recording its fault."""
        fields, settings = found.fields, self.settings
        text = fold_newlines(found.text)
        fault = _judge_text(text)
        if fault is not None:
            self.findings.fault(found.shown, found.line, fault)
            return None
        url = parse_text(fields.get(settings.url_field)) or found.url
        if url is not None:
            url = self.site.join(url)
        elif found.path is not None:
            url = self.site.url_of(found.path)
        try:
            identity = self._identify(found, url)
        except ValueError as bad:
            self.findings.fault(found.shown, found.line, str(bad))
            return None
        aliases = found.aliases
        if settings.aliases_field in fields:
            aliases += parse_list(fields[settings.aliases_field])
        if found.path is not None and found.path != identity:
            aliases += (found.path,)
        if aliases:
            aliases = tuple(dict.fromkeys(alias for alias in aliases if alias != identity and self._is_name(alias)))
        if not text.strip():
            self.findings.count("documents without any text")
        title = parse_text(fields.get(settings.title_field)) or found.title
        self.findings.place = (found.shown, found.line)
        return Document(
            id=identity,
            text=text,
            title=" ".join(title.split()) if title else None,
            url=url,
            aliases=aliases,
            subject=self._subject(found, identity),
            language=self._tongue(fields.get(settings.language_field) or found.language),
            created=self._moment(settings.created_field, fields) or found.created,
            modified=self._moment(settings.modified_field, fields) or found.modified,
            audience=self._audience(fields),
            metadata=self._metadata(found),
        )

    def _identify(self, found: Found, url: str | None) -> str:
        settings = self.settings
        if settings.id_from == "url":
            if url is None:
                raise ValueError(f"there is no address in {settings.url_field!r}, and no base_url to make one")
            check_id(url)
            return url
        if found.path is not None and settings.id_from == "path":
            check_id(found.path)
            return found.path
        if settings.id_field not in found.fields:
            raise ValueError(f"there is no {settings.id_field!r} to take the id from")
        return parse_id(found.fields[settings.id_field])

    def _subject(self, found: Found, identity: str) -> str | None:
        place = found.path or identity
        for pattern, subject in self._rules:
            if matches_pattern(place, pattern):
                return subject
        if self.settings.subject_field is not None:
            listed = parse_list(found.fields.get(self.settings.subject_field))
            if listed:
                return listed[0]
        if found.path is not None and "/" in found.path:
            return found.path.partition("/")[0]
        return None

    def _tongue(self, tag: Any) -> str | None:
        if is_unknown(tag):
            return self._language
        language = parse_language(tag)
        if language is None:
            self.findings.count("language tags that are no two-letter code, taken as unknown")
        return language or self._language

    def _moment(self, name: str, fields: Mapping[str, Any]) -> datetime | None:
        value = fields.get(name)
        if is_unknown(value):
            return None
        moment = parse_time(value)
        if moment is None:
            self.findings.count(f"values of {name!r} that are no date, taken as unknown")
        return moment

    def _audience(self, fields: Mapping[str, Any]) -> tuple[str, ...]:
        name = self.settings.audience_field
        value = fields.get(name) if name is not None else None
        if is_unknown(value):
            return ()
        roles = parse_roles(value)
        if not roles:
            self.findings.count(f"values of {name!r} that name no role, taken as for everybody")
        return roles

    def _metadata(self, found: Found) -> dict[str, str]:
        kept = {}
        for name, value in found.fields.items():
            if name in self._own or name in found.used:
                continue
            text = "; ".join(parse_list(value)) if isinstance(value, list | tuple) else parse_text(value)
            if text and "\0" not in text:
                kept[str(name)] = text
        return kept

    def _is_name(self, alias: str) -> bool:
        try:
            check_id(alias)
        except ValueError:
            self.findings.count("aliases that cannot be names, left out")
            return False
        return True


def _judge_text(text: str) -> str | None:
    if "\0" in text:
        return "the text holds a NUL character"
    # A character takes at most four bytes, so most texts need no second look.
    if len(text) * 4 > MOST_BYTES and len(text.encode(errors="surrogatepass")) > MOST_BYTES:
        return too_long("text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "the text holds half of a surrogate pair"
    return None
