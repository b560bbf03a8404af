"""What a response says about our batches in doubt: `outcome` and `completed`, looked up in `transactions`."""

from __future__ import annotations

from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.client.channel import ClientChannel, RefusedBatch
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.codec.values import ResponseHeader
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import By, Settlement, settlement
from reliquary.queueing.travel.transfer import HoldKey, HoldsEnded, Outcome


def settle(state: State, channel: ClientChannel, header: ResponseHeader, by: By) -> Settlement:
    """Settle the batches that a response speaks of, and return which they are (P7).

    The messages of committed batches leave, those of returned batches are available again.
    """
    row = state.channels[channel.number]
    if header.outcome is None or header.completed is None:
        return Settlement()
    if header.completed > row.last_source_id:
        channel.peer_highest_id = max(channel.peer_highest_id, header.completed)
        # The peer took an id that we never used, so our row of this channel was lost; and as it takes only
        # higher ids, it has none of the batches that are in doubt now.
        settled = Settlement(returned=row.in_doubt)
    else:
        settled = settlement(row.in_doubt, header.completed, header.outcome, by)
    for batch in settled.committed + settled.returned:
        refused = channel.refused_batches.pop(batch, None)
        if refused is not None and batch in settled.returned:
            _end_refused(state, channel, (channel.number, batch), refused)
    end_batches(state, channel.number, settled)
    return settled


def _end_refused(state: State, channel: ClientChannel, key: HoldKey, refused: RefusedBatch) -> None:
    """Give the only message of a batch up, or let it wait until its queue has rested."""
    if refused.rest is None:
        ended = HoldsEnded(HOLDER, (key,), Outcome.REFUSED, refused.reason, refused.why)
    else:
        ended = HoldsEnded(HOLDER, (key,), Outcome.TRY_LATER, rest=refused.rest)
        channel.ready_queues.pop(refused.queue, None)  # the manager signals when the queue has rested
    state.draft.tell(ended)


def must_report(state: State, channel: ClientChannel) -> bool:
    """Whether something is unknown that only REPORT can tell."""
    return channel.unresolved or bool(state.channels[channel.number].in_doubt)


def resume(state: State, channel: ClientChannel) -> None:
    """All requests are answered: move to READY, or to MUST_REPORT if something is unknown."""
    channel.move(Move.UNRESOLVED if must_report(state, channel) else Move.CLEAN)
