"""Defines the tables of the server role.

A rule for each event, each signal, and each answer of the manager.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reliquary.base.ruled import Rule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.mqqp import events
from reliquary.protocols.mqqp.server import (
    asking,
    calls,
    cancelling,
    cursors,
    ending,
    opening,
    ports,
    purging,
    reading,
    rundown,
)
from reliquary.protocols.mqqp.server.state import Asked, Read
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.travel.asking import RequestAnswered

ANSWERED: Final[Mapping[type[Asked], Callable[[State, Any, Any, Instant], None]]] = {
    Read: reading.on_read,
    ending.EndingRead: ending.on_ended,
    opening.Opening: opening.on_opened,
    opening.Naming: opening.on_named,
    cursors.OpeningCursor: cursors.on_cursor_opened,
    purging.FindingQueue: purging.on_queue_found,
    purging.Purging: purging.on_purged,
    asking.Unattended: asking.on_unattended,
}


def _on_answered(state: State, signal: RequestAnswered, now: Instant) -> None:
    asked = state.server.asked.pop(signal.caller)
    ANSWERED[type(asked)](state, asked, signal.answer, now)


RULES: Final[Mapping[type[Event], Rule[State]]] = {
    events.PortsKnown: ports.on_ports_known,
    events.ClientBound: rundown.on_bound,
    events.ClientCalled: calls.on_called,
    events.CallCancelled: cancelling.on_cancelled,
    events.ConnectionLost: rundown.on_connection_lost,
    events.AssociationLost: rundown.on_association_lost,
}
SIGNAL_RULES: Final[Mapping[type[Signal], Rule[State]]] = {RequestAnswered: _on_answered}
