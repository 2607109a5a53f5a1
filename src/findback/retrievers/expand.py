"""Another retriever, asked with the words that a glossary adds to each question."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from findback.errors import SettingsError
from findback.model.case import Context
from findback.model.glossary import Glossary
from findback.model.hits import Answer
from findback.model.protocols import SILENT, Progress, Query, Retriever, ScoreDirection
from findback.model.record import Record
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.foreign import contain, search_contained
from findback.retrievers.surroundings import Surroundings
from findback.text.expansion import MOST_WEIGHT, Expander
from findback.text.languages import main_language


class ExpandSettings(Record):
    """Settings of kind `expand`."""

    of: str
    """Name of the retriever that is asked."""
    glossary: str | None = None
    """File of terms, relative to findback.toml; `glossary.toml` of the published set when left out."""
    language: str | None = None
    """ISO 639-1 code for stems; the corpus' most frequent one when left out, else English."""
    stems: bool = True
    """A term fits other inflections of its words too."""
    weight: Annotated[int, Field(ge=1, le=MOST_WEIGHT)] = 1
    """How often the question itself stands before what is added: more holds the added words back."""


class ExpandRetriever:
    """Asks another retriever, with what the glossary adds."""

    kind = "expand"

    def __init__(self, name: str, own: ExpandSettings, first: Retriever, glossary: Glossary, language: str) -> None:
        self.name = name
        self.honours = first.honours
        self.egress: EgressLevel = first.egress
        self.score_direction: ScoreDirection | None = first.score_direction
        self.concurrency: int | None = getattr(first, "concurrency", None)
        self._own, self._first, self._glossary = own, first, glossary
        self._language = language
        self._expander = Expander(glossary.rules, language=language, stems=own.stems, weight=own.weight)

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing of its own: what is asked is listed under its own name."""
        read_own(name, settings, ExpandSettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "ExpandRetriever":
        """Build what is asked, read the glossary, and return the retriever.

        Raises:
            SettingsError: If a setting makes no sense, a name is unknown or contains this one, or what is asked
                only has answers recorded for the questions as they are.
            MissingError: If there is no glossary.
            DataError: If it has faults.
        """
        own = read_own(name, settings, ExpandSettings)
        first = surroundings.other(own.of)
        refuse_recorded(first)
        if surroundings.glossary is None:
            raise SettingsError(f"[retrievers.{name}] needs a glossary, and there is none here")
        language = own.language or main_language(one.language for one in surroundings.documents or ())
        return cls(name, own, first, surroundings.glossary(own.glossary), language)

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: the digest of the terms, how they fit, and the settings of what is asked."""
        return {
            "glossary": digest_rules(self._glossary),
            "language": self._language if self._own.stems else None,
            "weight": self._own.weight,
            "first": [self._first.kind, dict(self._first.settings())],
        }

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Prepare what is asked."""
        prepare = getattr(self._first, "prepare", None)
        if prepare is not None:
            await contain(lambda: prepare(progress))

    async def search(self, query: Query, k: int) -> Answer:
        """Return what the retriever finds for the question with the glossary's words added.

        Raises:
            EngineError: If it fails.
        """
        return await search_contained(self._first, query._replace(text=self._expander.expand(query.text).text), k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return what the retriever underneath says."""
        return await self._first.exists(document, context)

    async def close(self) -> None:
        """Close what is asked."""
        await self._first.close()


def refuse_recorded(retriever: Retriever) -> None:
    """Stop where a retriever has answers to the questions as they are, and to no others.

    Raises:
        SettingsError: If it has.
    """
    if hasattr(retriever, "recorded"):
        raise SettingsError(
            f"{retriever.name} is a recorded run: it has no answers to questions with other words",
            hint="name a retriever that can be asked",
        )


def digest_rules(glossary: Glossary) -> str:
    """Return the digest of what a glossary does: its terms in order, nothing about where they come from."""
    return hashlib.sha256(json.dumps(glossary.rules).encode()).hexdigest()
