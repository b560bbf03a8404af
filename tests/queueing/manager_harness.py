"""A queue manager on a bench: over a disk in memory, with a clock that a test sets and a seed for chance.

    bench = Bench()                       started, with the private queue "orders"
    bench.send("orders", b"a", b"b", priority=5)
    bench.receive("orders").messages      what came
    bench.ask(PurgeQueue(0, "orders"))    any event; the answer, or None while it waits
    bench.advance(5)                      five seconds: timers fire in their order, at their moment
    bench.restart()                       a new process over the same disk
    bench.restart(crash=True)             what was not flushed is gone

Nothing reaches the disk before `flush` (or `restart`), as nothing does before a batch is closed.
`durable` says what must be the same after a restart; `check` looks for contradictions in a state.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from random import Random
from typing import Any
from uuid import UUID

import msgspec

from reliquary.base.restoration import Restoration
from reliquary.base.rows import Record, Table
from reliquary.base.time import SECOND, Instant, later, seconds
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    Event,
    Fact,
    Reply,
    SetTimer,
    Signal,
    TimerFired,
    Turn,
    Warn,
)
from reliquary.queueing.changes.numbering import PENDING
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model import tables
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    BeginTransaction,
    CreateQueue,
    ReceiveMessages,
    SendMessages,
    StartManager,
    StopManager,
)
from reliquary.queueing.model.message import Delivery, Message, Position
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.security.rights import default_descriptor
from reliquary.queueing.model.state import Sizes, State
from reliquary.queueing.model.travel.carriers import Carrier, Carriers
from reliquary.queueing.rules.expiry import some_delayed
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from reliquary.wire.security import encode_descriptor
from tests.queueing.feed.checks import Feeds
from tests.queueing.history.chronicle import standing
from tests.queueing.owners import check_locks
from tests.queueing.staging.inspection import check_staging, staging_of

NOON = Instant(1_700_000_000 * SECOND)
COMPUTER = "BENCH"
DOMAIN_NAME = "bench.example"
STARTER = 1_000_000
"""Under this number the start is answered."""


class Seeded:
    """Chance from a seed."""

    def __init__(self, seed: int) -> None:
        self.bits = Random(seed).getrandbits


OPEN_LIST = encode_descriptor(default_descriptor(None, MANAGER.user))
"""The list of a queue that the manager itself made: everybody may do all."""


class Bench:
    """A queue manager, its disk, its clock and those who ask it."""

    TABLES = tables.TABLES

    def __init__(
        self,
        *queues: str,
        seed: int = 1,
        heard: Iterable[type[Signal]] = (),
        carriers: Iterable[Carrier] = (),
        quota: int | None = None,
        hardened: bool | None = None,
        in_doubt_wait: float = 0,
        sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
        directory: Integration | None = None,
        signs: bool = False,
        history: bool = False,
        restoration: Restoration | None = None,
        start: bool = True,
    ) -> None:
        """`queues` are created at once; without any, the private queue "orders" is."""
        self.chance = Seeded(seed)
        self.heard = frozenset[type](heard)
        self.carriers = tuple(carriers)
        self.quota = quota
        self.hardened = hardened
        self.in_doubt_wait = in_doubt_wait
        self.sizes = sizes
        self.directory = directory
        self.signs = signs
        self.history = history
        self.restoration = restoration
        """What the store says of itself at each start."""
        self.now = NOON
        self.disk = MemoryDisk(self.TABLES)
        self.patient = False
        """Leave `Continue` effects in `pending` until `go_on` is called."""
        self.on_build: Callable[[Bench], None] = lambda _: None
        """Called with the bench each time a manager is built, before it is started."""
        self.answers: dict[int, list[Any]] = {}
        """What each caller was told, in order."""
        self.turns: list[Turn] = []
        self.warnings: list[Warn] = []
        self._last_caller = 0
        self._build()
        if start:
            self.start()
            for path in queues or ("orders",):
                self.create(path)

    def _build(self) -> None:
        self.rows = StagedRows(self.disk)
        self.timers: dict[tuple[str, int], Instant] = {}
        self.pending: deque[Event] = deque()
        self.manager = QueueManager(
            self.rows,
            self.chance,
            heard=self.heard,
            carriers=Carriers(self.carriers),
            sizes=self.sizes,
            history=self.history,
        )
        self.on_build(self)

    @property
    def state(self) -> State:
        """What the manager knows."""
        return self.manager.state

    # -- events

    def handle(self, event: Event) -> Turn:
        """Let one event be taken, and keep what it asks of the world."""
        turn = self._turn(event)
        if not self.patient:
            self.go_on()
        return turn

    def ask(self, event: Any) -> Any:
        """Ask, as a new caller when `to` is 0; the caller's answer, or None while it waits."""
        caller = event.to or self.new_caller()
        self.handle(msgspec.structs.replace(event, to=caller))
        return self.answer_to(caller)

    def begin_asking(self, event: Any) -> int:
        """Ask as a new caller and do not expect the answer yet; the number to look for it by."""
        caller = self.new_caller()
        self.handle(msgspec.structs.replace(event, to=caller))
        return caller

    def answer_to(self, caller: int) -> Any:
        """What this caller was told last, or None."""
        told = self.answers.get(caller)
        return told[-1] if told else None

    def new_caller(self) -> int:
        """A number under which nobody has asked yet."""
        self._last_caller += 1
        return self._last_caller

    def go_on(self, turns: int | None = None) -> None:
        """Run what was put off to later turns: all of it, or so many turns."""
        while self.pending and turns != 0:
            turns = None if turns is None else turns - 1
            self._turn(self.pending.popleft())

    def run(self, event: Event) -> Turn:
        """One turn; a bench with more machines spreads its signals."""
        return self.manager.handle(event, self.now)

    def _turn(self, event: Event) -> Turn:
        turn = self.run(event)
        self.turns.append(turn)
        for effect in turn.effects:
            match effect:
                case Reply(to, answer):
                    self.answers.setdefault(to, []).append(answer)
                case SetTimer(name, after):
                    self.timers[name] = later(self.now, after)
                case CancelTimer(name):
                    self.timers.pop(name, None)
                case Continue(more):
                    self.pending.append(more)
                case Warn():
                    self.warnings.append(effect)
                case _:
                    raise AssertionError(f"nobody performs {effect}")
        return turn

    @property
    def facts(self) -> list[Fact]:
        """Every fact so far."""
        return [fact for turn in self.turns for fact in turn.facts]

    @property
    def signals(self) -> list[Signal]:
        """Every signal so far."""
        return [signal for turn in self.turns for signal in turn.signals]

    # -- what tests ask most

    def start(self) -> Turn:
        """Start the manager."""
        return self.handle(
            StartManager(
                COMPUTER,
                DOMAIN_NAME,
                self.quota,
                self.hardened,
                directory=self.directory,
                signs=self.signs,
                in_doubt_wait=seconds(self.in_doubt_wait),
                restoration=self.restoration,
                to=STARTER,
            )
        )

    def stop(self) -> Turn:
        """Stop the manager."""
        return self.handle(StopManager())

    def create(self, path: str, **settings: Any) -> Any:
        """Create a queue."""
        return self.ask(CreateQueue(0, path, QueueSettings(**settings)))

    def begin(self, timeout: float | None = None, identifier: UUID | None = None, owner: str = "") -> UUID:
        """Begin a transaction, of our own or of somebody else."""
        span = FOREVER_WAIT if timeout is None else seconds(timeout)
        transaction: UUID = self.ask(BeginTransaction(0, span, identifier, owner)).transaction
        return transaction

    def send(
        self, queue: int | str, *bodies: bytes, transaction: UUID | None = None, **attributes: Any
    ) -> Any:
        """Send recoverable messages, or `delivery=Delivery.EXPRESS`; the attributes are the message's."""
        attributes = {"delivery": Delivery.RECOVERABLE} | attributes
        messages = tuple(Message(body=body, **attributes) for body in bodies)
        return self.ask(SendMessages(0, queue, messages, transaction))

    def receive(
        self, queue: int | str, *, timeout: float | None = 0, hold: float = 0, **parameters: Any
    ) -> Any:
        """Receive; `timeout` (None is for ever) and `hold` are in seconds, the rest as in ReceiveMessages."""
        wait = FOREVER_WAIT if timeout is None else seconds(timeout)
        return self.ask(ReceiveMessages(0, queue, timeout=wait, hold=seconds(hold), **parameters))

    def queue(self, path: str = "orders") -> QueueState:
        """The queue of this name."""
        found = self.state.find(self.state.parse(path))
        assert found is not None, f"there is no queue {path}"
        return found

    def bodies(self, path: str = "orders") -> list[bytes]:
        """What is available in a queue, in its order."""
        queue = self.queue(path)
        return [self.state.messages.get(position).body for position in walk(queue)]

    # -- time

    def advance(self, span: float) -> None:
        """Let so many seconds pass; each timer fires at its moment."""
        end = later(self.now, seconds(span))
        while due := [(moment, name) for name, moment in self.timers.items() if moment <= end]:
            moment, name = min(due)
            self.now = max(self.now, moment)
            del self.timers[name]
            self.handle(TimerFired(name))
        self.now = end

    def fire_due_timers(self) -> None:
        """Let the timers fire whose moment has come; for a test that set `now` itself."""
        self.advance(0)

    # -- the disk

    def flush(self) -> None:
        """Close the batch: stage the counters, apply, sync."""
        self.manager.settle()
        if not self.rows.is_empty:
            self.disk.apply(self.rows.take())
        self.disk.sync()

    def restart(self, *, crash: bool = False, start: bool = True) -> None:
        """Another process over the same disk; in a crash, only what was flushed is there."""
        if not crash:
            self.flush()
        self.disk = self.disk.crash(self.chance)
        self._build()
        if start:
            self.start()


