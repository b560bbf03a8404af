"""Defines the state of the destination: sequences, their queues, and acknowledgements that are due.

Durable are `Sequence.row`, `received` and what is buffered; `apply` changes them, and `recovery` reads them
from the rows.  Everything else is lost with the process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final
from uuid import UUID

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.addressing import is_anonymous, is_polled
from reliquary.protocols.wsrm.codec.values import Dialect, Incomplete, Reference
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.tables import Inbound, Ranges, Received
from reliquary.protocols.wsrm.settings import EndpointSettings
from reliquary.queueing.model.message import Message, ObjectId
from reliquary.queueing.model.security.principals import Principal

_ENTIRE: Final = Incomplete.ENTIRE
SMALLEST_MESSAGE: Final = 1024
"""The smallest expected size of a message, to convert bytes of a quota to messages."""


@dataclass(slots=True, eq=False)
class TargetQueue:
    """A queue of sequences, with its free room."""

    name: str
    unread: int = 0
    free: int | None = None
    """Bytes that still fit; None without a limit.  The queue manager reported it last."""
    added: int = 0
    added_bytes: int = 0
    """The bytes that were added to the queue after that."""
    arriving: int = 0
    """The messages that the queue manager judges in this turn."""
    reports: int = 0
    """The number of reports of the room by the queue manager."""
    largest: int = SMALLEST_MESSAGE
    """Bytes of the largest message that went into it."""
    buffered_bytes: int = 0
    """Bytes of messages that are buffered for it."""
    open: dict[int, Sequence] = field(default_factory=dict)
    """Sequences that have not ended."""
    starved: dict[int, None] = field(default_factory=dict)
    """Open sequences whose latest acknowledgement reported no room; the longest waiting one first."""
    blocked: dict[int, Sequence] = field(default_factory=dict)
    """Sequences with buffered messages that only wait for room in the queue."""


@dataclass(slots=True, eq=False)
class Sequence:
    """The state of an incoming sequence."""

    row: Inbound
    settings: EndpointSettings
    target: TargetQueue
    received: Received = Received()  # noqa: RUF009 - it is frozen
    ranges: NumberRanges = field(default_factory=NumberRanges)
    """The numbers of `received`, in a form to which numbers can be added."""
    next: int = 1
    """The lowest number that was not received."""
    buffered: dict[int, int] = field(default_factory=dict)
    """Bytes of the messages that are buffered, by their numbers."""
    requests: dict[int, ObjectId] = field(default_factory=dict)
    """Requests whose MessageIDs are kept, by their numbers; oldest first."""
    # -- what follows ends with the process
    heard: int = 0
    """When the last message of its source came, in microseconds since 1970."""
    by: Principal | None = None
    """The user that used the sequence last; None after a restart."""
    buffer: int = 0
    """Buffer Remaining of [MS-WSRVCRM] 3.1.1: the number of messages that its source may send."""
    confirmed: Ranges = ()
    """The ranges of its latest acknowledgement."""
    unconfirmed: int = 0
    """The messages that were received after it."""
    is_judged: bool = False
    """Whether the queue manager judges messages of it in this turn."""
    waits_for_interval: bool = False
    """Whether the timer of the acknowledgement interval is set."""
    duplicates: int = 0
    dropped: int = 0
    """Messages for which there was no room."""

    @property
    def number(self) -> int:
        """The number of the sequence."""
        return self.row.number

    @property
    def acks_to(self) -> Reference:
        """The endpoint that acknowledgements of this sequence are sent to."""
        return self.row.acks_to

    @property
    def dialect(self) -> Dialect:
        """The versions of the standards that the source writes."""
        return self.row.dialect

    @property
    def phase(self) -> Phase:
        """The phase of the sequence's state machine."""
        return self.received.phase

    @property
    def ahead(self) -> int:
        """How many messages were received after the first gap."""
        if len(self.received.ranges) == (self.next > 1):  # no gap, which is the usual case
            return 0
        return len(self.ranges) - self.next + 1

    @property
    def missing(self) -> int:
        """How many missing messages delay others."""
        if self.received.phase is not Phase.OPEN or not self.keeps_order:
            return 0
        return max(self.highest - self.next + 1, 0) - self.ahead

    @property
    def waiting(self) -> int:
        """How many messages are kept for the queue.

        None of an incomplete sequence that is delivered as a whole.
        """
        return 0 if self.is_whole and not self.is_complete else len(self.buffered)

    @property
    def waits_for_earlier(self) -> bool:
        """Whether messages of earlier, closed sequences must be delivered first.

        A source that ends a sequence continues in the next one. A sequence that is delivered as a whole
        delays no other, because it may be larger than the queue.
        """
        blocked = self.target.blocked
        return (
            bool(blocked)
            and self.settings.ordered
            and any(
                each.number < self.number and each.phase is not Phase.OPEN and not each.is_whole
                for each in blocked.values()
            )
        )

    @property
    def highest(self) -> int:
        """The highest number that was received; 0 for none."""
        ranges = self.received.ranges
        return ranges[-1][1] if ranges else 0

    @property
    def is_complete(self) -> bool:
        """Whether its last number is known, and no number up to it is missing."""
        return 0 < self.received.last < self.next

    @property
    def keeps_order(self) -> bool:
        """Whether a message waits for those before it."""
        return self.settings.ordered or self.settings.incomplete is not Incomplete.NO_DISCARD

    @property
    def is_whole(self) -> bool:
        """Whether no message is delivered before the sequence is complete."""
        return self.settings.incomplete is _ENTIRE

    @property
    def acknowledges_on_response(self) -> bool:
        """Whether acknowledgements are sent only on responses to requests of its source."""
        return is_anonymous(self.row.acks_to.address)

    @property
    def acknowledges_on_poll(self) -> bool:
        """Whether its source fetches acknowledgements with MakeConnection."""
        return is_polled(self.row.acks_to.address)

    @property
    def lineage(self) -> UUID:
        """The first part of identifiers for messages without a MessageID."""
        return UUID(bytes=blake2b(self.row.identifier.encode(), digest_size=16).digest())


