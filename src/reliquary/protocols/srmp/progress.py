"""OutgoingTransferInfo, [MC-MQSRM] 3.1.5.1.8.2 and 3.1.7.2.3: how far the stream of a queue got."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.protocols.srmp.state import Sent, Session, State
from reliquary.queueing.message import SequenceId
from reliquary.queueing.travel.link import OutgoingTransfer, SequenceInfo
from reliquary.queueing.travel.transfer import TransferProgressed


def tell_progress(state: State, session: Session, sent: Sent) -> None:
    """Let the manager know; once for all that a turn sends or a receipt confirms."""
    stream = sent.stream
    sequence = SequenceId(stream.number & 0xFFFFFFFF, stream.number >> 32)
    first, last = (sent.first_awaiting(), stream.last) if sent.awaiting else (0, 0)
    transfer = OutgoingTransfer(
        first_unacknowledged=SequenceInfo(sequence, first, sent.previous(first)) if first else None,  # SR-223
        last_acknowledged=SequenceInfo(sequence, stream.acknowledged, 0),  # SR-221, SR-269
        last_unacknowledged=SequenceInfo(sequence, last, sent.previous(last)) if last else None,
        next_to_send=SequenceInfo(sequence, stream.last + 1, stream.last),  # SR-268
        acknowledged_count=session.receipts,
        acknowledged_time=session.receipt_time,
        unacknowledged=sent.awaiting,  # SR-270
        unread=session.unread,
        resent=session.resent,
        resend_interval=state.settings.resend_ladder[session.rung] // SECOND,  # SR-224
        resend_time=session.resend_time,
    )
    state.draft.tell(TransferProgressed(session.queue, transfer))
