"""Tests cursors over both transports: look through a queue, and take what is under the cursor."""

from __future__ import annotations

import pytest

from reliquary import AsyncManager, BadRequest, CursorError, Manager, Queue
from tests.client.conftest import Play


@pytest.fixture
def orders(qm: Manager) -> Queue:
    queue = qm.create_queue("orders")
    queue.send_many(["a", "b", "c"])
    return queue


def test_a_cursor_goes_through_the_queue_and_takes_nothing(orders: Queue) -> None:
    with orders.cursor() as cursor:
        assert [message.text for message in cursor] == ["a", "b", "c"]
        assert list(cursor) == []
        orders.send("d")
        assert [message.text for message in cursor] == ["d"]
    assert orders.info().messages == 4
    assert orders.info().open_handles == 0


def test_a_cursor_takes_the_message_at_its_position(orders: Queue) -> None:
    with orders.cursor() as cursor:
        for message in cursor:
            if message.text == "b":
                taken = cursor.receive()
                assert taken is not None
                assert taken.text == "b"
    assert [message.text for message in orders.browse()] == ["a", "c"]


def test_peek_stays_and_next_steps(orders: Queue) -> None:
    with orders.cursor() as cursor:
        seen = [cursor.peek(), cursor.peek(), cursor.next(), cursor.peek()]
        assert [message and message.text for message in seen] == ["a", "a", "b", "b"]


def test_a_message_that_another_reader_took_is_reported(orders: Queue) -> None:
    with orders.cursor() as cursor:
        cursor.peek()
        orders.receive()
        with pytest.raises(CursorError) as raised:
            cursor.receive()
        assert raised.value.code == "MESSAGE_ALREADY_RECEIVED"


def test_a_cursor_on_an_open_queue_leaves_it_open(orders: Queue) -> None:
    with orders.open("peek") as looked:
        with looked.cursor() as cursor:
            assert [message.text for message in cursor] == ["a", "b", "c"]
        assert looked.peek() is not None


def test_a_cursor_in_a_transaction_takes_in_it(qm: Manager, orders: Queue) -> None:
    with orders.cursor() as cursor, qm.transaction() as transaction:
        assert cursor.receive() is not None
        transaction.abort()
    assert orders.info().messages == 3


def test_a_cursor_waits_for_what_comes_next(orders: Queue) -> None:
    with orders.cursor() as cursor:
        list(cursor)
        assert cursor.next(timeout=0.01) is None
        assert cursor.receive(timeout=0.01) is None


def test_a_cursor_that_is_not_open_cannot_be_used(orders: Queue) -> None:
    with pytest.raises(BadRequest, match="not open"):
        orders.cursor().peek()


def test_the_async_face_gives_equal_results(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        await orders.send_many(["a", "b"])
        async with orders.cursor() as cursor:
            assert [message.text async for message in cursor] == ["a", "b"]
            await cursor.receive()
        async with orders.open() as opened, opened.cursor() as cursor:
            message = await cursor.peek()
            assert message is not None
            assert message.text == "a"

    play(scene)
