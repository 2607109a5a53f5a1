"""A corpus: its documents by id, what they are called, and what was noticed reading them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import NamedTuple

from findback.corpus.address import Site
from findback.corpus.findings import Findings
from findback.corpus.names import Names
from findback.corpus.redirects import Redirect
from findback.errors import DataError, Fault
from findback.model.document import Document
from findback.model.protocols import SILENT, Progress

ReadDocuments = Callable[[Findings], Iterator[Document]]
ReadRedirects = Callable[[Findings], list[Redirect]]
ReadSame = Callable[[Callable[[str], str | None], Findings], Mapping[str, str]]


class Reading(NamedTuple):
    """What one reading gave."""

    documents: dict[str, Document]
    """By id, in the order of ids."""
    names: Names
    same: Mapping[str, str]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def digest_text(text: str) -> str:
    """Return the sha256 of a text as UTF-8, in hexadecimal.

    >>> digest_text("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_all(digests: Mapping[str, str]) -> str:
    """Return one sha256 over ids and text digests, whatever their order."""
    total = hashlib.sha256(b"findback corpus 1\n")
    for name in sorted(digests):
        total.update(f"{name}\0{digests[name]}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()


class Corpus:
    """Documents of one place, read once, when first asked for.

    Iteration is in the order of ids, so that nothing depends on the order of files. Everything but
    `iter_documents`, `name`, `kind` and `recognised` reads the corpus and may raise `DataError` with every
    fault, and `MissingError` where there is no document at all.
    """

    def __init__(
        self,
        name: str,
        read: ReadDocuments,
        *,
        kind: str = "memory",
        recognised: str = "given as documents",
        site: Site | None = None,
        redirects: ReadRedirects | None = None,
        same: ReadSame | None = None,
        names_audiences: bool = False,
        skip_bad: bool = False,
        progress: Progress = SILENT,
    ) -> None:
        self.name = name
        """How reports call it."""
        self.kind = kind
        """The registry's name for what it is."""
        self.recognised = recognised
        """Why it was taken as that kind."""
        self.names_audiences = names_audiences
        """Whether its documents say who may read them; those that name no role are for everybody then."""
        self._read = read
        self._site = site or Site()
        self._redirects = redirects
        self._same = same
        self._skip_bad = skip_bad
        self._progress = progress
        self._lock = RLock()
        self._done: Reading | None = None

    def iter_documents(self, findings: Findings | None = None) -> Iterator[Document]:
        """Yield the documents as they stand in their source, holding none: duplicates included.

        Raises:
            DataError: At the end, with every fault, unless bad documents are skipped.
        """
        found = findings or Findings(skip_bad=self._skip_bad)
        yield from self._read(found)
        found.raise_faults(self._cannot_read())

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self._reading.documents)

    def __iter__(self) -> Iterator[Document]:
        """Yield every document in the order of ids."""
        return iter(self._reading.documents.values())

    def __contains__(self, document: object) -> bool:
        """Return whether there is a document of this id."""
        return document in self._reading.documents

    def get(self, document: str) -> Document | None:
        """Return the document with this id, or None."""
        return self._reading.documents.get(document)

    def resolve(self, reference: str) -> str | None:
        """Return the id of the document that an id, path, URL or alias means, or None."""
        return self._reading.names.resolve(reference)

    @property
    def aliases(self) -> Mapping[str, str]:
        """Every further name as written, and the id it means; ambiguous ones are left out."""
        reading = self._reading
        return {name: found for name, found in reading.names.exact.items() if found and name not in reading.documents}

    @property
    def same(self) -> Mapping[str, str]:
        """Id to the id that stands for its group, for documents confirmed to be the same."""
        return self._reading.same

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What was left out because it could not be read."""
        return self._reading.faults

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed: why this kind, what was left out, what was taken differently."""
        return self._reading.notes

    @cached_property
    def text_digests(self) -> Mapping[str, str]:
        """The sha256 of each document's text, by id."""
        return {name: digest_text(document.text) for name, document in self._reading.documents.items()}

    @cached_property
    def digest(self) -> str:
        """Digest over ids and texts, whatever the order of files."""
        return digest_all(self.text_digests)

    @property
    def _reading(self) -> Reading:
        # A second thread waits for the first one's reading instead of reading again.
        with self._lock:
            if self._done is None:
                self._done = self._read_all()
            return self._done

    def _read_all(self) -> Reading:
        findings = Findings(skip_bad=self._skip_bad)
        documents: dict[str, Document] = {}
        places: dict[str, tuple[str, int | None] | None] = {}
        self._progress.start(f"Reading {self.name}", None)
        try:
            for document in self._read(findings):
                place, findings.place = findings.place, None
                if document.id in documents:
                    shown, line = place or (self.name, None)
                    findings.fault(shown, line, _twice(document.id, shown, places[document.id]))
                    continue
                documents[document.id] = document
                places[document.id] = place
                self._progress.advance()
        finally:
            self._progress.finish()
        redirects = self._redirects(findings) if self._redirects else []
        findings.raise_faults(self._cannot_read())
        if not documents:
            raise DataError(
                f"{self.name} holds no document that can be read",
                faults=findings.faults,
                hint="; ".join(findings.notes) or "is this the right file or folder?",
            )
        documents = {name: documents[name] for name in sorted(documents)}
        names = Names(documents, self._site, redirects)
        if redirects:
            documents = _add_redirects(documents, names, redirects, findings)
            names = Names(documents, self._site, redirects)
        unclear = sum(found is None for found in names.exact.values())
        if unclear:
            findings.count("aliases and addresses of more than one document, taken as none's", unclear)
        same = self._same(names.resolve, findings) if self._same else {}
        findings.raise_faults(self._cannot_read())
        if findings.dropped:
            findings.remark(f"faults beyond the first {findings.most:,}: {findings.dropped:,}")
        return Reading(documents, names, same, tuple(findings.faults), findings.notes)

    def _cannot_read(self) -> str:
        return f"{self.name} cannot be read as it is"


def corpus_of(documents: Iterable[Document], *, name: str = "documents", base_url: str | None = None) -> Corpus:
    """Return a corpus of documents at hand.

    Raises:
        DataError: If two have the same id, or there is none.
    """
    held = tuple(documents)
    named = any(document.audience for document in held)
    corpus = Corpus(name, lambda _: iter(held), site=Site(base_url), names_audiences=named)
    len(corpus)
    return corpus


def _twice(identity: str, shown: str, first: tuple[str, int | None] | None) -> str:
    message = f"the id {identity[:100]!r} is there twice"
    if first is None:
        return message
    file, line = first
    if file != shown:
        return f"{message}, first in {file}" + (f":{line}" if line is not None else "")
    return f"{message}, first on line {line}" if line is not None else message


def _add_redirects(
    documents: dict[str, Document], names: Names, redirects: list[Redirect], findings: Findings
) -> dict[str, Document]:
    further: dict[str, list[str]] = {}
    for redirect in redirects:
        if redirect.splat:
            continue
        meant = names.resolve(redirect.new)
        if meant is None:
            findings.count("redirects that lead to no document")
        elif redirect.old not in documents:
            further.setdefault(meant, []).append(redirect.old)
    return {
        name: replace(document, aliases=tuple(dict.fromkeys((*document.aliases, *further[name]))))
        if name in further
        else document
        for name, document in documents.items()
    }
