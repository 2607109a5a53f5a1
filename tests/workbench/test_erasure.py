"""After a purge no byte of a person's texts is in the database's own files."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, text

from builders.candidates import NOON, candidate, digest, line, searched
from findback.errors import StorageError
from findback.workbench import store
from findback.workbench.intake import PutCounts
from findback.workbench.open import open_workbench
from findback.workbench.store import Workbench


class Stored:
    """The bytes of everything a database has written."""

    def __init__(self, url: str, server: SimpleNamespace | None) -> None:
        self.url = url
        self.server = server

    def files(self) -> Iterator[Path]:
        if self.server is None:
            yield from Path(self.url).parent.iterdir()
            return
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql("CHECKPOINT")
        engine.dispose()
        # The server's own write-ahead log is the operator's, like replicas and backups.
        yield from (path for path in self.server.data.rglob("*") if path.is_file() and "pg_wal" not in path.parts)

    def found(self, canaries: list[str]) -> set[str]:
        """Return those of the canaries that occur in any file."""
        seen: set[str] = set()
        for path in self.files():
            content = path.read_bytes()
            seen.update(one for one in canaries if one.encode() in content)
        return seen


@pytest.fixture
def stored(url: str, request: pytest.FixtureRequest) -> Stored:
    return Stored(url, request.getfixturevalue("server") if "://" in url else None)


class Talk:
    """A canary in every text somebody wrote, theirs and others'."""

    def __init__(self) -> None:
        self.theirs: list[str] = []
        self.others: list[str] = []

    def by(self, person: str) -> str:
        word = f"canary{secrets.token_hex(8)}"
        (self.theirs if person == "ana" else self.others).append(word)
        return f"I looked for {word} everywhere"

    def candidates(self) -> Iterator:
        for n in range(30):
            asker = "ana" if n % 3 == 0 else "bo"
            replies = [line(f"{n}-{m}", who, self.by(who), m + 1) for m, who in enumerate(("cy", "ana", "bo"))]
            query = self.by(asker)
            yield candidate(f"q{n}", asker, replies, query=query, title=None)
        yield candidate("titled", "ana", query=self.by("ana"), title=candidate("t", query=self.by("ana")).query)
        # Longer than a page, so that it lies in overflow pages.
        yield candidate("long", "ana", query=self.by("ana") + secrets.token_hex(20_000))
        yield searched("log", "ana", query=self.by("ana"))


def settle(workbench: Workbench, url: str) -> None:
    """Let the planner look at everything, as a database does by itself after a while."""
    if "://" in url:
        with workbench._database.apart() as connection:
            connection.exec_driver_sql("ANALYZE")


def test_no_byte_of_a_purged_person_stays(open_again: Callable[..., Workbench], stored: Stored, url: str) -> None:
    """Nor of earlier wordings of theirs, in file, journal or relations; everyone else's texts stand."""
    workbench = open_again()
    talk = Talk()
    given = list(talk.candidates())
    workbench.put(given, now=NOON)
    # A reply that was edited: the earlier wording is in no row any more, but its bytes may be.
    edited = given[1].model_copy(
        update={"thread": (*given[1].thread, line("late", "ana", talk.by("ana"), 9))},
    )
    workbench.put([edited], now=NOON)
    workbench.put(
        [edited.model_copy(update={"thread": (*given[1].thread, line("late", "ana", talk.by("ana"), 9, edited=True))})],
        now=NOON,
    )
    workbench.decide(given[2].key, "ready", reviewer="rev", version=1, now=NOON)
    settle(workbench, url)
    before = stored.found(talk.theirs + talk.others)
    assert before == set(talk.theirs + talk.others)

    erased = workbench.purge(person_hmac=digest("ana"), now=NOON)
    assert erased.candidates == 10 + 3
    assert erased.lines == 20 + 1
    assert stored.found(talk.theirs) == set()

    # Those of their threads that she asked went whole, answers included; all others' words stand.
    standing = [one for one in given if one.asker_hmac is None and one.thread[0].author_hmac != digest("ana")]
    kept = workbench.list_candidates(limit=100)
    assert {one.candidate.key for one in kept} == {one.key for one in standing}
    words = {word for word in talk.others if any(word in line.body.text for one in standing for line in one.thread)}
    assert len(words) == 20 * 3
    assert stored.found(talk.others) >= words

    assert workbench.put([*given, edited], now=NOON) == PutCounts(unchanged=19, kept_decided=1, purged=13, merged=1)
    assert workbench.list_candidates(limit=100) == kept
    workbench.close()
    assert stored.found(talk.theirs) == set()


