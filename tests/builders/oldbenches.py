"""Workbenches of every earlier format, filled by the SQL of that time, and backups of them."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from builders.candidates import NOON, digest
from findback.workbench.archive import Manifest, write_archive
from findback.workbench.backup import _written, kept_tables, read_tables
from findback.workbench.database import connect_database
from findback.workbench.migration import Migrations, upgrade_database
from findback.workbench.tables import VERSION_TABLE

Rows = dict[str, list[dict[str, Any]]]

WRITTEN = {"model": "m", "prompt": "describe", "findback": "0.1.0", "written_on": "2024-05-06"}


def rows_of(format_: int) -> Rows:
    """Two candidates in a thread each, one decided by a reviewer, and whatever else a format could hold."""
    rows: Rows = {
        "meta": [{"name": "key_check", "value": "c0ffee"}],
        "reviewers": [{"id": 4, "subject": "noor", "name": "Noor", "roles": ["lead"], "since": NOON}],
        "candidates": [_candidate(3, "q", "ana", "new"), _candidate(9, "r", "bo", "ready")],
        "texts": [
            {"candidate": number, "place": place, "position": 0, "text": words, "raw_hmac": digest(words)}
            for number, words in ((3, "where is it, ⟦PERSON_1⟧?"), (9, "who keeps it?"))
            for place in ("query", "line")
        ],
        "lines": [
            {"candidate": number, "position": 0, "key": digest(key), "role": "asker", "author_hmac": digest(who),
             "at": NOON, "edited": False}
            for number, key, who in ((3, "q", "ana"), (9, "r", "bo"))
        ],
        "spans": [
            {"candidate": 3, "place": place, "position": 0, "ordinal": 0, "begins": 13, "ends": 23, "type": "PERSON",
             "rule": "roster", "version": "1", "band": "applied", "value_hmac": digest("cy"), "reviewer": 4,
             "decided_at": NOON}
            for place in ("query", "line")
        ],
        "hits": [
            {"candidate": number, "ordinal": 0, "rule": "link-thanks", "strength": "strong", "evidence": "thanks"}
            for number in (3, 9)
        ],
        "links": [{"candidate": 9, "ordinal": 0, "document": "a.md", "line": 0, "linked_by": "other", "kind": "link",
                   "created_before": True}],
        "decisions": [{"id": 2, "candidate": 9, "reviewer": 4, "at": NOON, "before": "new", "after": "ready",
                       "version": 2, "reason": "clear"}],
        "events": [{"id": 5, "at": NOON, "kind": "put", "candidate_key": None, "reviewer": None,
                    "details": {"new": 2}},
                   {"id": 6, "at": NOON, "kind": "decide", "candidate_key": digest("r"), "reviewer": 4,
                    "details": {"after": "ready"}}],
        "exclusions": [{"kind": "person", "hmac": digest("dee"), "since": NOON}],
        "tombstones": [{"kind": "candidate", "hmac": digest("gone"), "reason": "purged", "since": NOON}],
        "watermarks": [{"source": "help", "reached": NOON, "cursor": None, "at": NOON}],
    }  # fmt: skip
    if format_ >= 2:
        change = {"id": 1, "case_id": "c0000000009", "at": NOON, "what": "query", "why": "typo", "role": "lead"}
        review = {"id": 1, "candidate": 9, "reviewer": 4, "look": 1, "revision": 1, "parent": 0, "role": "reviewer"}
        rows |= {
            "cases": [
                {"candidate_key": digest("r"), "case_id": "c0000000009", "cluster": "c0000000009", "thread": "t",
                 "release": None, "split": None, "at": NOON}
            ],
            "case_changes": [change | {"reviewer": 4, "before": '"who kept it?"', "after": '"x"'}],
            "reviews": [
                review | {"stage": "label", "content": '{"wording":"plain"}', "basis": "{}", "wording": "plain",
                          "answer": None, "state": "ready", "version": 2, "at": NOON}
            ],
            "false_positives": [
                {"id": 1, "candidate_key": digest("r"), "value_hmac": digest("kafka"), "type": "PERSON",
                 "rule": "names", "reviewer": 4, "at": NOON}
            ],
        }  # fmt: skip
    if format_ >= 3:
        rows["aliases"] = [
            {"person": digest("ana"), "alias": digest(alias), "kind": kind, "shared": False}
            for alias, kind in (("ana@example.org", "mail"), ("ana maria", "name"))
        ]
    if format_ >= 4:
        rows["candidates"][0] |= {"root": "c0000000001", "written": WRITTEN}
    if format_ >= 5:
        rows["suggestions"] = [{"candidate": 3, "content": "{}", "at": NOON}]
    if format_ >= 6:
        rows["flags"] = [{"id": 1, "candidate": 3, "token_digest": digest("t"), "same": digest("s"), "at": NOON}]
    return rows


def _candidate(number: int, name: str, asker: str, state: str) -> dict[str, Any]:
    return {
        "id": number, "key": digest(name), "format": 1, "state": state, "version": 2, "source": "slack",
        "container_hmac": digest("help"), "asker_hmac": digest(asker), "audience": "public", "query_line": 0,
        "origin": "mined", "stratum": "failure", "asked": "1", "merged": 0, "outcome": False, "rewrites": None,
        "stored_at": NOON, "updated_at": NOON, "state_at": NOON,
    }  # fmt: skip


def make_old_bench(url: str | Path, format_: int) -> None:
    """Make a workbench as a findback of that format left it."""
    database = connect_database(url)
    upgrade_database(database, Migrations(format=format_))
    with database.writing() as connection:
        for table, rows in rows_of(format_).items():
            for row in rows:
                _insert(connection, table, row)
        if connection.dialect.name == "postgresql":
            for table in ("reviewers", "candidates", "decisions", "events"):
                sequence = f"pg_get_serial_sequence('findback_{table}', 'id')"
                connection.execute(text(f"SELECT setval({sequence}, 9)"))
    database.close()


def _insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    values = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}
    if connection.dialect.name == "sqlite":
        # As its driver wrote moments then: without a zone.
        values = {name: "2024-05-06 12:00:00.000000" if value is NOON else value for name, value in values.items()}
    marks = ", ".join(f":{name}" for name in values)
    names = ", ".join(f'"{name}"' for name in values)
    connection.execute(text(f"INSERT INTO findback_{table} ({names}) VALUES ({marks})"), values)


def content_of(url: str | Path) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table, read as today's findback reads them; moments in UTC."""
    database = connect_database(url)
    with database.reading() as connection:
        names = [one for one in inspect(connection).get_table_names() if one != VERSION_TABLE]
        found = {
            table.name: [dict(row) for row in connection.execute(table.select()).mappings()]
            for table in read_tables(connection).sorted_tables
            if table.name in names
        }
    database.close()
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def back_old_up(url: str | Path, file: Path, format_: int, *, key: str, **said: Any) -> None:
    """Write the backup that a findback of that format would have written."""
    database = connect_database(url)
    with database.still() as connection, file.open("wb") as handle, write_archive(handle) as archive:
        from findback.model.protocols import SILENT

        for table in kept_tables(read_tables(connection)):
            columns = tuple(column.name for column in table.columns)
            archive.add_table(table.name, columns, _written(connection, table, SILENT))
        values = {"findback": "0.1.0", "made": NOON, "workbench": format_, "key": key, "with_key": False, **said}
        archive.finish(Manifest.model_construct(format=values.pop("format", 1), **values, members=archive.members))
    database.close()
