"""Reports the progress of the sequence of an outgoing queue to the manager: OutgoingTransferInfo."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.protocols.wsrm.source.state import Sequence, Session
from reliquary.protocols.wsrm.source.waits import span_of
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.travel.link import OutgoingTransfer, SequenceInfo
from reliquary.queueing.model.travel.transfer import TransferProgressed


def tell_progress(state: State, session: Session, sequence: Sequence) -> None:
    """Report to the manager how many messages of a sequence are sent and acknowledged."""
    name = SequenceId(sequence.number, 0)
    row, flights = sequence.row, sequence.flights
    first = next(iter(flights), 0)
    last = next(reversed(flights), 0)
    acknowledged = first - 1 if first else row.last
    transfer = OutgoingTransfer(
        first_unacknowledged=_info(name, first) if first else None,
        last_acknowledged=_info(name, acknowledged),
        last_unacknowledged=_info(name, last) if last else None,
        next_to_send=_info(name, row.last + 1),
        acknowledged_count=session.acknowledgements,
        acknowledged_time=session.acknowledged_at,
        unacknowledged=len(flights),
        resent=sequence.timeouts,
        resend_interval=span_of(state, sequence) // SECOND,
        resend_time=sequence.deadline,
    )
    state.draft.signal(TransferProgressed(session.queue, transfer))


def _info(name: SequenceId, number: int) -> SequenceInfo:
    return SequenceInfo(name, number, max(number - 1, 0))