def test_no_byte_of_what_was_excluded_expired_or_rejected_stays(workbench: Workbench, stored: Stored) -> None:
    """The other erasures overwrite too."""
    talk = Talk()
    given = [candidate(f"q{n}", "ana", query=talk.by("ana"), container_hmac=digest(f"c{n}")) for n in range(4)]
    workbench.put(given, now=NOON)
    workbench.reject(given[0].key, talk.by("ana"), reviewer="rev", version=1, now=NOON)
    assert stored.found(talk.theirs) == set(talk.theirs)
    workbench.purge(rejected=True, now=NOON)
    assert stored.found(talk.theirs) == set(talk.theirs[1:4])
    workbench.exclude("container", digest("c1"), now=NOON)
    assert stored.found(talk.theirs) == set(talk.theirs[2:4])
    workbench.purge(container_hmac=digest("c2"), now=NOON)
    assert stored.found(talk.theirs) == set(talk.theirs[3:4])
    workbench.sweep_retention(NOON.replace(year=NOON.year + 1))
    assert stored.found(talk.theirs) == set()


def test_a_reader_in_the_way_is_named_and_the_next_opening_finishes(
    open_again: Callable[..., Workbench], stored: Stored
) -> None:
    """The erasure stands at once; the bytes go when the reader has gone, without another purge."""
    refuse_while_read(open_again, stored, "findback_texts")


def test_a_snapshot_of_another_table_is_in_the_way_too(postgresql_url: str, server: SimpleNamespace) -> None:
    """PostgreSQL keeps erased rows of all tables for a transaction that has looked at one."""
    opened: list[Workbench] = []

    def open_one(**options: float) -> Workbench:
        opened.append(open_workbench(postgresql_url, key_check="k", **options))
        return opened[-1]

    try:
        refuse_while_read(open_one, Stored(postgresql_url, server), "findback_meta", isolation_level="REPEATABLE READ")
    finally:
        for workbench in opened:
            workbench.close()


def refuse_while_read(open_one: Callable[..., Workbench], stored: Stored, table: str, **options: str) -> None:
    talk = Talk()
    workbench = open_one(patience=0.3)
    workbench.put([candidate("a", "ana", query=talk.by("ana")), candidate("b", "bo", query=talk.by("bo"))], now=NOON)
    reader = open_one()
    with reader._database.engine.connect().execution_options(findback_mode="read", **options) as connection:
        connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()
        with pytest.raises(StorageError, match="erased, but another process"):
            workbench.purge(person_hmac=digest("ana"), now=NOON)
        assert [one.candidate.key for one in workbench.list_candidates()] == [digest("b")]
        assert stored.found(talk.theirs) == set(talk.theirs)
    open_one()
    assert stored.found(talk.theirs) == set()
    assert stored.found(talk.others) == set(talk.others)


def test_a_purge_killed_before_it_overwrote_is_finished(
    open_again: Callable[..., Workbench], stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is done when the workbench is opened again."""
    talk = Talk()
    workbench = open_again()
    workbench.put([candidate("a", "ana", query=talk.by("ana"))], now=NOON)

    def die(_database: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(store, "scrub_database", die)
        workbench.purge(person_hmac=digest("ana"), now=NOON)
    assert stored.found(talk.theirs) == set(talk.theirs)
    open_again()
    assert stored.found(talk.theirs) == set()


def test_the_planner_keeps_no_copy_of_a_text(postgresql_url: str) -> None:
    """PostgreSQL's statistics hold sample values, and an erasure does not take them from there."""
    talk = Talk()
    with open_workbench(postgresql_url, key_check="k") as workbench:
        workbench.put(talk.candidates(), now=NOON)
        workbench.reject(digest("q0"), talk.by("ana"), reviewer="rev", version=1, now=NOON)
        settle(workbench, postgresql_url)
        with workbench._database.reading() as connection:
            rows = connection.execute(
                text(
                    "SELECT histogram_bounds::text, most_common_vals::text FROM pg_stats "
                    "WHERE tablename LIKE 'findback%'"
                )
            ).all()
    assert len(rows) > 20
    assert not [row for row in rows if "canary" in str(row)]
