"""Many threads of one process over one database: nobody opens it anew, and changes take turns."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from findback.workbench.database import CONNECTIONS, Database, connect_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = connect_database(tmp_path / "private" / "workbench.sqlite", patience=20)
    with made.deciding() as connection:
        connection.exec_driver_sql("CREATE TABLE counted (thread INTEGER)")
    yield made
    made.close()


def test_connections_are_opened_once(database: Database) -> None:
    """As many threads as are kept connections read again and again, and nobody connects a second time."""
    opened: list[object] = []
    event.listen(database.engine, "connect", lambda *_: opened.append(1))
    together = threading.Barrier(CONNECTIONS)

    def read(_: int) -> None:
        for _ in range(3):
            with database.reading() as connection:
                connection.execute(text("SELECT count(*) FROM counted"))
                together.wait(20)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(read, range(CONNECTIONS)))
    assert len(opened) <= CONNECTIONS


def test_changes_of_one_process_take_turns(database: Database) -> None:
    """Whoever waits asks SQLite for nothing until it is their turn: no change is told that the file is in use."""
    began: list[int] = []

    def change(number: int) -> None:
        with database.deciding() as connection:
            began.append(number)
            assert database.turn.locked()
            connection.exec_driver_sql("INSERT INTO counted VALUES (?)", (number,))
            assert began[-1] == number

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(change, range(60)))
    assert not database.turn.locked()
    with database.reading() as connection:
        assert connection.scalar(text("SELECT count(DISTINCT thread) FROM counted")) == 60


def test_whoever_waits_too_long_is_told(tmp_path: Path, database: Database) -> None:
    """A turn that does not come ends in SQLite's word that the file is in use; a failed change gives its turn back."""
    short = Database(database.engine, database.path, patience=0.1)
    other = connect_database(tmp_path / "private" / "workbench.sqlite", patience=0.1)
    with database.deciding(), pytest.raises(OperationalError, match="locked"), other.deciding():
        raise AssertionError("two changed it at once")
    other.close()
    with pytest.raises(RuntimeError), short.deciding():
        raise RuntimeError
    assert not short.turn.locked()
