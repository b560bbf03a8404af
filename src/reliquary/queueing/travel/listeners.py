"""Queues that listen to a multicast address: which they are, and who is told where to listen.

`state.listeners` has them by address, kept by `apply`.  A transactional queue is none: what comes by
multicast comes in no stream.
"""

from __future__ import annotations

from reliquary.queueing.model.names.formats import MulticastName
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.travel.transfer import ListenersChanged


def listening_to(state: State, name: MulticastName) -> list[QueueState]:
    """The queues that get a copy of what is sent there, the oldest first."""
    numbers = state.listeners.get(f"{name.address}:{name.port}", ())
    return [state.queues[number] for number in sorted(numbers)]


def tell(state: State) -> None:
    """Once the manager is ready, and whenever the addresses are others: all of them."""
    if state.manager_state is ManagerState.READY:
        state.listeners_changed = False
        if ListenersChanged in state.heard:
            state.draft.tell(ListenersChanged(frozenset(state.listeners)))
