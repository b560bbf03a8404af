"""Keeps the state of a queue in memory, in parts that change together."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.queueing.model.descriptors import Descriptor
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.names.pathnames import CLOSED_QUEUES
from reliquary.queueing.model.order import Order
from reliquary.queueing.model.queue import Queue, QueueType
from reliquary.queueing.model.tables import Consumer
from reliquary.queueing.model.travel.link import Link
from reliquary.queueing.model.waiting import Waiter


@dataclass(slots=True)
class Counts:
    """The number and the bytes of the messages of a queue.

    Written by: changes.counters, changes.positions, rules.enqueue, rules.transactions, recovery, model.state.
    """

    stored: int = 0
    """Committed positions that have rows."""
    stored_size: int = 0
    express_size: int = 0
    delayed: int = 0
    """Stored positions that are not visible yet: not in `stored`, but their bytes are in the sizes."""
    reserved: int = 0
    """Bytes of messages in transactions that have not ended."""
    lost: tuple[int, ...] = ()
    """Copies of its messages that could not be kept, by `Copy`."""
    dirty: bool = False
    """The counters have to be written with this batch."""


@dataclass(slots=True)
class Readers:
    """The open handles of a queue, the reads that wait, and the messages that are handed out.

    Written by: rules.handles, rules.read, lifecycle, changes.hand_outs, model.state.
    """

    descriptors: dict[int, Descriptor] = field(default_factory=dict)
    exclusive: int = 0
    """The number of descriptors whose share mode denies others to receive."""
    waiting: dict[int, Waiter] = field(default_factory=dict)
    handed_out: dict[int, int] = field(default_factory=dict)
    """The number of the hand-out of each locked position whose tries are not in its own row."""
    woken: list[int] = field(default_factory=list)
    """Positions that became available in this turn while a reader waits."""


@dataclass(slots=True)
class FeedState:
    """The consumers of the feed of a queue, and the messages that are kept for them.

    Written by: feed, changes.numbering, changes.retention.
    """

    mark: int = 0
    """The last number that readers have got (`changes.numbering`); 0 while the feed has no consumer."""
    consumers: dict[str, Consumer] = field(default_factory=dict)
    pinned: int = 0
    """The lowest cursor of the consumers: messages that arrived later are kept."""
    keep: Keep | None = None
    """The limit of consumers that have none of their own; None if the limit of the settings applies."""
    limits: tuple[Keep, ...] = ()
    """The limits of the consumers with the lowest cursor; empty if one of them has none by bytes or count."""
    retained: int = 0
    """Positions that left the queue and are kept for consumers; no other count has them."""
    retained_size: int = 0
    trimmed: int = 0
    """The number up to which no position is kept any more."""


@dataclass(slots=True)
class QueueState:
    """A queue, the order of its messages, and the state that ends with the process."""

    record: Queue
    order: Order
    number: int = field(init=False)
    """The key of everything that the queue holds; it never changes."""
    counts: Counts = field(default_factory=Counts)
    readers: Readers = field(default_factory=Readers)
    feed: FeedState = field(default_factory=FeedState)
    delayed_express: dict[int, Position] = field(default_factory=dict)
    """Express messages that are not visible yet."""
    subqueues: set[int] = field(default_factory=set)
    link: Link | None = None
    """The connection of an outgoing queue; None for all other queues."""

    def __post_init__(self) -> None:
        self.number = self.record.number

    @property
    def total_bytes(self) -> int:
        """Return TotalBytes, which count against the quota of the queue."""
        return self.counts.stored_size + self.counts.express_size

    def expected_bytes(self, count: int, most: int, lookup_id: int = -1) -> int:
        """Estimate how many bytes a read will return; `most` limits the bytes of several messages."""
        available = len(self.order)
        average = self.total_bytes // (available + len(self.order.locked)) if available else 0
        return max(self.order.size_at(lookup_id), min(count * average, most))

    @property
    def is_closed(self) -> bool:
        """Return whether applications may not use the queue at all (DM-094)."""
        return self.record.kind is QueueType.SYSTEM and self.record.pathname.endswith(CLOSED_QUEUES)

    @property
    def active(self) -> bool:
        """Return Active (DM-026): the queue is open, or a message to another manager waits in it."""
        waits = self.link is not None and bool(len(self.order) or self.order.locked)
        return waits or bool(self.readers.descriptors)
