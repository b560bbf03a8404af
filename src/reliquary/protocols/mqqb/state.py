"""Defines the state of MQQB: streams (`reliquary.streams`), sessions, and outgoing queues with sessions.

Only the streams are durable: facts change them, and their rows rebuild them when the process starts.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.rows import Rows
from reliquary.base.time import Duration, Instant
from reliquary.protocols.mqqb.codec.packets import Packet
from reliquary.protocols.mqqb.refusals import Refusals
from reliquary.protocols.mqqb.sessions.phases import Phase
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.tables import STREAM_TABLES
from reliquary.queueing.model.message import NO_GUID, Attributes, Message, MessageClass
from reliquary.queueing.model.travel.transfer import SendUserMessage
from reliquary.streams.incoming import Coalescing, Incoming, StreamKey
from reliquary.streams.ladder import ReceiptWait
from reliquary.streams.progress import Progress
from reliquary.streams.state import StreamState
from reliquary.streams.tables import IncomingStream, OutgoingStream
from reliquary.wire.packet.patterns import Pattern
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user_message import UserMessage

ZERO: Final = Duration(0)


class Count(Enum):
    """The counters for metrics, since the process started."""

    __hash__ = object.__hash__  # each packet is counted

    SENT = "packets-sent"
    RECEIVED = "packets-received"
    RETRANSMITTED = "retransmitted"
    """Messages of streams that were sent before."""
    DUPLICATES = "duplicates"
    """Messages that came again, and were dropped."""
    OUT_OF_TURN = "out-of-turn"
    """Messages of a stream that came before a message that must come first."""
    NOT_ADMITTED = "not-admitted"
    """Messages of streams that were dropped because a limit for streams or senders is reached."""
    GAPS_CLOSED = "gaps-closed"
    """Streams that continued after numbers which were lost with a restored store."""
    SESSION_ACKS = "session-acks-sent"
    ORDER_ACKS_SENT = "order-acks-sent"
    ORDER_ACKS_RECEIVED = "order-acks-received"
    FINAL_ACKS_SENT = "final-acks-sent"
    FINAL_ACKS_LOST = "final-acks-lost"
    """Final acknowledgements that the manager did not accept for sending."""
    FINAL_ACKS_RECEIVED = "final-acks-received"
    STRANGE_ACKS = "strange-acks"
    """Acknowledgements that were ignored: for unknown streams, or from a peer that is not the receiver."""
    MALFORMED = "malformed"
    """Sessions that were closed because their bytes violate the protocol."""
    REFUSED = "sessions-refused"
    """Sessions of peers that were refused in the handshake."""
    TIMED_OUT = "timed-out"
    """Sessions that were closed because the peer was silent."""


class Weight(Enum):
    """The ways in which an entry counts in its session."""

    EXPRESS = "express"
    RECOVERABLE = "recoverable"
    STREAM = "stream"
    """A transactional message: it counts as a recoverable one, and only an order acknowledgement frees it."""
    ORDER_ACK = "order-ack"
    """An acknowledgement of this manager; it is made when it is sent, and is express (G-42)."""


class Entry(msgspec.Struct):
    """A packet that is to be sent or is under way, an element of OutgoingMessageTable (3.1.1.3.1.2).

    The table starts empty; the manager hands out the messages of a queue in order, also after a restart
    (QB-113).
    """

    weight: Weight
    queue: int = 0
    lookup_id: int = 0
    message: Message | None = None
    destination: str = ""
    mark: int = 0
    """The turn that handed it out (`SenderState.last_mark`)."""
    place: int = 0
    """The incoming stream that an order acknowledgement is for."""
    refused: UUID = NO_GUID
    """The sender of the message that a final acknowledgement reports as refused; else NO_GUID."""
    live: bool = True
    """Whether its outcome is still needed; false if its message was withdrawn or handed out again."""
    size: int = 0
    """The bytes of the packet after it was sent."""


@dataclass(slots=True)
class Session:
    """One TCP connection to a peer, [MS-MQQB] 3.1.1.3.1 (QB-105)."""

    number: int
    """Positive for a session that this manager opened, negative for one that it accepted."""
    phase: Phase
    began: Instant
    host: str = ""
    """The host that was dialled, in lower case; empty for a session that was accepted."""
    port: int = 0
    address: str = ""
    """RemoteQMAddress, from the socket (G-50)."""
    addresses: tuple[str, ...] = ()
    """NextHopCollection: all addresses that the resolver gave."""
    peer: UUID = NO_GUID
    """The queue manager at the other end; the specification calls it RemoteQMGuid."""
    pinged: bool = False
    window: int = 64
    peer_window: int = 64
    """The window that the peer announced; the specification calls it ReceivedWindowSize."""
    ack_wait: Duration = ZERO
    """How long the peer may leave packets without an acknowledgement; AckWaitTimeout."""
    recoverable_ack: Duration = ZERO
    """The delay of an acknowledgement of recoverable packets; RecoverableAckSendTimeout."""
    serial: int = 0
    """The serial of the last effect."""
    out: list[bytes] = field(default_factory=list)
    """The packets that leave at the end of this turn."""
    at_once: int = 0
    """How many of them, from the first one, need not wait for what this turn writes."""
    queues: set[int] = field(default_factory=set)
    """Outgoing queues that use the session."""

    # -- packets that this manager sends
    sent: int = 0
    recoverable_sent: int = 0
    outbox: deque[Entry] = field(default_factory=deque)
    """Packets that wait for room in the window."""
    unmarked: int = 0
    """How many entries were added to the outbox since a mark was asked for (`sender/streams.py`)."""
    outstanding: deque[Entry] = field(default_factory=deque)
    """Packets without an acknowledgement, in the order of their numbers."""
    outstanding_bytes: int = 0
    acked: int = 0
    """The number of packets of `sent` that are acknowledged."""
    unstored: dict[int, Entry] = field(default_factory=dict)
    """Recoverable messages that are not known to be stored, by their number in the session."""
    heard: bool = False
    """ReceivedAck: a packet came since the Session Ack Wait Timer was started (QB-159)."""
    waits_for_ack: bool = False
    """Whether the Session Ack Wait Timer runs."""
    order_acks: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Incoming streams whose order acknowledgement is in the outbox, by place.

    Each has its stream, and the last number of that when the acknowledgement was last due.
    """

    # -- packets that the peer sends
    received: int = 0
    recoverable_received: int = 0
    unacked: int = 0
    """The number of received packets that are not acknowledged yet; UnackedReceivedMsgCount."""
    unacked_bytes: int = 0
    """The bytes of their bodies."""
    bits: int = 0
    """The bits of the next acknowledgement; the specification calls them RecoverableMsgAckFlags."""
    last_acked: int = 0
    """The highest number that was acknowledged; LastAckedRecoverableMsgSeqNumber."""
    ack_due: int = 0
    """The time at which the Session Ack Send Timer fires, in microseconds since 1970.

    0 if it does not run.
    """
    ack_span: int = 0
    """The duration of that timer, in microseconds."""
    inbox: deque[bytes | Packet] = field(default_factory=deque)
    """Packets that are not processed yet; some are decoded already."""
    read_before: ReadBefore | None = None
    """The last packet of a run that was decoded in full."""
    has_reported: bool = False
    """Whether this turn has acknowledged packets that it stored."""
    rests: bool = False
    """Whether the packets in the inbox wait until the sync of that acknowledgement has begun."""
    singly: int = 0
    """The number of packets at the head of the inbox that are not handed over in a run."""
    judging: bool = False
    """Whether a packet of this session is being processed; the manager may have to judge it first."""
    is_ahead: bool = False
    """Whether the clock of the peer is ahead; it is logged once."""
    not_admitted: str = ""
    """The limit because of which a message of a stream was last dropped; it is logged once."""
    mismatch: str = ""
    """The contradiction in the counts of the peer; the session is closed after the current packet."""
    shortage: str = ""
    """The reason why this manager cannot take the current packet.

    The session closes, and the peer tries again.
    """
    active: bool = False
    """SessionActive: a user packet was sent or came since the last cleanup (QB-159)."""

    @property
    def accepted(self) -> bool:
        """Whether the peer opened the session."""
        return self.number < 0

    @property
    def is_open(self) -> bool:
        """Whether user packets may be sent."""
        return self.phase is Phase.OPEN

    @property
    def is_drained(self) -> bool:
        """Whether nothing is under way or waits, in either direction."""
        return not (self.outbox or self.outstanding or self.unstored or self.unacked)

    @property
    def hops(self) -> tuple[str, ...]:
        """Return the addresses of the peer; empty if its name has none."""
        return self.addresses or ((self.address,) if self.address else ())

    @property
    def room(self) -> int:
        """How many packets may be under way: the smaller of both windows (G-09)."""
        return max(min(self.window, self.peer_window), 1)


