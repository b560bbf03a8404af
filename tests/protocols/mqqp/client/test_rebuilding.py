"""Tests messages and their places, from packets."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings

from reliquary.base.time import SECOND
from reliquary.protocols.mqqp.client.rebuilding import rebuild
from reliquary.queueing.model.events import CommitTransaction
from reliquary.queueing.model.message import Delivery, Message, ObjectId, SequenceId
from reliquary.queueing.packets.messages import deserialize, serialize
from reliquary.wire.packet.fields import PacketFault
from tests.protocols.mqqp.client.two_managers import TwoManagers
from tests.queueing.full_messages import carried_messages
from tests.queueing.state_checks import walk

SOURCE = UUID(int=7)


def packet(**attributes: Any) -> bytes:
    return serialize(
        Message.of(identifier=ObjectId(SOURCE, 1), destination_queue="DIRECT=OS:far\\q", **attributes)
    )


@pytest.mark.spec("QP-151")
@pytest.mark.parametrize("priority", range(8))
def test_the_lookup_identifier_is_made_of_priority_and_sequential_id(priority: int) -> None:
    position = rebuild(packet(priority=priority), 5, 0x00AB, 77).position
    assert position.lookup_id == (7 - priority) << 56 | 0xAB
    assert (position.message, position.arrived) == (0xAB, 5 * SECOND)


def test_the_rebuilt_message_equals_that_of_the_server() -> None:
    two = TwoManagers()
    two.there.send("orders", b"a", priority=6)
    two.there.send("orders", b"b", priority=1)
    two.there.create("ordered", transactional=True)
    transaction = two.there.begin()
    two.there.send("ordered", b"c", transaction=transaction)
    two.there.ask(CommitTransaction(0, transaction))
    for queue, count in (("orders", 2), ("ordered", 1)):
        there = [each.lookup_id for each in walk(two.there.queue(queue))]
        seen = two.receive(f"DIRECT=OS:far\\private$\\{queue}", count=9)
        assert [each.position.lookup_id for each in seen.messages] == there
        assert len(there) == count


def test_transactional_messages_are_ordered_by_arrival_alone() -> None:
    position = rebuild(packet(sequence=SequenceId(1, 2), sequence_number=3), 5, 9, 77).position
    assert position.lookup_id == 9


def test_the_request_number_distinguishes_messages_without_a_sequential_id() -> None:
    position = rebuild(packet(priority=7), 5, 0, 77).position
    assert (position.lookup_id, position.message) == (77, 0)


def test_the_position_agrees_with_the_message() -> None:
    express = rebuild(
        packet(delivery=Delivery.EXPRESS, sent_time=3, time_to_be_received=10), 5, 1, 1
    ).position
    assert (express.express, express.expires) == (True, 13 * SECOND)
    kept = rebuild(packet(delivery=Delivery.RECOVERABLE), 5, 1, 1).position
    assert (kept.express, kept.expires) == (False, 0)


@pytest.mark.mqqp("T43")
def test_bytes_that_are_no_packet_are_a_fault() -> None:
    whole = packet(body=b"x" * 100)
    for broken in (b"", whole[:50], b"\0" * 100):
        with pytest.raises(PacketFault):
            rebuild(broken, 5, 1, 1)


@given(carried_messages())
@settings(max_examples=25)
def test_any_message_comes_out_as_the_packet_has_it(message: Message) -> None:
    data = serialize(message)
    assert rebuild(data, 5, 1, 1).message == deserialize(data)
