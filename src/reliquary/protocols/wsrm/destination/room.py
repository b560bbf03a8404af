"""Processes changes of the room of queues, and notifies the sources that wait for it (H-10).

RoomKnown --> messages that were buffered without room go into the queue
          '-> a sequence whose last acknowledgement said 0: a single acknowledgement leaves without a request
"""

from __future__ import annotations

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.wsrm.destination import acknowledging, delivery
from reliquary.protocols.wsrm.destination.ending import FORGET, INACTIVITY
from reliquary.protocols.wsrm.destination.flow_control import message_processed
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.watching import watch_all
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import RoomKnown


def on_room_known(state: State, signal: RoomKnown, now: Instant) -> None:
    """Store the room of a queue, and deliver waiting messages."""
    target = state.destination.targets.get(signal.destination)
    if target is None:
        return
    message_processed(target, signal.unread, signal.free)
    if target.blocked or target.starved:
        state.destination.now = now
        delivery.resume_blocked(state, target)
        acknowledging.notify_starved(state, target)


def on_start(state: State, now: Instant) -> None:
    """Watch the queues of all sequences, set the timers again, and deliver waiting messages (T24)."""
    here = state.destination
    here.now = now
    for sequence in list(here.sequences.values()):
        ended = sequence.phase is Phase.ENDED
        if sequence.buffered and delivery.ready_numbers(sequence):
            delivery.block(sequence)
        if not ended:
            sequence.heard = now
        if not ended or sequence.buffered:
            wait = state.settings.polling if ended else state.settings.inactivity
            wait = Duration(min(wait, max(sequence.row.expires - now, 1)))
            state.draft.ask(SetTimer((INACTIVITY, sequence.number), wait))
    watch_all(state)  # the reports of the queue manager then release blocked messages
    if here.ended:
        oldest = here.sequences[next(iter(here.ended))].received.ended
        wait = Duration(max(oldest + state.settings.remembered - now, 1))
        state.draft.ask(SetTimer((FORGET, 0), wait))
