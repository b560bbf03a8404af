"""What the queue manager knows: its queues, its messages, open handles, transactions.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
All else lives only while the process does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from reliquary.base.chance import Chance
from reliquary.base.rows import Rows
from reliquary.base.time import DAY, Duration, Instant
from reliquary.base.turn import Draft, Reply, SetTimer
from reliquary.queueing.model.cursors import Cursor
from reliquary.queueing.model.descriptors import Descriptor
from reliquary.queueing.model.directory.holdings import Directory
from reliquary.queueing.model.events import FOREVER_WAIT, Answer
from reliquary.queueing.model.facts import PositionAvailable
from reliquary.queueing.model.feature import Hooks
from reliquary.queueing.model.history.history import History, Room
from reliquary.queueing.model.history.notes import API, Bringer
from reliquary.queueing.model.message import NO_GUID, Message, MessageClass, Position
from reliquary.queueing.model.message_store import CACHE_BYTES, Shelf
from reliquary.queueing.model.names.formats import SingleName
from reliquary.queueing.model.names.pathnames import CLOSED_QUEUES, Pathname, parse
from reliquary.queueing.model.order import WINDOW, Order
from reliquary.queueing.model.queue import Era, ManagerState, Queue, QueueManagerRecord, QueueType
from reliquary.queueing.model.queue_order import QueueOrder
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.staging import Staging
from reliquary.queueing.model.tables import Consumer, Copy, Hold, Operation, Outcome
from reliquary.queueing.model.travel.asking import RequestAnswered
from reliquary.queueing.model.travel.carriers import Carrier, Carriers
from reliquary.queueing.model.travel.link import Link
from reliquary.queueing.model.travel.transfer import AddressesKnown
from reliquary.queueing.model.waiting import Waiter

SEQUENCE_BLOCK: Final = 1 << 20
"""Numbers are reserved on disk in blocks, so that none is given out twice, whatever happens.

Half a block is more than the express messages that can be confirmed while one sync is under way."""
LONGEST_TIMER: Final = Duration(60_000_000)
"""An expiry is looked at again after a minute at the latest, because calendars jump."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is held or done at once.  The simulator makes all of it tiny, to meet every edge."""

    window: int = WINDOW
    """Positions of a queue that are read at once."""
    at_once: int = 1000
    """Messages that one turn of a purge, a delete or an expiry takes out."""
    sequence_block: int = SEQUENCE_BLOCK
    cache_bytes: int = CACHE_BYTES
    transactions: int = 10_000
    """Transactions of one user that have not ended."""
    outcomes: int = 10_000
    """Ended transactions whose outcome is remembered."""
    history: Room = Room()  # noqa: RUF009 - it is frozen
    """What may wait to be exported."""
    batch: int = 1_000_000
    """Messages that one batch from outside publishes: they get their places in one turn."""
    stages: int = 100_000
    """Parts of such batches that are known at once."""
    stage_age: Duration = DAY
    """After so long, a part that nobody wrote to or published is dropped."""
    queries: int = 100_000
    """Queries whose last batch is remembered, beside those that write under a name."""