@dataclass(slots=True)
class Written:
    """The packet of an earlier message; a message with equal rare attributes is written by its pattern."""

    pattern: Pattern
    message: Message
    """The message of that packet, without its body; in a stream, without its place in a transaction."""
    source: UUID
    """The manager that the packet names as its source: SourceQueueManager."""
    stream: int = 0
    """The stream of the last message; 0 outside streams."""
    last: Attributes | None = None
    """The rare attributes of that message."""
    placed: Pattern | None = None
    """The pattern of the messages of that stream that have these attributes."""


@dataclass(slots=True)
class SessionQueue:
    """An outgoing queue, with the progress of its messages."""

    queue: int
    destination: str
    """The format name of the destination."""
    host: str
    """The host to dial, in lower case; empty if only the GUID of the manager is known."""
    wait: ReceiptWait
    """The wait that the Transactional Ack Wait Timer measures."""
    manager: UUID = NO_GUID
    """The manager of a PRIVATE name; NO_GUID for a direct name."""
    session: int = 0
    """The session that it uses; 0 for none."""
    used: bool = True
    """Whether a message was handed out since the last Session Cleanup Timer of its session."""
    paused: bool = False
    parked: list[Entry] = field(default_factory=list)
    """Entries that wait until the queue is resumed."""
    under_way: dict[int, Entry] = field(default_factory=dict)
    """Entries in an outbox or without a session acknowledgement, by LookupIdentifier."""
    taken: set[int] = field(default_factory=set)
    """Messages of the stream with a session acknowledgement and without an order acknowledgement."""
    withheld: dict[int, None] = field(default_factory=dict)
    """Final acknowledgements that are not reported yet: too many messages wait for order acknowledgements."""
    has_unsent: bool = False
    """Whether messages wait behind a closed stream; they are handed out again when it ends."""
    progress: Progress = field(default_factory=Progress)
    retransmits: set[int] = field(default_factory=set)
    """Messages of the stream that were sent at least once, to count retransmissions."""
    written: Written | None = None
    """The last packet outside streams that was written in full."""
    written_in_stream: Written | None = None
    """The last packet of a stream that was written in full; it has a TransactionHeader."""
    mark: int = 0
    """The turn that last removed a message of the stream without an acknowledgement.

    Later messages name another previous number, which must be on disk before they leave.
    """


