"""Tests order and final acknowledgements: user messages to the order queue."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from reliquary.protocols.mqqb.codec.acks import (
    AckAddresses,
    FinalAck,
    OrderAck,
    final_ack,
    is_for_order_queue,
    order_ack,
    read_ack,
    wants_final,
)
from reliquary.protocols.mqqb.codec.packets import decode_packet, with_session
from reliquary.queueing.model.message import Message
from reliquary.wire.packet.addresses import Address, AddressKind
from reliquary.wire.packet.ordering import FinalBody, OrderBody
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.codec.frames import COMPOSED
from tests.wire.packet.both_ways import changed

SENDER = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
RECEIVER = UUID("c2d94f7a-88b1-4f0e-8a53-71be0d5f3e29")
SEQUENCE = 0x51FA4DC0 << 32 | 7
DIRECT = AckAddresses(RECEIVER, SENDER, "10.0.0.1")
PRIVATE = AckAddresses(RECEIVER, SENDER)
FINAL = FinalBody(SEQUENCE, 8, 7, SENDER, 42)


def packet(data: bytes) -> UserMessage:
    found = decode_packet(data)
    assert isinstance(found, UserMessage)
    return found


ORDER = packet(COMPOSED["V9"])


@pytest.mark.spec(
    "QB-026", "QB-059", "QB-060", "QB-062", "QB-063", "QB-064", "QB-065", "QB-066", "QB-319", "QB-320"
)
@pytest.mark.mqqb("T-13")
def test_an_order_acknowledgement_with_a_direct_name() -> None:
    made = order_ack(DIRECT, SEQUENCE, 8, sent_time=0x51FA4DC1, message_id=0x301)
    assert made.encode() == COMPOSED["V9"]
    assert is_for_order_queue(made)
    assert read_ack(made) == OrderAck(OrderBody(SEQUENCE, 8, 7))


@pytest.mark.spec("QB-060", "QB-061")
@pytest.mark.mqqb("T-13")
def test_an_order_acknowledgement_with_a_private_name() -> None:
    made = order_ack(PRIVATE, SEQUENCE, 8, sent_time=0x51FA4DC1, message_id=0x301)
    assert made.encode() == COMPOSED["V10"]
    assert len(COMPOSED["V10"]) == 192
    assert is_for_order_queue(made)


@pytest.mark.spec("QB-027", "QB-069", "QB-070", "QB-071", "QB-072", "QB-074", "QB-075", "QB-321")
@pytest.mark.mqqb("T-13")
def test_a_final_acknowledgement_names_the_message() -> None:
    made = final_ack(DIRECT, FINAL, 0x4000, sent_time=0x51FA4DC9, message_id=0x302)
    assert made.encode() == COMPOSED["V11"]
    assert read_ack(made) == FinalAck(FINAL, 0x4000)


@pytest.mark.spec("QB-073")
@pytest.mark.parametrize("message_class", [0x8000, 0x8001, 0x800B, 0xC000, 0xC004, 0xFFFF])
def test_every_class_from_0x4000_on_is_a_final_word(message_class: int) -> None:
    made = final_ack(PRIVATE, FINAL, message_class, sent_time=1, message_id=1)
    assert read_ack(packet(made.encode())) == FinalAck(FINAL, message_class)


@pytest.mark.spec("QB-026", "QB-068")
@pytest.mark.mqqb("T-13")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(changed(COMPOSED["V9"], 2, to=b"\3"), id="priority 3"),
        pytest.param(with_session(COMPOSED["V9"], SessionHeader(1)), id="a session header"),
        pytest.param(changed(COMPOSED["V9"], 60, to=b"\x20"), id="recoverable"),
        pytest.param(COMPOSED["V9"][:-20] + b"?" * 20, id="rubbish in the reserved bytes"),
    ],
)
def test_an_order_acknowledgement_is_recognized_with_any_other_header(data: bytes) -> None:
    assert read_ack(packet(data)) == OrderAck(OrderBody(SEQUENCE, 8, 7))


@pytest.mark.spec("QB-026", "QB-027")
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"label": "QM Ordering ack"}, id="label"),
        pytest.param({"message_class": 0}, id="class NORMAL"),
        pytest.param({"message_class": 0x3FFF}, id="below the final classes"),
        pytest.param({"body": b"?" * 35}, id="35 bytes"),
        pytest.param({"body": b"?" * 37}, id="an order acknowledgement of 37 bytes"),
    ],
)
def test_anything_else_to_the_order_queue_is_no_acknowledgement(changes: dict[str, object]) -> None:
    properties = msgspec.structs.replace(ORDER.properties, **changes)
    assert read_ack(msgspec.structs.replace(ORDER, properties=properties)) is None


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (Address(AddressKind.DIRECT, direct=r"OS:elsewhere\private$\ORDER_QUEUE$"), True),
        (Address(AddressKind.DIRECT, direct=r"TCP:fe80::1\PRIVATE$\order_queue$"), True),
        (Address(AddressKind.DIRECT, direct=r"TCP:10.0.0.1\PRIVATE$\orders"), False),
        (Address(AddressKind.DIRECT, direct=r"TCP:10.0.0.1\order_queue$"), False),
        (Address(AddressKind.PRIVATE_ON_DESTINATION, 4), True),
        (Address(AddressKind.PRIVATE_ON_DESTINATION, 5), False),
    ],
)
def test_the_order_queue_is_known_by_its_path_or_its_number(address: Address, expected: bool) -> None:
    user = msgspec.structs.replace(ORDER.user, destination=address)
    assert is_for_order_queue(msgspec.structs.replace(ORDER, user=user)) is expected


@pytest.mark.spec("QB-229")
@pytest.mark.parametrize("attribute", ["negative_journaling", "positive_journaling", "final_ack_required"])
def test_three_attributes_ask_for_a_final_acknowledgement(attribute: str) -> None:
    assert wants_final(Message.of(**{attribute: True}))
    assert not wants_final(Message())