def message(body: bytes = b"", **attributes: Any) -> Message:
    """A recoverable message."""
    return Message(body=body, **{"delivery": Delivery.RECOVERABLE, **attributes})


def walk(queue: QueueState) -> list[Position]:
    """Everything that is available, from the head to the end."""
    found: list[Position] = []
    place = 0  # nothing lies there; a look from the very start would let the order read on
    while (position := queue.order.after(place)) is not None:
        found.append(position)
        place = position.lookup_id
    return found


# -- what must survive, and what must never contradict itself


class Snapshot(msgspec.Struct, frozen=True):
    """The durable part of a state: what a new process must find again."""

    manager: Any
    queues: dict[int, Any]
    names: dict[str, int]
    subqueues: dict[int, set[int]]
    positions: dict[int, list[Position]]
    """The committed ones, available or locked."""
    counters: dict[int, tuple[int, ...]]
    lost: dict[int, tuple[int, ...]]
    """Copies that could not be kept, by queue; 0 is for those that are gone."""
    reserved: dict[int, int]
    delayed: dict[int, list[Position]]
    """Those that nobody sees yet."""
    total_bytes: int
    transactions: dict[UUID, Any]
    outcomes: dict[UUID, tables.Outcome]
    holds: dict[bytes, Any]
    """What carriers hold, without the express messages."""
    messages: dict[int, Message]
    directory: list[Any]
    """Every object, by type and identifier."""
    consumers: dict[int, tuple[dict[str, tables.Consumer], bool]]
    """The readers of each queue, and whether what comes is numbered for them."""
    retained: dict[bytes, Position]
    """What left and is kept for them."""
    history: tuple[int, int, int]
    """The last event, the last one in files, and how many are missing."""
    staging: Any


