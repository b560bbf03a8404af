"""Tests transactions over both transports: all or nothing, joined by being inside the block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

import reliquary
from reliquary import (
    AsyncManager,
    AsyncTransaction,
    BadRequest,
    Manager,
    NotFound,
    Queue,
    Transaction,
    TransactionEnded,
    TransactionNeeded,
)
from reliquary.base.chance import new_guid
from reliquary.net.chance import SystemChance
from tests.client.conftest import Play


@pytest.fixture
def orders(qm: Manager) -> Queue:
    return qm.create_queue("orders")


def texts(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


@contextmanager
def broken(qm: Manager) -> Iterator[Transaction]:
    """Yield a block that an exception leaves."""
    with suppress(ZeroDivisionError), qm.transaction() as transaction:
        yield transaction
        raise ZeroDivisionError


@asynccontextmanager
async def broken_async(qm: AsyncManager) -> AsyncIterator[AsyncTransaction]:
    with suppress(ZeroDivisionError):
        async with qm.transaction() as transaction:
            yield transaction
            raise ZeroDivisionError


def test_a_block_left_in_order_takes_effect_as_a_whole(qm: Manager, orders: Queue) -> None:
    bills = qm.create_queue("bills")
    orders.send("order")
    with qm.transaction() as transaction:
        message = orders.receive()
        assert message is not None
        bills.send(f"bill for {message.text}")
        assert texts(bills) == []
        assert [(each.id, each.operations) for each in qm.transactions()] == [(transaction.id, 2)]
    assert texts(orders) == []
    assert texts(bills) == ["bill for order"]
    assert qm.transactions() == []
    billed = bills.receive()
    assert billed is not None
    assert billed.transaction == transaction.id


def test_an_exception_undoes_all_of_it(qm: Manager, orders: Queue) -> None:
    orders.send("order")
    with broken(qm):
        orders.receive()
        orders.send("half")
    assert texts(orders) == ["order"]


def test_outside_the_block_nothing_joins(qm: Manager, orders: Queue) -> None:
    with qm.transaction() as transaction:
        pass
    orders.send("after")
    assert texts(orders) == ["after"]
    with pytest.raises(TransactionEnded):
        transaction.queue("orders").send("too late")


def test_a_queue_of_the_transaction_is_inside_wherever_it_is_used(qm: Manager, orders: Queue) -> None:
    with qm.transaction() as transaction:
        inside = transaction.queue("orders")
    assert inside.name == "orders"
    with pytest.raises(TransactionEnded):
        inside.receive()


def test_the_innermost_block_counts(qm: Manager, orders: Queue) -> None:
    with qm.transaction():
        orders.send("outer")
        with broken(qm):
            orders.send("inner")
        orders.send("outer again")
    assert texts(orders) == ["outer", "outer again"]


def test_another_thread_is_not_inside(qm: Manager, orders: Queue) -> None:
    with broken(qm):
        orders.send("inside")
        other = threading.Thread(target=orders.send, args=("outside",))
        other.start()
        other.join()
    assert texts(orders) == ["outside"]


def test_another_manager_is_not_inside(qm: Manager, orders: Queue, tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "other") as other:
        elsewhere = other.create_queue("elsewhere")
        with broken(qm):
            elsewhere.send("kept")
        assert texts(elsewhere) == ["kept"]


def test_commit_and_abort_can_be_called_before_the_end_of_the_block(qm: Manager, orders: Queue) -> None:
    with qm.transaction() as transaction:
        orders.send("kept")
        transaction.commit()
        assert texts(orders) == ["kept"]
    with qm.transaction() as transaction:
        orders.send("dropped")
        transaction.abort()
    assert texts(orders) == ["kept"]


def test_a_prepared_transaction_waits_for_its_outcome(qm: Manager, orders: Queue) -> None:
    with broken(qm) as transaction:
        orders.send("x")
        transaction.prepare()
        assert [each.prepared for each in qm.transactions()] == [True]
        with pytest.raises(TransactionEnded):
            orders.send("too late")
    assert texts(orders) == []
    with qm.transaction() as transaction:
        orders.send("y")
        transaction.prepare()
    assert texts(orders) == ["y"]


def test_a_transaction_can_be_ended_by_its_name(qm: Manager, orders: Queue) -> None:
    with broken(qm) as transaction:
        orders.send("x")
        qm.commit(transaction.id)
    assert texts(orders) == ["x"]


def test_a_move_is_part_of_the_transaction(qm: Manager, orders: Queue) -> None:
    qm.create_queue("aside")
    sent = orders.send("x")
    with broken(qm):
        orders.move(sent.lookup_id, "aside")
    assert texts(orders) == ["x"]


def test_a_receive_by_lookup_is_part_of_the_transaction(qm: Manager, orders: Queue) -> None:
    sent = orders.send("x")
    with broken(qm):
        assert orders.lookup(sent.lookup_id, receive=True) is not None
        with pytest.raises(TransactionNeeded):
            orders.lookup(sent.lookup_id)
    assert texts(orders) == ["x"]


def test_the_error_inside_the_block_is_the_one_that_is_raised(qm: Manager, orders: Queue) -> None:
    news = ZeroDivisionError()
    with suppress(ZeroDivisionError), qm.transaction() as transaction:
        qm.abort(transaction.id)
        raise news
    assert ["could not be aborted" in note for note in news.__notes__] == [True]


def test_a_transaction_is_begun_once(qm: Manager) -> None:
    with qm.transaction() as transaction:
        pass
    with pytest.raises(BadRequest, match="begin only once"), transaction:
        pass


def test_a_transaction_has_a_name_once_it_has_begun(qm: Manager) -> None:
    with pytest.raises(BadRequest, match="not begun"):
        _ = qm.transaction().id


def test_consume_is_in_no_transaction(qm: Manager, orders: Queue) -> None:
    with qm.transaction(), pytest.raises(BadRequest, match="cannot be used in a transaction"):
        orders.consume()


def test_tasks_started_inside_the_block_are_inside(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        async with broken_async(qm) as transaction:
            await asyncio.gather(orders.send("a"), orders.send("b"))
            await transaction.queue("orders").send("c")
        await asyncio.create_task(orders.send("d"))
        assert [message.text async for message in orders.browse()] == ["d"]

    play(scene)


def test_a_task_beside_the_block_is_not_inside(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        begun, sent = asyncio.Event(), asyncio.Event()

        async def beside() -> None:
            await begun.wait()
            await orders.send("beside")
            sent.set()

        task = asyncio.create_task(beside())
        async with broken_async(qm):
            begun.set()
            await sent.wait()
            await orders.send("inside")
        await task
        assert [message.text async for message in orders.browse()] == ["beside"]

    play(scene)


def test_a_transaction_of_another_coordinator_waits_for_its_outcome(qm: Manager, orders: Queue) -> None:
    theirs = str(new_guid(SystemChance()))
    transaction = qm.transaction(id=theirs, owner="billing")
    with transaction:
        orders.send("a")
        transaction.prepare()
        transaction._inner._ended = True  # the coordinator decides elsewhere
    (info,) = qm.transactions("billing")
    assert (info.id, info.stage, info.external, info.queues) == (theirs, "prepared", True, ["orders"])
    assert info.begun_at is not None
    assert info.prepared_at is not None
    assert info.begun_at <= info.prepared_at
    assert qm.transactions("shipping") == []
    for _ in range(2):
        qm.commit(theirs, by="alice")
    with pytest.raises(TransactionEnded, match=r"committed at .* by alice"):
        qm.abort(theirs)
    ended = qm.transaction_info(theirs)
    assert (ended.stage, ended.decided_by, ended.owner) == ("committed", "alice", "billing")
    assert ended in qm.transactions(ended=True)
    assert texts(orders) == ["a"]


def test_a_transaction_that_is_not_known_is_not_found(qm: Manager) -> None:
    with pytest.raises(NotFound):
        qm.transaction_info("00000000-0000-0000-0000-000000000404")
