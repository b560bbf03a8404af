"""What a client says of the batches it fetched, and REPORT, D.6 of the digest: one turn, in this order.

a  last-pushed-id: batches up to it that come later are refused (P8)
b  outcome and completed: our batches in doubt are settled (P11)
c  forget: the sink's state is as at the beginning (P9)
d  session:end
e  the answer: how far the source got, how far the sink
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.values import NOTHING, Outcome, RequestHeader, SessionMark
from reliquary.protocols.httpr.facts import BatchesSettled, PeerReported, Side, SideForgotten
from reliquary.protocols.httpr.server import responses
from reliquary.protocols.httpr.server.channel import Asked, Served
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import By, Settlement, settlement
from reliquary.queueing.travel import transfer
from reliquary.queueing.travel.transfer import HoldsEnded

NONE: Final = Settlement()


def settle(state: State, number: int, header: RequestHeader, by: By) -> Settlement:
    """The client says what became of what it fetched; ids that we do not know are no error (HR-018)."""
    in_doubt = state.channels[number].in_doubt
    if not in_doubt or header.outcome is None or header.completed is None:
        return NONE
    settled = settlement(in_doubt, header.completed, header.outcome, by)
    conclude(state, number, settled)
    return settled


def conclude(state: State, number: int, settled: Settlement) -> None:
    """Batches of ours are in doubt no longer: their messages leave, or are there again."""
    if not settled:
        return
    apply(state, BatchesSettled(number, settled.committed, settled.returned))
    for batches, outcome in (
        (settled.committed, transfer.Outcome.DELIVERED),
        (settled.returned, transfer.Outcome.TRY_LATER),
    ):
        if batches:
            keys = tuple([(number, batch) for batch in batches])
            state.draft.tell(HoldsEnded(HOLDER, keys, outcome))
            for key in keys:
                state.begun.pop(key, None)


def report(state: State, served: Served, asked: Asked, now: Instant) -> None:
    """REPORT."""
    header, number = asked.header, served.channel
    pushed = header.last_pushed_id
    if pushed is not None and pushed > state.channels[number].last_sent_id:
        apply(state, PeerReported(number, pushed))  # HR-058, HR-082
    settle(state, number, header, By.REPORT)
    _forget_source(state, number, header)
    _forget_sink(state, number, header)
    channel = state.channels[number]
    responses.respond(
        state,
        served,
        asked,
        now,
        pair=responses.standing(channel),
        ending=header.session is SessionMark.END or header.outcome is Outcome.INDOUBT,  # HR-076
        last_pulled_id=NOTHING if channel.source_forgotten else channel.last_source_id,
    )


def _forget_sink(state: State, number: int, header: RequestHeader) -> None:
    """Older connections have ended before, so that nothing late is taken for new (F-03)."""
    channel, forget = state.channels[number], header.forget
    if forget is None or forget == NOTHING or forget != channel.last_received_id:
        return  # HR-017: an id that is not known is no error
    # DEPARTS from 3.3 (HR-059): with a last-pushed-id beyond it nothing is forgotten, because a batch that is
    # still under way would be taken although its source has given it up.
    if header.last_pushed_id is None or header.last_pushed_id <= forget:
        apply(state, SideForgotten(number, Side.SINK))


def _forget_source(state: State, number: int, header: RequestHeader) -> None:
    """The client has our last batch, and tells us so: neither side needs its number any more (HR-019)."""
    channel = state.channels[number]
    if (
        header.outcome is Outcome.COMMIT
        and header.completed == channel.last_source_id != NOTHING
        and not channel.in_doubt
        and not channel.source_forgotten
    ):
        apply(state, SideForgotten(number, Side.SOURCE))
