"""Defines the state of the source: outgoing sequences, and the sessions of outgoing queues.

The rows of sequences and the numbers of messages are durable: facts change them, and a restart reads their
rows.  All other state is lost with the process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from reliquary.base.ranges import NumberRanges
from reliquary.protocols.wsrm.codec.values import Dialect, Reference
from reliquary.protocols.wsrm.settings import PeerSettings
from reliquary.protocols.wsrm.source.flow import Flow
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.source.ways import SendingWay
from reliquary.queueing.model.message import Message


class Purpose(Enum):
    """The reason why an envelope was posted."""

    CREATE = "create"
    MESSAGE = "message"
    ACK_REQUEST = "ack-request"
    CLOSE = "close"
    """CloseSequence; in WS-RM 1.0 LastMessage, or the AckRequested that replaces CloseSequence."""
    TERMINATE = "terminate"


@dataclass(frozen=True, slots=True)
class Posted:
    """A request that we sent and that has no response yet."""

    purpose: Purpose
    sequence: int
    number: int = 0
    """The number of the message in the sequence."""


@dataclass(slots=True)
class Flight:
    """A message that has a number in its sequence and no acknowledgement yet."""

    number: int
    lookup_id: int
    """The LookupIdentifier; 0 if the message left its queue before, so that no outcome is reported."""
    message: Message | None = None
    """None until the manager hands it out again after a restart."""
    ticket: int = 0
    """The ticket of the request that carries the message; 0 if no request with it is open."""
    sent: bool = False
    """Whether the message was sent in this process."""
    taken: bool = False
    """Whether its last response had a status of success without an acknowledgement."""
    retries: int = 0
    """How often the message was sent again because no acknowledgement came in time."""
    resent_in_round: int = -1
    """The round of acknowledgements in which the message was last retransmitted without a wait."""


@dataclass(slots=True)
class Sequence:
    """A sequence on which this manager sends."""

    row: Outbound
    acknowledged: NumberRanges = field(default_factory=NumberRanges)
    """The acknowledged numbers, as in the row."""
    flights: dict[int, Flight] = field(default_factory=dict)
    """Messages without an acknowledgement, in the order of their numbers."""
    numbers: dict[int, int] = field(default_factory=dict)
    """The message numbers by LookupIdentifier."""
    due: set[int] = field(default_factory=set)
    """Numbers to send or retransmit as soon as flow control allows it."""
    overdue: bool = False
    """Whether the time-out of the acknowledgement added some of them."""
    dropped: set[int] = field(default_factory=set)
    """Numbers that the peer did not accept: the response to them acknowledged the sequence without them."""
    flow: Flow = field(default_factory=Flow)
    poll_due: bool = False
    """Whether an AckRequested waits for the next MakeConnection."""
    is_draining: bool = False
    """Whether no further number is given: the sequence is closed when all messages are acknowledged."""
    round: int = 0
    """The number of acknowledgements with new information."""
    used: int = 0
    """When a message of the sequence was last sent or received, in microseconds since 1970."""
    timeouts: int = 0
    """The number of time-outs of the wait for an acknowledgement, since the last progress."""
    deadline: int = 0
    """When the wait for an acknowledgement ends; 0 if the source does not wait."""
    fires: int = 0
    """When the timer of this wait fires; 0 if it is not set."""
    tries: int = 0
    """How often CreateSequence, CloseSequence or TerminateSequence was sent in this phase."""
    terminates_for_last_ack: bool = False
    """For WS-RM 1.0: whether TerminateSequence was sent to get the last acknowledgement on its response."""
    heard_last: bool = False
    """For WS-RM 1.0: whether an acknowledgement came after LastMessage, perhaps without its number."""
    retransmissions: int = 0
    """Messages that were sent again."""

    @property
    def number(self) -> int:
        """The number of the sequence at this manager."""
        return self.row.number

    @property
    def phase(self) -> Phase:
        """The phase of the sequence's state machine."""
        return self.row.phase

    @property
    def is_orphaned(self) -> bool:
        """Whether no message of the sequence is in the outgoing queue any more."""
        return not self.numbers


