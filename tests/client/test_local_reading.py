"""Tests reading in process: each request is one event, and what it names is checked before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from reliquary import BadRequest, NotOpen
from reliquary.client.local_reading import (
    LocalReading,
    optional_transaction,
    source_of,
    transaction_named,
)
from reliquary.client.records import LookUp, Peek, Receive
from reliquary.engine.open import open_in_memory
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.queueing.model.events import CreateQueue, SendMessages
from reliquary.queueing.model.message import Message

IDENTIFIER = "00000000-0000-0000-0000-000000000001"


def play(scene: Callable[[LocalReading], Awaitable[None]]) -> None:
    """Run a scene with a manager in memory that has a queue with two messages."""

    async def whole() -> None:
        manager = await open_in_memory(
            clock=RealClock(), chance=SystemChance(), computer_name="HERE", protocols=()
        )
        reading = LocalReading(manager.engine)
        await manager.engine.ask(lambda to: CreateQueue(to, "orders"))
        messages = (Message(body=b"a"), Message(body=b"b"))
        await manager.engine.ask(lambda to: SendMessages(to, "orders", messages))
        await scene(reading)
        await manager.close()

    asyncio.run(whole())


def test_messages_are_looked_at_taken_and_given_back() -> None:
    async def scene(reading: LocalReading) -> None:
        (first,) = (await reading.peek("orders", Peek())).messages
        held = await reading.receive("orders", Receive(hold=5))
        assert [each.body for each in held.messages] == [b"a"]
        assert held.receipt is not None
        await reading.end_read(held.receipt, [first.lookup_id], delete=False)
        found = await reading.look_up("orders", LookUp(lookup_id=first.lookup_id))
        assert found.messages[0].body == b"a"
        assert [each.body for each in (await reading.browse("orders", None, 10)).messages] == [b"a", b"b"]
        assert await reading.purge_queue("orders") == 2

    play(scene)


def test_a_cursor_belongs_to_a_handle() -> None:
    async def scene(reading: LocalReading) -> None:
        handle = await reading.open("orders", "receive", "deny-none", 60)
        cursor = await reading.open_cursor(handle)
        (first,) = (await reading.peek("", Peek(handle=handle, cursor=cursor))).messages
        assert first.body == b"a"
        await reading.close_cursor(cursor)
        await reading.close_handle(handle)
        with pytest.raises(NotOpen):
            await reading.peek("", Peek(handle=handle))

    play(scene)


def test_a_handle_counts_before_a_name() -> None:
    assert source_of("orders", None) == "orders"
    assert source_of("orders", "7") == 7
    with pytest.raises(NotOpen):
        source_of("orders", "seven")


def test_a_transaction_is_named_by_its_identifier() -> None:
    assert optional_transaction(None) is None
    assert optional_transaction(IDENTIFIER) == transaction_named(IDENTIFIER) == UUID(IDENTIFIER)
    with pytest.raises(BadRequest):
        transaction_named("mine")