@dataclass(slots=True)
class Rooms:
    """Queues whose room carriers promise to their peers (`travel.rooms`)."""

    wanted: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names that each carrier watches."""
    watched: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """Carriers and names, by the queue that the name leads to."""
    changed: dict[int, QueueState] = field(default_factory=dict)
    """Queues with more or less room since this turn."""
    stale: bool = False
    """Names may lead to other queues than those in `watched`, or queues have other quotas."""


@dataclass(slots=True)
class QueueState:
    """A queue and what only lives while we run."""

    record: Queue
    order: Order
    stored: int = 0
    """Committed positions that have rows."""
    stored_size: int = 0
    express_size: int = 0
    delayed: int = 0
    """Stored positions that nobody sees yet; they are not in `stored`, and their bytes are in the sizes."""
    delayed_express: dict[int, Position] = field(default_factory=dict)
    reserved: int = 0
    """Bytes of messages in transactions that have not ended."""
    lost: tuple[int, ...] = ()
    """Copies of its messages that could not be kept, by `Copy`."""
    dirty: bool = False
    """Its counters have to be written with this batch."""
    descriptors: dict[int, Descriptor] = field(default_factory=dict)
    exclusive: int = 0
    """How many of them deny others to receive."""
    waiting: dict[int, Waiter] = field(default_factory=dict)
    woken: list[int] = field(default_factory=list)
    """What became available in this turn while somebody waits."""
    subqueues: set[int] = field(default_factory=set)
    mark: int = 0
    """How far its feed was told (`feed.numbering`); 0 while it has no consumer."""
    consumers: dict[str, Consumer] = field(default_factory=dict)
    pinned: int = 0
    """The lowest cursor of them: what arrived later is kept."""
    retained: int = 0
    """Positions that left and are kept for them; they are in no other count."""
    retained_size: int = 0
    trimmed: int = 0
    """Up to this number none of them is kept any more."""
    link: Link | None = None
    """The way out of an outgoing queue; None for all others."""

    @property
    def number(self) -> int:
        """The key of all it holds."""
        return self.record.number

    @property
    def total_bytes(self) -> int:
        """TotalBytes."""
        return self.stored_size + self.express_size

    def expected_bytes(self, count: int, most: int, lookup_id: int = -1) -> int:
        """About how many bytes a read will return at once; `most` is the bound of several messages."""
        available = len(self.order)
        average = self.total_bytes // (available + len(self.order.locked)) if available else 0
        return max(self.order.size_at(lookup_id), min(count * average, most))

    @property
    def is_closed(self) -> bool:
        """Whether it is none of the applications' business (DM-094)."""
        return self.record.kind is QueueType.SYSTEM and self.record.pathname.endswith(CLOSED_QUEUES)

    @property
    def active(self) -> bool:
        """Active (DM-026): somebody has it open, or a message waits in it to go elsewhere."""
        waits = self.link is not None and bool(len(self.order) or self.order.locked)
        return waits or bool(self.descriptors)


@dataclass(slots=True)
class Transaction:
    """A transaction of this manager, 3.1.1.14."""

    identifier: UUID
    timer: int
    timeout: Duration = FOREVER_WAIT
    user: str = ""
    """The SID of the user who began it; empty when the manager did."""
    operations: list[Operation] = field(default_factory=list)
    messages: dict[int, Message] = field(default_factory=dict)
    """What it sent, by number; on disk only from prepare or commit on."""
    size: int = 0
    prepared: bool = False
    single_phase: bool = True
    external: bool = False
    """Somebody else gave it its identifier, and decides (AN-30)."""
    owner: str = ""
    """The application that will ask for it after a crash."""
    begun: int = 0
    """When, microseconds since 1970."""
    prepared_at: int = 0
    undone: str = ""
    """Why it can no longer commit: nothing of it is left."""


class Verdicts(set[tuple[int | str, Principal, int]]):
    """Who may do what under which name, as found once; forgotten when a name or a list changes."""

    LIMIT: Final = 10_000

    def add(self, verdict: tuple[int | str, Principal, int]) -> None:
        """Remember one; when there are too many, begin anew."""
        if len(self) >= self.LIMIT:
            self.clear()
        super().add(verdict)


class Elsewhere(NamedTuple):
    """A destination that is not here and has no outgoing queue yet."""

    name: SingleName
    base_priority: int


class Way(NamedTuple):
    """Where one destination of a send leads."""

    name: Pathname | SingleName
    to: QueueState | Elsewhere
    """A queue of ours, an outgoing queue, or a destination whose outgoing queue is still to be created."""
    carrier: Carrier | None
    """The protocol that brings messages there; None for a queue of ours, and where no protocol does."""


class RemoteHandle(NamedTuple):
    """A handle, cursor or receipt of a queue that another manager has (`travel.remote`)."""

    reader: str
    by: Principal


class Owed(NamedTuple):
    """News of a message that somebody asked for; sent at the end of the turn (`news`)."""

    queue: int
    """Where it happened; 0 for nowhere."""
    message: Message
    reason: MessageClass
    asks: int
    """Those of the position's that this reason answers."""


