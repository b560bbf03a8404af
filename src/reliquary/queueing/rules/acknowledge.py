"""Decides which acknowledgements a message requests and builds them: [MS-MQDMPR] 3.1.1.12, [MS-MQQB]
3.1.7.15.

    AcknowledgementsRequested --ASKS--> bits in Position.asks <--ANSWERS-- the reason why the message left

A position has the requests of its message as bits, so that a message without any request need not be read
from the store when it leaves.  The bits of the acknowledgements are those of the packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    Acknowledgement,
    Attributes,
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
"""The message requests reports of its transfer (TracingRequested)."""
FINAL: Final = 0x20
"""The protocol that brought the message reports to the sender how it left its queue (FinalAckRequired,
DM-063)."""
JOURNALED: Final = 0x40
"""A message in an outgoing queue requests a journal copy after delivery (PositiveJournalingRequested)."""

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
"""The bits that each value of AcknowledgementsRequested stands for (DM-056)."""

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
"""The request bits that are answered when a message reaches or leaves its queue for this reason."""

AT_THE_SOURCE: Final[Mapping[MessageClass, MessageClass]] = {
    MessageClass.NACK_QUEUE_PURGED: MessageClass.NACK_PURGED,
    MessageClass.NACK_QUEUE_DELETED: MessageClass.NACK_PURGED,
}
"""Reasons that are replaced in an outgoing queue, because the message never reached its destination."""

_MANAGER_CLASSES: Final = frozenset(MessageClass) - {MessageClass.NORMAL}
"""Classes of messages that managers send to each other; no acknowledgement is sent for them."""


def asked(message: Message) -> int:
    """Return the bits of all acknowledgements and reports that a message requests."""
    more = message.more
    if more is None or not (
        more.acknowledgements or more.tracing_requested or more.sequence or more.soap_envelope
    ):
        return 0
    if more.message_class in _MANAGER_CLASSES:
        return 0
    asks = 0
    if more.tracing_requested and more.tracing_queue != NO_GUID:
        asks |= TRACED
    if more.soap_envelope:  # its sender gets only the receipts of [MC-MQSRM]
        wants_final = more.final_ack_required or (more.sequence and more.negative_journaling)
        return asks | (FINAL if wants_final else 0)
    if names(message):
        for each in more.acknowledgements:
            asks |= ASKS[each]
    if more.sequence is not None and (
        more.final_ack_required or more.positive_journaling or more.negative_journaling
    ):
        asks |= FINAL
    return asks


def asked_in(queue: Queue, message: Message) -> int:
    """Return the request bits that apply in a queue: only the destination sends all acknowledgements
    (DM-056)."""
    more = message.more
    if more is None:
        return 0
    asks = asked(message)
    if queue.outgoing is not None:
        journaled = JOURNALED if more.positive_journaling and not more.soap_envelope else 0
        return asks & (NEG_ARRIVAL | NEG_RECEIVE | TRACED) | journaled
    if asks and (queue.kind is QueueType.SYSTEM or queue.is_journal):
        return 0
    return asks


def names(message: Message) -> list[str]:
    """Return the names of the administration queues of a message, without duplicates."""
    return list(dict.fromkeys(filter(None, (message.administration_queue, *message.administration_queues))))


def acknowledgement(message: Message, reason: MessageClass, name: str, destination: str) -> Message:
    """Return the acknowledgement for one administration queue, [MS-MQQB] 3.1.7.15; it requests none itself.

    It is an ordinary message (QB-270), about a message that arrived (QB-269) or left its queue (QB-307).
    """
    # a body stored in pieces is left out, because it would have to be in memory as a whole
    is_small = message.stored_body is None
    with_body = reason.is_failure and message.privacy is MessagePrivacy.NONE and is_small
    return Message(
        label=message.label,
        body=message.body if with_body else b"",
        body_type=message.body_type if with_body else 0,
        delivery=message.delivery,
        more=Attributes(
            message_class=reason,
            correlation=message.identifier,
            application_tag=message.application_tag,
            time_to_reach_queue=FOREVER,
            destination_queue=name,
            response_queue=message.destination_queue or destination,
        ),
    )
