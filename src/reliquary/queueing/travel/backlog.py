"""Keeps messages from before the start of a carrier until an administrator resumes their queue.

A manager without the carrier of a destination keeps the messages for it, perhaps for years.  If the carrier
is switched on later, they would all leave at once.  So their outgoing queues are paused at that start.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.outgoing import carrier_mark, destination_of, link_of, pause

WHAT: Final = "messages for other managers wait until an administrator resumes their queues"


def pause_backlogs(state: State) -> None:
    """Pause the outgoing queues whose carrier is new and that have messages; one warning counts them."""
    paused = [queue for queue in list(state.names.outgoing.values()) if _is_to_be_paused(state, queue)]
    for queue in paused:
        pause(state, queue)
    if paused:
        count = sum(len(queue.order) for queue in paused)
        example = destination_of(paused[0])
        why = (
            f"{len(paused)} outgoing queues have {count} messages from before {_name(paused[0])} was switched"
            f" on; `reliquary outgoing resume '{example}'` lets those of one queue go"
        )
        state.draft.ask(Warn(state.identity().computer_name, WHAT, why))


def _is_to_be_paused(state: State, queue: QueueState) -> bool:
    """Store the present carrier of the queue, and return whether its messages are from before this
    carrier."""
    outgoing = queue.record.outgoing
    assert outgoing is not None, f"{queue.record.pathname} is no outgoing queue"
    mark = carrier_mark(state, destination_of(queue))
    if mark == outgoing.carrier:
        return False
    apply(state, facts.QueueChanged(replace(queue.record, outgoing=replace(outgoing, carrier=mark))))
    return bool(mark) and queue.active


def _name(queue: QueueState) -> str:
    """Return the name of the carrier of a queue."""
    carrier = link_of(queue).carrier
    return "" if carrier is None else carrier.name
