"""Which queues the queue manager reports the room of: those of sequences that need to know it."""

from __future__ import annotations

from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.destination.state import TargetQueue
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import RoomWatched


def watch(state: State, place: TargetQueue) -> None:
    """Let the queue manager report the room of a queue exactly while a sequence needs it."""
    here = state.destination
    needed = bool(place.open or place.blocked)
    if needed != (place.name in here.watched):
        names = here.watched | {place.name} if needed else here.watched - {place.name}
        here.watched = names
        state.draft.tell(RoomWatched(NAME, names))
    if not needed:
        here.places.pop(place.name, None)


def watch_all(state: State) -> None:
    """Name all queues that are needed, after a start."""
    here = state.destination
    here.places = {name: place for name, place in here.places.items() if place.open or place.blocked}
    here.watched = frozenset(here.places)
    if here.watched:
        state.draft.tell(RoomWatched(NAME, here.watched))
