"""What SRMP knows: a session for each outgoing queue it serves, streams that come in, identifiers.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
All else lives only while the process does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.history import History
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.tables import IncomingStream, Ordinals, OutgoingStream

StreamKey = tuple[UUID, str]
"""A sender's GUID, and the destination that it sends to, as `routing` writes it."""


@dataclass(slots=True)
class Sent:
    """A stream that goes out, and the numbers of its messages that are still in the queue."""

    stream: OutgoingStream
    numbers: dict[int, int] = field(default_factory=dict)
    """Number by LookupIdentifier, in the order they were given."""
    row_of: dict[int, int] = field(default_factory=dict)
    """The first number of the row that a LookupIdentifier is in."""
    left_in: dict[int, int] = field(default_factory=dict)
    """How many of each row are still in the queue."""

    def number(self, first: int, lookup_ids: tuple[int, ...]) -> None:
        """Messages have the numbers from `first` on; they are in one row."""
        for number, lookup_id in enumerate(lookup_ids, first):
            self.numbers[lookup_id] = number
            self.row_of[lookup_id] = first
        self.left_in[first] = len(lookup_ids)

    def free(self, lookup_id: int) -> int | None:
        """Forget a message's number; the answer is the row that is empty now, if it is."""
        del self.numbers[lookup_id]
        first = self.row_of.pop(lookup_id)
        self.left_in[first] -= 1
        if self.left_in[first]:
            return None
        del self.left_in[first]
        return first


@dataclass(slots=True)
class Incoming:
    """A stream that comes in."""

    place: int
    """The number of its timer."""
    key: StreamKey
    stream: IncomingStream
    unreceipted_since: int = 0
    """UnackedStreamMessageArrivalTime: microseconds since 1970, 0 when nothing waits for a receipt."""
    waiting: bool = False
    """The coalescing timer runs."""
    rejected: int = 0
    """RejectCount."""


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
    """The connection of one outgoing queue, [MC-MQSRM] 3.1.1.1.3."""

    queue: int
    destination: str
    """The format name."""
    epoch: int = 0
    """How often it was ended; POSTs of earlier ones mean nothing."""
    posted: set[int] = field(default_factory=set)
    """LookupIdentifiers of POSTs without an answer."""
    rung: int = 0
    """ResendIntervalIndex."""
    waits: bool = False
    """The Stream Receipt Wait Timer runs."""


class State:
    """Everything the processing rules work on."""

    def __init__(self, rows: Rows, settings: SrmpSettings, *, heard: frozenset[type] = frozenset()) -> None:
        self.rows = rows
        self.settings = settings
        self.heard = heard
        """Signals that the manager or another machine listens to."""
        self.draft = Draft()
        self.ordinals = Ordinals()
        self.sent: dict[int, Sent] = {}
        """Streams that go out, by outgoing queue."""
        self.incoming: dict[StreamKey, Incoming] = {}
        self.places: list[Incoming] = []
        """Streams that come in, by place."""
        self.history = History(settings.history_size)
        self.sessions: dict[int, Session] = {}
        """By outgoing queue."""
        self.arriving: dict[int, Arriving] = {}
        """Messages that the manager judges in this turn, by ticket."""
        self.last_ticket = 0
        self.receipts_host = ""
        """Empty until we are `Addressed`: no stream may begin before."""
        self.secure_receipts_host = ""
        self.receipts_scheme = ""
        """As in `Addressed`: for https, and the only scheme that we listen to."""
        self.authorities: frozenset[str] = frozenset()
        self.listening: frozenset[str] = frozenset()
        """Multicast addresses, `ip:port`, that queues listen to."""

    def incoming_stream(self, key: StreamKey, stream: IncomingStream) -> Incoming:
        """The stream from there; one that is new gets a place."""
        known = self.incoming.get(key)
        if known is None:
            known = self.incoming[key] = Incoming(len(self.places), key, stream)
            self.places.append(known)
        return known
