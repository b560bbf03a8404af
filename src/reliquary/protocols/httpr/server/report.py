"""Processes REPORT, 5.5, and the acknowledgements of fetched batches in any request.

One turn does this, in this order:

a  last-pushed-id: batches up to it that come later are refused (P8)
b  outcome and completed: our batches in doubt are settled (P11)
c  forget: the state of the sink is reset (P9)
d  session:end
e  the answer: the last ids of the source and of the sink
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.codec.values import (
    FETCHES,
    NOTHING,
    Outcome,
    RequestHeader,
    SessionMark,
)
from reliquary.protocols.httpr.facts import PeerReported, Side, SideForgotten
from reliquary.protocols.httpr.memory import judge_memory
from reliquary.protocols.httpr.server import responses
from reliquary.protocols.httpr.server.channel import PendingRequest, ServerChannel
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Memory
from reliquary.protocols.httpr.transactions import OutcomeMessage, Settlement, settlement

_RESTORED: Final = Memory.RESTORED
NONE: Final = Settlement()


def settle(state: State, number: int, header: RequestHeader, by: OutcomeMessage) -> Settlement:
    """Settle our batches by the outcome of the client; unknown ids are no error (HR-018).

    But they show that the row is old.
    """
    row, completed, outcome = state.channels[number], header.completed, header.outcome
    if completed is None or outcome is None:
        if row.memory is not _RESTORED or header.command not in FETCHES:
            return NONE
        completed, outcome = NOTHING, Outcome.COMMIT  # the client fetches, and has nothing to acknowledge
    settled = None
    if row.memory is _RESTORED or completed > row.last_source_id:
        settled = judge_memory(state, number, completed)
    if settled is None:
        if not row.in_doubt:
            return NONE
        settled = settlement(row.in_doubt, completed, outcome, by)
    end_batches(state, number, settled)
    return settled


def serve(state: State, channel: ServerChannel, request: PendingRequest, now: Instant) -> None:
    """Apply the outcomes in a REPORT, and answer with the outcome of our batches."""
    header, number = request.header, channel.number
    _note_last_pushed_id(state, number, header)
    settle(state, number, header, OutcomeMessage.REPORT)
    _forget_source(state, number, header)
    _forget_sink(state, number, header)
    row = state.channels[number]
    responses.respond(
        state,
        channel,
        request,
        now,
        pair=responses.last_outcome(row),
        ending=header.session is SessionMark.END or header.outcome is Outcome.INDOUBT,  # HR-076
        last_pulled_id=NOTHING if row.source_forgotten else row.last_source_id,
    )


def _note_last_pushed_id(state: State, number: int, header: RequestHeader) -> None:
    """Refuse batches up to the last id of the client from now on (P8, HR-058, HR-082).

    After a restore of our store an id below the last that came means that the client has restarted its
    numbering.
    """
    row, pushed = state.channels[number], header.last_pushed_id
    if pushed is None:
        return
    if row.sink_restored and pushed < row.last_received_id:
        apply(state, SideForgotten(number, Side.SINK))
        row = state.channels[number]
    if row.sink_restored or pushed > row.last_sent_id:
        apply(state, PeerReported(number, max(pushed, row.last_sent_id)))


def _forget_sink(state: State, number: int, header: RequestHeader) -> None:
    """Forget the ids of the client's batches; older connections have ended, so none comes late (F-03).

    A repeated `forget` for an unknown channel also forgets the last-pushed-id that comes with it:
    otherwise each id of a client that restarts its numbering would be refused.
    """
    row, forget = state.channels[number], header.forget
    if forget is None or forget == NOTHING or row.last_received_id not in (forget, NOTHING):
        return  # HR-017: an unknown id is no error
    # DEPARTS from 3.3 (HR-059): after a last-pushed-id beyond it nothing is forgotten, because a batch that
    # is still under way would be taken although its source has given it up.
    if row.last_sent_id <= forget:
        apply(state, SideForgotten(number, Side.SINK))


def _forget_source(state: State, number: int, header: RequestHeader) -> None:
    """Forget the id of our last batch once the client has that batch: neither side needs it (HR-019)."""
    row = state.channels[number]
    if (
        header.outcome is Outcome.COMMIT
        and header.completed == row.last_source_id != NOTHING
        and not row.in_doubt
        and not row.source_forgotten
    ):
        apply(state, SideForgotten(number, Side.SOURCE))
