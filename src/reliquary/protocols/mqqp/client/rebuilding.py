"""Rebuilds a message and its position from the packet that a server returned."""

from __future__ import annotations

from reliquary.base.time import SECOND, Instant
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import PRIORITY_LIMIT, Message, Position, size_of
from reliquary.queueing.model.tables import LANE_SHIFT, SEQUENCE_MASK
from reliquary.queueing.packets.messages import deserialize


def rebuild(packet: bytes, arrived: int, sequential: int, request: int) -> Delivered:
    """Return the message of a packet (QP-151); PacketFault names the wrong position in the bytes.

    A server without RemoteQMStartReceive2 gives no SequentialId: the request number takes its place,
    which distinguishes the messages of a receipt and means nothing to the server.
    """
    message = deserialize(packet)
    moment = Instant(arrived * SECOND)
    position = Position(
        _lane(message) << LANE_SHIFT | (sequential or request) & SEQUENCE_MASK,
        sequential,
        size_of(message),
        moment,
        expires=message.deadline(moment),
        express=message.is_express,
    )
    return Delivered(position, message)


def _lane(message: Message) -> int:
    """Return the high byte of the LookupIdentifier, which MQQP does not carry (F-14).

    It is 7 - Priority, and 0 in a transactional queue, where messages have no priority.
    """
    return 0 if message.is_transactional else PRIORITY_LIMIT - message.priority
