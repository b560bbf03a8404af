"""Defines the state that the rules of WS-ReliableMessaging read and write.

Durable state changes only through `destination.apply`, `source.apply` and `numbering`; `recovery.recover`
reads it from the rows.  Everything here is lost with the process, except `counters`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.base.words import Word
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Envelope
from reliquary.protocols.wsrm.destination.state import DestinationState
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.mapping import message_id_of
from reliquary.protocols.wsrm.numbering import Counters
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source.state import SourceState
from reliquary.queueing.model.message import ObjectId


def _nothing_due(address: str) -> tuple[Acknowledgement, ...]:
    del address
    return ()


class Count(Word):
    """The counters for the metrics."""

    DUPLICATES = "duplicates"
    """The number of messages that came again."""
    NO_ROOM = "no-room"
    """Messages that were dropped because there was no room for them; their source sends them again."""
    ACKNOWLEDGEMENTS_SENT = "acknowledgements-sent"
    ACKNOWLEDGEMENTS_RECEIVED = "acknowledgements-received"
    RETRANSMISSIONS = "retransmissions"
    """The messages that the own source sent again."""
    POLLS = "polls"
    """The AckRequested that the own source sent while BufferRemaining was 0."""
    FAULTS_SENT = "faults-sent"
    FAULTS_RECEIVED = "faults-received"
    GAPS = "gaps"
    """Messages that were missing when their sequence ended."""


@dataclass(slots=True)
class TurnState:
    """State of one turn only; it is empty when the turn ends.

    `plain` and `destination.delivery` add exchanges, `arrivals` removes them; `destination.ending` and the
    modules of `source` record the work of `machine` and `backchannel` for the end of the turn.
    """

    exchanges: dict[int, Exchange] = field(default_factory=dict)
    """Exchanges that the queue manager judges, by ticket."""
    ended: list[int] = field(default_factory=list)
    """Incoming sequences that ended, so that the sequences which their clients offered end too."""
    ready: list[int] = field(default_factory=list)
    """Sequences that send on responses and have something to send."""


@dataclass(slots=True)
class Backchannel:
    """Envelopes for clients that have no address; `backchannel` writes it, and `transport` adds envelopes."""

    unanswered: dict[int, Exchange] = field(default_factory=dict)
    """Requests whose responses wait for a reply, by caller."""
    mailboxes: dict[str, deque[Envelope]] = field(default_factory=dict)
    """Envelopes that wait for clients that fetch them with MakeConnection, by their addresses."""


@dataclass(slots=True)
class PeerConnections:
    """The connections to addresses of peers; `transport` adds them, `arrivals` counts their failures.

    Connections of outgoing queues are not here: they have the numbers of their queues.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    """The number of each connection, by URL."""
    epochs: dict[int, int] = field(default_factory=dict)
    """How often each connection failed: a connection that failed takes no further request."""


@dataclass(slots=True)
class OwnAddress:
    """The own names; `machine` writes them when the server listens."""

    origin: str = ""
    """The `http://host[:port]` of the endpoints; empty until the server listens."""
    authorities: frozenset[str] = frozenset()


class State:
    """The state that both roles share, and the state of each in `destination` and `source`."""

    def __init__(self, rows: Rows, settings: WsrmSettings) -> None:
        self.rows = rows
        self.settings = settings
        self.draft = Draft()
        self.destination = DestinationState()
        self.source = SourceState()
        self.turn = TurnState()
        self.backchannel = Backchannel()
        self.connections = PeerConnections()
        self.address = OwnAddress()
        self.counters = Counters()
        self.identifiers = 0
        """How many identifiers were made since the process started."""
        self.last_ticket = 0
        """The last number of an exchange that the manager judges, or of a request that we sent."""
        self.message_id_of: Callable[[ObjectId], str] = message_id_of
        """Returns the MessageID of a message that may be replied to; the machine replaces it."""
        self.acknowledgements_due: Callable[[str], tuple[Acknowledgement, ...]] = _nothing_due
        """Takes the due acknowledgements for an envelope that leaves for an address.

        The machine replaces it.
        """
        self.counts: Counter[Count] = Counter()
        """Counts since the process started."""
