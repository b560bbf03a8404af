"""Implements MQQB as a machine, which passes each event and signal to its rule.

Modules of this folder:

    codec              bytes <-> packets
    sessions           connections to peers: handshake, window, session acknowledgements, timers
    sender             messages of outgoing queues are numbered and sent until an acknowledgement comes
    receiver           messages that come are judged, stored and acknowledged
    state, tables      what MQQB knows; the durable part of it is streams (`reliquary.streams`)
    events, effects    what the network reports, and what it is asked to do
    settings           what an administrator chose
    carrier            which destinations are its own, and which messages it can bring there
    machine            the events, signals and timers that MQQB takes, each with its rule
"""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.mqqb import administration, arrivals, events, pings
from reliquary.protocols.mqqb.receiver import ordering
from reliquary.protocols.mqqb.sender import closing as streams_closing
from reliquary.protocols.mqqb.sender import queues, resending, sending, streams
from reliquary.protocols.mqqb.sessions import acknowledging, closing, opening
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Identity, State
from reliquary.queueing.model.names.schemes import OS, TCP
from reliquary.queueing.model.travel import transfer
from reliquary.streams.recovery import recover
from reliquary.streams.restoring import begin_era


class Mqqb(Ruled[State]):
    """[MS-MQQB] as a machine.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: MqqbSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _SIGNAL_RULES, _TIMERS)
        recover(self.state)

    def finish(self, now: Instant) -> None:
        """Ask the network to send the packets that the rule has made."""
        del now
        if self.state.unsent:  # most rules make no packet
            closing.flush(self.state)


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """Let sender and receiver continue after a restart, because the server listens now (QB-167)."""
    state.addressed = True
    state.own_hosts = event.names | event.addresses
    state.draft.signal(transfer.AddressesKnown((TCP.word,), event.addresses))
    state.draft.signal(transfer.AddressesKnown((OS.word,), event.names | event.addresses))
    queues.connect_wanted(state, now)
    ordering.on_addressed(state, now)


def _identity_known(state: State, signal: transfer.IdentityKnown, now: Instant) -> None:
    """Take the identity of the manager, which packets name from now on (QB-164)."""
    del now
    state.identity = Identity(signal.identifier, signal.lineage, signal.computer_name)


def _era_began(state: State, signal: transfer.EraBegan, now: Instant) -> None:
    """Mark the streams of both directions, because the store was restored."""
    del now
    begin_era(state, Instant(signal.era.began))


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.Addressed: _addressed,
    events.AddressesFound: opening.on_addresses_found,
    events.Dialled: opening.on_dialled,
    events.DialFailed: opening.on_dial_failed,
    events.Accepted: opening.on_accepted,
    events.PacketsArrived: arrivals.on_packets,
    events.ConnectionLost: opening.on_lost,
    events.PingArrived: pings.on_ping,
    events.HandOutStored: streams.on_stored,
    events.InboxDue: arrivals.on_inbox_due,
    events.CloseSession: administration.on_close_session,
    events.EndSessions: administration.on_end_sessions,
    events.ResetStream: administration.on_reset,
}

_SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = {
    transfer.EraBegan: _era_began,
    transfer.IdentityKnown: _identity_known,
    transfer.ArrivalJudged: arrivals.on_judged,
    transfer.RunJudged: arrivals.on_run_judged,
    transfer.ReceiptDue: ordering.on_receipt_due,
    transfer.ConnectionWanted: queues.on_connection_wanted,
    transfer.SendUserMessage: sending.on_send,
    sending.SendsDue: sending.on_sends_due,
    transfer.MessageWithdrawn: sending.on_withdrawn,
    transfer.QueuePaused: queues.on_paused,
    transfer.QueueResumed: queues.on_resumed,
    transfer.ManagerOnline: queues.on_online,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    closing.INITIALIZATION: closing.on_initialization,
    closing.CLEANUP: closing.on_cleanup,
    closing.ACK_WAIT: closing.on_ack_wait,
    acknowledging.ACK_SEND: acknowledging.on_ack_send,
    ordering.ORDER_ACK: ordering.on_order_ack_timer,
    resending.ORDER_WAIT: streams_closing.on_wait_over,
}
"""The timers of 3.1.2 (QB-135).

The manager has the timer for retries, and an age replaces those of caches.
"""

SIGNALS: Final = tuple(_SIGNAL_RULES)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
