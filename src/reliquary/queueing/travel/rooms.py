"""Reports the free room of queues to carriers, which announce it to their peers.

RoomWatched --> RoomKnown at once, then in each turn in which the room of a watched queue changes
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.queue import KILOBYTE
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import RoomKnown, RoomWatched
from reliquary.queueing.rules import destinations


def on_watched(state: State, signal: RoomWatched, now: Instant) -> None:
    """Report the room of these queues to a carrier, now and after each change."""
    del now
    if signal.destinations:
        state.travel.rooms.wanted[signal.carrier] = signal.destinations
    else:
        state.travel.rooms.wanted.pop(signal.carrier, None)
    _resolve(state)


def report(state: State) -> None:
    """Report to carriers the room of the watched queues that changed in this turn."""
    if state.travel.rooms.stale:
        _resolve(state)
        return
    changed, state.travel.rooms.changed = state.travel.rooms.changed, {}
    for number, queue in changed.items():
        for carrier, name in state.travel.rooms.watched.get(number, ()):
            state.draft.signal(room_in(carrier, name, queue))


def _resolve(state: State) -> None:
    """Find the queue of each watched name again, and report the room of all these queues."""
    state.travel.rooms.stale = False
    state.travel.rooms.changed.clear()
    state.travel.rooms.watched.clear()
    for carrier, names in state.travel.rooms.wanted.items():
        for name in sorted(names):
            queue = _queue_named(state, name)
            if queue is not None:
                state.travel.rooms.watched.setdefault(queue.number, []).append((carrier, name))
            state.draft.signal(room_in(carrier, name, queue))


def _queue_named(state: State, name: str) -> QueueState | None:
    """Return the queue of a name; None if there is none."""
    try:
        found = destinations.look_up(state, destinations.read_name(state, name), Access.SEND)
    except UsageError:
        return None
    return found if isinstance(found, QueueState) else None


def room_in(carrier: str, name: str, queue: QueueState | None) -> RoomKnown:
    """Return how many messages a queue has and how many bytes still fit; None is a queue not created yet."""
    if queue is None:
        return RoomKnown(carrier, name)
    quota = queue.record.settings.quota
    free = None if quota == FOREVER else max(quota * KILOBYTE - queue.total_bytes - queue.counts.reserved, 0)
    unread = len(queue.order) + len(queue.order.locked) + queue.counts.delayed + len(queue.delayed_express)
    return RoomKnown(carrier, name, unread, free)
