"""Selects the queues whose room the queue manager reports: those of sequences that need it."""

from __future__ import annotations

from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.destination.state import TargetQueue
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import RoomWatched


def watch(state: State, target: TargetQueue) -> None:
    """Let the queue manager report the room of a queue as long as a sequence needs it."""
    here = state.destination
    needed = bool(target.open or target.blocked)
    if needed != (target.name in here.watched):
        names = here.watched | {target.name} if needed else here.watched - {target.name}
        here.watched = names
        state.draft.signal(RoomWatched(NAME, names))
    if not needed:
        here.targets.pop(target.name, None)


def watch_all(state: State) -> None:
    """Request the reports for all queues that need them, after a start."""
    here = state.destination
    here.targets = {name: target for name, target in here.targets.items() if target.open or target.blocked}
    here.watched = frozenset(here.targets)
    if here.watched:
        state.draft.signal(RoomWatched(NAME, here.watched))