@dataclass(slots=True)
class Arriving:
    """Messages of a sequence that the queue manager judges in this turn."""

    sequence: Sequence
    numbers: tuple[int, ...]
    """The numbers of the messages, in the order of delivery."""
    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    reports: int
    """`TargetQueue.reports` when they were handed over."""
    number: int = 0
    """The number of the new message; 0 if all of them were buffered before."""
    last: bool = False
    message_id: str = ""
    """The MessageID of the new message, if it must be kept for its reply."""


CreationKey = tuple[str, str, str, str]
"""User, endpoint, AcksTo, and the MessageID of CreateSequence or the identifier of its offer."""


class DestinationState:
    """The state of all incoming sequences."""

    def __init__(self) -> None:
        self.now = Instant(0)
        """The time of the latest rule."""
        self.sequences: dict[int, Sequence] = {}
        """All known sequences by number, also ended ones."""
        self.by_identifier: dict[str, int] = {}
        self.created: dict[CreationKey, int] = {}
        """Sequences that have not ended, by the key that recognizes a repeated CreateSequence."""
        self.open_counts: Counter[str] = Counter()
        """How many sequences have not ended, by endpoint."""
        self.targets: dict[str, TargetQueue] = {}
        """The queues of sequences that have not ended, by name."""
        self.watched: frozenset[str] = frozenset()
        """The queues whose room the queue manager reports."""
        self.due: dict[str, dict[int, None]] = {}
        """Sequences with an acknowledgement that is due, by its address."""
        self.ended: dict[int, None] = {}
        """Ended sequences, in the order of their end."""
        self.arriving: dict[int, Arriving] = {}
        """The messages that are being stored, by ticket."""
        self.requests: dict[ObjectId, str] = {}
        """MessageIDs of requests that may get a reply."""

    def target(self, name: str) -> TargetQueue:
        """Return the queue of this name."""
        return self.targets.setdefault(name, TargetQueue(name))