def durable(state: State) -> Snapshot:
    """What must be the same in a new process before it is started."""
    prepared = {each.identifier: each for each in state.transactions.open.values() if each.prepared}
    uncommitted = {
        (operation.queue, operation.position.lookup_id)
        for each in prepared.values()
        for operation in each.operations
        if operation.kind == "enqueue"
    }
    positions: dict[int, list[Position]] = {}
    for number, queue in state.queues.items():
        here = walk(queue) + [
            position
            for lookup_id, position in queue.order.locked.items()
            if (number, lookup_id) not in uncommitted
        ]
        positions[number] = sorted(
            (position for position in here if not position.express), key=lambda each: each.lookup_id
        )
    reserved: Counter[int] = Counter()
    for each in prepared.values():
        for operation in each.operations:
            if operation.kind == "enqueue":
                reserved[operation.queue] += operation.position.size
    delayed = {
        number: [each for each in some_delayed(state, queue, -1, 1_000_000) if not each.express]
        for number, queue in state.queues.items()
    }
    return Snapshot(
        manager=state.manager.record,
        queues={number: queue.record for number, queue in sorted(state.queues.items())},
        names=dict(sorted(state.names.by_path.items())),
        subqueues={number: set(queue.subqueues) for number, queue in sorted(state.queues.items())},
        positions=dict(sorted(positions.items())),
        counters={
            n: (
                queue.counts.stored,
                queue.counts.stored_size,
                queue.counts.delayed,
                queue.feed.retained,
                queue.feed.retained_size,
            )
            for n, queue in sorted(state.queues.items())
        },
        lost={0: state.totals.lost} | {n: queue.counts.lost for n, queue in sorted(state.queues.items())},
        reserved={number: size for number, size in sorted(reserved.items()) if number in state.queues},
        delayed=dict(sorted(delayed.items())),
        total_bytes=sum(queue.counts.stored_size for queue in state.queues.values()),
        transactions={
            identifier: (
                (each.single_phase, each.external, each.owner, each.begun, each.prepared_at),
                [operation for operation in each.operations if not operation.position.express],
                dict(each.messages),
            )
            for identifier, each in sorted(prepared.items())
        },
        outcomes=dict(state.transactions.outcomes),
        holds=dict(sorted(_stored_holds(state).items())),
        messages={
            position.message: state.messages.get(position)
            for here in [*positions.values(), *delayed.values()]
            for position in here
        },
        directory=[
            each for objects in state.directory.objects.values() for _, each in sorted(objects.items())
        ],
        consumers={
            n: (dict(sorted(queue.feed.consumers.items())), queue.feed.mark > 0)
            for n, queue in sorted(state.queues.items())
        },
        retained=every(state, tables.RETAINED),
        history=standing(state),
        staging=staging_of(state),
    )


