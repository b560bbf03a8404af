"""HTTPR as a machine: events of the network and signals of the queue manager, each to its rule."""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.httpr import channels, deciding, driving, events, pulling, serving, troubles
from reliquary.protocols.httpr.recovery import recover
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
    driving.on_addressed(state, now)


def _judged(state: State, signal: transfer.BatchJudged, now: Instant) -> None:
    if signal.carrier != HOLDER:
        return
    if state.channels[signal.ticket].role is Role.SERVER:
        serving.on_judged(state, signal, now)
    else:
        driving.on_judged(state, signal, now)


def _held(state: State, signal: transfer.MessagesHeld, now: Instant) -> None:
    if signal.holder != HOLDER:
        return
    if state.channels[signal.key[0]].role is Role.SERVER:
        serving.on_held(state, signal, now)
    else:
        driving.on_held(state, signal, now)


def _waiting(state: State, signal: transfer.MessagesWaiting, now: Instant) -> None:
    """Messages wait: for somebody who fetches them, or for us to bring them."""
    if signal.destination:
        state.waiting[signal.queue] = signal.destination
    serving.on_waiting(state, signal, now)
    driving.on_waiting(state, signal, now)


def _forget(state: State, event: events.ForgetChannel, now: Instant) -> None:
    serving.on_forget_wanted(state, event, now)
    driving.on_forget_wanted(state, event, now)


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.RequestBegun: serving.on_request_begun,
    events.RequestArrived: serving.on_request,
    events.ConnectionGone: serving.on_connection_gone,
    events.ResponseArrived: driving.on_response,
    events.RequestFailed: driving.on_failed,
    events.Addressed: _addressed,
    events.ReportChannel: driving.on_report_wanted,
    events.ForgetChannel: _forget,
    events.SettleChannel: deciding.on_settle_wanted,
}

_HEARD: Final[dict[type[Signal], Rule[State]]] = {
    transfer.BatchJudged: _judged,
    transfer.MessagesHeld: _held,
    transfer.MessagesWaiting: _waiting,
    transfer.ConnectionWanted: driving.on_connection_wanted,
    transfer.ManagerOnline: driving.on_online,
    transfer.QueueResumed: driving.on_resumed,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    serving.IDLE_SESSION: serving.on_idle_session,
    serving.BATCH_WAIT: serving.on_batch_wait,
    troubles.RETRY: driving.on_retry,
    pulling.FETCH: driving.on_fetch,
    channels.IDLE: driving.on_idle,
}

HEARS: Final = tuple(_HEARD)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
