"""Keeps the whole state of the queue manager, in parts that change together (`parts`).

Durable state changes only through `changes.apply`; `recovery.recover` builds it from the rows.  All other
state ends with the process.

Modules of this folder:

    message, queue, positions, cursors, waiting, descriptors    values, and tables of their states
    names       path names, format names, schemes, multicast addresses
    events      requests to the manager, and its answers
    facts       what becomes true;  tables: where it is on disk
    order       the messages of a queue in their order;  message_store, bodies: the messages themselves
    state       all state of the manager, in the parts of `parts` and of queue_state
    feature     what a feature registers;  protocol, travel: what a protocol registers, and its signals
    directory, history, security, staging    values and state of the features with these names
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reliquary.base.chance import Chance
from reliquary.base.rows import Rows
from reliquary.base.time import DAY, Duration, Instant
from reliquary.base.turn import Draft, Reply, SetTimer
from reliquary.queueing.model.directory.holdings import Directory
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.facts import PositionAvailable
from reliquary.queueing.model.feature import Hooks
from reliquary.queueing.model.history.history import History, Room
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.message_store import CACHE_BYTES, MessageStore
from reliquary.queueing.model.names.pathnames import Pathname, parse
from reliquary.queueing.model.order import WINDOW
from reliquary.queueing.model.parts.access import AccessChecks
from reliquary.queueing.model.parts.deadlines import Deadlines
from reliquary.queueing.model.parts.feed_ages import FeedAges
from reliquary.queueing.model.parts.hand_outs import HandOuts
from reliquary.queueing.model.parts.name_index import NameIndex
from reliquary.queueing.model.parts.numbers import SEQUENCE_BLOCK, Numbers
from reliquary.queueing.model.parts.open_queues import OpenQueues
from reliquary.queueing.model.parts.this_manager import ThisManager
from reliquary.queueing.model.parts.totals import Totals
from reliquary.queueing.model.parts.transactions import Transactions
from reliquary.queueing.model.parts.travel import Travel
from reliquary.queueing.model.parts.turn import CurrentTurn
from reliquary.queueing.model.queue import QueueManagerRecord
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.staging import Staging
from reliquary.queueing.model.travel.asking import RequestAnswered
from reliquary.queueing.model.travel.carriers import Carriers

LONGEST_TIMER: Final = Duration(60_000_000)
"""The longest time between two checks of deadlines; it is a minute, because calendars can be set."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits for memory and for one turn. The simulator makes every limit small, so that each is reached."""

    window: int = WINDOW
    """The number of positions of a queue that are read at once."""
    at_once: int = 1000
    """The number of messages that one turn of a purge, a delete or an expiry removes."""
    sequence_block: int = SEQUENCE_BLOCK
    cache_bytes: int = CACHE_BYTES
    transactions: int = 10_000
    """The largest number of transactions of one user that have not ended."""
    outcomes: int = 10_000
    """The largest number of ended transactions whose outcome is remembered."""
    history: Room = Room()  # noqa: RUF009 - it is frozen
    """The largest part of the history that may wait for its export."""
    batch: int = 1_000_000
    """The largest number of messages in one batch."""
    placed: int = 4_000
    """The number of messages of a batch that get positions in one turn; a larger batch needs several
    turns."""
    stages: int = 100_000
    """The largest number of parts of batches."""
    stage_age: Duration = DAY
    """A part that was neither written to nor published for this time is dropped."""
    queries: int = 100_000
    """The number of queries whose last batch is remembered, besides queries that have a writer name."""
    keep: Keep = EVERYTHING
    """The limit of consumers of feeds, if neither they nor their queue have one."""


