"""Finds the kind of a message, [MC-MQSRM] 3.1.5.1.5, by its class, its action and its receipts.

    delivery  stream  commitment   action         class        kind
       -        -         -        any            NORMAL       user message
       x        -         -        any            REACH_QUEUE  delivery receipt
       -        x         -        Ordering Ack   ORDER_ACK    stream receipt
       -        x         x        Ordering Ack   as decided   final stream receipt
       -        -         x        any            as decided   commitment receipt

A positive decision has the class ACK_RECEIVE, a negative one a class of `NEGATIVE`.  All other messages
are ignored.
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.srmp.codec.lexical import SPACE
from reliquary.protocols.srmp.codec.values import CommitmentReceipt, Envelope, MessageKind
from reliquary.queueing.model.message import MessageClass

_NORMAL: Final = MessageClass.NORMAL
_USER_MESSAGE: Final = MessageKind.USER_MESSAGE
ORDERING_ACK: Final = "MSMQ:QM Ordering Ack"
"""The action of stream receipts (SR-028)."""

RECEIPT_CLASSES: Final = frozenset(
    {
        MessageClass.ACK_REACH_QUEUE,
        MessageClass.ACK_RECEIVE,
        MessageClass.NACK_PURGED,
        MessageClass.NACK_QUEUE_DELETED,
        MessageClass.NACK_QUEUE_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        # DEPARTS from 3.1.5.1.5 (SR-199): a rejected message is among them, because 3.1.7.3.1 has the
        # receipt for it written, and a sender that ignored it would never get the outcome of the message.
        MessageClass.NACK_RECEIVE_REJECTED,
        MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED,  # put aside after a restore
    }
)
"""The classes of receipts; the status of a POST reports that its message never arrived."""
NEGATIVE: Final = frozenset(each for each in RECEIPT_CLASSES if each.is_failure)


def kind_of(envelope: Envelope) -> MessageKind:
    """Return whether the envelope carries a user message or which receipt."""
    message_class = _NORMAL if envelope.msmq is None else envelope.msmq.message_class
    delivery, stream = envelope.delivery_receipt is not None, envelope.stream_receipt is not None
    commitment = envelope.commitment_receipt
    if not (delivery or stream) and commitment is None:
        return _USER_MESSAGE if message_class == _NORMAL else MessageKind.UNKNOWN
    if delivery:
        alone = not stream and commitment is None and message_class == MessageClass.ACK_REACH_QUEUE
        return MessageKind.DELIVERY_RECEIPT if alone else MessageKind.UNKNOWN
    if stream and envelope.action.strip(SPACE) != ORDERING_ACK:
        return MessageKind.UNKNOWN
    if commitment is None:
        return MessageKind.STREAM_RECEIPT if message_class == MessageClass.ORDER_ACK else MessageKind.UNKNOWN
    if not _fits(commitment, message_class):
        return MessageKind.UNKNOWN
    return MessageKind.FINAL_STREAM_RECEIPT if stream else MessageKind.COMMITMENT_RECEIPT


def _fits(receipt: CommitmentReceipt, message_class: int) -> bool:
    if receipt.positive:
        return message_class == MessageClass.ACK_RECEIVE
    return message_class in NEGATIVE
