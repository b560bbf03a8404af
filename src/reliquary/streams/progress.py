"""Counts the progress of an outgoing stream for the manager: OutgoingTransferInfo."""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.time import SECOND, Instant
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.travel.link import OutgoingTransfer, SequenceInfo
from reliquary.queueing.model.travel.transfer import TransferProgressed
from reliquary.streams.ladder import ReceiptWait
from reliquary.streams.outgoing import Sent


@dataclass(slots=True)
class Progress:
    """The counters of an outgoing stream; they are not durable."""

    receipts: int = 0
    """The number of receipts that came: EodLastAckCount."""
    receipt_time: int = 0
    """When the last receipt came, in microseconds since 1970: EodLastAckTime."""
    unread: int = 0
    """The number of confirmed messages that are not known to be received: EodNoReadCount."""

    def begin(self) -> None:
        """Set the counters to 0 for a new stream (SR-267)."""
        self.receipts = self.unread = 0

    def receipt(self, now: Instant) -> None:
        """Count a receipt and record when it came (SR-221)."""
        self.receipts += 1
        self.receipt_time = now


def progressed(queue: int, sent: Sent, progress: Progress, wait: ReceiptWait) -> TransferProgressed:
    """Return the signal that reports the progress of a queue's stream to the manager."""
    stream = sent.stream
    sequence = SequenceId(stream.number & 0xFFFFFFFF, stream.number >> 32)
    first, last = (sent.first_awaiting(), stream.last) if sent.awaiting else (0, 0)
    transfer = OutgoingTransfer(
        first_unacknowledged=SequenceInfo(sequence, first, sent.previous(first)) if first else None,  # SR-223
        last_acknowledged=SequenceInfo(sequence, stream.acknowledged, 0),  # SR-221, SR-269
        last_unacknowledged=SequenceInfo(sequence, last, sent.previous(last)) if last else None,
        next_to_send=SequenceInfo(sequence, stream.last + 1, stream.last),  # SR-268
        acknowledged_count=progress.receipts,
        acknowledged_time=progress.receipt_time,
        unacknowledged=sent.awaiting,  # SR-270
        unread=progress.unread,
        resent=wait.timeouts,
        resend_interval=wait.ladder[wait.rung] // SECOND,  # SR-224
        resend_time=wait.until,
    )
    return TransferProgressed(queue, transfer)
