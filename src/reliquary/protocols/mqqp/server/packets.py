"""Makes the UserMessage packet that a reader gets from a message, [MS-MQQP] 2.2.2.1."""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.protocols.mqqp.codec.qm2qm import LARGEST_PACKET
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.packets.messages import serialize


def packet_of(found: Delivered, computer: str) -> bytes | None:
    """Return the packet of a message, or None for a message that fits into no packet (F-17).

    A packet has at most 0x400000 bytes, [MS-MQMQ] 2.2.19.1, which is less than dwSize allows (QP-019).
    A body in pieces does not fit into one, and a large body is refused before it is copied.
    """
    message = found.message
    if message.stored_body is not None or len(message.body) > LARGEST_PACKET:
        return None
    try:
        return serialize(message, computer=computer)
    except UsageError:
        return None
