"""Requests and their answers, over both transports."""

from __future__ import annotations

import asyncio

import pytest

from reliquary import AsyncManager, AsyncQueue, BadRequest, Manager, Message, QueueNotFound
from tests.client.conftest import Play


async def queues(qm: AsyncManager) -> tuple[AsyncQueue, AsyncQueue]:
    return await qm.create_queue("orders"), await qm.create_queue("answers")


async def asked(orders: AsyncQueue) -> Message:
    """Return the request, at the one who answers it."""
    message = await orders.receive(None)
    assert message is not None
    return message


def test_a_request_gets_its_answer(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders, answers = await queues(qm)
        waiting = asyncio.ensure_future(orders.request("how many?", "answers", None, label="q"))
        message = await asked(orders)
        assert (message.text, message.label, message.response_queue) == ("how many?", "q", "answers")
        await qm.reply(message, "three")
        answer = await waiting
        assert answer is not None
        assert (answer.text, answer.correlation) == ("three", message.id)
        assert await answers.peek() is None, "it was taken"

    play(scene)


def test_many_share_a_queue_of_answers_and_each_gets_its_own(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders, answers = await queues(qm)
        await answers.send("for another request")
        waiting = [asyncio.ensure_future(orders.request(str(n), "answers", None)) for n in range(4)]
        messages = [await asked(orders) for _ in range(4)]
        for message in reversed(messages):
            await qm.reply(message, f"answer to {message.text}")
        for n, each in enumerate(waiting):
            answer = await each
            assert answer is not None
            assert answer.text == f"answer to {n}"
        assert [left.text async for left in answers.browse()] == ["for another request"]

    play(scene)


def test_an_answer_that_overtakes_the_cursor_is_found(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders, answers = await queues(qm)
        await answers.send("old")
        waiting = asyncio.ensure_future(orders.request("?", "answers", None))
        await qm.reply(await asked(orders), "quick", priority=7)
        answer = await waiting
        assert answer is not None
        assert answer.text == "quick"

    play(scene)


def test_an_acknowledgement_is_no_answer(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders, answers = await queues(qm)
        wanted = orders.request(
            "?", "answers", None, administration_queue="answers", acknowledgements=("full-receive",)
        )
        waiting = asyncio.ensure_future(wanted)
        message = await asked(orders)
        assert await answers.peek(None) is not None, "the acknowledgement"
        await qm.reply(message, "real")
        answer = await waiting
        assert answer is not None
        assert answer.text == "real"
        left = await answers.receive()
        assert left is not None
        assert left.message_class

    play(scene)


def test_a_request_without_an_answer_returns_none(qm: Manager) -> None:
    orders = qm.create_queue("orders")
    qm.create_queue("answers").send("for another request")
    assert orders.request("?", answers="answers", timeout=0) is None
    assert [message.text for message in orders.browse()] == ["?"]
    assert qm.queue("answers").info().messages == 1
    assert qm.queue("answers").info().open_handles == 0


def test_without_a_queue_of_answers_nothing_is_sent(qm: Manager) -> None:
    orders = qm.create_queue("orders")
    with pytest.raises(QueueNotFound):
        orders.request("?", answers="missing", timeout=0)
    assert orders.peek() is None


def test_a_request_is_in_no_transaction(qm: Manager) -> None:
    orders = qm.create_queue("orders")
    qm.create_queue("answers")
    with qm.transaction() as transaction, pytest.raises(BadRequest, match="cannot be part of a transaction"):
        transaction.queue("orders").request("?", answers="answers")
    assert orders.peek() is None
