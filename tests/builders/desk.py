"""A support desk's database: messages, tickets, searches and retrieval calls, in SQLite or PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

SITE = "https://docs.example.org"

MESSAGES = [
    ("m1", "u1", "2026-09-21 10:00:00", "cant find where to get a new card, lost mine", "help-desk", "t1", "public"),
    ("m2", "u2", "2026-09-21 10:01:00", f"look at {SITE}/howto/badge", "help-desk", "t1", "public"),
    ("m3", "u1", "2026-09-21 10:02:00", "thanks, that was it", "help-desk", "t1", "public"),
    ("m4", "u2", "2026-09-22 11:00:00", "how do i get in from home?", "help-desk", "t2", "public"),
    ("m5", "u1", "2026-09-22 11:01:00", f"see {SITE}/howto/vpn", "help-desk", "t2", "public"),
    ("m6", "u1", "2026-09-22 12:00:00", "how do i reset the mixer?", "ops", "t3", "private"),
    ("m7", "u2", "2026-09-22 12:01:00", None, "help-desk", None, "public"),
]
TICKETS = [
    (7, "card gone", "lost my card, where do i report it?", "u1", "2026-09-21 09:00:00", "closed",
     f"It is described in {SITE}/howto/badge", "u9", "2026-09-21 12:00:00"),
]  # fmt: skip
SEARCHES = [
    ("2026-09-21 08:00:00", "anna", "search", "tunnel set up", 0, None),
    ("2026-09-21 08:10:00", "ben", "search", "lost badge", 3, None),
    ("2026-09-21 08:10:09", "ben", "open", None, None, "howto/badge.md"),
    ("2026-09-21 08:20:00", "ben", "search", "business class", 4, None),
]
CALLS = [
    ("c1", "s1", "what do i do about a lost card", "lost card", 0, "2026-09-21 10:00:00"),
    ("c2", "s1", "what do i do about a lost card", "badge lost procedure", 0, "2026-09-21 10:00:10"),
    ("c3", "s1", "what do i do about a lost card", "report missing key fob", 0, "2026-09-21 10:00:20"),
]
TABLES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "messages": ("id text, author text, at timestamp, body text, room text, thread text, audience text", MESSAGES),
    "tickets": (
        "no integer, title text, body text, asker text, opened timestamp, state text, answer text, agent text, e text",
        TICKETS,
    ),
    "events": ("seen timestamp, who text, act text, term text, hits integer, doc text", SEARCHES),
    "calls": ("call text, chat text, said text, query text, hits integer, at timestamp", CALLS),
}
MESSAGE_MAPPING = 'text = "body"\ncontainer = "room"\nmarkup = "plain"\n'
TICKET_MAPPING = """
ticket.id = "no"
ticket.title = "title"
ticket.asker = "asker"
ticket.created = "opened"
ticket.status = "state"
ticket.closed = "closed"
ticket.closed_at = "e"
ticket.closed_by = "agent"
opening.text = "body"
closing.text = "answer"
"""
EVENT_MAPPING = 'time = "seen"\nclient = "who"\nkind = "act"\nquery = "term"\nn_results = "hits"\ndocument = "doc"\n'
CALL_MAPPING = 'id = "call"\nconversation = "chat"\ntext = "said"\nn_results = "hits"\n'


def write_sqlite(file: Path) -> Path:
    """Write the desk as a SQLite file and return it."""
    with closing(sqlite3.connect(file)) as connection:
        for name, (columns, rows) in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        connection.commit()
    return file


def write_postgresql(url: str) -> str:
    """Write the desk into a database of a server and return its address."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        cursor = connection.connection.cursor()
        for name, (columns, rows) in TABLES.items():
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join(["%s"] * (columns.count(",") + 1))
            cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    engine.dispose()
    return url


def write_duckdb(file: Path) -> Path:
    """Write the desk's searches as a DuckDB file and return it."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE events ({TABLES['events'][0]})")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", SEARCHES)
    return file
