"""Tests consume over both transports: at least once, acknowledged in batches, given back when it goes
wrong.
"""

from __future__ import annotations

import asyncio

import pytest

from reliquary import AsyncManager, BadRequest, Manager, Queue
from reliquary.client.consumer import AsyncConsumer
from tests.client.conftest import Play


@pytest.fixture
def orders(qm: Manager) -> Queue:
    queue = qm.create_queue("orders")
    queue.send_many([str(number) for number in range(10)])
    return queue


class Hand:
    """A clock that is moved by hand."""

    now = 0

    def monotonic(self) -> int:
        return self.now


def ready(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


def test_a_consumer_takes_everything_in_order_and_ends_when_asked(orders: Queue) -> None:
    taken = [message.text for message in orders.consume(batch=3, timeout=0)]
    assert taken == [str(number) for number in range(10)]
    assert (orders.info().messages, orders.info().locked) == (0, 0)


def test_messages_are_only_locked_until_they_are_acknowledged(orders: Queue) -> None:
    with orders.consume(batch=4) as messages:
        taken = iter(messages)
        assert [next(taken).text for _ in range(3)] == ["0", "1", "2"]
        assert (orders.info().messages, orders.info().locked) == (6, 4)
        assert [next(taken).text for _ in range(2)] == ["3", "4"]
        assert (orders.info().messages, orders.info().locked) == (2, 4)
    assert ready(orders) == ["5", "6", "7", "8", "9"]


def test_an_exception_gives_back_the_message_in_hand(orders: Queue) -> None:
    def fail_at(poison: str) -> None:
        with orders.consume() as messages:
            for message in messages:
                if message.text == poison:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_at("3")
    assert ready(orders) == [str(number) for number in range(3, 10)]
    assert orders.info().locked == 0


def test_a_break_out_of_the_block_acknowledges_the_message_in_hand(orders: Queue) -> None:
    with orders.consume() as messages:
        for message in messages:
            if message.text == "3":
                break
    assert ready(orders) == [str(number) for number in range(4, 10)]


def test_a_break_without_a_block_gives_the_message_in_hand_back(orders: Queue) -> None:
    for message in orders.consume():
        if message.text == "3":
            break
    assert ready(orders) == [str(number) for number in range(3, 10)]


@pytest.mark.parametrize(
    "known", [True, False], ids=["which the clock shows", "which the clock does not show"]
)
def test_messages_come_again_after_their_hold_ended(orders: Queue, known: bool) -> None:
    """The hold begins before its answer is here: on a busy machine it can end before our clock shows that."""
    clock = Hand()
    with orders.consume(batch=2, hold=0.001, timeout=0) as messages:
        messages._inner._clock = clock  # type: ignore[assignment]
        taken = iter(messages)
        assert next(taken).text == "0"
        while orders.info().messages < 10:
            pass
        if known:
            clock.now = 1_000
        else:
            assert next(taken).text == "1"
        assert next(taken).text == "0"


def test_processed_messages_are_acknowledged_before_the_hold_ends(orders: Queue) -> None:
    clock = Hand()
    consumer: AsyncConsumer = orders.consume(batch=4, hold=30)._inner
    consumer._clock = clock  # type: ignore[assignment]
    call = orders._portal.call
    assert consumer.take() is None
    assert call(consumer.fetch())
    assert consumer.take() is not None
    clock.now = 16_000_000
    assert consumer.take() is None
    assert call(consumer.fetch())
    assert (orders.info().messages, orders.info().locked) == (6, 3)
    second = consumer.take()
    assert second is not None
    assert second.text == "1"
    clock.now = 31_000_000
    assert consumer.take() is None
    call(consumer.close())


def test_the_async_face_gives_equal_results(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        await orders.send_many(["a", "b", "c"])
        async with orders.consume(batch=2) as messages:
            async for message in messages:
                if message.text == "b":
                    break
        assert [message.text async for message in orders.consume(timeout=0)] == ["c"]
        assert (await orders.info()).locked == 0

    play(scene)


def test_a_cancelled_consumer_gives_back_what_it_held(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        await orders.send_many(["a", "b"])
        in_hand = asyncio.Event()

        async def work() -> None:
            async with orders.consume() as messages:
                async for _ in messages:
                    in_hand.set()
                    await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await in_hand.wait()
        task.cancel()
        await asyncio.wait([task])
        assert [message.text async for message in orders.browse()] == ["a", "b"]

    play(scene)


def test_two_consumers_of_one_open_queue_do_not_acknowledge_for_each_other(orders: Queue) -> None:
    with orders.open() as opened:
        with opened.consume(batch=2) as slow:
            in_hand = next(iter(slow))
            quick = [message.text for message in opened.consume(batch=2, timeout=0)]
            assert quick == [str(number) for number in range(2, 10)]
            assert in_hand.text == "0"
            assert orders.info().locked == 2
        assert ready(orders) == ["1"]


def test_a_consumer_of_an_open_queue_reads_through_it(orders: Queue) -> None:
    with orders.open(share="deny-receive") as alone:
        taken = [message.text for message in alone.consume(batch=4, timeout=0)]
    assert len(taken) == 10
    assert orders.info().locked == 0


# -- rejected


def test_a_message_in_hand_is_rejected_and_the_others_are_done(qm: Manager, orders: Queue) -> None:
    qm.create_queue("news")
    orders.send("bad", deadletter=True, acknowledgements=("full-receive",), administration_queue="news")
    with orders.consume(timeout=0) as messages:
        for message in messages:
            if message.text == "bad":
                messages.reject()
    assert (orders.info().messages, orders.info().locked) == (0, 0)
    (dead,) = qm.queue("system$;deadletter").browse()
    assert (dead.text, dead.message_class, dead.origin) == ("bad", "nack-receive-rejected", "orders")
    news = qm.queue("news").receive()
    assert news is not None
    assert (news.message_class, news.text, news.correlation) == ("nack-receive-rejected", "bad", dead.id)


def test_without_a_message_in_hand_there_is_nothing_to_reject(orders: Queue) -> None:
    with (
        orders.consume(timeout=0) as messages,
        pytest.raises(BadRequest, match="no message is being processed"),
    ):
        messages.reject()


def test_only_the_message_in_hand_counts_as_tried(qm: Manager) -> None:
    orders = qm.create_queue("orders", poison_limit=1)
    orders.send_many(["bad", "good", "better"])
    for _ in orders.consume(batch=3):
        break
    assert [message.text for message in orders.browse()] == ["good", "better"]
    assert {message.handed_out for message in orders.browse()} == {0}
    assert [message.text for message in orders.poison().browse()] == ["bad"]