def _stored_holds(state: State) -> dict[bytes, tables.Hold]:
    """What the rows must say of the holds: an express message has no part in them."""
    rows = {}
    for key, hold in state.travel.holds.items():
        queue = state.queues.get(hold.queue)
        locked = queue.order.locked if queue else {}
        stored = tuple(each for each in hold.lookup_ids if each not in locked or not locked[each].express)
        if stored:
            rows[key] = tables.Hold(hold.queue, stored)
    return rows


def every(state: State, table: Table[Record]) -> dict[bytes, Record]:
    """All the rows of a table, as the batch has left them."""
    return dict(state.rows.range(table, b"", tables.PAST_THE_END, limit=1_000_000))


def check(state: State) -> None:
    """Compare what is in memory with the rows, and the rows with each other."""
    rows = every(state, tables.POSITIONS)
    prepared = [each for each in state.transactions.open.values() if each.prepared]
    sent = [operation for each in prepared for operation in each.operations if operation.kind == "enqueue"]
    waiting = {
        tables.position_key(operation.queue, operation.position.lookup_id)
        for operation in sent
        if operation.queue in state.queues
    }
    assert waiting <= rows.keys(), "a prepared message has no position"
    committed = {key: row for key, row in rows.items() if key not in waiting}
    delayed = every(state, tables.DELAYED)
    assert not rows.keys() & delayed.keys(), "delayed, and there to be seen"
    assert all(row.due for row in delayed.values()), "delayed, and nobody knows until when"
    assert not any(row.due for row in committed.values()), "to be seen, and delayed"
    _check_queues(state, committed, delayed)
    retained = every(state, tables.RETAINED)
    shown = [*rows.values(), *delayed.values(), *retained.values()]
    kept = {operation.position.message for operation in sent} | check_staging(state, shown)
    _check_messages(state, shown, kept)
    _check_bodies(state, shown)
    Feeds(every(state, tables.CONSUMERS), every(state, tables.LATE), committed, delayed, retained).check(
        state
    )
    assert all(rows[key].arrival == PENDING for key in waiting), "a prepared message can be read in a feed"
    _check_expiry(state, committed | delayed)
    assert state.totals.bytes == sum(queue.total_bytes for queue in state.queues.values())
    assert set(every(state, tables.TRANSACTIONS)) == {each.identifier.bytes for each in prepared}
    assert every(state, tables.OUTCOMES) == {
        each.bytes: outcome for each, outcome in state.transactions.outcomes.items()
    }
    assert every(state, tables.HOLDS) == _stored_holds(state)
    check_locks(state)
    assert {row.object.identifier: row.object for row in every(state, tables.DIRECTORY).values()} == {
        identifier: each for kind in state.directory.objects.values() for identifier, each in kind.items()
    }


