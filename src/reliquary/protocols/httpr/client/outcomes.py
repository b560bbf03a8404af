"""Settles batches in doubt by `outcome` and `completed` of a response, with the table in `transactions`."""

from __future__ import annotations

from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.refusals import RefusedBatch
from reliquary.protocols.httpr.codec.values import ResponseHeader
from reliquary.protocols.httpr.memory import judge_memory
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Memory
from reliquary.protocols.httpr.transactions import OutcomeMessage, Settlement, settlement
from reliquary.queueing.model.travel.transfer import Outcome, ReservationKey, ReservationsEnded


def settle(state: State, channel: ClientChannel, header: ResponseHeader, by: OutcomeMessage) -> Settlement:
    """Settle the batches that a response names, and return them (P7).

    The messages of committed batches leave, those of returned batches are available again.  An id that
    this manager never used shows that its row is old.
    """
    row = state.channels[channel.number]
    if header.outcome is None or header.completed is None:
        return Settlement()
    if row.memory is Memory.RESTORED and by is not OutcomeMessage.REPORT:
        # a batch of the lost manager may still arrive late: only REPORT refuses it (F-02)
        return Settlement()
    channel.unasked = False
    settled = None
    if row.memory is Memory.RESTORED or header.completed > row.last_source_id:
        settled = judge_memory(state, channel.number, header.completed)
    if settled is None:
        settled = settlement(row.in_doubt, header.completed, header.outcome, by)
    for batch in settled.committed + settled.returned + settled.unknown:
        refused = channel.refusals.batches.pop(batch, None)
        if refused is not None and batch in settled.returned:
            _end_refused(state, channel, (channel.number, batch), refused)
    end_batches(state, channel.number, settled)
    return settled


def _end_refused(state: State, channel: ClientChannel, key: ReservationKey, refused: RefusedBatch) -> None:
    """Give up the only message of a batch, or let it wait until the pause of its queue is over."""
    if refused.rest is None:
        ended = ReservationsEnded(HOLDER, (key,), Outcome.REFUSED, refused.reason, refused.why)
    else:
        ended = ReservationsEnded(HOLDER, (key,), Outcome.TRY_LATER, rest=refused.rest)
        channel.outgoing.ready.pop(refused.queue, None)  # the manager signals when the pause is over
    state.draft.signal(ended)


def must_report(state: State, channel: ClientChannel) -> bool:
    """Return whether a batch or an id is unknown that only REPORT can resolve."""
    row = state.channels[channel.number]
    in_doubt = channel.unresolved or bool(row.in_doubt)
    return in_doubt or row.memory is Memory.RESTORED or channel.unasked


def is_in_doubt(state: State, channel: ClientChannel) -> bool:
    """Return whether the peer must be asked about a batch even if there is nothing to send or to fetch."""
    return channel.unresolved or bool(state.channels[channel.number].in_doubt)


def resume(state: State, channel: ClientChannel) -> None:
    """Move to READY after all responses, or to MUST_REPORT if something is unknown."""
    channel.move(Move.UNRESOLVED if must_report(state, channel) else Move.CLEAN)
