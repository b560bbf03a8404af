r"""Reads and writes order and final acknowledgements, [MS-MQQB] 2.2.4 and 2.2.5: messages to the order queue.

order   express, class 0x00FF: all messages of a sequence up to a number are accepted or refused
final   recoverable, class 0x4000 or a negative one: how one message left its destination queue

The order queue of a manager is number 4 of its private queues, or `TCP:address\PRIVATE$\order_queue$`.
Applications cannot use it, and a packet for it that is neither of the two kinds is dropped.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.queueing.model.message import Message
from reliquary.wire.packet.addresses import Address, AddressKind
from reliquary.wire.packet.base import BaseHeader
from reliquary.wire.packet.fields import NO_GUID
from reliquary.wire.packet.ordering import SIZE, FinalBody, OrderBody
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.user import UserHeader
from reliquary.wire.packet.user_message import UserMessage

LABEL: Final = "QM Ordering Ack"
ORDER_CLASS: Final = 0x00FF
LEAST_FINAL_CLASS: Final = 0x4000
"""Every class from here on is a final acknowledgement (QB-027, G-44)."""
ORDER_QUEUE_NUMBER: Final = 4
ORDER_QUEUE_PATH: Final = "\\PRIVATE$\\order_queue$"

_PATH: Final = ORDER_QUEUE_PATH.casefold()


class OrderAck(msgspec.Struct, frozen=True, gc=False):
    """The peer accepted or refused all messages of a sequence up to a number."""

    body: OrderBody


class FinalAck(msgspec.Struct, frozen=True, gc=False):
    """The peer says how a message left its destination queue."""

    body: FinalBody
    message_class: int


class AckAddresses(msgspec.Struct, frozen=True, gc=False):
    """The source and the destination of an acknowledgement."""

    source: UUID
    """The manager that writes it."""
    manager: UUID
    """The manager that gets it, for the private form of the name."""
    address: str = ""
    """The address of that manager; if it is set, the name is direct (QB-062, QB-063)."""

    def destination(self) -> Address:
        """Return the order queue of the manager that gets it (QB-061, QB-062)."""
        if self.address:
            return Address(AddressKind.DIRECT, direct=order_queue_name(self.address))
        return Address(AddressKind.PRIVATE_ON_DESTINATION, ORDER_QUEUE_NUMBER)


def order_queue_name(address: str) -> str:
    r"""Return the direct name of an order queue without `DIRECT=`.

    >>> order_queue_name("10.0.0.1")
    'TCP:10.0.0.1\\PRIVATE$\\order_queue$'
    """
    return f"TCP:{address}{ORDER_QUEUE_PATH}"


def wants_final(message: Message) -> bool:
    """Return whether the sender of a transactional message waits for its final acknowledgement.

    Only messages of streams have one (QB-229, QB-308, G-47).
    """
    more = message.more
    return more is not None and (
        more.negative_journaling or more.positive_journaling or more.final_ack_required
    )


def order_ack(
    addresses: AckAddresses, sequence: int, number: int, *, sent_time: int, message_id: int
) -> UserMessage:
    """Return the packet that acknowledges a sequence up to a number (QB-059 to QB-067, QB-320)."""
    body = OrderBody(sequence, number, number - 1).encode()  # QB-066
    return _packet(addresses, ORDER_CLASS, body, sent_time, message_id, recoverable=False)


def final_ack(
    addresses: AckAddresses, body: FinalBody, message_class: int, *, sent_time: int, message_id: int
) -> UserMessage:
    """Return the packet that says how a message ended (QB-069 to QB-075, QB-321)."""
    return _packet(addresses, message_class, body.encode(), sent_time, message_id, recoverable=True)


def _packet(
    addresses: AckAddresses,
    message_class: int,
    body: bytes,
    sent_time: int,
    message_id: int,
    *,
    recoverable: bool,
) -> UserMessage:
    return UserMessage(
        base=BaseHeader(priority=0),
        user=UserHeader(
            source=addresses.source,
            address=NO_GUID if addresses.address else addresses.manager,
            sent_time=sent_time,
            message_id=message_id,
            recoverable=recoverable,
            destination=addresses.destination(),
        ),
        properties=PropertiesHeader(label=LABEL, message_class=message_class, body=body),
    )


def is_for_order_queue(packet: UserMessage) -> bool:
    """Return whether a packet is addressed to the order queue, in either form, for any host (G-51)."""
    to = packet.user.destination
    if to.kind is AddressKind.DIRECT:
        return to.direct.casefold().endswith(_PATH)
    return to.kind is AddressKind.PRIVATE_ON_DESTINATION and to.number == ORDER_QUEUE_NUMBER


def read_ack(packet: UserMessage) -> OrderAck | FinalAck | None:
    """Return the acknowledgement in a packet to the order queue; None for anything else.

    # DEPARTS from 3.1.5.1.1 (QB-026, QB-027): flags of the base header are ignored, because a SessionHeader
    # may be part of any packet (G-41).
    """
    found = packet.properties
    if found.label != LABEL or len(found.body) < SIZE:
        return None
    if found.message_class == ORDER_CLASS and len(found.body) == SIZE:
        return OrderAck(OrderBody.decode(found.body))
    if found.message_class >= LEAST_FINAL_CLASS:
        return FinalAck(FinalBody.decode(found.body), found.message_class)
    return None
