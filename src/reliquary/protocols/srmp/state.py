"""What SRMP knows: a session for each outgoing queue it serves, streams that come in, identifiers.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
All else lives only while the process does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.protocols.srmp.addresses import Route
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.history import History
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.tables import NUMBERS_IN_A_ROW, IncomingStream, Ordinals, OutgoingStream
from reliquary.queueing.travel.transfer import SendUserMessage

StreamKey = tuple[UUID, str]
"""A sender's GUID, and the destination that it sends to, as `routing` writes it."""


@dataclass(slots=True)
class Sent:
    """A stream that goes out, and the numbers of its messages that are still in the queue."""

    stream: OutgoingStream
    numbers: dict[int, int] = field(default_factory=dict)
    """Number by LookupIdentifier."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """LookupIdentifier by number, as the rows of the table have them; 0 where there is none."""
    finals: dict[int, int] = field(default_factory=dict)
    """AwaitingFinalStreamReceipt: what stays until its final stream receipt comes, by LookupIdentifier,
    with the number in its identifier."""
    awaiting: int = 0
    """How many have no stream receipt yet, AwaitingStreamReceipt."""

    def at(self, number: int) -> int:
        """The message that has this number; 0 when it is gone."""
        row = self.rows.get(number // NUMBERS_IN_A_ROW)
        return row[number % NUMBERS_IN_A_ROW] if row else 0

    def previous(self, number: int) -> int:
        """The number before this one that the receiver has or will get: those between are gone (SR-264)."""
        # DEPARTS from 3.1.7.2.3 (SR-264): what was acknowledged counts too, and on every transmission,
        # because a receiver that never gets a number which expired would ignore all that follow it.
        lower = number - 1
        while lower > self.stream.acknowledged and not self.at(lower):
            lower -= 1
        return lower

    def first_awaiting(self) -> int:
        """The lowest number without a stream receipt; only where there is one."""
        number = self.stream.acknowledged + 1
        while not self.at(number):
            number += 1
        return number

    def give(self, number: int, lookup_id: int) -> None:
        """A message has this number."""
        self.numbers[lookup_id] = number
        row = self.rows.setdefault(number // NUMBERS_IN_A_ROW, [0] * NUMBERS_IN_A_ROW)
        row[number % NUMBERS_IN_A_ROW] = lookup_id
        if number > self.stream.acknowledged:
            self.awaiting += 1

    def free(self, lookup_id: int) -> int:
        """Forget a message's number; the answer is the row it was in."""
        number = self.numbers.pop(lookup_id)
        self.finals.pop(lookup_id, None)
        index = number // NUMBERS_IN_A_ROW
        row = self.rows[index]
        row[number % NUMBERS_IN_A_ROW] = 0
        if not any(row):
            del self.rows[index]
        if number > self.stream.acknowledged:
            self.awaiting -= 1
        return index

    def up_to(self, last: int) -> list[int]:
        """The messages without a stream receipt that have numbers up to this one, in their order."""
        return [
            found for number in range(self.stream.acknowledged + 1, last + 1) if (found := self.at(number))
        ]


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
    """The connection of one outgoing queue, [MC-MQSRM] 3.1.1.1.3, and how the stream on it goes."""

    queue: int
    destination: str
    """The format name."""
    route: Route
    epoch: int = 0
    """POSTs of another one mean nothing any more."""
    is_open: bool = False
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
    draining: bool = False
    """Nothing more is posted until what was posted is answered; then all goes again."""
    held: bool = False
    """The manager has handed out messages that were not posted."""
    waits: bool = False
    """The Stream Receipt Wait Timer runs."""
    rung: int = 0
    """ResendIntervalIndex."""
    resend_time: int = 0
    """EodResendTime."""
    resent: int = 0
    """EodResendCount: time-outs since the last progress."""
    receipts: int = 0
    """EodLastAckCount."""
    receipt_time: int = 0
    """EodLastAckTime."""
    unread: int = 0
    """EodNoReadCount."""


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
        self.queue_of: dict[str, int] = {}
        """The outgoing queue of each streamId of ours, in lower case."""
        self.incoming: dict[StreamKey, Incoming] = {}
        self.places: list[Incoming] = []
        """Streams that come in, by place."""
        self.history = History(settings.history_size)
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

    def add_sent(self, queue: int, stream: OutgoingStream) -> None:
        """A stream goes out of this queue."""
        self.sent[queue] = Sent(stream)
        self.queue_of[stream.identifier] = queue

    def incoming_stream(self, key: StreamKey, stream: IncomingStream) -> Incoming:
        """The stream from there; one that is new gets a place."""
        known = self.incoming.get(key)
        if known is None:
            known = self.incoming[key] = Incoming(len(self.places), key, stream)
            self.places.append(known)
        return known
