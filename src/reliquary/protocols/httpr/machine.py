"""Implements HTTPR as a machine, which passes each event and signal to its rule.

Modules of this folder:

client/         the agent that sends requests          server/           the agent that answers them

What both share:
codec/          bytes <-> headers and batches          machine           events and signals, each to its rule
events          what the network reports               effects           what the network performs
facts, apply    changes of durable state (3.12)        tables, recovery  rows on disk, and back
settings        settings of an administrator           state             what the rules read and write
addresses       names of agents, URLs, Destinations    routing           which queue a name means
fields          the header of a message as fields      attributes        product fields of Reliquary
message_encode  Message -> header fields               message_decode    header fields -> Message
soap            SOAP messages                          transactions      what an outcome means for each batch
batches         what follows for the messages          outgoing          which agent sends a queue
administration  requests of administrators             schemes           format names of agents
"""

from __future__ import annotations

from typing import Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.httpr import administration, events
from reliquary.protocols.httpr.client import administration as client_administration
from reliquary.protocols.httpr.client import agent as client
from reliquary.protocols.httpr.client.channels import IDLE
from reliquary.protocols.httpr.client.failures import RETRY
from reliquary.protocols.httpr.client.pull import FETCH
from reliquary.protocols.httpr.memory import on_era_began
from reliquary.protocols.httpr.recovery import recover
from reliquary.protocols.httpr.schemes import AGENT_PATH, WORDS
from reliquary.protocols.httpr.server import agent as server
from reliquary.protocols.httpr.server.pull import BATCH_WAIT
from reliquary.protocols.httpr.server.sessions import IDLE_SESSION
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.travel import transfer

_SERVER: Final = Role.SERVER


class Httpr(Ruled[State]):
    """HTTPR 1.1 as a machine, both agents.  Its state is rebuilt from the rows it is given."""

    def __init__(self, rows: Rows, settings: HttprSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _SIGNAL_RULES, _TIMERS)
        recover(self.state)


# -- rules that concern both agents


def _addressed(state: State, event: events.Addressed, now: Instant) -> None:
    """Take the name under which the server listens, and let the client continue its work."""
    state.origin, state.authorities = event.origin, event.authorities
    state.draft.signal(transfer.AddressesKnown(WORDS, event.authorities, AGENT_PATH))
    client.on_addressed(state, now)


def _waiting(state: State, signal: transfer.MessagesWaiting, now: Instant) -> None:
    """Give waiting messages to a PULL of the peer, or let the client agent send them."""
    if signal.destination:
        state.waiting[signal.queue] = signal.destination
    server.on_waiting(state, signal, now)
    client.on_waiting(state, signal, now)


# -- rules of the agent whose channel it is


def _judged(state: State, signal: transfer.BatchJudged, now: Instant) -> None:
    if state.channels[signal.ticket].role is _SERVER:
        server.on_judged(state, signal, now)
    else:
        client.on_judged(state, signal, now)


def _reserved(state: State, signal: transfer.MessagesReserved, now: Instant) -> None:
    if state.channels[signal.key[0]].role is _SERVER:
        server.on_reserved(state, signal, now)
    else:
        client.on_reserved(state, signal, now)


_RULES: Final[dict[type[Event], Rule[State]]] = {
    events.RequestBegun: server.on_request_begun,
    events.RequestArrived: server.on_request,
    events.ConnectionGone: server.on_connection_gone,
    events.ResponseArrived: client.on_response,
    events.RequestFailed: client.on_failed,
    events.Addressed: _addressed,
    events.ReportChannel: client_administration.on_report_wanted,
    events.ForgetChannel: administration.on_forget_wanted,
    events.SettleChannel: administration.on_settle_wanted,
}

_SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = {
    transfer.EraBegan: on_era_began,
    transfer.BatchJudged: _judged,
    transfer.MessagesReserved: _reserved,
    transfer.MessagesWaiting: _waiting,
    transfer.ConnectionWanted: client.on_connection_wanted,
    transfer.ManagerOnline: client.on_online,
    transfer.QueueResumed: client.on_resumed,
}

_TIMERS: Final[dict[str, TimerRule[State]]] = {
    IDLE_SESSION: server.on_idle_session,
    BATCH_WAIT: server.on_batch_wait,
    RETRY: client.on_retry,
    FETCH: client.on_fetch,
    IDLE: client.on_idle,
}

SIGNALS: Final = tuple(_SIGNAL_RULES)
TAKES: Final = tuple(_RULES)
TIMERS: Final = tuple(_TIMERS)
