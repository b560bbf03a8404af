"""Implements WS-ReliableMessaging as a machine, which passes each event and signal to its rule."""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.wsrm import administration, arrivals, backchannel, events
from reliquary.protocols.wsrm.codec.values import Acknowledgement
from reliquary.protocols.wsrm.destination import acknowledging, requests, room
from reliquary.protocols.wsrm.destination import ending as destination_ending
from reliquary.protocols.wsrm.recovery import recover
from reliquary.protocols.wsrm.schemes import ENDPOINT_PATH, WORDS
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source import ending as source_ending
from reliquary.protocols.wsrm.source import (
    offered,
    polling,
    posts_due,
    restoring,
    retransmission,
    sending,
    sessions,
    waits,
)
from reliquary.protocols.wsrm.state import OwnAddress, State
from reliquary.queueing.model.message import ObjectId
from reliquary.queueing.model.travel import transfer


class Wsrm(Ruled[State]):
    """Source and destination as one machine.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: WsrmSettings) -> None:
        state = State(rows, settings)
        super().__init__(state, _RULES, _SIGNAL_RULES, _TIMERS)

        def message_id_of(identifier: ObjectId) -> str:
            return requests.message_id_of(state, identifier)

        def due(address: str) -> tuple[Acknowledgement, ...]:
            return acknowledging.take_due(state, address)

        state.message_id_of = message_id_of
        state.acknowledgements_due = due
        recover(state)

    def finish(self, now: Instant) -> None:
        """End the offered sequences of ended ones, and give replies to the requests that wait for them."""
        state = self.state
        if state.turn.ended:
            ended, state.turn.ended = state.turn.ended, []
            for number in ended:
                offered.end(state, number, now)
        if state.turn.ready:
            backchannel.serve(state, now)


def _on_era(state: State, signal: transfer.EraBegan, now: Instant) -> None:
    """Begin new sequences in both roles, because the store was restored."""
    destination_ending.on_era(state, signal, now)
    restoring.on_era(state, signal, now)


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """Let both roles continue with work from before a restart, because the server listens."""
    state.address = OwnAddress(event.origin, event.authorities)
    state.draft.signal(transfer.AddressesKnown(WORDS, event.authorities, ENDPOINT_PATH))
    room.on_start(state, now)
    sessions.on_addressed(state, now)


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.PostArrived: arrivals.on_post,
    events.PostEnded: arrivals.on_post_ended,
    events.CallerLeft: arrivals.on_caller_left,
    events.Addressed: _addressed,
    events.CloseSequence: administration.on_close_wanted,
    events.TerminateSequence: administration.on_terminate_wanted,
}

_SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = {
    transfer.BatchJudged: arrivals.on_judged,
    transfer.RoomKnown: room.on_room_known,
    transfer.ConnectionWanted: sessions.on_connection_wanted,
    transfer.SendUserMessage: sending.on_send,
    posts_due.PostsDue: sending.on_posts_due,
    transfer.MessageWithdrawn: sending.on_withdrawn,
    transfer.QueuePaused: sessions.on_paused,
    transfer.QueueResumed: sessions.on_resumed,
    transfer.ManagerOnline: sessions.on_online,
    transfer.EraBegan: _on_era,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    acknowledging.ACKNOWLEDGE: acknowledging.on_interval,
    destination_ending.INACTIVITY: destination_ending.on_inactivity,
    destination_ending.FORGET: destination_ending.on_forget,
    waits.RETRANSMIT: retransmission.on_time_out,
    polling.POLL: polling.on_poll,
    sessions.IDLE: source_ending.on_idle,
    backchannel.REPLY_WAIT: backchannel.on_reply_wait,
}

SIGNALS: Final = tuple(_SIGNAL_RULES)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
