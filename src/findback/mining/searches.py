"""Failed searches in a search log: candidates come back from the engine, texts are compared on what is left."""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import ibis

from findback.mining.needs import Step, content_stems, count_distinct, group_by_need
from findback.mining.searchrules import (
    DISTINCT,
    asked_after_search,
    count_days,
    count_searches,
    failed_texts,
    good_searches,
    leave_as_is,
    prepare_events,
    reformulated_visits,
)
from findback.mining.sessions import Pace, gaps_in
from findback.model.candidate import DocumentLink, RuleHit, Strength
from findback.model.found import Found
from findback.model.protocols import Documents, RawText
from findback.model.thread import Audience, Place
from findback.text.words import fold

SEARCH_RULES = ("zero-result", "no-click", "reformulation", "search-then-ask")

DEFAULT_RULES = frozenset({"zero-result", "no-click", "reformulation"})
"""Rules that run unless asked otherwise; search-then-ask needs an identity map."""

_LOCAL = frozenset({"duckdb", "pyspark"})
_PREPARED = "findback_prepared"
_STRENGTHS: dict[str, Strength] = {"zero-result": "strong", "no-click": "medium"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMining:
    """How a search log is mined."""

    source: str
    """Registry name of the reader."""
    rules: frozenset[str] = DEFAULT_RULES
    pace: Pace = field(default_factory=Pace)
    limit: int = 10_000
    """Most texts that come back for the zero-result and no-click rules, those asked most often first."""
    control: int = 0
    """How many searches that did not fail are drawn beside them."""
    seed: int = 0
    exam: frozenset[str] = frozenset()
    """Questions of the exam; visits that ask little else are an evaluation and left out."""
    system: str | None = None
    """Name of the search system, where the log does not name an application."""
    audience: Audience = "private"
    """What people type into a search box is not public."""


class Ask(NamedTuple):
    """A question to people, to be put beside the searches of the same person."""

    person: str
    """Digest of the person's id in the search log, by the identity map."""
    at: datetime
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class MinedSearches:
    """What a search log gave."""

    found: list[Found]
    counts: dict[str, int]
    """What the log holds and how many searches satisfy each rule, before texts are joined."""
    unsupported: dict[str, str] = field(default_factory=dict)
    """Rules that the log cannot support, with the reason."""
    dropped: dict[str, int] = field(default_factory=dict)
    """What was found and left out, by reason."""
    by_day: dict[str, int] = field(default_factory=dict)
    """Searches of each day, YYYY-MM-DD, UTC."""


def unsupported_rules(columns: Collection[str], counts: dict[str, int]) -> dict[str, str]:
    """Return each rule that a log cannot support, with the reason; the others apply.

    Args:
        columns: Columns that the source records.
        counts: As `count_searches` gives them.
    """
    reasons = {}
    aggregated = "asked" in columns
    if counts["unknown_rows"] == counts["search_rows"]:
        reasons["zero-result"] = "the log does not say how many results a search had"
    if not counts["click_rows"] and "clicks" not in columns:
        reasons["no-click"] = "the log has no clicks"
    if aggregated:
        reasons["reformulation"] = "each row stands for many searches"
    elif not {"session", "client", "person"} & set(columns):
        reasons["reformulation"] = "the log has neither sessions nor clients"
    if not counts["ask_rows"]:
        reasons["search-then-ask"] = "no questions to people are joined to the log by an identity map"
    elif "person" not in columns:
        reasons["search-then-ask"] = "the log does not say who searched"
    return reasons


def with_asks(table: Any, asks: Collection[Ask]) -> Any:
    """Return the events with questions to people among them.

    Raises:
        ValueError: If the table lies in a warehouse: nothing is uploaded there.
    """
    if table.get_backend().name not in _LOCAL:
        raise ValueError("questions can only be joined to a log that is read on this machine")
    columns = {name: table.schema()[name] for name in table.columns}
    columns.setdefault("person", ibis.dtype("string"))
    rows = {
        "time": [ask.at.astimezone(UTC).replace(tzinfo=None) if ask.at.tzinfo else ask.at for ask in asks],
        "kind": ["ask"] * len(asks),
        "event_id": [f"ask {ask.id}" for ask in asks],
        "query": [ask.text for ask in asks],
        "person": [ask.person for ask in asks],
    }
    filled = {name: rows.get(name, [None] * len(asks)) for name in columns}
    import pyarrow as pa  # noqa: PLC0415 - only this rule needs it

    schema = ibis.schema(columns)
    questions = ibis.memtable(pa.table(filled, schema=schema.to_pyarrow()))
    if "person" not in table.columns:
        table = table.mutate(person=ibis.null("string"))
    return table.select(list(columns)).union(questions.select(list(columns)))


def mine_searches(table: Any, mining: SearchMining, documents: Documents | None = None) -> MinedSearches:
    """Find failed searches in a table of search events.

    The same question is one finding, however often it was asked. On this machine what the rules share is worked
    out once; in a warehouse nothing is made, and each rule asks for itself.

    Args:
        table: Ibis table as the search-log readers give it.
        mining: Which rules, and how.
        documents: Corpus that clicked documents are looked up in; without one no links are kept.
    """
    exam = {" ".join(text.lower().split()) for text in mining.exam}
    backend = table.get_backend()
    tables = _Tables(backend) if backend.name == "duckdb" else None
    settle = tables.settle if tables else leave_as_is
    try:
        complete = not _rows(gaps_in(table))[0]["gaps"]
        prepared, recorded = prepare_events(table, mining.pace, exam=exam, settle=settle, complete=complete)
        return _Remainder(mining, documents, recorded).gather(prepared)
    finally:
        if tables:
            tables.drop()


class _Tables:
    """Temporary tables of a local DuckDB, one at a time, so that no query has to hold every window at once."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.number = 0

    def settle(self, expression: Any) -> Any:
        """Put an expression into a table, and drop the one it was made from."""
        table = self.backend.create_table(f"{_PREPARED}_{self.number + 1}", expression, temp=True, overwrite=True)
        self.drop()
        self.number += 1
        return table

    def drop(self) -> None:
        """Drop the last table."""
        if self.number:
            self.backend.drop_table(f"{_PREPARED}_{self.number}", force=True)


class _Remainder:
    """What came back from the engine, on its way to findings."""

    def __init__(self, mining: SearchMining, documents: Documents | None, recorded: frozenset[str]) -> None:
        self.mining = mining
        self.documents = documents
        self.recorded = recorded
        self.found: dict[tuple[str, str], Found] = {}
        self.dropped: dict[str, int] = {}

    def gather(self, prepared: Any) -> MinedSearches:
        counts = {name: int(value or 0) for name, value in _rows(count_searches(prepared))[0].items()}
        unsupported = unsupported_rules(self.recorded, counts)
        asked = self.mining.rules - unsupported.keys()
        if simple := asked & {"zero-result", "no-click"}:
            self._gather_failed(failed_texts(prepared, simple))
        if "reformulation" in asked:
            self._gather_reformulated(_stream(reformulated_visits(prepared)))
        if "search-then-ask" in asked:
            self._gather_asked(_rows(asked_after_search(prepared, self.mining.pace)))
        if counts["examined"]:
            self._drop("evaluation traffic", counts["examined"])
        if self.mining.control:
            self._draw_control(good_searches(prepared), counts["good"])
        unsupported = {rule: reason for rule, reason in unsupported.items() if rule in self.mining.rules}
        days = {
            f"{datetime.fromtimestamp(int(row['day']), UTC):%Y-%m-%d}": int(row["searches"])
            for row in _rows(count_days(prepared))
            if row["day"] is not None and row["searches"]
        }
        return MinedSearches(list(self.found.values()), counts, unsupported, self.dropped, days)

    def _gather_failed(self, failed: Any) -> None:
        rows = _rows(failed.limit(self.mining.limit))
        if len(rows) == self.mining.limit:
            left = int(failed.count().to_pyarrow().as_py()) - len(rows)
            if left:
                self._drop("texts asked too rarely to come within the limit", left)
        for row in rows:
            hits = tuple(
                RuleHit(rule=rule, strength=_STRENGTHS[rule], evidence=f"{row[column]} of {row['asked']} searches")
                for rule, column in (("zero-result", "zero_times"), ("no-click", "no_click_times"))
                if row[column]
            )
            self._add(self._found(row, row["query"], hits, asked=row["asked"]))

    def _gather_reformulated(self, rows: Iterator[dict[str, Any]]) -> None:
        for events in _visits(rows):
            searches = {row["event_id"]: row for row in events if row["kind"] == "search"}
            for run in group_by_need(_steps(events)):
                distinct = count_distinct(run)
                if distinct < DISTINCT:
                    continue
                early = any(step.clicked for step in run[:-1])
                ending = "clicked at the end" if run[-1].clicked else "no click at the end"
                hit = RuleHit(
                    rule="reformulation",
                    strength="weak" if early else "medium",
                    evidence=f"{len(run)} searches, {distinct} different; {ending}",
                )
                links = self._links(run[-1].clicked)
                self._add(self._found(searches[run[0].event_id], run[0].query, (hit,), links=links))

    def _gather_asked(self, rows: list[dict[str, Any]]) -> None:
        for search, question in zip(rows[::2], rows[1::2], strict=True):
            shared = content_stems(search["query"]) & content_stems(question["query"] or "")
            if not shared and search["key_clicks"]:
                continue
            minutes = (question["time"] - search["time"]).total_seconds() / 60
            hit = RuleHit(
                rule="search-then-ask",
                strength="strong" if shared else "weak",
                evidence=f"asked people {minutes:.0f} minutes later; {len(shared)} words shared",
            )
            self._add(self._found(search, search["query"], (hit,)))

    def _draw_control(self, good: Any, total: int) -> None:
        wanted = self.mining.control
        # Twice as many, because the same question drawn twice counts once.
        numbers = random.Random(self.mining.seed).sample(range(total), min(total, 2 * wanted))  # noqa: S311 - a sample
        if not numbers:
            return
        rows = {row["number"]: row for row in _rows(good.filter(good["number"].isin(numbers)))}
        drawn = 0
        for number in numbers:
            row = rows[number]
            hit = RuleHit(rule="control", strength="weak", evidence=f"drawn from {total} searches that did not fail")
            found = replace(self._found(row, row["query"], (hit,), asked=row["weight"]), stratum="control")
            if _text_of(found) not in self.found:
                self._add(found)
                drawn += 1
            if drawn == wanted:
                return

    def _found(
        self,
        row: dict[str, Any],
        query: str,
        rules: tuple[RuleHit, ...],
        *,
        links: tuple[DocumentLink, ...] = (),
        asked: int = 1,
    ) -> Found:
        application = row["application"]
        time = row["time"]
        return Found(
            source=self.mining.source,
            id=row["event_id"],
            container=application or self.mining.source,
            audience=self.mining.audience,
            query=RawText(query),
            rules=rules,
            links=links,
            asker=row["asker"],
            at=None if time is None else time if time.tzinfo else time.replace(tzinfo=UTC),
            asked=int(asked),
            selected_on=application or self.mining.system,
            place=None if row["file"] is None else Place(row["file"], int(row["offset"] or 0)),
        )

    def _add(self, found: Found) -> None:
        key = _text_of(found)
        before = self.found.get(key)
        self.found[key] = found if before is None else _join(before, found)

    def _links(self, clicked: tuple[str, ...]) -> tuple[DocumentLink, ...]:
        # A click is what the searcher took, not what a resolver vouched for: evidence, never gold.
        resolved = dict.fromkeys(self.documents.resolve(each) for each in clicked) if self.documents else {}
        return tuple(
            DocumentLink(document=document, line=-1, by="asker", kind="click")
            for document in resolved
            if document is not None
        )

    def _drop(self, reason: str, count: int) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + count


def _visits(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    visit: list[dict[str, Any]] = []
    for row in rows:
        if row["opens"] and visit:
            yield visit
            visit = []
        visit.append(row)
    if visit:
        yield visit


def _steps(events: list[dict[str, Any]]) -> Iterator[Step]:
    clicks: dict[int, list[str]] = {}
    for row in events:
        if row["kind"] == "click" and row["document"] and row["search_place"] is not None:
            clicks.setdefault(row["search_place"], []).append(row["document"])
    for row in events:
        if row["kind"] == "search":
            yield Step(row["event_id"], row["query"], tuple(clicks.get(row["number"], ())))


def _text_of(found: Found) -> tuple[str, str]:
    """Return what makes two findings the same question: system and text, case, width and spacing aside."""
    return found.container, " ".join(fold(found.query.text).split())


def _join(before: Found, later: Found) -> Found:
    """Return two findings of one question as one, under the earlier wording."""
    first, second = (later, before) if _when(later) < _when(before) else (before, later)
    # A rule that fired for two spellings of a text is named once, with the evidence of the one kept.
    rules = {hit.rule: hit for hit in (*second.rules, *first.rules)}
    both = {hit.rule for hit in before.rules} & {hit.rule for hit in later.rules}
    return replace(
        first,
        rules=tuple(rules[rule] for rule in sorted(rules)),
        links=tuple(dict.fromkeys((*first.links, *second.links))),
        asked=before.asked + later.asked if both else max(before.asked, later.asked),
        stratum="failure" if "failure" in {before.stratum, later.stratum} else "control",
    )


def _when(found: Found) -> tuple[bool, datetime, str]:
    return found.at is None, found.at or datetime.max.replace(tzinfo=UTC), found.id


def _rows(expression: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = expression.to_pyarrow().to_pylist()
    return rows


def _stream(expression: Any) -> Iterator[dict[str, Any]]:
    for batch in expression.to_pyarrow_batches(chunk_size=10_000):
        yield from batch.to_pylist()
