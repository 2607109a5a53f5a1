"""Answers that were paid for once, kept by a digest of what was asked."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from findback.errors import StorageError
from findback.files import PRIVATE_FILE, storage_errors
from findback.llm.ask import Ask, Usage
from findback.llm.schema import schema_of
from findback.model.record import Record

Given = TypeVar("Given", bound=Record)

FORMAT = 1
"""Kept in the file; a newer one is refused, and is also part of every digest."""
FILE = "answers.sqlite"
KEPT_DAYS = 30
"""Days after its last use that an answer is kept."""
_BUSY_MS = 30_000


class Known(NamedTuple, Generic[Given]):
    """An answer that is known."""

    value: Given
    usage: Usage
    at: datetime


def digest_ask(ask: Ask[Given], *, provider: str, base_url: str, model: str, parameters: Mapping[str, object]) -> str:
    """Return what an answer is kept by: a digest of everything that decides it, the attempt's number included."""
    parts = [
        FORMAT,
        provider,
        base_url,
        model,
        ask.system,
        ask.user,
        sorted(parameters.items()),
        schema_of(ask.answer),
        ask.prompt,
        ask.attempt,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Answers:
    """The kept answers, each on disk before anybody goes on; processes may share them."""

    def __init__(self, folder: Path, *, now: datetime | None = None) -> None:
        """Open them, and let go of what nobody used for a month.

        Args:
            folder: Private folder.
            now: The time; the clock's when None.

        Raises:
            StorageError: If the disk refuses, the file is damaged, or a newer findback wrote it.
        """
        self._path = folder / FILE
        self._lock = Lock()
        self._today = (now or datetime.now(UTC)).date()
        with storage_errors(self._path):
            # SQLite gives its own files the mode of this one.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE))
        self._database = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000
        )
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._database.close()
            raise self._explain(error) from None
        except StorageError:
            self._database.close()
            raise

    def find(self, key: str, answer: type[Given]) -> Known[Given] | None:
        """Return a kept answer, or None; one that is no valid answer any more does not count.

        Raises:
            StorageError: If the file cannot be read.
        """
        with self._lock:
            try:
                row = self._database.execute(
                    "SELECT value, tokens_in, tokens_out, at, used FROM answers WHERE key = ?", (key,)
                ).fetchone()
                if row is not None and row[4] != self._today.isoformat():
                    self._database.execute("UPDATE answers SET used = ? WHERE key = ?", (self._today.isoformat(), key))
            except sqlite3.Error as error:
                raise self._explain(error) from None
        if row is None:
            return None
        try:
            value = answer.model_validate_json(row[0])
            at = datetime.fromisoformat(row[3])
        except (ValidationError, ValueError):
            return None
        return Known(value, Usage(row[1], row[2]), at)

    def keep(self, key: str, value: Record, usage: Usage, at: datetime) -> None:
        """Keep an answer; what another process kept first stays.

        Raises:
            StorageError: If the disk refuses.
        """
        row = (key, value.model_dump_json(), usage.tokens_in, usage.tokens_out, at.isoformat(), self._today.isoformat())
        with self._lock:
            try:
                self._database.execute(
                    "INSERT OR IGNORE INTO answers (key, value, tokens_in, tokens_out, at, used) VALUES (?,?,?,?,?,?)",
                    row,
                )
            except sqlite3.Error as error:
                raise self._explain(error) from None

    def empty(self) -> int:
        """Forget every answer, its bytes too, and return how many there were.

        Raises:
            StorageError: If the disk refuses.
        """
        with self._lock:
            try:
                count = self._database.execute("DELETE FROM answers").rowcount
                self._database.execute("VACUUM")
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                raise self._explain(error) from None
        return count

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        with self._lock:
            self._database.close()

    def _prepare(self) -> None:
        run = self._database.execute
        run(f"PRAGMA busy_timeout = {_BUSY_MS}")
        (found,) = run("PRAGMA user_version").fetchone()
        if found > FORMAT:
            raise StorageError(
                f"{self._path} was written by a newer findback (format {found}, this one knows {FORMAT})",
                hint="update findback; or remove the file, and answers are paid for again",
            )
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA secure_delete = ON")
        run("BEGIN IMMEDIATE")
        run(
            "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL, tokens_in INTEGER NOT NULL,"
            " tokens_out INTEGER NOT NULL, at TEXT NOT NULL, used TEXT NOT NULL) WITHOUT ROWID"
        )
        oldest = (self._today - timedelta(days=KEPT_DAYS)).isoformat()
        run("DELETE FROM answers WHERE used < ?", (oldest,))
        run(f"PRAGMA user_version = {FORMAT}")
        run("COMMIT")

    def _explain(self, error: sqlite3.Error) -> StorageError:
        return StorageError(
            f"{self._path} cannot be used: {getattr(error, 'sqlite_errorname', type(error).__name__)}",
            hint="check the disk; the file may be removed, and answers are then paid for again",
        )
