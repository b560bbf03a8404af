"""HTTPR as a machine: events of the network and signals of the queue manager, each to its rule."""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.httpr import administration, events
from reliquary.protocols.httpr.client import agent as client
from reliquary.protocols.httpr.client import channels, failures, pull
from reliquary.protocols.httpr.recovery import recover
from reliquary.protocols.httpr.server import agent as server
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.travel import transfer


class Httpr(Ruled[State]):
    """HTTPR 1.1 as a machine, both agents.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: HttprSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _HEARD, _TIMERS)
        recover(self.state)


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """The server listens: we have a name, and what was begun before a restart goes on."""
    state.origin, state.authorities = event.origin, event.authorities
    state.draft.tell(transfer.AgentKnown(event.authorities))
    client.on_addressed(state, now)


def _judged(state: State, signal: transfer.BatchJudged, now: Instant) -> None:
    if signal.carrier != HOLDER:
        return
    if state.channels[signal.ticket].role is Role.SERVER:
        server.on_judged(state, signal, now)
    else:
        client.on_judged(state, signal, now)


def _held(state: State, signal: transfer.MessagesHeld, now: Instant) -> None:
    if signal.holder != HOLDER:
        return
    if state.channels[signal.key[0]].role is Role.SERVER:
        server.on_held(state, signal, now)
    else:
        client.on_held(state, signal, now)


def _waiting(state: State, signal: transfer.MessagesWaiting, now: Instant) -> None:
    """Messages wait: for somebody who fetches them, or for us to bring them."""
    if signal.destination:
        state.waiting[signal.queue] = signal.destination
    server.on_waiting(state, signal, now)
    client.on_waiting(state, signal, now)


def _forget(state: State, event: events.ForgetChannel, now: Instant) -> None:
    server.on_forget_wanted(state, event, now)
    client.on_forget_wanted(state, event, now)


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.RequestBegun: server.on_request_begun,
    events.RequestArrived: server.on_request,
    events.ConnectionGone: server.on_connection_gone,
    events.ResponseArrived: client.on_response,
    events.RequestFailed: client.on_failed,
    events.Addressed: _addressed,
    events.ReportChannel: client.on_report_wanted,
    events.ForgetChannel: _forget,
    events.SettleChannel: administration.on_settle_wanted,
}

_HEARD: Final[dict[type[Signal], Rule[State]]] = {
    transfer.BatchJudged: _judged,
    transfer.MessagesHeld: _held,
    transfer.MessagesWaiting: _waiting,
    transfer.ConnectionWanted: client.on_connection_wanted,
    transfer.ManagerOnline: client.on_online,
    transfer.QueueResumed: client.on_resumed,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    server.IDLE_SESSION: server.on_idle_session,
    server.BATCH_WAIT: server.on_batch_wait,
    failures.RETRY: client.on_retry,
    pull.FETCH: client.on_fetch,
    channels.IDLE: client.on_idle,
}

HEARS: Final = tuple(_HEARD)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
