"""Tests promises that the simulator once found broken, each in a short run of the manager in the engine."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, Duration, Instant, later
from reliquary.base.turn import Effect, Event, Reply, TimerFired
from reliquary.engine.core import Core
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import (
    Access,
    BrowseMessages,
    CreateQueue,
    EndRead,
    MoveMessage,
    OpenQueue,
    ReceiveMessages,
    SendMessages,
    StartManager,
)
from reliquary.queueing.model.message import Delivery, Message, ObjectId
from reliquary.queueing.model.tables import TABLES
from reliquary.sim.audit import audit, contents
from reliquary.sim.chance import SeededChance
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.engine.machines import NOON

HOUR = Duration(3600 * SECOND)


class Written(NamedTuple):
    """The effects of the turns of a batch that was written."""

    at_once: list[Effect]
    after_sync: list[Effect]


class Server:
    """A manager under a core; the test closes batches and syncs by hand."""

    def __init__(self, disk: MemoryDisk | None = None, seed: int = 1) -> None:
        self.disk = disk or MemoryDisk(TABLES)
        self.now: Instant = NOON
        rows = StagedRows(self.disk)
        self.manager = QueueManager(rows, SeededChance(seed))
        self.core = Core(self.disk, rows)
        self.core.add(self.manager)
        self.core.turn(StartManager("HOST"), self.now)
        self.core.turn(CreateQueue(0, "orders"), self.now)
        self.core.close()
        self.disk.sync()

    def batch(self, *events: Event) -> Written:
        for event in events:
            self.core.turn(event, self.now)
        return Written(self.core.take_at_once(), self.core.close().after_sync)

    def ask(self, event: Event) -> object:
        batch = self.batch(event)
        (reply,) = [each for each in batch.at_once + batch.after_sync if isinstance(each, Reply)]
        return reply.answer

    def crash(self) -> Server:
        """Return the next process, after a crash that kept only synced changes."""
        for seed in range(100):
            survivor = self.disk.crash(SeededChance(seed))
            if survivor.kept == 0:
                return Server(survivor, seed=2)
        raise AssertionError("every crash kept something")


def express(body: bytes, **attributes: int) -> Message:
    return Message.of(body=body, delivery=Delivery.EXPRESS, **attributes)


def recoverable(body: bytes) -> Message:
    return Message(body=body, delivery=Delivery.RECOVERABLE, priority=0)


def test_an_express_message_that_expires_does_not_let_a_recoverable_one_out_before_its_sync() -> None:
    server = Server()
    server.batch(SendMessages(1, "orders", (express(b"short", time_to_be_received=1),)))
    server.disk.sync()
    server.now = later(server.now, HOUR)
    server.batch(SendMessages(2, "orders", (recoverable(b"kept"),)))
    batch = server.batch(
        BrowseMessages(3, "orders"),  # the express message expires here, and no other fact is stated
        ReceiveMessages(4, "orders", hold=HOUR),
    )
    reported = [each.to for each in batch.at_once if isinstance(each, Reply)]
    assert reported == []


def test_an_express_receipt_that_is_acknowledged_does_not_let_a_recoverable_one_out_before_its_sync() -> None:
    server = Server()
    server.batch(SendMessages(1, "orders", (express(b"short"),)))
    held = server.ask(ReceiveMessages(2, "orders", hold=HOUR))
    server.batch(SendMessages(3, "orders", (recoverable(b"kept"),)))
    acknowledge = held.receipt  # type: ignore[attr-defined]
    batch = server.batch(ReceiveMessages(4, "orders", hold=HOUR, acknowledge=acknowledge))
    assert [each.to for each in batch.after_sync if isinstance(each, Reply)] == [4]


def test_an_express_message_does_not_carry_an_acknowledgement_out_before_its_sync() -> None:
    """A reader that is answered may rely on its acknowledgement being stored."""
    server = Server()
    server.batch(SendMessages(1, "orders", (recoverable(b"kept"),)))
    held = server.ask(ReceiveMessages(2, "orders", hold=HOUR))
    server.disk.sync()
    acknowledge = held.receipt  # type: ignore[attr-defined]
    server.batch(ReceiveMessages(3, "orders", timeout=HOUR, hold=HOUR, acknowledge=acknowledge))
    batch = server.batch(SendMessages(4, "orders", (express(b"short"),)))
    assert [each.to for each in batch.at_once if isinstance(each, Reply)] == []
    assert {each.to for each in batch.after_sync if isinstance(each, Reply)} == {3, 4}


def test_a_number_that_was_reported_without_a_sync_is_not_given_out_again_after_a_crash() -> None:
    server = Server()
    first = server.ask(SendMessages(1, "orders", (express(b"one"),)))
    again = server.crash()
    second = again.ask(SendMessages(1, "orders", (express(b"other"),)))
    assert first.lookup_ids != second.lookup_ids  # type: ignore[attr-defined]


def test_a_receipt_of_an_earlier_process_acknowledges_nothing_in_this_one() -> None:
    server = Server()
    server.batch(SendMessages(1, "orders", (recoverable(b"a"),)))
    server.disk.sync()
    old = server.ask(ReceiveMessages(2, "orders", hold=HOUR))
    again = server.crash()
    again.batch(SendMessages(3, "orders", (recoverable(b"b"),)))
    new = again.ask(ReceiveMessages(1, "orders", hold=HOUR))
    assert old.receipt and new.receipt  # type: ignore[attr-defined]  # noqa: PT018
    answer = again.ask(EndRead(2, old.receipt, delete=True))  # type: ignore[attr-defined]
    assert answer.status is HResult.INVALID_HANDLE  # type: ignore[attr-defined]


def test_a_handle_of_an_earlier_process_opens_nothing_in_this_one() -> None:
    server = Server()
    old = server.ask(OpenQueue(1, "orders", Access.RECEIVE))
    again = server.crash()
    again.ask(OpenQueue(1, "orders", Access.RECEIVE))
    answer = again.ask(ReceiveMessages(2, old.handle))  # type: ignore[attr-defined]
    assert answer.status is HResult.INVALID_HANDLE  # type: ignore[attr-defined]


def test_a_late_deadline_is_not_passed_over_because_a_locked_message_is_overdue() -> None:
    server = Server()
    server.batch(SendMessages(1, "orders", (message(b"locked", NOON, 2),)))
    server.ask(ReceiveMessages(2, "orders", hold=HOUR))
    server.now = later(server.now, Duration(10 * SECOND))
    server.batch(TimerFired(("expiry", 0)))  # the locked message is overdue from here on
    server.batch(SendMessages(3, "orders", (message(b"late", NOON, 1),)))
    server.disk.sync()
    audit(contents(server.disk))


def message(body: bytes, sent: Instant, seconds: int) -> Message:
    """Return a message from another manager, whose time began when it was sent."""
    return Message(
        body=body,
        identifier=ObjectId(UUID(int=1), 1),
        delivery=Delivery.RECOVERABLE,
        sent_time=sent // SECOND,
        time_to_be_received=seconds,
    )


def test_an_express_dead_letter_that_returns_to_its_queue_does_not_expire_again() -> None:
    server = Server()
    short = express(b"short", time_to_be_received=1)
    server.batch(SendMessages(1, "orders", (short.changed(negative_journaling=True),)))
    server.now = later(server.now, HOUR)
    server.ask(BrowseMessages(2, "orders"))  # it expires here, before the timer fires
    (dead,) = server.ask(BrowseMessages(3, "system$;deadletter")).messages  # type: ignore[attr-defined]
    server.ask(MoveMessage(4, "system$;deadletter", dead.position.lookup_id, "orders"))
    server.batch(TimerFired(("expiry", 0)))
    answer = server.ask(ReceiveMessages(5, "orders"))
    assert [delivered.message.body for delivered in answer.messages] == [b"short"]  # type: ignore[attr-defined]
