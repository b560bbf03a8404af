"""SRMP as a machine: events of the network and signals of the queue manager, each to its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, TimerFired, Turn
from reliquary.protocols.srmp import events, receipts, receiver, sender, sessions
from reliquary.protocols.srmp.recovery import recover
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State
from reliquary.queueing.travel import transfer


class Srmp:
    """[MC-MQSRM] as a machine.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: SrmpSettings) -> None:
        self.state = State(rows, settings)
        recover(self.state)

    def handle(self, event: Event, now: Instant) -> Turn:
        """Take one event."""
        if isinstance(event, TimerFired):
            _TIMERS[event.name[0]](self.state, event.name[1], now)
        else:
            _RULES[type(event)](self.state, event, now)
        return self.state.draft.take()

    def hear(self, signal: Signal, now: Instant) -> Turn:
        """Take what the queue manager says, inside its turn or one of ours."""
        _HEARD[type(signal)](self.state, signal, now)
        return self.state.draft.take()

    def settle(self) -> None:
        """All that is kept is kept turn by turn."""


Rule = Callable[[State, Any, Instant], None]


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """The server listens: what was outstanding before a restart goes on."""
    sender.on_addressed(state, event, now)
    receipts.on_addressed(state, event, now)


_RULES: Final[dict[type[Event], Rule]] = {
    events.PostArrived: receiver.on_post,
    events.ApduArrived: receiver.on_apdu,
    events.PostEnded: sender.on_post_ended,
    events.Addressed: _addressed,
}

_HEARD: Final[dict[type[Signal], Rule]] = {
    transfer.ArrivalJudged: receiver.on_judged,
    transfer.ReceiptDue: receipts.on_receipt_due,
    transfer.ListenersChanged: receiver.on_listeners_changed,
    transfer.ConnectionWanted: sessions.on_connection_wanted,
    transfer.SendUserMessage: sender.on_send,
    sender.PostsDue: sender.on_posts_due,
    transfer.MessageWithdrawn: sender.on_withdrawn,
    transfer.QueuePaused: sessions.on_paused,
    transfer.QueueResumed: sessions.on_resumed,
    transfer.ManagerOnline: sessions.on_online,
}

_TIMERS: Final[dict[str, Callable[[State, int, Instant], None]]] = {
    receipts.COALESCING: receipts.on_coalescing,
    sessions.RECEIPT_WAIT: sessions.on_receipt_wait,
    sessions.SESSION_CLEANUP: sessions.on_session_cleanup,
}

HEARS: Final = tuple(_HEARD)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