@dataclass(slots=True)
class Session:
    """The connection state of an outgoing queue."""

    queue: int
    destination: str
    """The format name of the destination."""
    way: SendingWay
    is_open: bool = False
    """Whether the manager hands out messages."""
    epoch: int = 0
    """The epoch of the connection; 0 without a connection."""
    paused: bool = False
    refusing: bool = False
    """Whether the messages are refused, because their client has disconnected."""
    posted: dict[int, Posted] = field(default_factory=dict)
    """Requests without a response, by ticket."""
    waiting: dict[int, Message] = field(default_factory=dict)
    """Messages that the manager handed out and that have no number, by LookupIdentifier, in their order."""
    unconfirmed: int = 0
    """The number of messages that the peer accepted since its last acknowledgement; see `silence`."""
    unacknowledged_sequences: int = 0
    """How many sequences in a row ended without any acknowledged message, at a silent peer."""
    acknowledgements: int = 0
    """The number of acknowledgements for the current sequence."""
    acknowledged_at: int = 0
    """When the last acknowledgement came, in microseconds since 1970."""

    @property
    def peer(self) -> PeerSettings:
        """The settings for the destination."""
        return self.way.peer


@dataclass(frozen=True, slots=True)
class AcceptedOffer:
    """A sequence that this manager offered for replies, and that a peer accepted."""

    identifier: str
    queue: str
    """The destination of its messages."""
    dialect: Dialect
    acks_to: Reference


@dataclass(slots=True)
class SourceState:
    """The state of all outgoing sequences."""

    sequences: dict[int, Sequence] = field(default_factory=dict)
    """The sequences by their local numbers."""
    by_identifier: dict[str, int] = field(default_factory=dict)
    by_create_id: dict[str, int] = field(default_factory=dict)
    """Sequences that are being created, by the MessageID of CreateSequence."""
    current: dict[int, int] = field(default_factory=dict)
    """The sequence of each outgoing queue that takes messages, or did until it was closed."""
    sessions: dict[int, Session] = field(default_factory=dict)
    """The sessions by the numbers of their outgoing queues."""
    wanted: dict[int, str] = field(default_factory=dict)
    """Destinations by outgoing queue; their sessions open when the server listens."""
    queues_due: dict[int, None] = field(default_factory=dict)
    """Outgoing queues for which something may be sent at the end of this turn."""
    accepted_offers: list[AcceptedOffer] = field(default_factory=list)
    """Sequences that this manager offered and that peers accepted in this turn."""
    last_epoch: int = 0
    last_ticket: int = 0
    online: bool = True
    """Whether the queue manager is online, so that messages are sent."""

    def of_queue(self, queue: int) -> Sequence | None:
        """Return the current sequence of an outgoing queue."""
        number = self.current.get(queue)
        return None if number is None else self.sequences[number]

    def index(self, row: Outbound) -> None:
        """Add a sequence to the indexes by its names; only `apply` and `recover` call this."""
        if row.identifier:
            self.by_identifier[row.identifier] = row.number
        if row.phase is Phase.CREATING:
            self.by_create_id[row.create_id] = row.number
        else:
            self.by_create_id.pop(row.create_id, None)
        if row.phase is Phase.TERMINATING:
            if self.current.get(row.queue) == row.number:
                del self.current[row.queue]
        elif row.queue:
            self.current[row.queue] = row.number

    def forget(self, row: Outbound) -> None:
        """Remove a sequence that has ended; only `apply` calls this."""
        del self.sequences[row.number]
        self.by_create_id.pop(row.create_id, None)
        if self.by_identifier.get(row.identifier) == row.number:
            del self.by_identifier[row.identifier]
        if self.current.get(row.queue) == row.number:
            del self.current[row.queue]