@dataclass(slots=True)
class ReadBefore:
    """A packet of a session and its message, both without the body.

    A packet that differs in few fields is read by its pattern.
    """

    pattern: Pattern
    packet: UserMessage
    message: Message
    key: StreamKey


class Arriving(msgspec.Struct):
    """A message that the manager judges in this turn."""

    session: int
    packet: UserMessage
    """The packet of the message, or one of its pattern with another place, time, number and body."""
    message: Message
    key: StreamKey
    """The sender of the message, and its destination as the sender writes it."""
    header: TransactionHeader | None
    """The place of the message in a stream; None outside streams."""
    unread: bytes | Packet
    """The packet that returns to the inbox if the message has to be judged by itself."""
    stream: int = 0
    """The number of its stream; meaningless outside transactions."""
    late: bool = False
    """Whether the number of the message was skipped before in its stream."""

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a stream."""
        return self.header is not None


@dataclass(slots=True)
class Run:
    """Messages that the manager judges together in this turn (`receiver/runs.py`)."""

    session: int
    arriving: list[Arriving]


@dataclass(slots=True)
class Identity:
    """The identity of this manager (`transfer.IdentityKnown`)."""

    identifier: UUID = NO_GUID
    lineage: UUID = NO_GUID
    computer_name: str = ""

    def covers(self, guid: UUID) -> bool:
        """Return whether a GUID in a packet means this manager."""
        return guid in (NO_GUID, self.identifier, self.lineage)


@dataclass(slots=True)
class SenderState:
    """The state of the sender while the process runs."""

    queues: dict[int, SessionQueue] = field(default_factory=dict)
    queue_to: dict[str, int] = field(default_factory=dict)
    """The last outgoing queue of each destination that is in `queues`."""
    wanted: dict[int, str] = field(default_factory=dict)
    """Destinations by outgoing queue; their sessions are opened when `Addressed` has come."""
    handed_out: list[SendUserMessage] = field(default_factory=list)
    """Messages that the manager handed out in this turn."""
    transactions: dict[UUID, int] = field(default_factory=dict)
    """The numbers of transactions in packets, by TransactionIdentifier, the oldest first (G-69)."""
    last_transaction: int = 0
    last_mark: int = 0
    """The number of turns with writes that packets of later turns depend on."""
    stored_mark: int = 0
    """The last of these turns whose writes are on disk."""


@dataclass(slots=True)
class ReceiverState:
    """The state of the receiver while the process runs."""

    coalescing: Coalescing
    last_ticket: int = 0
    arriving: dict[int, Arriving] = field(default_factory=dict)
    """Messages that the manager judges in this turn, by ticket."""
    runs: dict[int, Run] = field(default_factory=dict)
    """Runs that the manager judges in this turn, by ticket."""
    finals: dict[int, tuple[str, UUID, bool]] = field(default_factory=dict)
    """Final acknowledgements that the manager judges in this turn, by ticket.

    Each has its outgoing queue, the sender that gets it, and whether it reports a refusal.
    """
    owed: dict[int, int] = field(default_factory=dict)
    """Order acknowledgements without a session, by stream: how often the sender was dialled for each."""
    last_order_ack: int = 0
    """The MessageID of the last order acknowledgement."""
    refusals: Refusals = field(default_factory=Refusals)
    unsettled: set[UUID] = field(default_factory=set)
    """Senders for which final acknowledgements may wait that an earlier run of this process wrote."""
    delayed_since: dict[int, tuple[int, Instant]] = field(default_factory=dict)
    """Order acknowledgements that wait for these, by stream: the session, and since when they wait."""
    peers: dict[UUID, UUID] = field(default_factory=dict)
    """The peer whose session brought the last message of each sender."""

    def has_refused(self, sender: UUID) -> bool:
        """Return whether a sender may not know yet that a message was refused."""
        return bool(self.refusals.of(sender)) or sender in self.unsettled


class State(StreamState):
    """The state that the rules read and write: streams, a part for each role, and all sessions (QB-094).

    At the first start the history and all tables are empty (QB-096, QB-147).
    """

    def __init__(self, rows: Rows, settings: MqqbSettings) -> None:
        super().__init__(rows, STREAM_TABLES, history_size=settings.history_size)
        self.settings = settings
        self.identity = Identity()
        self.addressed = False
        """Whether the event `Addressed` has announced our own addresses."""
        self.own_hosts: frozenset[str] = frozenset()
        """Names and addresses of this manager; the manager itself delivers messages to them."""
        self.online = True
        self.sessions: dict[int, Session] = {}
        self.last_session = 0
        self.by_host: dict[str, int] = {}
        """The session that was dialled to each host or to its address, open or not yet."""
        self.by_sender: dict[UUID, list[Incoming]] = {}
        """The incoming streams of each sender."""
        self.streams_from: Counter[str] = Counter()
        """How many incoming streams have brought their last message from each address."""
        self.by_peer: dict[UUID, list[int]] = {}
        """The open sessions with each peer, the newest last."""
        self.known_at: dict[str, tuple[UUID, str]] = {}
        """The manager that answered at each host, and its address.

        No other manager gets messages for the host.
        """
        self.hops: dict[str, tuple[str, ...]] = {}
        """Hosts for which the next attempt is a retry, each with the addresses that are left to try.

        Without addresses its name is resolved again (3.1.6.1).
        """
        self.cookie = 0
        """PingCookie: one counter for all sessions (G-57)."""
        self.unsent: dict[int, Session] = {}
        """Sessions with packets of this turn."""
        self.sender = SenderState()
        self.receiver = ReceiverState(
            Coalescing(settings.order_ack, settings.longest_order_ack, settings.most_coalesced)
        )
        self.counts: Counter[Count] = Counter()
        """Counts since the process started."""

    def write(self, session: Session, packet: bytes, *, stored: bool = False) -> None:
        """Add a packet to those of this turn; `stored` if all its content was on disk before."""
        if stored and session.at_once == len(session.out):
            session.at_once += 1
        session.out.append(packet)
        self.unsent[session.number] = session

    def incoming_stream(self, key: StreamKey, stream: IncomingStream) -> Incoming:
        """Return an incoming stream that is about to get this record; count it by sender and address."""
        known = self.incoming.get(key)
        before = None if known is None else known.stream.receipts_to
        found = super().incoming_stream(key, stream)
        if known is None:
            self.by_sender.setdefault(key[0], []).append(found)
        if before != stream.receipts_to:
            self.streams_from[stream.receipts_to] += 1
            if before is not None:
                self.streams_from[before] -= 1
                if not self.streams_from[before]:
                    del self.streams_from[before]
        return found

    def name_of(self, stream: OutgoingStream) -> int:
        """Return the number of a stream, by which acknowledgements name it: it is unique here (G-32)."""
        return stream.number


SILENT_CLASSES: Final[frozenset[MessageClass]] = frozenset(
    {
        MessageClass.NACK_BAD_DEST_QUEUE,
        MessageClass.NACK_BAD_ENCRYPTION,
        MessageClass.NACK_BAD_SIGNATURE,
        MessageClass.NACK_ACCESS_DENIED,
        MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    }
)
"""Refusals that are acknowledged only if an administrator allows insecure ones (3.1.7.15, QB-317)."""
