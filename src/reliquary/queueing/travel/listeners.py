"""The queues that listen to a multicast address, and the notice of these addresses to the protocols.

`state.listeners` has the queues by address; `apply` keeps it.  A transactional queue never listens, because
messages that come by multicast belong to no stream.
"""

from __future__ import annotations

from reliquary.queueing.model.names.formats import MulticastName
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import ListenersChanged


def listening_to(state: State, name: MulticastName) -> list[QueueState]:
    """Return the queues that get a copy of each message to a multicast address, the oldest first."""
    numbers = state.travel.listeners.get(f"{name.address}:{name.port}", ())
    return [state.queues[number] for number in sorted(numbers)]


def report(state: State) -> None:
    """Send all multicast addresses to the protocols, when the manager is ready and when they change."""
    if state.manager.state is ManagerState.READY:
        state.travel.listeners_changed = False
        if ListenersChanged in state.subscribed:
            state.draft.signal(ListenersChanged(frozenset(state.travel.listeners)))
