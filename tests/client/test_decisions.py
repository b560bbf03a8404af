"""The table that decides, on SQLite; the race of two instances with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from reliquary import BadRequest, TransactionEnded
from reliquary.client import decisions
from reliquary.client.decisions import KEPT, Decisions, done
from tests.e2e.postgres import postgres

T = TypeVar("T")
ONE, TWO = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "business.sqlite"


@pytest.fixture
def connection(file: Path) -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(file)
    opened.execute("CREATE TABLE bills (name TEXT)")
    run(Decisions(opened, "billing").make_table())
    yield opened
    opened.close()


@pytest.fixture
def other(file: Path) -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(file, timeout=0)
    yield opened
    opened.close()


def rows(connection: sqlite3.Connection) -> dict[str, str]:
    found = connection.execute("SELECT transaction_id, outcome FROM reliquary_outcomes").fetchall()
    connection.rollback()
    return dict(found)


def test_the_table_is_made_once(connection: sqlite3.Connection) -> None:
    run(Decisions(connection, "billing").make_table())
    assert rows(connection) == {}


def test_a_decision_counts_when_the_database_commits(connection: sqlite3.Connection) -> None:
    ours = Decisions(connection, "billing")
    connection.execute("INSERT INTO bills VALUES ('one')")
    run(ours.decide(ONE, []))
    run(ours.rollback())
    assert rows(connection) == {}
    run(ours.decide(ONE, []))
    run(ours.commit())
    assert rows(connection) == {ONE: "committed"}
    assert run(ours.outcome_of(ONE))
    assert run(ours.committed()) == [ONE]
    assert run(Decisions(connection, "shipping").committed()) == []


def test_the_rows_of_those_that_ended_go_with_the_next_decision(connection: sqlite3.Connection) -> None:
    ours = Decisions(connection, "billing")
    run(ours.decide(ONE, []))
    run(ours.commit())
    run(ours.decide(TWO, [ONE]))
    run(ours.commit())
    assert rows(connection) == {TWO: "committed"}


def test_what_is_undecided_is_decided_by_asking(connection: sqlite3.Connection) -> None:
    ours = Decisions(connection, "billing")
    assert not run(ours.outcome_of(ONE))
    assert rows(connection) == {ONE: "aborted"}
    assert not run(ours.outcome_of(ONE))


def test_a_slow_instance_cannot_decide_what_a_recovery_gave_up(
    connection: sqlite3.Connection, other: sqlite3.Connection
) -> None:
    assert not run(Decisions(other, "billing").outcome_of(ONE))
    connection.execute("INSERT INTO bills VALUES ('one')")
    with pytest.raises(TransactionEnded, match="given up by a recovery"):
        run(Decisions(connection, "billing").decide(ONE, []))
    assert connection.execute("SELECT * FROM bills").fetchall() == []


def test_a_recovery_never_overtakes_a_decision_that_is_being_written(
    connection: sqlite3.Connection, other: sqlite3.Connection
) -> None:
    ours, recovering = Decisions(connection, "billing"), Decisions(other, "billing")
    run(ours.decide(ONE, []))
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        run(recovering.outcome_of(ONE))
    run(ours.commit())
    assert run(recovering.outcome_of(ONE))


def test_another_error_of_the_database_is_its_own(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE reliquary_outcomes")
    connection.commit()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        run(Decisions(connection, "billing").decide(ONE, []))


def test_what_a_recovery_gave_up_is_forgotten_in_time(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, now = Decisions(connection, "billing"), decisions._now()
    run(ours.outcome_of(ONE))
    run(ours.decide(TWO, []))
    run(ours.commit())
    monkeypatch.setattr(decisions, "_now", lambda: now + KEPT - 60)
    run(ours.forget([]))
    assert set(rows(connection)) == {ONE, TWO}
    monkeypatch.setattr(decisions, "_now", lambda: now + KEPT + 60)
    run(ours.forget([]))
    assert set(rows(connection)) == {TWO}
    run(ours.forget([TWO]))
    assert rows(connection) == {}


def test_a_connection_that_commits_by_itself_is_refused(file: Path) -> None:
    opened = sqlite3.connect(file, isolation_level=None)
    with pytest.raises(BadRequest, match="autocommit"):
        Decisions(opened, "billing")
    opened.close()


def test_what_is_no_connection_is_refused() -> None:
    with pytest.raises(BadRequest, match="paramstyle"):
        Decisions(object(), "billing")


def test_what_can_be_awaited_is_awaited() -> None:
    async def answer() -> int:
        return 7

    assert run(done(answer())) == run(done(7)) == 7


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("committed", [True, False])
def test_in_postgresql_a_recovery_waits_for_the_decision_that_is_being_written(
    where: str, isolation: str, committed: bool
) -> None:
    with psycopg.connect(where) as first, psycopg.connect(where) as second, psycopg.connect(where) as watch:
        watch.autocommit = True
        second.isolation_level = psycopg.IsolationLevel[isolation.replace(" ", "_")]
        ours, recovering = Decisions(first, "billing"), Decisions(second, "billing")
        run(recovering.make_table())
        run(ours.forget([ONE]))
        run(ours.decide(ONE, []))
        with ThreadPoolExecutor(1) as pool:
            outcome = pool.submit(run, recovering.outcome_of(ONE))
            while not watch.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall():
                assert not outcome.done(), outcome.result()
            run(ours.commit() if committed else ours.rollback())
            assert outcome.result() is committed


@pytest.mark.needs("postgres")
def test_a_postgresql_connection_with_autocommit_is_refused(where: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection, pytest.raises(BadRequest, match="autocommit"):
        Decisions(connection, "billing")


@pytest.fixture(scope="module")
def where() -> Iterator[str]:
    with postgres() as address:
        yield address
