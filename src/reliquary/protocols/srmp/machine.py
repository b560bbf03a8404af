"""Implements SRMP as a machine, which passes each event and signal to its rule.

Modules of this folder:

codec              bytes <-> Message
arrivals           messages that arrive are decoded, routed, and passed to a role
sender             sessions of outgoing queues, POSTs and their answers, streams and their receipts
receiver           messages: judged, stored, answered; the receipts that their senders get
state, tables      the state of SRMP; the durable part of it is streams (`reliquary.streams`)
events, effects    what the network reports, and what it performs
signing, trust     XML signatures of both roles
settings           settings of an administrator; `redirection` is a part of it
machine            the events, signals and timers that SRMP takes, each with its rule
"""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.srmp import administration, arrivals, events
from reliquary.protocols.srmp.receiver import messages, receipts
from reliquary.protocols.srmp.sender import closing, posting, resending, sessions
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State
from reliquary.queueing.model.travel import transfer
from reliquary.streams.recovery import recover
from reliquary.streams.restoring import begin_era


class Srmp(Ruled[State]):
    """[MC-MQSRM] as a machine.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: SrmpSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _SIGNAL_RULES, _TIMERS)
        recover(self.state)


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """Let sender and receiver continue with work from before a restart, because the server listens."""
    posting.on_addressed(state, event, now)
    receipts.on_addressed(state, event, now)


def _era_began(state: State, signal: transfer.EraBegan, now: Instant) -> None:
    """Mark the streams of both directions, because the store was restored."""
    del now
    begin_era(state, Instant(signal.era.began))


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.PostArrived: arrivals.on_post,
    events.ApduArrived: arrivals.on_apdu,
    events.PostEnded: posting.on_post_ended,
    events.Addressed: _addressed,
    events.ResetStream: administration.on_reset,
}

_SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = {
    transfer.EraBegan: _era_began,
    transfer.ArrivalJudged: messages.on_judged,
    transfer.ReceiptDue: receipts.on_receipt_due,
    transfer.ListenersChanged: arrivals.on_listeners_changed,
    transfer.ConnectionWanted: sessions.on_connection_wanted,
    transfer.SendUserMessage: posting.on_send,
    posting.PostsDue: posting.on_posts_due,
    transfer.MessageWithdrawn: posting.on_withdrawn,
    transfer.QueuePaused: sessions.on_paused,
    transfer.QueueResumed: sessions.on_resumed,
    transfer.ManagerOnline: sessions.on_online,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    receipts.COALESCING: receipts.on_coalescing,
    resending.RECEIPT_WAIT: closing.on_wait_over,
    sessions.SESSION_CLEANUP: sessions.on_session_cleanup,
}

SIGNALS: Final = tuple(_SIGNAL_RULES)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
