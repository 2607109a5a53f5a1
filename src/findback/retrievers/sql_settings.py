"""Settings of kind `sql`, and what is wrong with them before anything is asked."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from findback.errors import SettingsError
from findback.model.protocols import ScoreDirection
from findback.model.record import LOCAL_ONLY, Record
from findback.retrievers.sql_statement import Statement, read_statement

SEARCH = ("query", "k", "any_word", "vector")
"""Parameters of a search besides those of the context."""

Select = Annotated[str, Field(min_length=1, max_length=20_000), LOCAL_ONLY]


class SqlSettings(Record):
    """Settings of kind `sql`."""

    url: Annotated[str, LOCAL_ONLY]
    """`env:NAME` of a variable with the address, such as postgresql://user:password@host/database; or the path of an
    SQLite file."""
    statement: Select
    """One SELECT, best first. Columns: `id`, and where there are `score`, `passage`, `start`, `end`. Parameters:
    `:query`, `:k`, `:any_word`, `:vector`, `:locale`, `:audience`, `:as_of`, `:turns`, `:filter_NAME`."""
    exists: Select | None = None
    """SELECT with `:id` that gives a row where the document is there."""
    fetch: Select | None = None
    """SELECT with `:id` whose first column is the document's text."""
    setup: tuple[Annotated[str, Field(pattern=r"(?i)^\s*(set|pragma)\s[^;]+$"), LOCAL_ONLY], ...] = ()
    """SET or PRAGMA statements for each new connection, such as `SET hnsw.ef_search = 100`."""
    scores: ScoreDirection | Literal["none"] = "higher"
    """Which scores are better (SQLite's `bm25()` and distances: `lower`); `none` where they cannot be compared."""
    model: Annotated[str | None, LOCAL_ONLY] = None
    """Embedder whose vector of the query stands for `:vector`, as text `[0.1,0.2]`; see kind `dense`."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 256
    """Tokens of the query that the embedder sees."""
    pooling: Literal["mean", "cls"] = "mean"
    """How the embedder makes one vector of many."""
    query_prefix: str = ""
    """What the embedder wants before a query."""
    concurrency: PositiveInt = 4
    """Most searches at the same time; each has a connection and a thread."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Seconds for one search."""


def read_statements(name: str, own: SqlSettings) -> tuple[Statement, Statement | None, Statement | None]:
    """Return the statements that search, that tell whether a document is there, and that fetch it.

    Raises:
        SettingsError: If one is no SELECT, has an unknown parameter, or the query is not in it.
    """
    statement = read_statement(name, "statement", own.statement, SEARCH)
    named = statement.parameters
    if not named & {"query", "any_word", "vector"}:
        raise SettingsError(f"[retrievers.{name}] statement: the query is not in it", hint="write :query where it goes")
    if ("vector" in named) != (own.model is not None):
        raise SettingsError(f"[retrievers.{name}] model: goes together with :vector in the statement")
    others = [
        None if one is None else read_statement(name, key, one, ("id",))
        for key, one in (("exists", own.exists), ("fetch", own.fetch))
    ]
    return statement, others[0], others[1]
