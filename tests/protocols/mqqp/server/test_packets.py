"""A message becomes the packet that its reader gets, if it fits into one."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec.qm2qm import LARGEST_PACKET
from reliquary.protocols.mqqp.server import packets
from reliquary.protocols.mqqp.server.packets import packet_of
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import Message, Position, StoredBody
from reliquary.queueing.packets.messages import deserialize
from reliquary.wire.packet.base import SIZE_LIMIT


def packet(message: Message) -> bytes | None:
    return packet_of(Delivered(Position(1, 1, 0, 0), message), "far")


@pytest.mark.spec("QP-026", "QP-063", "QP-164")
def test_the_packet_equals_the_message_for_every_body() -> None:
    body = bytes(range(256))
    found = packet(Message(body=body, label="a"))
    assert found is not None
    assert int.from_bytes(found[8:12], "little") == len(found)  # PacketSize
    assert (deserialize(found).body, deserialize(found).label) == (body, "a")


def test_a_queue_of_our_own_is_named_with_the_name_that_the_reader_knows_us_by() -> None:
    found = packet(Message.of(response_queue="answers"))
    assert found is not None
    assert deserialize(found).response_queue == r"DIRECT=OS:far\private$\answers"


@pytest.mark.spec("QP-019")
def test_the_largest_packet_fits_and_one_byte_more_does_not() -> None:
    assert SIZE_LIMIT <= LARGEST_PACKET
    empty = packet(Message(body=b""))
    assert empty is not None
    room = SIZE_LIMIT - len(empty)
    largest = packet(Message(body=bytes(room)))
    assert largest is not None
    assert len(largest) == SIZE_LIMIT
    assert packet(Message(body=bytes(room + 1))) is None
    assert packet(Message(body=bytes(LARGEST_PACKET + 1))) is None


def test_a_large_body_is_refused_before_it_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets, "serialize", lambda *_, **__: pytest.fail("it was copied"))
    assert packet(Message(body=bytes(LARGEST_PACKET + 1))) is None


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message.of(stored_body=StoredBody(1, 5, 1)), id="its body is stored in pieces"),
        pytest.param(Message.of(response_queue="MULTICAST=1.2.3.4:5"), id="a name that no packet has"),
    ],
)
def test_what_cannot_stand_in_a_packet_gives_none(message: Message) -> None:
    assert packet(message) is None
