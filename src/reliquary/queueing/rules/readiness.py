"""Defines the states of the queue manager as a table: QueueManagerState, [MS-MQDMPR] 3.1.1.1.

         started                initialized               stop
STOPPED --------> INITIALIZING ------------> READY -----------------> STOPPING
   ^                |      |                                          ^   |
   |  failed, or    |      '------------------- stop -----------------'   |
   |<--- in doubt --'                                                     |
   '----------------------------- all stopped ----------------------------'
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.turn import CancelTimer
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import IdentityKnown
from reliquary.queueing.rules.outgoing import dispatch_all, set_idle_timer

IN_DOUBT: Final = ("in doubt", 0)
"""The timer of a start that waits for the outcomes of transactions."""


class ManagerEvent(Enum):
    """The events that change the state of the queue manager."""

    STARTED = "is started"
    INITIALIZED = "has done the steps of its start"
    FAILED = "cannot do one of them"
    IN_DOUBT = "got no outcome of transactions in time"
    STOP = "is asked to stop"
    ALL_STOPPED = "has notified all that it stops"


NEXT: Final[Mapping[tuple[ManagerState, ManagerEvent], ManagerState | None]] = {
    (ManagerState.STOPPED, ManagerEvent.STARTED): ManagerState.INITIALIZING,
    (ManagerState.STOPPED, ManagerEvent.INITIALIZED): None,
    (ManagerState.STOPPED, ManagerEvent.FAILED): None,
    (ManagerState.STOPPED, ManagerEvent.IN_DOUBT): None,
    (ManagerState.STOPPED, ManagerEvent.STOP): ManagerState.STOPPED,  # a failed start leads here too
    (ManagerState.STOPPED, ManagerEvent.ALL_STOPPED): None,
    (ManagerState.INITIALIZING, ManagerEvent.STARTED): None,
    (ManagerState.INITIALIZING, ManagerEvent.INITIALIZED): ManagerState.READY,
    (ManagerState.INITIALIZING, ManagerEvent.FAILED): ManagerState.STOPPED,  # DM-098
    (ManagerState.INITIALIZING, ManagerEvent.IN_DOUBT): ManagerState.STOPPED,  # DM-123
    (ManagerState.INITIALIZING, ManagerEvent.STOP): ManagerState.STOPPING,
    (ManagerState.INITIALIZING, ManagerEvent.ALL_STOPPED): None,
    (ManagerState.READY, ManagerEvent.STARTED): None,
    (ManagerState.READY, ManagerEvent.INITIALIZED): None,
    (ManagerState.READY, ManagerEvent.FAILED): None,
    (ManagerState.READY, ManagerEvent.IN_DOUBT): None,
    (ManagerState.READY, ManagerEvent.STOP): ManagerState.STOPPING,
    (ManagerState.READY, ManagerEvent.ALL_STOPPED): None,
    (ManagerState.STOPPING, ManagerEvent.STARTED): None,
    (ManagerState.STOPPING, ManagerEvent.INITIALIZED): None,
    (ManagerState.STOPPING, ManagerEvent.FAILED): None,
    (ManagerState.STOPPING, ManagerEvent.IN_DOUBT): None,
    (ManagerState.STOPPING, ManagerEvent.STOP): None,
    (ManagerState.STOPPING, ManagerEvent.ALL_STOPPED): ManagerState.STOPPED,
}
"""The state that follows (DM-015); None for an event that cannot happen in this state."""


def advance(state: State, event: ManagerEvent) -> None:
    """Change the state of the manager by an event; raise UsageError if it cannot happen now."""
    after = NEXT[state.manager.state, event]
    if after is None:
        raise UsageError(f"a queue manager that is {state.manager.state.value} never {event.value}")
    state.manager.state = after


def be_certain(state: State) -> None:
    """Complete a start that waited for outcomes of transactions, if the last one is known now."""
    if state.manager.state is ManagerState.INITIALIZING and not state.transactions.open:
        state.draft.ask(CancelTimer(IN_DOUBT))
        be_ready(state)


def be_ready(state: State) -> None:
    """Answer requests from now on, and send what waits in outgoing queues."""
    advance(state, ManagerEvent.INITIALIZED)
    if IdentityKnown in state.subscribed:
        identity = state.identity()
        state.draft.signal(IdentityKnown(identity.identifier, state.manager.lineage, identity.computer_name))
    state.travel.listeners_changed = True
    dispatch_all(state)
    set_idle_timer(state)
    state.reply(state.manager.starter, Answer(HResult.OK))


def stay_in_doubt(state: State) -> None:
    """Fail the start: DTC Reenlistment Timeout, whose answer names the transactions (DM-123)."""
    advance(state, ManagerEvent.IN_DOUBT)
    names = ", ".join(map(str, state.transactions.open))
    why = f"no outcome came in time for these prepared transactions, commit or abort each: {names}"
    state.reply(state.manager.starter, Answer(HResult.SERVICE_NOT_AVAILABLE, why))
