"""The states of the queue manager as a table: QueueManagerState, [MS-MQDMPR] 3.1.1.1.

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


class Happening(Enum):
    """The events that change the state of the queue manager."""

    STARTED = "is started"
    INITIALIZED = "has done the steps of its start"
    FAILED = "cannot do one of them"
    IN_DOUBT = "heard no outcome of transactions in time"
    STOP = "is asked to stop"
    ALL_STOPPED = "has told everyone that it stops"


NEXT: Final[Mapping[tuple[ManagerState, Happening], ManagerState | None]] = {
    (ManagerState.STOPPED, Happening.STARTED): ManagerState.INITIALIZING,
    (ManagerState.STOPPED, Happening.INITIALIZED): None,
    (ManagerState.STOPPED, Happening.FAILED): None,
    (ManagerState.STOPPED, Happening.IN_DOUBT): None,
    (ManagerState.STOPPED, Happening.STOP): ManagerState.STOPPED,  # a failed start leads here too
    (ManagerState.STOPPED, Happening.ALL_STOPPED): None,
    (ManagerState.INITIALIZING, Happening.STARTED): None,
    (ManagerState.INITIALIZING, Happening.INITIALIZED): ManagerState.READY,
    (ManagerState.INITIALIZING, Happening.FAILED): ManagerState.STOPPED,  # DM-098
    (ManagerState.INITIALIZING, Happening.IN_DOUBT): ManagerState.STOPPED,  # DM-123
    (ManagerState.INITIALIZING, Happening.STOP): ManagerState.STOPPING,
    (ManagerState.INITIALIZING, Happening.ALL_STOPPED): None,
    (ManagerState.READY, Happening.STARTED): None,
    (ManagerState.READY, Happening.INITIALIZED): None,
    (ManagerState.READY, Happening.FAILED): None,
    (ManagerState.READY, Happening.IN_DOUBT): None,
    (ManagerState.READY, Happening.STOP): ManagerState.STOPPING,
    (ManagerState.READY, Happening.ALL_STOPPED): None,
    (ManagerState.STOPPING, Happening.STARTED): None,
    (ManagerState.STOPPING, Happening.INITIALIZED): None,
    (ManagerState.STOPPING, Happening.FAILED): None,
    (ManagerState.STOPPING, Happening.IN_DOUBT): None,
    (ManagerState.STOPPING, Happening.STOP): None,
    (ManagerState.STOPPING, Happening.ALL_STOPPED): ManagerState.STOPPED,
}
"""The state that follows (DM-015); None for an event that cannot happen in this state."""


def advance(state: State, happening: Happening) -> None:
    """Change the state of the manager by an event; raise UsageError if it cannot happen now."""
    after = NEXT[state.manager.state, happening]
    if after is None:
        raise UsageError(f"a queue manager that is {state.manager.state.value} never {happening.value}")
    state.manager.state = after


def be_certain(state: State) -> None:
    """Complete a start that waited for outcomes of transactions, if the last one is known now."""
    if state.manager.state is ManagerState.INITIALIZING and not state.transactions.open:
        state.draft.ask(CancelTimer(IN_DOUBT))
        be_ready(state)


def be_ready(state: State) -> None:
    """Answer requests from now on, and send what waits in outgoing queues."""
    advance(state, Happening.INITIALIZED)
    if IdentityKnown in state.heard:
        identity = state.identity()
        state.draft.tell(IdentityKnown(identity.identifier, state.manager.lineage, identity.computer_name))
    state.travel.listeners_changed = True
    dispatch_all(state)
    set_idle_timer(state)
    state.reply(state.manager.starter, Answer(HResult.OK))


def stay_in_doubt(state: State) -> None:
    """Fail the start: DTC Reenlistment Timeout, whose answer names the transactions (DM-123)."""
    advance(state, Happening.IN_DOUBT)
    names = ", ".join(map(str, state.transactions.open))
    why = f"the outcome of what was prepared is not known, and nobody told it in time: {names}"
    state.reply(state.manager.starter, Answer(HResult.SERVICE_NOT_AVAILABLE, why))
