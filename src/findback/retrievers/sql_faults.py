"""What went wrong in a database, in findback's words: no value, row, parameter or secret comes along."""

import re
import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from findback.errors import EngineError, FindbackError, RefusedError, SettingsError
from findback.retrievers.sql_address import Database

_NAMES = re.compile(r"no such (?:column|table|function|module): [^\n]{1,200}")
_TYPED = re.compile(r"\bmatch\s+:query\b", re.IGNORECASE)
_WRITES = frozenset(("25006", "0A000"))
_TIMED_OUT = frozenset(("57014", "55P03"))
_ABOUT_THE_STATEMENT = "42"
"""PostgreSQL's class of errors whose message quotes nothing but names in the statement."""
_REFUSED = re.compile(
    r"authentication failed|no password supplied|access denied|not permitted|does not exist", re.IGNORECASE
)


def too_slow(name: str, seconds: float) -> EngineError:
    """Return what to tell about a search that takes too long."""
    return EngineError(
        f"the database of [retrievers.{name}] gave no rows within {seconds:g} s",
        hint="add an index, or raise `timeout`",
    )


def explain(error: Exception, database: Database, name: str, seconds: float, written: str) -> FindbackError:
    """Return what to tell about a database's error.

    Args:
        error: It.
        database: Where it comes from.
        name: Of the retriever.
        seconds: Its limit.
        written: The statements: what is named in an error is shown only where they name it, too.
    """
    original = error.orig if isinstance(error, DBAPIError) else error
    state, said = str(getattr(original, "sqlstate", None) or ""), str(original)
    statement = f"the statement of [retrievers.{name}]"
    if state in _WRITES or "readonly database" in said or "one statement at a time" in said:
        return RefusedError(f"{statement} does more than read", hint="write it as one SELECT")
    if state in _TIMED_OUT or said == "interrupted":
        return too_slow(name, seconds)
    if state.startswith(_ABOUT_THE_STATEMENT):
        about = getattr(getattr(original, "diag", None), "message_primary", None) or f"error {state}"
        return SettingsError(f"{statement} cannot be run: {str(about)[:300]}")
    if isinstance(original, sqlite3.Error):
        return _explain_sqlite(said, statement, database, written)
    return _explain_server(error, state, statement, database)


def _explain_sqlite(said: str, statement: str, database: Database, written: str) -> FindbackError:
    named = _NAMES.search(said)
    if named is not None and named[0].split()[-1] in written:
        return SettingsError(f"{statement} cannot be run: {named[0]}")
    if said.startswith("fts5:") or _TYPED.search(written):
        # FTS5 takes a word of the query for a column, too.
        return EngineError(
            f"{statement}: FTS5 cannot read the query as it was typed", hint="MATCH :any_word takes its words"
        )
    if "syntax error" in said:
        return SettingsError(f"{statement} cannot be run: syntax error")
    return EngineError(f"{database.shown} failed", hint="is it a whole SQLite file, and the statement right?")


def _explain_server(error: Exception, state: str, statement: str, database: Database) -> FindbackError:
    original = error.orig if isinstance(error, DBAPIError) else error
    if state and not (isinstance(error, DBAPIError) and error.connection_invalidated):
        return EngineError(f"{database.shown} failed: {type(original).__name__} {state}")
    if _REFUSED.search(str(original)):
        return EngineError(
            f"{database.shown} refuses user, password or database", hint="check the address in the variable"
        )
    if isinstance(original, SQLAlchemyError | TypeError | ValueError):
        return EngineError(f"{statement} failed: {type(original).__name__}")
    return EngineError(f"{database.shown} does not answer", hint="check that it runs, and its address")
