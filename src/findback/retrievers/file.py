"""A run recorded elsewhere, as a retriever."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from findback.errors import MissingError, SettingsError
from findback.files import sha256_of
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import SILENT, Progress, Query, ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.model.run import Order
from findback.model.settings import RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.asking import AbsentError
from findback.retrievers.build import read_own
from findback.retrievers.context import FIELDS
from findback.retrievers.recorded import RecordedRun, RunFormat, read_recorded
from findback.retrievers.surroundings import Surroundings


class FileSettings(Record):
    """Settings of kind `file`."""

    path: Annotated[str, LOCAL_ONLY]
    """The run, relative to findback.toml."""
    format: RunFormat | None = None
    """trec, jsonl, csv or ranx; told by the name's ending when left out."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better; `none` where they cannot be compared between queries."""
    encoded: bool = False
    """Whether ids are percent-encoded, as findback writes ids with spaces into TREC files."""


class FileRetriever:
    """Answers from a recorded run, by question id, else by the exact query text."""

    kind = "file"
    egress: Literal["local", "internal", "external"] = "local"
    honours = FIELDS
    """Whatever was honoured when the run was made cannot be seen any more."""

    def __init__(self, name: str, own: FileSettings, path: Path) -> None:
        self.name = name
        self.score_direction: ScoreDirection | None = None if own.scores == "none" else own.scores
        self._own, self._path = own, path
        self._run: RecordedRun | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return nothing: a file is only read."""
        read_own(name, settings, FileSettings)
        return ()

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "FileRetriever":
        """Return the retriever; the file is read by `prepare` or the first search.

        Raises:
            SettingsError: If a setting makes no sense.
            MissingError: If there is no such file.
        """
        own = read_own(name, settings, FileSettings)
        try:
            path = surroundings.base / Path(own.path).expanduser()
        except RuntimeError:
            raise SettingsError(
                f"[retrievers.{name}] path: {own.path!r} starts with a home folder that is not known",
                hint="write a path relative to findback.toml, or from ~ or /",
            ) from None
        if not path.is_file():
            raise MissingError(f"[retrievers.{name}] path: there is no file {path}", hint="relative to findback.toml")
        return cls(name, own, path)

    @property
    def order(self) -> Order:
        """Return whether the scores alone order the results: equal ones are ties then."""
        return "score" if self._run is not None and self._run.by_score else "given"

    def settings(self) -> Mapping[str, object]:
        """Return the digest of the file, not its name."""
        return {"sha256": sha256_of(self._path), "scores": self._own.scores, "encoded": self._own.encoded}

    async def prepare(self, progress: Progress = SILENT) -> None:
        """Read the file.

        Raises:
            DataError: If lines are not what they should be.
        """
        if self._run is None:
            progress.start(f"Reading {self._path.name}", None)
            try:
                self._run = await asyncio.to_thread(self._read)
            finally:
                progress.finish()

    def recorded(self, question: str, query: Query) -> Answer:
        """Return the recorded answer of a question.

        Raises:
            AbsentError: If the run has none.
        """
        return self._find(question, query)

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first `k` recorded results for the exact query text.

        Raises:
            AbsentError: If the run has none.
        """
        await self.prepare()
        answer = self._find(None, query)
        return answer._replace(hits=answer.hits[:k], exhausted=len(answer.hits) <= k)

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return None: a run does not say what was searched."""
        return None

    async def close(self) -> None:
        """Let go of the run."""
        self._run = None

    def _read(self) -> RecordedRun:
        return read_recorded(
            self._path,
            kind=self._own.format,
            lower_is_better=self._own.scores == "lower",
            encoded=self._own.encoded,
        )

    def _find(self, question: str | None, query: Query) -> Answer:
        if self._run is None:
            self._run = self._read()
        answer = self._run.find(question, query.text)
        if answer is None:
            raise AbsentError("the recorded run does not have this question")
        return answer
