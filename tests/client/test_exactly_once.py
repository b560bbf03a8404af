"""Receive, write, send exactly once, over both transports: what is left after each kind of trouble."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reliquary import (
    AsyncExactlyOnce,
    AsyncManager,
    AsyncQueue,
    BadRequest,
    ExactlyOnce,
    Manager,
    Queue,
    Recovered,
    ReliquaryError,
    TransactionEnded,
)
from reliquary.base.chance import new_guid
from reliquary.client.decisions import Decisions
from reliquary.client.transaction import AsyncTransaction
from reliquary.net.chance import SystemChance
from tests.client.conftest import Play


class Database(sqlite3.Connection):
    """A connection whose next commit may go wrong."""

    before: Exception | None = None
    after: Exception | None = None
    meanwhile: Callable[[], None] | None = None
    """What happens before the next commit."""

    def commit(self) -> None:
        """Fail before it is done, or after."""
        event, self.meanwhile = self.meanwhile, None
        if event:
            event()
        trouble, self.before = self.before, None
        if trouble:
            raise trouble
        super().commit()
        trouble, self.after = self.after, None
        if trouble:
            raise trouble

    def names(self, table: str = "bills") -> list[str]:
        """Return the rows of a table, and end the transaction that read them."""
        column = "name" if table == "bills" else "outcome"
        found = [row[0] for row in self.execute(f"SELECT {column} FROM {table}")]
        self.rollback()
        return found


def database(folder: Path) -> Database:
    opened = sqlite3.connect(folder / "business.sqlite", factory=Database, timeout=0, check_same_thread=False)
    opened.execute("CREATE TABLE IF NOT EXISTS bills (name TEXT)")
    return opened


@pytest.fixture
def business(tmp_path: Path) -> Iterator[Database]:
    opened = database(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def once(qm: Manager, business: Database) -> ExactlyOnce:
    return qm.exactly_once(business, owner="billing")


@pytest.fixture
def orders(qm: Manager) -> Queue:
    made = qm.create_queue("orders")
    made.send("one")
    return made


@pytest.fixture
def bills(qm: Manager) -> Queue:
    return qm.create_queue("bills")


def texts(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


def bill(orders: Queue, bills: Queue, business: Database, *, broken: bool = False) -> None:
    """Do the work of one step."""
    order = orders.receive()
    assert order is not None
    business.execute("INSERT INTO bills VALUES (?)", (order.text,))
    bills.send(f"bill for {order.text}")
    if broken:
        raise ZeroDivisionError


def one_step(once: ExactlyOnce, work: Callable[[], object]) -> None:
    with once.step():
        work()


def test_a_step_takes_effect_in_the_queues_and_in_the_database(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    with once.step() as step:
        bill(orders, bills, business)
        assert [(each.id, each.owner, each.external) for each in qm.transactions()] == [
            (step.id, "billing", True)
        ]
        assert texts(bills) == []
    assert (texts(orders), business.names(), texts(bills)) == ([], ["one"], ["bill for one"])
    assert qm.transactions() == []
    assert qm.transaction_info(step.id).stage == "committed"


def test_rows_of_steps_that_have_ended_do_not_pile_up(
    once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    orders.send_many(["two", "three"])
    for _ in range(3):
        with once.step():
            bill(orders, bills, business)
    assert business.names() == ["one", "two", "three"]
    assert business.names("reliquary_outcomes") == ["committed"]
    once.recover()
    assert business.names("reliquary_outcomes") == []


def test_an_error_in_the_block_undoes_all_of_it(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    with pytest.raises(ZeroDivisionError):
        one_step(once, lambda: bill(orders, bills, business, broken=True))
    assert (texts(orders), business.names(), texts(bills)) == (["one"], [], [])
    assert qm.transactions() == []


def test_a_step_that_is_cancelled_undoes_all_of_it_without_an_error(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    with once.step() as step:
        bill(orders, bills, business)
        step.cancel()
    assert (texts(orders), business.names(), texts(bills)) == (["one"], [], [])
    assert qm.transactions() == []


def test_a_database_that_refuses_to_commit_undoes_the_queues_too(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    once.recover()
    business.before = sqlite3.OperationalError("no")
    with pytest.raises(sqlite3.OperationalError, match="no"):
        one_step(once, lambda: bill(orders, bills, business))
    assert (texts(orders), business.names(), texts(bills)) == (["one"], [], [])
    assert qm.transactions() == []
    with once.step():
        bill(orders, bills, business)
    assert (business.names(), texts(bills)) == (["one"], ["bill for one"])


def test_a_commit_of_the_database_whose_answer_is_lost_is_looked_up(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    once.recover()
    with once.step():
        bill(orders, bills, business)
        business.after = sqlite3.OperationalError("the connection is lost")
    assert (texts(orders), business.names(), texts(bills)) == ([], ["one"], ["bill for one"])
    assert qm.transactions() == []


def test_a_decision_that_the_manager_did_not_hear_of_is_reported_before_the_next_step(
    qm: Manager,
    once: ExactlyOnce,
    orders: Queue,
    bills: Queue,
    business: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def lost(_: AsyncTransaction) -> None:
        raise ReliquaryError("SERVER_UNREACHABLE", "no server answers")

    once.recover()
    with monkeypatch.context() as patch:
        patch.setattr(AsyncTransaction, "commit", lost)
        with pytest.raises(ReliquaryError, match="no server answers") as raised:
            one_step(once, lambda: bill(orders, bills, business))
    assert "the database has committed" in raised.value.__notes__[0]
    assert (business.names(), texts(bills)) == (["one"], [])
    with once.step() as step:
        assert texts(bills) == ["bill for one"]
        step.cancel()
    assert [each.prepared for each in qm.transactions()] == []


def left_behind(
    qm: Manager, owner: str, orders: Queue, bills: Queue, business: Database, *, decided: bool
) -> str:
    """Leave a step as a worker that was killed does: prepared, and perhaps decided."""
    transaction = qm.transaction(id=str(new_guid(SystemChance())), owner=owner)
    with transaction:
        bill(orders, bills, business)
        transaction.prepare()
        transaction._inner._ended = True  # no process is left that could end it
    if decided:
        business.execute(
            "INSERT INTO reliquary_outcomes VALUES (?, ?, 'committed', 1)", (transaction.id, owner)
        )
        business.commit()
    business.rollback()
    return transaction.id


def test_a_recovery_brings_every_transaction_of_its_owner_to_its_end(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    once.recover()
    orders.send_many(["two", "three"])
    decided = left_behind(qm, "billing", orders, bills, business, decided=True)
    undecided = left_behind(qm, "billing", orders, bills, business, decided=False)
    foreign = left_behind(qm, "shipping", orders, bills, business, decided=False)
    found = once.recover()
    assert (found.committed, found.aborted) == ([decided], [undecided])
    assert [each.id for each in qm.transactions()] == [foreign]
    assert (texts(orders), business.names(), texts(bills)) == (["two"], ["one"], ["bill for one"])
    assert qm.transaction_info(undecided).stage == "aborted"


def test_a_person_who_decided_otherwise_than_the_database_is_reported(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    once.recover()
    decided = left_behind(qm, "billing", orders, bills, business, decided=True)
    qm.abort(decided, by="alice")
    for _ in range(2):
        assert once.recover().contradicted == [decided]
    assert business.names("reliquary_outcomes") == ["committed"]


def test_rows_of_what_the_manager_has_forgotten_go(once: ExactlyOnce, business: Database) -> None:
    once.recover()
    unknown = "00000000-0000-0000-0000-000000000404"
    business.execute("INSERT INTO reliquary_outcomes VALUES (?, 'billing', 'committed', 1)", (unknown,))
    business.commit()
    assert once.recover() == Recovered()
    assert business.names("reliquary_outcomes") == []


def test_the_first_step_recovers_by_itself(
    qm: Manager, once: ExactlyOnce, orders: Queue, bills: Queue, business: Database
) -> None:
    once.recover()
    left_behind(qm, "billing", orders, bills, business, decided=True)
    with qm.exactly_once(business, owner="billing").step() as step:
        step.cancel()
    assert texts(bills) == ["bill for one"]


def test_a_slow_step_that_another_instance_gave_up_does_not_happen(
    once: ExactlyOnce,
    orders: Queue,
    bills: Queue,
    business: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, other = AsyncTransaction.prepare, database(tmp_path)
    found: list[Recovered] = []

    async def slow(transaction: AsyncTransaction) -> None:
        """Wait between prepare and the decision until another instance has recovered."""
        await usual(transaction)
        found.append(await AsyncExactlyOnce(transaction.manager, other, "billing").recover())

    monkeypatch.setattr(AsyncTransaction, "prepare", slow)
    with pytest.raises(TransactionEnded, match="given up by a recovery"):
        one_step(once, lambda: bills.send(f"bill for {orders.receive()}"))
    assert len(found[0].aborted) == 1
    assert (texts(orders), business.names(), texts(bills)) == (["one"], [], [])
    other.close()


def test_a_recovery_never_overtakes_a_decision_that_is_being_written(
    once: ExactlyOnce, orders: Queue, bills: Queue, business: Database, tmp_path: Path
) -> None:
    """SQLite lets one write at a time, so the recovery fails, and leaves the transaction as it is."""
    other = database(tmp_path)
    once.recover()
    with once.step() as step:
        bill(orders, bills, business)
        business.meanwhile = lambda: recover_elsewhere(other, step.id)
    assert (texts(orders), business.names(), texts(bills)) == ([], ["one"], ["bill for one"])
    other.close()


def recover_elsewhere(connection: Database, transaction: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        asyncio.run(Decisions(connection, "billing").outcome_of(transaction))


async def broken_step(once: AsyncExactlyOnce, orders: AsyncQueue) -> None:
    async with once.step():
        await orders.receive()
        raise ZeroDivisionError


def test_the_face_with_await_gives_equal_results(play: Play, business: Database) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders, bills = await qm.create_queue("orders"), await qm.create_queue("bills")
        await orders.send_many(["one", "two"])
        once = qm.exactly_once(business, owner="billing")
        assert await once.recover() == Recovered()
        async with once.step() as step:
            order = await orders.receive()
            assert order is not None
            business.execute("INSERT INTO bills VALUES (?)", (order.text,))
            await bills.send(f"bill for {order.text}")
        assert (await qm.transaction_info(step.id)).stage == "committed"
        with pytest.raises(ZeroDivisionError):
            await broken_step(once, orders)
        async with once.step() as step:
            await orders.receive()
            step.cancel()
        assert [each.text async for each in orders.browse()] == ["two"]
        assert [each.text async for each in bills.browse()] == ["bill for one"]

    play(scene)
    assert business.names() == ["one"]


class Awaited:
    """A connection whose every call is awaited, as asynchronous ones are."""

    paramstyle = "qmark"

    def __init__(self, inner: sqlite3.Connection | sqlite3.Cursor) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        async def call(*arguments: Any) -> Any:
            answer = found(*arguments)
            return Awaited(answer) if isinstance(answer, sqlite3.Cursor) else answer

        return call


def test_an_asynchronous_connection_is_awaited(
    play: Play, business: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reliquary.client.decisions._mark_of", lambda _: "?")

    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        async with qm.exactly_once(Awaited(business), owner="billing").step() as step:
            await orders.send("one")
        assert (await qm.transaction_info(step.id)).stage == "committed"

    play(scene)
    assert business.names("reliquary_outcomes") == ["committed"]


def test_an_asynchronous_connection_is_not_for_the_face_without_await(
    qm: Manager, business: Database
) -> None:
    with pytest.raises(BadRequest, match="connect_async"):
        qm.exactly_once(Awaited(business), owner="billing")


def test_an_owner_has_a_name(qm: Manager, business: Database) -> None:
    with pytest.raises(BadRequest, match="name"):
        qm.exactly_once(business, owner="")


def test_a_step_has_its_id_when_it_has_begun(once: ExactlyOnce) -> None:
    with pytest.raises(BadRequest, match="enter its block"):
        _ = once.step().id
