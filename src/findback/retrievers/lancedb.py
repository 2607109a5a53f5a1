"""LanceDB: a folder of tables."""

import warnings
from collections.abc import Mapping
from typing import Any

import lancedb

from findback.errors import FindbackError, SettingsError
from findback.model.protocols import ScoreDirection
from findback.retrievers.nearest import Asked, Conditions, Found, NearestRetriever
from findback.retrievers.nearest_settings import NearestSettings, Value

PARAMETERS = {"nprobes": "nprobes", "refine_factor": "refine_factor", "ef": "ef"}
"""What `parameters` may name: calls of the query."""


class LanceSettings(NearestSettings):
    """Settings of kind `lancedb`; `parameters` are `nprobes`, `refine_factor` and `ef`."""


class LanceRetriever(NearestRetriever):
    """Asks a table by vector; without `model` by words, through its full-text index."""

    kind = "lancedb"
    record = LanceSettings
    library = "lancedb"
    takes_words = True

    def direction_of(self, own: Any) -> ScoreDirection:
        """Return which scores are better: distances under every metric, and similarities for words."""
        return "higher" if own.model is None else "lower"

    def open(self) -> Any:
        """Return the table, once it is known to have the fields."""
        own = self._own
        if unknown := sorted(set(own.parameters) - set(PARAMETERS)):
            raise SettingsError(
                f"[retrievers.{self.name}] parameters: {unknown[0]!r} is not known",
                hint=f"known: {', '.join(PARAMETERS)}",
            )
        if own.id_field is None:
            raise SettingsError(f"[retrievers.{self.name}] id_field: is needed", hint="tables have no ids of their own")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = lancedb.connect(self._place.url).open_table(own.collection)
        known = set(table.schema.names)
        wanted = [*own.list_fields(), *own.only, *own.match.values(), *([self._vector] if own.model else [])]
        if missing := sorted({field.split(".")[0] for field in wanted} - known):
            raise SettingsError(
                f"the table {own.collection} of {self._place.shown} has no field {missing[0]}",
                hint=f"it has: {', '.join(sorted(known))}",
            )
        return table

    def find(self, opened: Any, asked: Asked, limit: int, conditions: Conditions) -> list[Found]:
        """Return the nearest rows."""
        own = self._own
        if isinstance(asked, str):
            query = opened.search(asked, query_type="fts").select([*own.list_fields(), "_score"])
        else:
            query = opened.search(list(asked), vector_column_name=self._vector, query_type="vector")
            query = query.distance_type(own.metric).select([*own.list_fields(), "_distance"])
            if own.exact:
                query = query.bypass_vector_index()
            for parameter, value in own.parameters.items():
                query = getattr(query, PARAMETERS[parameter])(value)
        if conditions:
            query = query.where(_where(conditions), prefilter=True)
        rows = query.limit(limit).to_list()
        return [Found(None, row.get("_distance", row.get("_score")), row) for row in rows]

    def look_up(
        self, opened: Any, document: str, fields: list[str], conditions: Conditions
    ) -> Mapping[str, Any] | None:
        """Return the first row whose field holds the id."""
        own = self._own
        condition = _where([(own.id_field, document), *conditions])
        rows = opened.search().where(condition).select([own.id_field, *fields]).limit(1).to_list()
        return rows[0] if rows else None

    def shut(self, opened: Any) -> None:
        """Do nothing: a table holds no file open."""

    def explain(self, error: Exception) -> FindbackError | None:
        """Return what to tell about LanceDB's bare errors."""
        shown, said = self._place.shown, str(error)
        if "was not found" in said and "Table" in said:
            return SettingsError(f"{shown} has no table {self._own.collection}")
        if "query dim(" in said or "doesn't match the column vector" in said:
            return SettingsError(f"the vectors of {self._own.collection} have another length than those of `model`")
        if "INVERTED index" in said or "full text search" in said.lower():
            return SettingsError(
                f"the table {self._own.collection} of {shown} has no full-text index",
                hint="make one, or name the `model` of its vectors",
            )
        return None

    @property
    def _vector(self) -> str:
        return self._own.vector or "vector"


def _where(conditions: Conditions) -> str:
    """Return conditions as SQL.

    >>> _where([("lang", "d'e"), ("n", 3)])
    "`lang` = 'd''e' AND `n` = 3"
    """
    return " AND ".join(f"{_column(field)} = {_literal(value)}" for field, value in conditions)


def _column(field: str) -> str:
    return ".".join(f"`{part.replace('`', '')}`" for part in field.split("."))


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
