"""What SRMP knows: a session for each outgoing queue it serves, streams that come in, identifiers.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
All else lives only while the process does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from reliquary.base.rows import Rows
from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.sender.addresses import Route
from reliquary.protocols.srmp.sender.phases import Phase
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.tables import STREAM_TABLES
from reliquary.queueing.travel.transfer import SendUserMessage
from reliquary.streams.incoming import Coalescing
from reliquary.streams.ladder import ReceiptWait
from reliquary.streams.progress import Progress
from reliquary.streams.state import StreamState
from reliquary.streams.tables import OutgoingStream


@dataclass(slots=True)
class Arriving:
    """A message that the manager is asked to take in this turn."""

    to: int
    """Who is answered; 0 for nobody."""
    envelope: Envelope
    destination: str = ""
    """What it is remembered under; empty where it goes on to another host and is not."""
    express: bool = False
    ours: bool = False
    """A user message that somebody posted to us, whose receipts are ours to send."""


@dataclass(slots=True)
class Session:
    """The connection of one outgoing queue, [MC-MQSRM] 3.1.1.1.3, and how the stream on it goes."""

    queue: int
    destination: str
    """The format name."""
    route: Route
    wait: ReceiptWait
    """For the next stream receipt; Stream Receipt Wait Timer."""
    epoch: int = 0
    """POSTs of another one mean nothing any more."""
    phase: Phase = Phase.CLOSED
    used: int = 0
    """When it was opened or an answer came on it, microseconds since 1970."""
    failing: bool = False
    """The last POST failed."""
    posted: dict[int, int] = field(default_factory=dict)
    """POSTs without an answer: number in the stream (0 outside any) by LookupIdentifier."""
    taken: set[int] = field(default_factory=set)
    """Messages of the stream that were answered with 200 and have no stream receipt."""
    withheld: dict[int, None] = field(default_factory=dict)
    """Those of them that the manager is not told of yet: too many wait for receipts."""
    has_unposted: bool = False
    """The manager has handed out messages that were not posted."""
    progress: Progress = field(default_factory=Progress)

    def start_counting(self) -> None:
        """Count from zero, for a stream that begins (SR-267)."""
        self.progress.begin()
        self.wait.progress()


class Count(Enum):
    """What is counted for those who watch."""

    DUPLICATES = "duplicates"
    """Messages that came again."""
    OUT_OF_TURN = "out-of-turn"
    """Messages of a stream that came before others were there."""
    RECEIPTS_SENT = "receipts-sent"
    RECEIPTS_LOST = "receipts-lost"
    """Those that the manager has no room or no way for."""
    RECEIPTS_RECEIVED = "receipts-received"


class State(StreamState):
    """Everything the processing rules work on."""

    def __init__(self, rows: Rows, settings: SrmpSettings) -> None:
        super().__init__(rows, STREAM_TABLES, history_size=settings.history_size)
        self.settings = settings
        self.coalescing = Coalescing(
            settings.coalescing, settings.longest_coalescing, settings.most_coalesced
        )
        self.sessions: dict[int, Session] = {}
        """By outgoing queue."""
        self.last_epoch = 0
        self.wanted: dict[int, str] = {}
        """Destinations that queues want a connection to; they get it when we are `Addressed`."""
        self.outbox: list[SendUserMessage] = []
        """What the manager handed out in this turn."""
        self.arriving: dict[int, Arriving] = {}
        """Messages that the manager judges in this turn, by ticket."""
        self.receipts: dict[int, str] = {}
        """Receipts of ours that it judges, by ticket: where they go."""
        self.last_ticket = 0
        self.receipts_host = ""
        """Empty until we are `Addressed`: no stream may begin before."""
        self.secure_receipts_host = ""
        self.receipts_scheme = ""
        """As in `Addressed`: for https, and the only scheme that we listen to."""
        self.authorities: frozenset[str] = frozenset()
        self.counts: Counter[Count] = Counter()
        """Since the process started."""
        self.listening: frozenset[str] = frozenset()
        """Multicast addresses, `ip:port`, that queues listen to."""

    def name_of(self, stream: OutgoingStream) -> str:
        """The streamId (SR-071)."""
        return stream_id_text(stream.sender, stream.number)
