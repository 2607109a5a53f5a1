"""A database that searches: one parameterised SELECT, over any address that SQLAlchemy knows."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from findback.departures import Departures, carrying
from findback.errors import FindbackError, SettingsError
from findback.model.case import Context
from findback.model.hits import Answer
from findback.model.protocols import Query, ScoreDirection
from findback.model.settings import EgressLevel, RetrieverSettings
from findback.model.trusted import Trusted
from findback.retrievers.build import read_own
from findback.retrievers.nearest import find_embedding
from findback.retrievers.returned import DOCUMENT_KEYS, PASSAGE_KEYS, read_answer
from findback.retrievers.sql_address import Database, check_written, find_database, level_of, open_engine, variable_of
from findback.retrievers.sql_faults import explain, too_slow
from findback.retrievers.sql_settings import SqlSettings, read_statements
from findback.retrievers.sql_statement import Statement, any_word, check_filters, honoured_by, values_for
from findback.retrievers.surroundings import Surroundings
from findback.retrievers.workers import Workers

GRACE = 2.0
"""Seconds beyond `timeout` after which a thread that is still waiting is given up."""

_COLUMNS = frozenset((*DOCUMENT_KEYS, *PASSAGE_KEYS, "score", "start", "end"))
_STEPS = 10_000
"""Instructions of SQLite between looks at the clock."""


class SqlRetriever:
    """Runs a SELECT for each question, and only reads."""

    kind = "sql"

    def __init__(
        self,
        name: str,
        own: SqlSettings,
        database: Database,
        *,
        egress: EgressLevel | None = None,
        departures: Departures | None = None,
        embed: Callable[[str], str] | None = None,
        model: str | None = None,
    ) -> None:
        self.name = name
        self.concurrency = own.concurrency
        self.egress: EgressLevel = egress or level_of(database)
        self.score_direction: ScoreDirection | None = None if own.scores == "none" else own.scores
        self._own, self._database, self._embed, self._model = own, database, embed, model
        self._search, self._exists, self._fetch = read_statements(name, own)
        self.honours = honoured_by(self._search)
        self._departures = departures if self.egress != "local" else None
        self._workers = Workers()
        self._engine: Engine | None = None

    @classmethod
    def trusts(cls, name: str, settings: RetrieverSettings) -> tuple[Trusted, ...]:
        """Return the variable or address that would be opened, and the statements that would be run there."""
        own = read_own(name, settings, SqlSettings)
        check_written(name, own.url)
        read_statements(name, own)
        variable = variable_of(own.url)
        place = Trusted("variable", f"${variable}, the database that {name} asks")
        if variable is None:
            place = Trusted("database", f"{own.url}, asked by {name}")
        run = (own.statement, own.exists, own.fetch, *own.setup)
        return (place, *(Trusted("query", f"{' '.join(one.split())}, for {name}") for one in run if one))

    @classmethod
    def build(cls, name: str, settings: RetrieverSettings, surroundings: Surroundings) -> "SqlRetriever":
        """Return the retriever, not yet connected.

        Raises:
            SettingsError: If a setting makes no sense or the variable is not set.
            MissingError: If the file or the embedder is not there.
        """
        own = read_own(name, settings, SqlSettings)
        database = find_database(name, own.url, surroundings.environment, surroundings.base)
        embed, model = _embedding(name, own, surroundings)
        return cls(
            name,
            own,
            database,
            egress=settings.egress,
            departures=surroundings.departures,
            embed=embed,
            model=model,
        )

    def settings(self) -> Mapping[str, object]:
        """Return what changes results: the statement, what connections are told, the embedder's digest."""
        kept = self._own.model_dump(include={"statement", "setup", "scores", "query_prefix"})
        return {**kept, "database": self._database.shown, "model": self._model}

    async def search(self, query: Query, k: int) -> Answer:
        """Return the first `k` rows.

        Raises:
            EngineError: If the database does not answer, not in time, or answers rows without ids.
            SettingsError: If it refuses the statement.
            UnhonouredError: If the question has a filter that the statement does not take.
        """
        check_filters(query, self._search)
        given: dict[str, Any] = {"query": query.text, "k": k}
        wanted = self._search.parameters
        if "any_word" in wanted:
            given["any_word"] = any_word(query.text)
            if not given["any_word"]:
                return Answer((), exhausted=True)
        if "vector" in wanted and self._embed is not None:
            given["vector"] = await self._workers.run(lambda: self._embed(query.text) if self._embed else None)
        self._count()
        values = values_for(self._search, given, query.context)
        return await self._run(lambda: self._rows(values, k))  # type: ignore[no-any-return]

    async def exists(self, document: str, context: Context | None = None) -> bool | None:
        """Return whether the database holds the document; None without `exists`, or where it does not say for whom.

        Raises:
            EngineError: If the database does not answer.
        """
        statement = self._exists
        audience = context.audience if context is not None else None
        if statement is None or (audience and "audience" not in statement.parameters):
            return None
        return await self._first(statement, document, context) is not None

    async def fetch(self, document: str, context: Context | None = None) -> str | None:
        """Return the database's own text of a document; None if it has none, or without `fetch`.

        Raises:
            EngineError: If the database does not answer.
        """
        row = None if self._fetch is None else await self._first(self._fetch, document, context)
        return row[0] if row is not None and isinstance(row[0], str) else None

    async def close(self) -> None:
        """Close the connections and end the threads."""
        if self._departures is not None:
            self._departures.flush()
        engine, self._engine = self._engine, None
        if engine is not None:
            await self._workers.run(engine.dispose)
        self._workers.stop()

    async def _first(self, statement: Statement, document: str, context: Context | None) -> Any:
        with carrying("document"):
            self._count()
        values = values_for(statement, {"id": document}, context)
        return await self._run(lambda: self._ask(statement, values, lambda result: result.fetchone()))

    def _count(self) -> None:
        if self._departures is not None:
            self._departures.add(f"{self._database.dialect} {self.name}", self.egress)

    async def _run(self, call: Callable[[], Any]) -> Any:
        """Return what a thread finds, once more where an idle connection turns out to be dead."""
        if self._engine is None:
            own = self._own
            self._engine = open_engine(
                self._database, connections=own.concurrency, seconds=own.timeout, setup=own.setup
            )
        try:
            async with asyncio.timeout(self._own.timeout + GRACE) as limit:
                found = await self._workers.run(lambda: _caught(call))
                if isinstance(found, DBAPIError) and found.connection_invalidated:
                    found = await self._workers.run(lambda: _caught(call))
        except TimeoutError:
            if not limit.expired():
                raise
            raise too_slow(self.name, self._own.timeout) from None
        if isinstance(found, FindbackError):
            raise found
        if isinstance(found, Exception):
            own = self._own
            written = " ".join(one for one in (own.statement, own.exists, own.fetch) if one)
            raise explain(found, self._database, self.name, own.timeout, written)
        return found

    def _rows(self, values: Mapping[str, Any], k: int) -> Answer:
        def read(result: Any) -> Answer:
            names = [str(key).lower() for key in result.keys()]  # noqa: SIM118 (no dictionary)
            if not _COLUMNS.intersection(names):
                raise SettingsError(
                    f"the statement of [retrievers.{self.name}] gives no column of a known name",
                    hint="SELECT path AS id, rank AS score, body AS passage …",
                )
            rows = (dict(zip(names, map(_plain, row), strict=True)) for row in result.fetchmany(k))
            return read_answer(list(rows), k)

        # Without a limit of its own, the statement is read through a cursor: no more rows than wanted come over.
        stream = "k" not in self._search.parameters and self._database.dialect == "postgresql"
        return self._ask(self._search, values, read, stream=stream)  # type: ignore[no-any-return]

    def _ask(
        self, statement: Statement, values: Mapping[str, Any], read: Callable[[Any], Any], *, stream: bool = False
    ) -> Any:
        engine = self._engine
        if engine is None:
            raise AssertionError
        with engine.connect() as connection:
            if self._database.file is not None:
                _limit(connection, self._own.timeout)
            if stream:
                # A cursor of the server's lives in a transaction.
                connection.execution_options(isolation_level="REPEATABLE READ", stream_results=True)
            with connection.execute(statement.clause, dict(values)) as result:
                return read(result)


def _embedding(
    name: str, own: SqlSettings, surroundings: Surroundings
) -> tuple[Callable[[str], str] | None, str | None]:
    """Return what writes the vector of a query as pgvector reads it, and the digest of its model."""
    embed, digest = find_embedding(name, own, surroundings)
    if embed is None:
        return None, None
    return lambda text: f"[{','.join(map(repr, embed(text)))}]", digest


def _limit(connection: Any, seconds: float) -> None:
    """Have SQLite look at the clock."""
    until = time.monotonic() + seconds
    connection.connection.driver_connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)


def _caught(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the database's error: raised in the thread, its text would go along as context."""
    try:
        return call()
    except (SQLAlchemyError, sqlite3.Error, FindbackError) as error:
        return error


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