class State:
    """Everything the processing rules work on."""

    by: Principal = MANAGER
    """On whose behalf this turn runs."""
    bringer: Bringer = API
    """By which way its messages come, for the history."""
    history: History | None = None
    """Not None: what happens to messages is told."""
    first_list: bytes = b""
    """What counts as the manager's access list until it is given one."""
    anonymous_may: AnonymousAct = EVERY_ACT
    """What anonymous clients may do that no access list decides."""

    def __init__(  # noqa: PLR0915 - one line a thing it knows
        self,
        rows: Rows,
        chance: Chance,
        *,
        heard: frozenset[type] = frozenset(),
        carriers: Carriers | None = None,
        sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
        hooks: Hooks = Hooks(),  # noqa: B008 - it is frozen
    ) -> None:
        """`heard` are the undirected signals that another machine listens to; others are not made."""
        self.hooks = hooks
        self.rows = rows
        self.chance = chance
        self.heard = heard
        self.carriers = Carriers() if carriers is None else carriers
        self.sizes = sizes
        self.draft = Draft()
        self.shelf = Shelf(rows, sizes.cache_bytes)
        self.record: QueueManagerRecord | None = None
        self.lineage = NO_GUID
        """The GUID in the identifiers of new messages; as in the record."""
        self.era: Era | None = None
        """As in the record."""
        self.manager_state = ManagerState.STOPPED
        self.queues: dict[int, QueueState] = {}
        self.names: dict[str, int] = {}
        self.queue_order = QueueOrder()
        """Queues by name, for lists."""
        self.by_identifier: dict[UUID, QueueState] = {}
        """Queues by Queue.Identifier, for public names."""
        self.outgoing: dict[str, QueueState] = {}
        """Outgoing queues by `formats.key_of` their destination."""
        self.directory = Directory()
        self.handles: dict[int, Descriptor] = {}
        self.cursors: dict[int, Cursor] = {}
        self.remote_handles: dict[int, RemoteHandle] = {}
        self.askers: dict[int, Bringer] = {}
        """Which protocol hears the answer, and for whom, by the number of the caller that has none yet."""
        self.transactions: dict[UUID, Transaction] = {}
        self.outcomes: dict[UUID, Outcome] = {}
        """How the last prepared transactions ended, the oldest first."""
        self.holds: dict[bytes, Hold] = {}
        """What carriers hold, by `tables.hold_key`."""
        self.staging = Staging()
        """Batches from outside that are not published yet, and what is known of their writers."""
        self.watched: dict[str, frozenset[int]] = {}
        """Queues of our own whose messages a carrier takes in batches, by the carrier's name."""
        self.unnotified: dict[int, set[str]] = {}
        """The carriers that are notified when something is available in one of these queues, by queue."""
        self.rooms = Rooms()
        """Queues whose room carriers promise to their peers."""
        self.starter = 0
        """Who is told when the manager is ready, or cannot be."""
        self.callers: dict[int, tuple[int, int]] = {}
        """Where a waiting caller waits: queue and number of the waiter."""
        self.permitted = Verdicts()
        self.ways: dict[str, tuple[Way, ...]] = {}
        """Where the names lead that messages were sent to; `forget_names` empties it."""
        self.ways_of_turn: dict[str, tuple[Way, ...]] = {}
        """Where a name leads that depends on the directory; each turn begins with none."""
        self.throttled = False
        self.throttled_why = ""
        self.online = True
        """ConnectionActive (DM-124, DM-125): messages come from and go to other managers."""
        self.signs = False
        """Messages that leave by HTTP can be signed."""
        self.own_urls: dict[str, AddressesKnown] = {}
        """Which URLs mean this manager, by their schemes."""
        self.listeners: dict[str, set[int]] = {}
        """Queues by the multicast address they listen to, `ip:port`."""
        self.listeners_changed = False
        """The addresses among them are others than those that were told last."""
        self.stirred: dict[int, QueueState] = {}
        """Queues that may have something for a carrier."""
        self.dispatch_asked = False
        """A later turn will look after them."""
        self.total_bytes = 0
        self.sequence = 0
        """SequentialID."""
        self.ceiling = 0
        """Numbers up to here are reserved on disk."""
        self.sequence_dirty = False
        self.lost: tuple[int, ...] = ()
        """As `QueueState.lost`, for messages of queues that are gone."""
        self.losses: dict[tuple[str, Copy], tuple[str, int]] = {}
        """What this turn could not keep: by queue and kind, why and how often."""
        self.owed: list[Owed] = []
        """Acknowledgements and reports that this turn has to send."""
        self.poison_overflows = 0
        self.dirty: list[QueueState] = []
        self.woken: dict[int, QueueState] = {}
        """Queues with something new for those who wait."""
        self.express_expiry: list[tuple[int, int, int]] = []
        """A heap of (deadline, queue, LookupIdentifier)."""
        self.next_expiry = 0
        """When the timer for deadlines and delays will fire; 0 when it is not set."""
        self.expiry_scan = b""
        """Where in the expiry rows the next look begins."""
        self.overdue: dict[tuple[int, int], int] = {}
        """Deadlines before that, of positions that were locked when they passed."""
        self.last_number = 0
        self._last_handle = chance.bits(52)
        """Random, so that a handle or a receipt of an earlier process names nothing in this one."""

    # -- answers

    def reply(self, to: int, answer: Answer) -> None:
        """Answer a caller; a negative one is a protocol's (`travel.asking`)."""
        if to < 0:
            self.draft.tell(RequestAnswered(self.askers.pop(to).by, to, answer))
        else:
            self.draft.ask(Reply(to, answer))

    # -- numbers

    def next_sequence(self) -> int:
        """Increment SequentialID (DM-190)."""
        self.sequence += 1
        if self.sequence + self.sizes.sequence_block // 2 > self.ceiling:
            self.reserve()
        return self.sequence

    def next_sequences(self, count: int) -> range:
        """Increment it so many times."""
        first = self.sequence + 1
        self.sequence += count
        if self.sequence + self.sizes.sequence_block // 2 > self.ceiling:
            self.reserve()
        return range(first, first + count)

    def reserve(self) -> None:
        """Speak for a block of numbers, long before they are used: some are told without a sync."""
        self.ceiling = self.sequence + self.sizes.sequence_block
        self.sequence_dirty = True

    def next_handle(self) -> int:
        """A number that no handle, cursor, reader or timer of this process has (DM-066, DM-069)."""
        self._last_handle += 1
        return self._last_handle

    def next_number(self) -> int:
        """A number that no queue of this manager has (DM-141)."""
        self.last_number += 1
        self.sequence_dirty = True
        return self.last_number

    # -- names

    def know(self, record: QueueManagerRecord) -> None:
        """Take LocalQueueManager as it is now; only `apply` and `recover` call this."""
        self.record, self.lineage, self.era = record, record.lineage, record.era

    def identity(self) -> QueueManagerRecord:
        """LocalQueueManager (DM-006)."""
        assert self.record is not None, "the manager has no name before it started"
        return self.record

    def parse(self, path: str) -> Pathname:
        """Read a path name as one of this manager's."""
        identity = self.identity()
        return parse(path, identity.computer_name, identity.qualified_computer_name)

    def find(self, path: Pathname) -> QueueState | None:
        """The queue of this name."""
        if path.journal:
            owner = self.find(path.queue)
            return self.queues[owner.record.journal] if owner and owner.record.journal else None
        number = self.names.get(path.key)
        return None if number is None else self.queues[number]

    def system_queue(self, name: str) -> QueueState:
        """One of the manager's own queues (DM-093)."""
        return self.queues[self.names[f"system$;{name}"]]

    @property
    def expiry_floor(self) -> int:
        """No expiry row lies before this moment."""
        scanned = int.from_bytes(self.expiry_scan[:8])
        return min(scanned, *self.overdue.values()) if self.overdue else scanned

    def forget_names(self) -> None:
        """Forget where names lead and who may send there; both are looked up again when they are needed."""
        self.permitted.clear()
        self.ways.clear()
        self.ways_of_turn = {}
        self.rooms.stale = bool(self.rooms.wanted)

    # -- counters

    def touch(self, queue: QueueState) -> None:
        """Write the counters of this queue with the batch."""
        if not queue.dirty:
            queue.dirty = True
            self.dirty.append(queue)

    def note_room(self, queue: QueueState) -> None:
        """Remember that a queue has more or less room since this turn, if a carrier wants to know it."""
        if queue.number in self.rooms.watched:
            self.rooms.changed[queue.number] = queue

    # -- availability

    def unlock(self, queue: QueueState, lookup_id: int) -> None:
        """Let a locked position be seen again, at its old place."""
        self.wake(queue, (queue.order.unlock(lookup_id),))

    def unlock_all(self, queue: QueueState, lookup_ids: Sequence[int]) -> None:
        """The same for many."""
        self.wake(queue, queue.order.unlock_all(lookup_ids))

    def wake(self, queue: QueueState, positions: Sequence[Position]) -> None:
        """Message Position Available, 3.1.7.2.2: remember them for those who wait (DM-289)."""
        if queue.waiting:
            queue.woken += [position.lookup_id for position in positions]
            self.woken[queue.number] = queue
        if queue.link is not None or (self.unnotified and queue.number in self.unnotified):
            self.stirred[queue.number] = queue
        if PositionAvailable in self.heard:
            for position in positions:
                self.draft.tell(PositionAvailable(queue.number, position.lookup_id))

    def watch_clock(self, deadline: int, now: Instant) -> None:
        """See to it that the timer for deadlines and delays fires at this moment at the latest."""
        if self.next_expiry and self.next_expiry <= deadline:
            return
        self.next_expiry = deadline
        after = Duration(min(max(deadline - now, 0), LONGEST_TIMER))
        self.draft.ask(SetTimer(("expiry", 0), after, calendar=True))
