"""Updates messages and bodies when a batch of either agent is settled, refused or repeated."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.facts import BatchesSettled
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Role
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.message import NO_OBJECT, MessageClass, ObjectId
from reliquary.queueing.model.travel.transfer import (
    BodiesUnwanted,
    DuplicatesDropped,
    Outcome,
    ReservationsEnded,
)
from reliquary.queueing.rules.era import NOT_KNOWN


def end_batches(state: State, number: int, settled: Settlement) -> None:
    """Apply the outcome of settled batches: their messages leave, or are available again (P7, P11).

    Messages with an unknown outcome go to a dead-letter queue.
    """
    if not settled:
        return
    apply(state, BatchesSettled(number, settled.committed, settled.returned, settled.unknown))
    for batches, outcome, reason in (
        (settled.committed, Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE),
        (settled.returned, Outcome.TRY_LATER, MessageClass.ACK_REACH_QUEUE),
        (settled.unknown, Outcome.REFUSED, NOT_KNOWN),
    ):
        if batches:
            keys = tuple([(number, batch) for batch in batches])
            state.draft.signal(ReservationsEnded(HOLDER, keys, outcome, reason))
            for key in keys:
                state.begun.pop(key, None)


def discard_bodies(state: State, batch: Iterable[Carried]) -> None:
    """Let the queue manager delete the large bodies of a batch that was not taken."""
    spools = tuple([carried.stored.spool for carried in batch if carried.stored is not None])
    if spools:
        state.draft.signal(BodiesUnwanted(spools))


def report_duplicates(state: State, number: int, batch: int, carried: Iterable[Carried]) -> None:
    """Report the messages of a batch that came again."""
    row = state.channels[number]
    peer = row.requester if row.role is Role.SERVER else row.responder
    identifiers = tuple([_identifier(each) for each in carried])
    state.draft.signal(DuplicatesDropped(HOLDER, "", identifiers, peer=peer, batch=f"{number}:{batch}"))


def _identifier(carried: Carried) -> ObjectId:
    """Return the identifier of a message; NO_OBJECT for one that cannot be read."""
    try:
        return decode_message(carried)[1].identifier
    except (HttprFault, UsageError):
        return NO_OBJECT
