"""The statements of a retriever of kind `sql`: one SELECT with parameters, and what stands for each of them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import TextClause, text

from findback.errors import SettingsError
from findback.model.case import Context
from findback.model.protocols import Query
from findback.retrievers.context import FIELDS, UnhonouredError
from findback.text.words import words

FILTER = "filter_"
_CONTEXT = frozenset(FIELDS - {"filters"})
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|\()*([a-zA-Z]+)")
_PARAMETER = re.compile(r"filter_\w+")


class Statement(NamedTuple):
    """A SELECT and the names of its parameters."""

    clause: TextClause
    parameters: frozenset[str]


def read_statement(name: str, key: str, written: str, own: Iterable[str]) -> Statement:
    """Return a statement that was looked at; what it does is refused by the database itself.

    Args:
        name: Of the retriever.
        key: Of the setting.
        written: The SELECT.
        own: Parameters known besides those of the context.

    Raises:
        SettingsError: If it is no SELECT, or has a parameter that nothing is known by.
    """
    written = written.strip().rstrip(";").rstrip()
    first = _FIRST_WORD.match(written)
    where = f"[retrievers.{name}] {key}"
    if first is None or first[1].lower() not in ("select", "with", "values"):
        raise SettingsError(f"{where}: is no SELECT; findback only reads")
    clause = text(written)
    parameters = frozenset(clause.compile().params)
    known = {*own, *_CONTEXT}
    strange = sorted(one for one in parameters if one not in known and not _PARAMETER.fullmatch(one))
    if strange:
        raise SettingsError(
            f"{where}: nothing is known by the name :{strange[0]}",
            hint=f"known: {', '.join(f':{one}' for one in sorted(known))}, :filter_NAME; a colon that is none is \\:",
        )
    return Statement(clause, parameters)


def honoured_by(statement: Statement) -> frozenset[str]:
    """Return the fields of a context that a statement takes."""
    named = statement.parameters
    filters = {"filters"} if any(one.startswith(FILTER) for one in named) else set[str]()
    return frozenset(named & _CONTEXT) | filters


def check_filters(query: Query, statement: Statement) -> None:
    """Raise UnhonouredError where a question has a filter that the statement does not take."""
    given = (query.context.filters or {}) if query.context is not None else {}
    lacking = sorted(name for name in given if FILTER + name not in statement.parameters)
    if lacking:
        raise UnhonouredError(f"cannot honour filters {', '.join(lacking)}")


def values_for(statement: Statement, given: Mapping[str, Any], context: Context | None) -> dict[str, Any]:
    """Return what stands for each parameter of a statement."""
    context = context or Context()
    values: dict[str, Any] = {}
    for one in statement.parameters:
        if one in given:
            values[one] = given[one]
        elif one.startswith(FILTER):
            values[one] = (context.filters or {}).get(one.removeprefix(FILTER))
        else:
            value = getattr(context, one)
            values[one] = "\n".join(value) if isinstance(value, tuple) else value
    return values


def any_word(query: str) -> str:
    """Return the words of a query so that one of them is enough, in a form that no engine can misread.

    FTS5 and PostgreSQL's `websearch_to_tsquery` both read it; empty where the query has no word.

    >>> any_word("how do I find AND/OR?")
    '"how" OR "do" OR "i" OR "find" OR "and" OR "or"'
    """
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(words(query)))
