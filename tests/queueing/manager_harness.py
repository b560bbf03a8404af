"""A queue manager on a bench: over a disk in memory, with a clock that a test sets and a seed for chance.

    bench = Bench()                       started, with the private queue "orders"
    bench.send("orders", b"a", b"b", priority=5)
    bench.receive("orders").messages      what came
    bench.ask(PurgeQueue(0, "orders"))    any event; the answer, or None while it waits
    bench.advance(5)                      five seconds: timers fire in their order, at their moment
    bench.restart()                       a new process over the disk of the last one
    bench.restart(crash=True)             what was not flushed is gone

Nothing reaches the disk before `flush` (or `restart`), as nothing does before a batch is closed.
`state_checks.durable` says what a restart must not change; `state_checks.check` finds contradictions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import Any
from uuid import UUID

import msgspec

from reliquary.base.restoration import Restoration
from reliquary.base.time import SECOND, Instant, later, seconds
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Event,
    Fact,
    Reply,
    SetTimer,
    Signal,
    TimerFired,
    Turn,
    Warn,
)
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
from reliquary.queueing.model.message import Delivery, Message
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.security.rights import default_descriptor
from reliquary.queueing.model.state import Sizes, State
from reliquary.queueing.model.travel.carriers import Carrier, Carriers
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from reliquary.wire.security import encode_descriptor
from tests.queueing.state_checks import walk

NOON = Instant(1_700_000_000 * SECOND)
COMPUTER = "BENCH"
DOMAIN_NAME = "bench.example"
STARTER = 1_000_000
"""The number of the caller to whom the start is answered."""


class Seeded:
    """A source of random bits that repeats with its seed."""

    def __init__(self, seed: int) -> None:
        self.bits = Random(seed).getrandbits


OPEN_LIST = encode_descriptor(default_descriptor(None, MANAGER.user))
"""The list of a queue that the manager itself made: every user may do all."""


class Bench:
    """A queue manager, its disk, its clock and those who ask it."""

    TABLES = tables.TABLES

    def __init__(
        self,
        *queues: str,
        seed: int = 1,
        subscribed: Iterable[type[Signal]] = (),
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
        self.subscribed = frozenset[type](subscribed)
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
        """The answers to each caller, in order."""
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
            subscribed=self.subscribed,
            carriers=Carriers(self.carriers),
            sizes=self.sizes,
            history=self.history,
        )
        self.on_build(self)

    @property
    def state(self) -> State:
        """The state of the manager that runs now."""
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
        """Return the last answer to this caller, or None."""
        reported = self.answers.get(caller)
        return reported[-1] if reported else None

    def new_caller(self) -> int:
        """Return a number that no caller has used yet."""
        self._last_caller += 1
        return self._last_caller

    def go_on(self, turns: int | None = None) -> None:
        """Run the work that was left for later turns: all of it, or this number of turns."""
        while self.pending and turns != 0:
            turns = None if turns is None else turns - 1
            self._turn(self.pending.popleft())

    def run(self, event: Event) -> Turn:
        """Run one turn; a bench with more machines spreads its signals."""
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
                case Continue(more) | ContinueAfterSync(more) | ContinueBesideSync(more):
                    self.pending.append(more)
                case Warn():
                    self.warnings.append(effect)
                case _:
                    raise AssertionError(f"no part of the harness performs {effect}")
        return turn

    @property
    def facts(self) -> list[Fact]:
        """The facts of all turns so far."""
        return [fact for turn in self.turns for fact in turn.facts]

    @property
    def signals(self) -> list[Signal]:
        """The signals of all turns so far."""
        return [signal for turn in self.turns for signal in turn.signals]

    # -- what tests ask most

    def start(self) -> Turn:
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
        return self.handle(StopManager())

    def create(self, path: str, **settings: Any) -> Any:
        """Ask for a new queue with these settings and return the answer."""
        return self.ask(CreateQueue(0, path, QueueSettings(**settings)))

    def begin(self, timeout: float | None = None, identifier: UUID | None = None, owner: str = "") -> UUID:
        """Begin a transaction; with an identifier it is one of an external coordinator."""
        span = FOREVER_WAIT if timeout is None else seconds(timeout)
        transaction: UUID = self.ask(BeginTransaction(0, span, identifier, owner)).transaction
        return transaction

    def send(
        self, queue: int | str, *bodies: bytes, transaction: UUID | None = None, **attributes: Any
    ) -> Any:
        """Send recoverable messages, or `delivery=Delivery.EXPRESS`; the attributes are the message's."""
        attributes = {"delivery": Delivery.RECOVERABLE} | attributes
        messages = tuple(Message.of(body=body, **attributes) for body in bodies)
        return self.ask(SendMessages(0, queue, messages, transaction))

    def receive(
        self, queue: int | str, *, timeout: float | None = 0, hold: float = 0, **parameters: Any
    ) -> Any:
        """Receive; `timeout` (None is for ever) and `hold` are in seconds, the rest as in ReceiveMessages."""
        wait = FOREVER_WAIT if timeout is None else seconds(timeout)
        return self.ask(ReceiveMessages(0, queue, timeout=wait, hold=seconds(hold), **parameters))

    def queue(self, path: str = "orders") -> QueueState:
        """Return the queue of this name."""
        found = self.state.find(self.state.parse(path))
        assert found is not None, f"there is no queue {path}"
        return found

    def bodies(self, path: str = "orders") -> list[bytes]:
        """Return the bodies of the available messages of a queue, in order."""
        queue = self.queue(path)
        return [self.state.messages.get(position).body for position in walk(queue)]

    # -- time

    def advance(self, span: float) -> None:
        """Let this many seconds pass; each timer fires when it is due."""
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
        """Start another process over this disk; after a crash, only what was flushed is there."""
        if not crash:
            self.flush()
        self.disk = self.disk.crash(self.chance)
        self._build()
        if start:
            self.start()


def message(body: bytes = b"", **attributes: Any) -> Message:
    """Return a message, recoverable unless `delivery` says otherwise."""
    return Message.of(body=body, **{"delivery": Delivery.RECOVERABLE, **attributes})