class State:
    """Everything that the processing rules work on."""

    def __init__(
        self,
        rows: Rows,
        chance: Chance,
        *,
        subscribed: frozenset[type] = frozenset(),
        carriers: Carriers | None = None,
        sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
        hooks: Hooks = Hooks(),  # noqa: B008 - it is frozen
    ) -> None:
        """`subscribed` are the undirected signals that other machines take; other signals are not made."""
        self.rows = rows
        self.chance = chance
        self.subscribed = subscribed
        self.sizes = sizes
        self.hooks = hooks
        self.draft = Draft()
        """The turn that runs now: its facts, signals and effects."""
        self.turn = CurrentTurn()
        """The data that the rules collect until the end of the turn."""
        self.manager = ThisManager()
        self.access = AccessChecks()
        self.numbers = Numbers(sizes.sequence_block, chance.bits(52))
        self.messages = MessageStore(rows, sizes.cache_bytes)
        self.queues: dict[int, QueueState] = {}
        self.names = NameIndex()
        self.open = OpenQueues()
        self.transactions = Transactions()
        self.hand_outs = HandOuts()
        self.deadlines = Deadlines()
        self.totals = Totals()
        self.travel = Travel(Carriers() if carriers is None else carriers)
        self.directory = Directory()
        self.ages = FeedAges()
        self.staging = Staging()
        """The batches that are not published yet, and their writers."""
        self.history: History | None = None
        """The history; None if no history is kept."""

    # -- answers

    def reply(self, to: int, answer: Answer) -> None:
        """Answer a caller; a negative number belongs to a protocol (`travel.asking`)."""
        if to < 0:
            self.draft.signal(RequestAnswered(self.open.askers.pop(to).by, to, answer))
        else:
            self.draft.ask(Reply(to, answer))

    # -- names

    def identity(self) -> QueueManagerRecord:
        """Return LocalQueueManager, the attributes of this manager (DM-006)."""
        record = self.manager.record
        assert record is not None, "the manager has no name before it started"
        return record

    def parse(self, path: str) -> Pathname:
        """Parse a path name of this manager."""
        identity = self.identity()
        return parse(path, identity.computer_name, identity.qualified_computer_name)

    def find(self, path: Pathname) -> QueueState | None:
        """Return the queue with this name, or None."""
        if path.journal:
            owner = self.find(path.queue)
            return self.queues[owner.record.journal] if owner and owner.record.journal else None
        number = self.names.by_path.get(path.key)
        return None if number is None else self.queues[number]

    def system_queue(self, name: str) -> QueueState:
        """Return one of the manager's own queues (DM-093)."""
        return self.queues[self.names.by_path[f"system$;{name}"]]

    def forget_names(self) -> None:
        """Empty the caches of destinations and of allowed acts; they are filled again on demand."""
        self.access.permitted.clear()
        self.names.ways.clear()
        self.names.to_receive.clear()
        self.names.to_send.clear()
        self.names.ways_of_turn = {}
        self.travel.rooms.stale = bool(self.travel.rooms.wanted)

    # -- counters

    def touch(self, queue: QueueState) -> None:
        """Write the counters of this queue with the batch."""
        if not queue.counts.dirty:
            queue.counts.dirty = True
            self.totals.dirty.append(queue)

    def note_room(self, queue: QueueState) -> None:
        """Record that a queue has more or less room since this turn, if a carrier watches the room."""
        if queue.number in self.travel.rooms.watched:
            self.travel.rooms.changed[queue.number] = queue

    # -- availability

    def unlock(self, queue: QueueState, lookup_id: int) -> None:
        """Make a locked position visible again, in its old order."""
        self.wake(queue, (queue.order.unlock(lookup_id),))

    def unlock_all(self, queue: QueueState, lookup_ids: Sequence[int]) -> None:
        """Make many locked positions of a queue visible again, in their old order."""
        self.wake(queue, queue.order.unlock_all(lookup_ids))

    def wake(self, queue: QueueState, positions: Sequence[Position]) -> None:
        """Message Position Available, 3.1.7.2.2: record the positions for readers that wait (DM-289)."""
        if queue.readers.waiting:
            queue.readers.woken += [position.lookup_id for position in positions]
            self.turn.woken[queue.number] = queue
        if queue.link is not None or (self.travel.unnotified and queue.number in self.travel.unnotified):
            self.travel.to_dispatch[queue.number] = queue
        if PositionAvailable in self.subscribed:
            for position in positions:
                self.draft.signal(PositionAvailable(queue.number, position.lookup_id))

    def watch_clock(self, deadline: int, now: Instant) -> None:
        """Set the timer for deadlines and delays, so that it fires at this moment at the latest."""
        if self.deadlines.timer and self.deadlines.timer <= deadline:
            return
        self.deadlines.timer = deadline
        after = Duration(min(max(deadline - now, 0), LONGEST_TIMER))
        self.draft.ask(SetTimer(("expiry", 0), after, calendar=True))