def _check_queues(state: State, committed: dict[bytes, Position], delayed: dict[bytes, Position]) -> None:
    expected: dict[bytes, Position] = {}
    assert {number: queue.record for number, queue in state.queues.items()} == {
        record.number: record for record in every(state, tables.QUEUES).values()
    }
    for number, queue in state.queues.items():
        available = walk(queue)
        assert len(available) == len(queue.order), f"queue {number} counts wrongly"
        here = {each.lookup_id: each for each in available}
        assert not here.keys() & queue.order.locked.keys(), "locked and available at once"
        here |= {
            lookup_id: position
            for lookup_id, position in queue.order.locked.items()
            if not _is_uncommitted(state, number, lookup_id)
        }
        stored = [position for position in here.values() if not position.express]
        express = [position for position in here.values() if position.express]
        assert queue.counts.stored == len(stored), (
            f"queue {number} holds {len(stored)}, not {queue.counts.stored}"
        )
        later = [position for key, position in delayed.items() if int.from_bytes(key[:4], "big") == number]
        assert queue.counts.delayed == len(later), (
            f"queue {number} delays {len(later)}, not {queue.counts.delayed}"
        )
        express += queue.delayed_express.values()
        assert queue.counts.stored_size == sum(position.size for position in [*stored, *later])
        assert queue.counts.express_size == sum(position.size for position in express)
        assert queue.counts.reserved == _reserved(state, number), (
            f"queue {number} reserves {queue.counts.reserved}"
        )
        for position in stored:
            expected[tables.position_key(number, position.lookup_id)] = position
        for position in [*here.values(), *later, *queue.delayed_express.values()]:
            state.messages.get(position)
    assert committed == expected, "the rows and the orders differ"


def _is_uncommitted(state: State, number: int, lookup_id: int) -> bool:
    return any(
        operation.kind == "enqueue" and (operation.queue, operation.position.lookup_id) == (number, lookup_id)
        for each in state.transactions.open.values()
        for operation in each.operations
    )


def _reserved(state: State, number: int) -> int:
    return sum(
        operation.position.size
        for each in state.transactions.open.values()
        for operation in each.operations
        if operation.kind == "enqueue" and operation.queue == number
    )


def _check_messages(state: State, positions: list[Position], prepared: set[int]) -> None:
    """Each message is kept as long as a position or a prepared transaction needs it, and no longer."""
    shown = Counter(position.message for position in positions)
    numbers = {int.from_bytes(key, "big") for key in every(state, tables.MESSAGES)}
    needed = prepared | set(shown)
    assert numbers == needed, f"no longer needed {numbers - needed}, missing {needed - numbers}"
    shares = {int.from_bytes(key, "big"): row.count for key, row in every(state, tables.SHARES).items()}
    assert shares == {number: count for number, count in shown.items() if count > 1}
    assert all(position.shared for position in positions if shown[position.message] > 1)


def _check_bodies(state: State, positions: list[Position]) -> None:
    """Each piece is one of a loose body or of one message's, and what a crash would orphan is noted."""
    loose = state.messages.bodies.loose
    assert state.messages.bodies.loose_bytes == sum(body.size for body in loose.values())
    stored = {position.message: position.spool for position in positions if position.spool}
    express = {
        position.message: position.spool
        for queue in state.queues.values()
        for position in [*walk(queue), *queue.order.locked.values(), *queue.delayed_express.values()]
        if position.express and position.spool
    }
    owned = [*stored.values(), *express.values()]
    assert len(set(owned)) == len(owned), "two messages have one body"
    assert not set(owned) & set(loose), "a body is loose and owned"
    noted = {tables.spool_number(key) for key in every(state, tables.SPOOLS)}
    assert noted == {*loose, *express.values()}
    spools = {int.from_bytes(key[:8], "big") for key in every(state, tables.PIECES)}
    assert spools == {*loose, *owned}, f"pieces of nobody: {spools - {*loose, *owned}}"
    for number, spool in stored.items():
        message = state.rows.get(tables.MESSAGES, tables.message_key(number))
        assert message is not None
        assert message.spool == spool


def _check_expiry(state: State, committed: dict[bytes, Position]) -> None:
    rows = {tables.expiry_of(key) for key in every(state, tables.EXPIRY)}
    due = {
        (moment, int.from_bytes(key[:4], "big"), position.lookup_id)
        for key, position in committed.items()
        for moment in (position.expires, position.due, position.purged)
        if moment
    }
    assert rows <= due, f"an expiry row without its message: {rows - due}"
    for deadline, number, lookup_id in due - rows:
        locked = state.queues[number].order.locked
        assert lookup_id in locked, f"{lookup_id:#x} of queue {number} would never expire ({deadline})"
    floor = min((deadline for deadline, _, _ in rows), default=None)
    assert floor is None or state.deadlines.floor <= floor, "an expiry row lies below the floor"
