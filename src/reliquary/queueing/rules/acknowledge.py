"""Acknowledgements, [MS-MQDMPR] 3.1.1.12 and [MS-MQQB] 3.1.7.15: who asked for what, and what he gets.

    AcknowledgementsRequested --ASKS--> bits on the Position <--ANSWERS-- what became of the message

A position carries what its message asked for, so that a message that asked for nothing is never
read again when it leaves.  The bits of the acknowledgements are those of the packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    Acknowledgement,
    Message,
    MessageClass,
    MessagePrivacy,
)
from reliquary.queueing.model.queue import Queue, QueueType

POS_ARRIVAL: Final = 0x01
POS_RECEIVE: Final = 0x02
NEG_ARRIVAL: Final = 0x04
NEG_RECEIVE: Final = 0x08
ACKNOWLEDGED: Final = POS_ARRIVAL | POS_RECEIVE | NEG_ARRIVAL | NEG_RECEIVE
TRACED: Final = 0x10
"""TracingRequested."""
FINAL: Final = 0x20
"""The protocol that brought it answers for it when it leaves (FinalAckRequired, DM-063)."""
JOURNALED: Final = 0x40
"""PositiveJournalingRequested, of a message that is on its way to another manager."""

ASKS: Final[Mapping[Acknowledgement, int]] = {
    Acknowledgement.POS_ARRIVAL: POS_ARRIVAL,
    Acknowledgement.POS_RECEIVE: POS_RECEIVE,
    Acknowledgement.NEG_ARRIVAL: NEG_ARRIVAL,
    Acknowledgement.NEG_RECEIVE: NEG_RECEIVE,
    Acknowledgement.NACK_REACH_QUEUE: NEG_ARRIVAL,
    Acknowledgement.FULL_REACH_QUEUE: POS_ARRIVAL | NEG_ARRIVAL,
    Acknowledgement.NACK_RECEIVE: NEG_ARRIVAL | NEG_RECEIVE,
    Acknowledgement.FULL_RECEIVE: NEG_ARRIVAL | POS_RECEIVE | NEG_RECEIVE,
}
"""DM-056."""

_NEVER_ARRIVED: Final = NEG_ARRIVAL | FINAL
_NEVER_RECEIVED: Final = NEG_RECEIVE | FINAL

ANSWERS: Final[Mapping[MessageClass, int]] = {
    MessageClass.NORMAL: 0,
    MessageClass.REPORT: 0,
    MessageClass.ORDER_ACK: 0,
    MessageClass.ACK_REACH_QUEUE: POS_ARRIVAL | TRACED,
    MessageClass.ACK_RECEIVE: POS_RECEIVE | TRACED | FINAL,
    MessageClass.NACK_BAD_DEST_QUEUE: _NEVER_ARRIVED,
    MessageClass.NACK_PURGED: _NEVER_ARRIVED,
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: _NEVER_ARRIVED,
    MessageClass.NACK_QUEUE_EXCEED_QUOTA: _NEVER_ARRIVED,
    MessageClass.NACK_ACCESS_DENIED: _NEVER_ARRIVED,
    MessageClass.NACK_HOP_COUNT_EXCEEDED: _NEVER_ARRIVED,
    MessageClass.NACK_BAD_SIGNATURE: _NEVER_ARRIVED,
    MessageClass.NACK_BAD_ENCRYPTION: _NEVER_ARRIVED,
    MessageClass.NACK_COULD_NOT_ENCRYPT: _NEVER_ARRIVED,
    MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE: _NEVER_ARRIVED,
    MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE: _NEVER_ARRIVED,
    MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER: _NEVER_ARRIVED,
    MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED: _NEVER_ARRIVED,
    MessageClass.NACK_QUEUE_DELETED: _NEVER_RECEIVED,
    MessageClass.NACK_QUEUE_PURGED: _NEVER_RECEIVED,
    MessageClass.NACK_RECEIVE_TIMEOUT: _NEVER_RECEIVED,
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER: _NEVER_RECEIVED,
    MessageClass.NACK_RECEIVE_REJECTED: _NEVER_RECEIVED,
}
"""What became of a message, and who wants to know."""

AT_THE_SOURCE: Final[Mapping[MessageClass, MessageClass]] = {
    MessageClass.NACK_QUEUE_PURGED: MessageClass.NACK_PURGED,
    MessageClass.NACK_QUEUE_DELETED: MessageClass.NACK_PURGED,
}
"""What is said of a message that left an outgoing queue: it never came to its destination."""

_NEWS: Final = frozenset(MessageClass) - {MessageClass.NORMAL}
"""Messages that managers send each other; nobody is told what becomes of them."""


def asked(message: Message) -> int:
    """All that a message wants to be told."""
    if not (
        message.acknowledgements or message.tracing_requested or message.sequence or message.soap_envelope
    ):
        return 0
    if message.message_class in _NEWS:
        return 0
    asks = 0
    if message.tracing_requested and message.tracing_queue != NO_GUID:
        asks |= TRACED
    if message.soap_envelope:  # only receipts of [MC-MQSRM] go to its sender
        final_word = message.final_ack_required or (message.sequence and message.negative_journaling)
        return asks | (FINAL if final_word else 0)
    if names(message):
        for each in message.acknowledgements:
            asks |= ASKS[each]
    if message.sequence is not None and (
        message.final_ack_required or message.positive_journaling or message.negative_journaling
    ):
        asks |= FINAL
    return asks


def asked_in(queue: Queue, message: Message) -> int:
    """What a message wants to be told while it is in this queue: only destinations acknowledge (E.5)."""
    asks = asked(message)
    if queue.outgoing is not None:
        journaled = JOURNALED if message.positive_journaling and not message.soap_envelope else 0
        return asks & (NEG_ARRIVAL | NEG_RECEIVE | TRACED) | journaled
    if asks and (queue.kind is QueueType.SYSTEM or queue.is_journal):
        return 0
    return asks


def names(message: Message) -> list[str]:
    """The administration queues of a message, each once."""
    return list(dict.fromkeys(filter(None, (message.administration_queue, *message.administration_queues))))


def acknowledgement(message: Message, reason: MessageClass, name: str, destination: str) -> Message:
    """What is sent to one administration queue, [MS-MQQB] 3.1.7.15; it asks for nothing itself."""
    # a body in pieces stays where it is, because the acknowledgement would have it as a whole
    is_small = message.stored_body is None
    with_body = reason.is_failure and message.privacy is MessagePrivacy.NONE and is_small
    return Message(
        message_class=reason,
        correlation=message.identifier,
        application_tag=message.application_tag,
        label=message.label,
        body=message.body if with_body else b"",
        body_type=message.body_type if with_body else 0,
        delivery=message.delivery,
        time_to_reach_queue=FOREVER,
        destination_queue=name,
        response_queue=message.destination_queue or destination,
    )
