"""Writes receipts as header blocks, [MC-MQSRM] 2.2.5.4 to 2.2.5.6."""

from __future__ import annotations

from reliquary.protocols.srmp.codec.lexical import moment_text
from reliquary.protocols.srmp.codec.values import CommitmentReceipt, DeliveryReceipt, StreamReceipt
from reliquary.wire.xml_text import escaped


def delivery_block(receipt: DeliveryReceipt) -> str:
    """Return `deliveryReceipt`: the message is in its queue (SR-079, SR-080)."""
    return (
        f"<deliveryReceipt><receivedAt>{moment_text(receipt.received_at)}</receivedAt>"
        f"<id>{escaped(receipt.id)}</id></deliveryReceipt>"
    )


def commitment_block(receipt: CommitmentReceipt) -> str:
    """Return `commitmentReceipt`: the message was read, or never will be (SR-083 to SR-085)."""
    return (
        f"<commitmentReceipt><decidedAt>{moment_text(receipt.decided_at)}</decidedAt>"
        f"<decision>{'positive' if receipt.positive else 'negative'}</decision>"
        f"<id>{escaped(receipt.id)}</id></commitmentReceipt>"
    )


def stream_receipt_block(receipt: StreamReceipt) -> str:
    """Return `streamReceipt`.

    All messages of the stream up to this one are in their queue (SR-087, SR-088).
    """
    return (
        f"<streamReceipt><streamId>{escaped(receipt.identifier)}</streamId>"
        f"<lastOrdinal>{receipt.last}</lastOrdinal></streamReceipt>"
    )
