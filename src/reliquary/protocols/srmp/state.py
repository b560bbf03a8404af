"""Defines the state of SRMP: streams (`reliquary.streams`), sessions, and messages of this turn.

Only the streams are durable: facts change them, and their rows rebuild them when the process starts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

import msgspec

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.sender.addresses import PostAddress
from reliquary.protocols.srmp.sender.phases import Phase
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.tables import STREAM_TABLES
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.queueing.model.travel.transfer import SendUserMessage
from reliquary.streams.incoming import Coalescing
from reliquary.streams.ladder import ReceiptWait
from reliquary.streams.progress import Progress
from reliquary.streams.state import StreamState
from reliquary.streams.tables import OutgoingStream


class Arriving(msgspec.Struct, frozen=True, gc=False):
    """A message that the manager judges in this turn."""

    to: int
    """The caller who is answered; 0 without one."""
    envelope: Envelope
    destination: str = ""
    """The key of its stream; empty for a message that is forwarded."""
    known_as: str = ""
    """The key under which its identifier is remembered; empty for a message that is forwarded."""
    express: bool = False
    ours: bool = False
    """Whether it is a user message that was posted here, so that this manager sends its receipts."""
    crosses: bool = False
    """Whether another protocol forwards the message, so that SRMP never receives it."""
    late: bool = False
    """Whether the number of the message was skipped in its stream."""


@dataclass(slots=True)
class Session:
    """The session of one outgoing queue, [MC-MQSRM] 3.1.1.1.3, with the progress of its stream."""

    queue: int
    destination: str
    """The format name of the destination."""
    address: PostAddress
    wait: ReceiptWait
    """The wait for the next stream receipt; Stream Receipt Wait Timer."""
    epoch: int = 0
    """Answers to POSTs of another epoch are ignored, except that of a stream's start."""
    unheard_start: tuple[int, int, int] | None = None
    """The epoch, the message and the stream of a number 1 that had no answer when the session closed."""
    phase: Phase = Phase.CLOSED
    used: int = 0
    """When it was opened or an answer came on it, microseconds since 1970."""
    failing: bool = False
    """Whether the last POST of the session failed."""
    posted: dict[int, int] = field(default_factory=dict)
    """POSTs without an answer: number in the stream (0 outside any) by LookupIdentifier."""
    taken: set[int] = field(default_factory=set)
    """Messages of the stream that were answered with 200 and have no stream receipt."""
    withheld: dict[int, None] = field(default_factory=dict)
    """Messages of them that are not reported to the manager yet, because too many wait for receipts."""
    has_unposted: bool = False
    """Whether the manager has handed out messages that were not posted."""
    progress: Progress = field(default_factory=Progress)

    def start_counting(self) -> None:
        """Count from zero, because a stream begins (SR-267)."""
        self.progress.begin()
        self.wait.progress()


def queue_of(name: DirectName) -> str:
    """Return the queue in a URL at its host, without regard to case; empty if it names none."""
    return f".\\{name.queue_path}".casefold() if name.queue_path else ""


class Count(Enum):
    """The counters for the metrics."""

    DUPLICATES = "duplicates"
    """The number of messages that came again."""
    OUT_OF_TURN = "out-of-turn"
    """Messages of a stream that came before a message that must come first."""
    GAPS_CLOSED = "gaps-closed"
    """Streams that continued after numbers which were lost with a restored store."""
    RECEIPTS_SENT = "receipts-sent"
    RECEIPTS_LOST = "receipts-lost"
    """Receipts that the manager refused."""
    RECEIPTS_RECEIVED = "receipts-received"


@dataclass(slots=True)
class SenderState:
    """The volatile state of the sender; only the modules of `sender` write it."""

    sessions: dict[int, Session] = field(default_factory=dict)
    """The sessions to receivers, by the number of the outgoing queue."""
    last_epoch: int = 0
    wanted: dict[int, str] = field(default_factory=dict)
    """Destinations by outgoing queue; their sessions open when `Addressed` has come."""
    missing: dict[int, Instant] = field(default_factory=dict)
    """The time since when the remote queue seems to be missing, by outgoing queue."""
    outbox: list[SendUserMessage] = field(default_factory=list)
    """Messages that the manager handed out in this turn."""
    manager: UUID = NO_GUID
    """The identifier of this queue manager, which is part of stream names.

    Set when the first session opens.
    """


@dataclass(slots=True)
class ReceiverState:
    """The volatile state of the receiver; `arrivals` and the modules of `receiver` write it."""

    coalescing: Coalescing
    last_ticket: int = 0
    arriving: dict[int, Arriving] = field(default_factory=dict)
    """Messages that the manager judges in this turn, by ticket."""
    receipts: dict[int, str] = field(default_factory=dict)
    """The addresses of receipts that the manager judges in this turn, by ticket."""
    peer: str = ""
    """The host that posted the message of this turn, for the history; empty for a multicast."""


@dataclass(slots=True)
class OwnAddress:
    """The own names and the address for receipts; `sender.posting` writes it when `Addressed` comes."""

    receipts_host: str = ""
    """Empty until `Addressed` has come; no stream begins before that."""
    secure_receipts_host: str = ""
    receipts_scheme: str = ""
    """`http`, `https` or empty: the field of `Addressed`."""
    authorities: frozenset[str] = frozenset()


class State(StreamState):
    """The state that the rules read and write: the streams, a part for each role, and shared parts."""

    def __init__(self, rows: Rows, settings: SrmpSettings) -> None:
        super().__init__(rows, STREAM_TABLES, history_size=settings.history_size)
        self.settings = settings
        self.largest_post = settings.largest_post
        self.sender = SenderState()
        self.receiver = ReceiverState(
            Coalescing(settings.coalescing, settings.longest_coalescing, settings.most_coalesced)
        )
        self.address = OwnAddress()
        self.counts: Counter[Count] = Counter()
        """Counts since the process started."""
        self.listening: frozenset[str] = frozenset()
        """Multicast addresses, `ip:port`, that queues listen to; `arrivals` writes it."""

    def known_destination(self, destination: str) -> str:
        """Return the key of identifiers for a destination; rows of earlier versions have its URL."""
        if not destination.startswith(("http://", "https://")):
            return destination
        name = parse_single(f"DIRECT={destination}")
        return queue_of(name) if isinstance(name, DirectName) else destination

    def name_of(self, stream: OutgoingStream) -> str:
        """Return the streamId of a stream on the wire (SR-071)."""
        return stream_id_text(stream.sender, stream.number)
