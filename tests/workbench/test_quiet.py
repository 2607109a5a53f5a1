"""No text, parameter or row in any error or log."""

import logging
import traceback
from collections.abc import Callable

import pytest
from sqlalchemy import text

from builders.candidates import NOON, candidate, digest, line
from findback.errors import StorageError
from findback.workbench.store import Workbench

CANARY = "canary5f0e"


def said_by(error: BaseException) -> str:
    """Return all that a handler, a tracker or a terminal could show of an error."""
    parts = ["".join(traceback.format_exception(error, chain=True))]
    seen: list[BaseException | None] = [error]
    while seen[-1] is not None:
        parts.append(repr(seen[-1]) + repr(vars(seen[-1])))
        seen.append(seen[-1].__cause__ or seen[-1].__context__)
    return "\n".join(parts)


BREAKS = [
    # A row that may not be: the database's own message would quote the whole row.
    "DROP TABLE findback_hits",
    "ALTER TABLE findback_texts RENAME COLUMN raw_hmac TO other",
    "CREATE UNIQUE INDEX one ON findback_texts (raw_hmac)",
]


@pytest.mark.parametrize("damage", BREAKS)
def test_a_failing_put_quotes_nothing(
    open_again: Callable[..., Workbench], caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """Whatever the database refuses, at the most talkative level of logging; and nothing is half stored."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "sqlalchemy")
    workbench = open_again()
    with workbench._database.deciding() as connection:
        connection.execute(text(damage))
    one = candidate(
        CANARY, query=f"q {CANARY}", replies=[line(CANARY, "bo", CANARY, 1)], file=CANARY, no_answer_hint=CANARY
    )
    with pytest.raises(StorageError, match="cannot store candidates") as caught:
        workbench.put([one], now=NOON)
    assert CANARY not in said_by(caught.value)
    assert digest(CANARY) not in said_by(caught.value)
    assert CANARY not in caplog.text
    assert digest(CANARY) not in caplog.text
    with workbench._database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM findback_candidates")).scalar() == 0


def test_rows_are_not_logged(open_again: Callable[..., Workbench], caplog: pytest.LogCaptureFixture) -> None:
    """Nor statements: a host application that logs everything gets no text from what is written or read."""
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy", "sqlalchemy.engine", "psycopg"):
        caplog.set_level(logging.DEBUG, name)
    workbench = open_again()
    workbench.put([candidate("q", query=CANARY)], now=NOON)
    assert workbench.list_candidates()[0].candidate.query.text == CANARY
    assert CANARY in str(list(workbench.texts()))
    assert "sqlalchemy.pool" in caplog.text
    assert CANARY not in caplog.text


def test_a_failing_decision_quotes_no_reason(
    open_again: Callable[..., Workbench], caplog: pytest.LogCaptureFixture
) -> None:
    """The reviewer's words are kept in the workbench or nowhere."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "sqlalchemy")
    workbench = open_again()
    workbench.put([candidate("q")], now=NOON)
    with workbench._database.deciding() as connection:
        connection.execute(text("ALTER TABLE findback_decisions RENAME COLUMN version TO other"))
    with pytest.raises(StorageError) as caught:
        workbench.reject(digest("q"), CANARY, reviewer="rev", version=1, now=NOON)
    assert CANARY not in said_by(caught.value) + caplog.text
    assert workbench.get(digest("q")).state == "new"


def test_a_busy_workbench_says_so(open_again: Callable[..., Workbench]) -> None:
    """Who waits for another process longer than their patience is told what to do."""
    holder, waiter = open_again(), open_again(patience=0.2)
    holder.put([candidate("q")], now=NOON)
    with holder._database.writing() as connection:
        connection.execute(text("UPDATE findback_candidates SET merged = merged"))
        with pytest.raises(StorageError, match="in use: another process") as caught:
            waiter.put([candidate(CANARY)], now=NOON)
        with pytest.raises(StorageError, match="in use"):
            waiter.reject(digest("q"), CANARY, reviewer="rev", version=1, now=NOON)
        assert waiter.get(digest("q")).state == "new"
    assert CANARY not in said_by(caught.value)
    assert waiter.put([candidate("p")], now=NOON).new == 1


def test_a_number_no_database_holds_is_refused_quietly(workbench: Workbench) -> None:
    """A count beyond 64 bits stops the batch with one line."""
    with pytest.raises(StorageError):
        workbench.put([candidate("q", merged=2**70)], now=NOON)
    assert workbench.list_candidates() == []
