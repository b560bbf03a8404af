"""Judges the ids in a channel's row after the store was restored from a backup; both agents use these rules.

    our ids     1 2 3 | 4 5 6 7          | t+1 t+2 ...    t: the time at which the new era began
                backup  lost with the      new era
                        old store

Ids of the new era are above all that the old manager can have used, so the peer takes none of them for
a batch that it knows (HR-102).  Before the first of them the peer names the last id that it received,
the client in its requests, the server in its answer to REPORT:

WITHIN    not above the last id of the backup: the channel was not used afterwards, and our row is right
BEYOND    above it: messages that waited or were in doubt at the backup may have reached the peer
NONE      zeros: the peer has received nothing, or both have forgotten it since; it is unknown which of both

After BEYOND and NONE these messages go to a dead-letter queue with the reason `era.NOT_KNOWN`.

A peer can also name an id above our last one although nothing says that the store was restored: an older
copy of its files was put back.  Then ids go on above that one; a batch of this process is returned, as the
peer takes none that is below, and of an older one the outcome is unknown (3.3, HR-015: it may have gone again
since).

The sink's ids are old as well.  Since the backup a peer may have ended the channel and restarted its
numbering; it would apply our COMMIT of a higher id to its new batches.  So we send no id (a request) or
zeros (HR-079, an answer) until the peer's last id shows that it still counts as at the backup.  Then
its batch in doubt comes again, and the queue manager puts aside what may have come before
(`queueing.era`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.values import LARGEST_ID, NOTHING
from reliquary.protocols.httpr.facts import EraNoted, MemoryJudged
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Channel, Memory, Role
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.travel.transfer import EraBegan, MessagesReserved, Outcome, ReservationsEnded
from reliquary.queueing.rules.era import NOT_KNOWN


class PeerProgress(Enum):
    """The last id that the peer received, compared with the last id in the row."""

    NONE = "none"
    WITHIN = "within"
    BEYOND = "beyond"


NEXT: Final[Mapping[tuple[Memory, PeerProgress], Memory]] = {
    (Memory.CURRENT, PeerProgress.NONE): Memory.CURRENT,
    (Memory.CURRENT, PeerProgress.WITHIN): Memory.CURRENT,
    (Memory.CURRENT, PeerProgress.BEYOND): Memory.CURRENT,  # no era says which messages are old
    (Memory.RESTORED, PeerProgress.NONE): Memory.OUTDATED,
    (Memory.RESTORED, PeerProgress.WITHIN): Memory.CURRENT,
    (Memory.RESTORED, PeerProgress.BEYOND): Memory.OUTDATED,
    (Memory.OUTDATED, PeerProgress.NONE): Memory.OUTDATED,
    (Memory.OUTDATED, PeerProgress.WITHIN): Memory.OUTDATED,
    (Memory.OUTDATED, PeerProgress.BEYOND): Memory.OUTDATED,
}
HIGHEST_FLOOR: Final = LARGEST_ID >> 1
"""The highest id that a peer can raise our ids to, so that enough ids always remain."""


def on_era_began(state: State, signal: EraBegan, now: Instant) -> None:
    """Note in all channels that the store was restored."""
    del now
    apply(state, EraNoted(signal.era.began))


def new_channel(state: State, role: Role, requester: str, name: str, responder: str) -> Channel:
    """Return the row of a channel that is opened.

    In a restored store it may be one that the old manager opened after the backup.
    """
    number, era = state.numbers.channel + 1, state.numbers.era
    if not era:
        return Channel(number, role, requester, name, responder)
    return Channel(
        number,
        role,
        requester,
        name,
        responder,
        last_source_id=era,
        source_forgotten=True,
        memory=Memory.RESTORED,
    )


def reach_of(row: Channel, completed: int | None) -> PeerProgress:
    """Compare the last id that the peer received with the last in the row; None if the peer named none."""
    if not completed:
        return PeerProgress.NONE
    known = row.backup_id if row.memory is Memory.RESTORED else row.last_source_id
    return PeerProgress.BEYOND if completed > known else PeerProgress.WITHIN


def judge_memory(state: State, number: int, completed: int | None) -> Settlement | None:
    """Judge the row by the last id that the peer received, and record the result.

    Returns the settlement of all batches in doubt if the row is old; None if it is current, so that the
    outcome of the peer settles them.
    """
    row = state.channels[number]
    reach = reach_of(row, completed)
    memory = NEXT[row.memory, reach]
    floor = max(row.last_source_id, min(completed or NOTHING, HIGHEST_FLOOR))
    if memory is not row.memory or floor != row.last_source_id:
        apply(state, MemoryJudged(number, memory, floor))
        if reach is PeerProgress.BEYOND:
            why = f"the peer has received batch {completed}, which this store does not know"
            _warn(state, row, "an older copy of the store is in use", why)
    if reach is not PeerProgress.BEYOND and (memory is row.memory or memory is Memory.CURRENT):
        return None
    returned = tuple([batch for batch in row.in_doubt if (number, batch) in state.begun])
    unknown = tuple([batch for batch in row.in_doubt if (number, batch) not in state.begun])
    if unknown:
        batches = ", ".join(map(str, unknown))
        why = (
            f"the messages of batches {batches} are moved to the dead-letter queue, so that none comes twice"
        )
        _warn(state, row, "it is not known whether batches arrived before the restore", why)
    return Settlement(returned=returned, unknown=unknown)


def may_be_there(state: State, signal: MessagesReserved) -> bool:
    """Return whether the peer may have messages of an older era, which are then not sent to it again."""
    return state.channels[signal.key[0]].memory is not Memory.CURRENT


def put_aside(state: State, signal: MessagesReserved) -> None:
    """Move messages that the peer may have to a dead-letter queue."""
    state.draft.signal(ReservationsEnded(HOLDER, (signal.key,), Outcome.REFUSED, NOT_KNOWN))
    what = "it is not known whether messages arrived before the restore"
    why = f"{len(signal.messages)} of them are moved to the dead-letter queue, so that none comes twice"
    _warn(state, state.channels[signal.key[0]], what, why)


def _warn(state: State, row: Channel, what: str, why: str) -> None:
    peer = row.requester if row.role is Role.SERVER else row.responder
    state.draft.ask(Warn(peer, what, f"channel {row.name}: {why}"))
