"""Answers that a model gave once, recorded in a file and given again: a pipeline runs without the model."""

import hashlib
import json
from collections.abc import Container
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson
from pydantic import ValidationError

from findback.errors import DataError, Fault, MissingError
from findback.files import PRIVATE_FILE, storage_errors
from findback.llm.ask import Ask, ItemFailedError, Model, Reply, Usage
from findback.llm.schema import schema_of
from findback.model.record import Record
from findback.model.settings import EgressLevel

Given = TypeVar("Given", bound=Record)

SUFFIX = ".recordings.jsonl"
"""How files of recordings are called, so that `verify` finds them."""


class Recording(Record):
    """One answer, a line of the file."""

    format: Literal[1] = 1
    key: str
    """Digest of what was asked."""
    item: str
    """The document it was asked about."""
    label: str
    """Provider and model that answered."""
    answer: dict[str, Any]
    tokens_in: int
    tokens_out: int
    at: datetime


def read_recordings(path: Path) -> list[Recording]:
    """Return the recordings of a file.

    Raises:
        MissingError: If it is not there.
        DataError: If a line is no recording; all of them, by line.
    """
    if not path.is_file():
        raise MissingError(f"there are no recordings in {path}", hint="record them with RecordingModel")
    found, faults = [], []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            found.append(Recording.model_validate_json(line))
        except ValidationError:
            faults.append(Fault(str(path), number, "is no recording of this version"))
    if faults:
        raise DataError("recordings cannot be read", faults=faults, hint="record them again")
    return found


def find_foreign(path: Path, documents: Container[str]) -> list[Fault]:
    """Return every recording that is about something else than these documents.

    Recordings hold what a model wrote about a team's documents; the only ones fit to be committed are about
    the invented documents of the example.

    Args:
        path: File of recordings.
        documents: Ids that recordings may be about.
    """
    try:
        recordings = read_recordings(path)
    except DataError as error:
        return list(error.faults)
    return [
        Fault(str(path), number, "is not about a document of the example")
        for number, recording in enumerate(recordings, start=1)
        if recording.item not in documents
    ]


class ReplayModel:
    """A model that answers from a file of recordings, and nothing else."""

    def __init__(
        self, path: Path, *, name: str = "replay", egress: EgressLevel = "local", for_decisions: bool = True
    ) -> None:
        """Read the recordings.

        Args:
            path: File of recordings.
            name: How it is called.
            egress: Where its texts would go.
            for_decisions: Whether what it writes may enter a set.

        Raises:
            MissingError: If there is no such file.
            DataError: If it cannot be read.
        """
        recordings = read_recordings(path)
        self._known = {recording.key: recording for recording in recordings}
        self.name, self.egress, self.for_decisions = name, egress, for_decisions
        self.label = recordings[0].label if recordings else f"replay:{name}"
        self.parameters: dict[str, str | int | float | None] = {}

    async def ask(self, ask: Ask[Given]) -> Reply[Given]:
        """Return what was recorded.

        Raises:
            ItemFailedError: If this was not asked when the recordings were made.
        """
        recording = self._known.get(_digest(ask))
        if recording is None:
            raise ItemFailedError(
                f"{ask.item}: no recording of this question", hint="the prompt or the document changed: record it again"
            )
        try:
            value = ask.answer.model_validate(recording.answer)
        except ValidationError:
            raise ItemFailedError(f"{ask.item}: the recording is no valid answer", hint="record it again") from None
        return Reply(value, Usage(recording.tokens_in, recording.tokens_out), cached=True, at=recording.at)

    async def close(self) -> None:
        """Do nothing."""


class RecordingModel:
    """Asks another model, and adds every answer to a file of recordings."""

    def __init__(self, model: Model, path: Path) -> None:
        """Record what a model answers.

        Args:
            model: Who is asked.
            path: File of recordings, in the private folder unless the documents are the example's; made if absent.
        """
        self._model, self._path = model, path
        self.name, self.label, self.egress = model.name, model.label, model.egress
        self.for_decisions, self.parameters = model.for_decisions, model.parameters

    async def ask(self, ask: Ask[Given]) -> Reply[Given]:
        """Return the model's answer, once it is recorded.

        Raises:
            FindbackError: Whatever the model raises.
            StorageError: If the disk refuses.
        """
        reply = await self._model.ask(ask)
        recording = Recording(
            key=_digest(ask),
            item=ask.item,
            label=self.label,
            answer=reply.value.model_dump(mode="json"),
            tokens_in=reply.usage.tokens_in,
            tokens_out=reply.usage.tokens_out,
            at=reply.at,
        )
        line = orjson.dumps(recording.model_dump(mode="json")) + b"\n"
        with storage_errors(self._path):
            if not self._path.exists():
                self._path.touch(PRIVATE_FILE)
            with self._path.open("ab", buffering=0) as handle:
                handle.write(line)
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _digest(ask: Ask[Given]) -> str:
    """Return what a recording is known by: the question, whoever is asked."""
    parts = [ask.system, ask.user, schema_of(ask.answer), ask.prompt, ask.attempt]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
