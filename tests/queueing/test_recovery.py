"""Whatever a manager went through, a new process over the same disk knows the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from inspect import signature
from random import Random
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import StoreDamage
from reliquary.base.hresult import HResult
from reliquary.base.rows import Record, Table
from reliquary.base.time import seconds
from reliquary.queueing import events
from reliquary.queueing.facts import PositionDeleted
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.message import FOREVER, Acknowledgement, Delivery, MessageClass, ObjectId
from reliquary.queueing.state import Sizes
from reliquary.queueing.tables import EXPIRY, MESSAGES, POSITIONS, SEQUENCE_MASK, expiry_of, message_key
from reliquary.store.staging import StagedRows
from tests.queueing.manager_harness import Bench, Snapshot, check, durable, every, message, walk

TINY = Sizes(window=2, at_once=2, sequence_block=4, cache_bytes=5)
"""So that small examples reach every edge."""

PATHS = ("a", "b", "a;sub")
READABLE = (*PATHS, "a;journal", "system$;deadletter", "system$;deadxact", "system$;journal")


class Life:
    """Each public method is one thing that can happen to a manager; what it needs is drawn by name."""

    def __init__(self) -> None:
        self.bench = Bench("a", "b", "a;sub", sizes=TINY)
        self.receipts: list[int] = []
        self.transactions: list[UUID] = []
        self.flush(stop=False)

    def _inside(self, wanted: bool) -> UUID | None:
        """A transaction that can be used, if one is wanted."""
        if not wanted:
            return None
        usable = [each for each in self.transactions if not self.bench.state.transactions[each].prepared]
        if not usable:
            usable = [self.bench.begin()]
            self.transactions += usable
        return usable[-1]

    def _one(self, path: str, which: int) -> int:
        """The LookupIdentifier of an available message, or one that nobody has."""
        queue = self.bench.state.find(self.bench.state.parse(path))
        here = walk(queue) if queue else []
        return here[which % len(here)].lookup_id if here else 1

    def _keep(self, answer: events.Answer) -> None:
        if isinstance(answer, events.Received) and answer.receipt:
            self.receipts.append(answer.receipt)

    # -- messages

    def send(self, path: str, count: int, attributes: dict[str, Any], inside: bool) -> None:
        if self.bench.state.find(self.bench.state.parse(path)) is None:
            self.bench.create(path)
        self.bench.send(path, *[b"body"] * count, transaction=self._inside(inside), **attributes)

    def receive(self, readable: str, count: int, way: str) -> None:
        hold, inside = 20 if way == "held" else 0, self._inside(way == "inside")
        self._keep(self.bench.receive(readable, count=count, hold=hold, transaction=inside))

    def receive_from_the_middle(self, readable: str, which: int, way: str) -> None:
        hold, inside = seconds(20 if way == "held" else 0), self._inside(way == "inside")
        lookup_id = self._one(readable, which)
        request = events.LookUpMessage(0, readable, lookup_id, peek=False, transaction=inside, hold=hold)
        self._keep(self.bench.ask(request))

    def end_read(self, which: int, delete: bool, only_first: bool) -> None:
        if self.receipts:
            receipt = self.receipts[which % len(self.receipts)]
            descriptor = self.bench.state.handles.get(receipt)
            held = tuple(sorted(descriptor.held)) if descriptor and only_first else ()
            self.bench.ask(events.EndRead(0, receipt, delete, held[:1]))

    def move(self, readable: str, which: int, path: str, inside: bool) -> None:
        lookup_id = self._one(readable, which)
        self.bench.ask(events.MoveMessage(0, readable, lookup_id, path, self._inside(inside)))

    # -- transactions

    def begin(self, timeout: int | None) -> None:
        self.transactions.append(self.bench.begin(timeout))

    def prepare(self, which: int, single_phase: bool) -> None:
        if self.transactions:
            transaction = self.transactions[which % len(self.transactions)]
            self.bench.ask(events.PrepareTransaction(0, transaction, single_phase))

    def decide(self, which: int, committed: bool) -> None:
        if self.transactions:
            request = events.CommitTransaction if committed else events.AbortTransaction
            self.bench.ask(request(0, self.transactions.pop(which % len(self.transactions))))

    # -- queues

    def purge(self, readable: str) -> None:
        self.bench.ask(events.PurgeQueue(0, readable))

    def delete(self, path: str) -> None:
        self.bench.ask(events.DeleteQueue(0, path))

    def create_or_change(self, path: str, journaling: bool, transactional: bool, quota: int) -> None:
        made = self.bench.create(path, journaling=journaling, transactional=transactional)
        if made.status is HResult.QUEUE_EXISTS:
            self.bench.ask(events.ChangeQueue(0, path, {"journaling": journaling, "quota": quota}))

    # -- time and the process

    def wait(self, span: int) -> None:
        self.bench.advance(span)
        self._forget_what_ended()

    def put_off_or_go_on(self, patient: bool) -> None:
        """Let what takes many turns stand, or go on with it."""
        self.bench.patient = patient
        self.bench.go_on(1 if patient else None)

    def flush(self, stop: bool) -> None:
        if stop:
            self.bench.stop()
        self.bench.flush()
        self.safe = durable(self.bench.state)

    def restart(self) -> None:
        live, sequence = durable(self.bench.state), self.bench.state.sequence
        self.bench.restart(start=False)
        assert self.bench.state.sequence >= sequence, "a number would be given out twice"
        self._look_again(live)

    def crash(self) -> None:
        self.bench.restart(crash=True, start=False)
        self._look_again(self.safe)

    def _look_again(self, expected: Snapshot) -> None:
        assert durable(self.bench.state) == expected
        check(self.bench.state)
        self.bench.start()
        self.receipts.clear()
        self._forget_what_ended()
        self.flush(stop=False)

    def _forget_what_ended(self) -> None:
        self.transactions = [each for each in self.transactions if each in self.bench.state.transactions]


def check_clock(bench: Bench) -> None:
    """Whatever expires next, the timer is set for it or the work is under way."""
    ahead = [key for key in every(bench.state, EXPIRY) if key >= bench.state.expiry_scan]
    if ahead and not bench.pending:
        assert ("expiry", 0) in bench.timers
        assert 0 < bench.state.next_expiry <= expiry_of(min(ahead))[0]


# -- chance

Step = tuple[str, dict[str, Any]]

ATTRIBUTES: dict[str, tuple[float, tuple[Any, ...]]] = {
    "priority": (0.5, (0, 3, 7)),
    "delivery": (0.3, (Delivery.EXPRESS,)),
    "time_to_be_received": (0.4, (0, 1, 5, 90)),
    "positive_journaling": (0.3, (True,)),
    "negative_journaling": (0.3, (True,)),
    "allow_peek_when_locked": (0.3, (True,)),
    "application_deadletter_queue": (0.2, PATHS),
}
"""How often a message has the attribute, and with which values."""


def attributes(chance: Random) -> dict[str, Any]:
    drawn = {name: chance.choice(values) for name, (_, values) in ATTRIBUTES.items()}
    return {name: value for name, value in drawn.items() if chance.random() < ATTRIBUTES[name][0]}


def one_of(*values: Any) -> Callable[[Random], Any]:
    return lambda chance: chance.choice(values)


DRAW: dict[str, Callable[[Random], Any]] = {
    "path": one_of(*PATHS),
    "readable": one_of(*PATHS, *READABLE),
    "count": one_of(1, 2, 3, 4),
    "which": one_of(*range(6)),
    "way": one_of("for good", "held", "inside"),
    "timeout": one_of(None, 50),
    "span": one_of(1, 5, 60, 100),
    "quota": one_of(1, FOREVER),
    "attributes": attributes,
}
"""By the name of the parameter; all others are yes or no."""

WEIGHTS: dict[Callable[..., None], int] = {
    Life.send: 10,
    Life.receive: 6,
    Life.receive_from_the_middle: 3,
    Life.end_read: 3,
    Life.move: 4,
    Life.begin: 1,
    Life.prepare: 4,
    Life.decide: 4,
    Life.purge: 2,
    Life.delete: 1,
    Life.create_or_change: 2,
    Life.wait: 2,
    Life.put_off_or_go_on: 1,
    Life.flush: 1,
    Life.restart: 1,
    Life.crash: 1,
}


def story(seed: int, length: int = 40) -> list[Step]:
    chance = Random(seed)
    steps: list[Step] = []
    for happening in chance.choices(list(WEIGHTS), list(WEIGHTS.values()), k=length):
        parameters = [name for name in signature(happening).parameters if name != "self"]
        drawn = {name: DRAW.get(name, one_of(True, False))(chance) for name in parameters}
        steps.append((happening.__name__, drawn))
    return steps


def play(steps: list[Step]) -> None:
    life = Life()
    for name, arguments in [*steps, ("restart", {}), ("crash", {}), ("put_off_or_go_on", {"patient": False})]:
        getattr(life, name)(**arguments)
        check(life.bench.state)
        check_clock(life.bench)


def goes_wrong(steps: list[Step]) -> bool:
    try:
        play(steps)
    except Exception:  # noqa: BLE001 - whatever it is, it must not be
        return True
    return False


def shortest(steps: list[Step]) -> list[Step]:
    """The same mistake in fewer steps."""
    place = 0
    while place < len(steps):
        fewer = steps[:place] + steps[place + 1 :]
        if goes_wrong(fewer):
            steps, place = fewer, 0
        else:
            place += 1
    return steps


def try_seeds(seeds: range) -> None:
    for seed in seeds:
        steps = story(seed)
        if goes_wrong(steps):
            steps = shortest(steps)
            told = "\n".join(f"    life.{name}(**{arguments})" for name, arguments in steps)
            try:
                play(steps)
            except Exception as why:
                raise AssertionError(f"seed {seed} goes wrong:\n    life = Life()\n{told}") from why


CLAIMS = pytest.mark.spec("DM-002", "DM-004", "DM-005", "DM-018", "DM-040", "DM-047", "DM-064", "DM-065")


@CLAIMS
@pytest.mark.parametrize("first", range(0, 800, 100))
def test_a_new_process_knows_what_the_old_one_knew(first: int) -> None:
    try_seeds(range(first, first + 100))


@CLAIMS
@pytest.mark.long
@pytest.mark.parametrize("first", range(1_000, 21_000, 500))
def test_a_new_process_knows_what_the_old_one_knew_in_every_life(first: int) -> None:
    try_seeds(range(first, first + 500))


# -- by example


@pytest.mark.spec("DM-002", "DM-047", "DM-018")
def test_a_recoverable_message_is_there_again_with_every_attribute() -> None:
    bench = Bench()
    sent = message(
        b"body",
        label="a label",
        priority=6,
        extension=b"more",
        application_tag=7,
        correlation=ObjectId(UUID(int=9), 3),
        acknowledgements=(Acknowledgement.FULL_RECEIVE,),
        response_queue="DIRECT=OS:.\\private$\\answers",
        time_to_be_received=1000,
        soap_header="<h/>",
    )
    bench.ask(events.SendMessages(0, "orders", (sent,)))
    before = bench.state.sequence
    [position] = walk(bench.queue())
    stored = bench.state.shelf.get(position)
    bench.restart()
    assert walk(bench.queue()) == [position]
    assert bench.state.shelf.get(position) == stored
    changed = {"identifier", "source_machine", "sent_time"}
    assert {name: getattr(stored, name) for name in stored.__struct_fields__ if name not in changed} == {
        name: getattr(sent, name) for name in sent.__struct_fields__ if name not in changed
    }
    assert bench.send("orders", b"next").lookup_ids[0] & SEQUENCE_MASK > before


@pytest.mark.spec("DM-004", "DM-046")
def test_an_express_message_is_forgotten_and_its_bytes_with_it() -> None:
    bench = Bench()
    bench.send("orders", b"kept")
    kept = bench.queue().total_bytes
    bench.send("orders", b"forgotten", delivery=Delivery.EXPRESS)
    bench.restart()
    assert bench.bodies() == [b"kept"]
    assert bench.queue().total_bytes == kept == bench.state.total_bytes


@pytest.mark.spec("DM-004")
def test_handles_cursors_waits_and_holds_are_forgotten() -> None:
    bench = Bench()
    handle = bench.ask(events.OpenQueue(0, "orders", events.Access.RECEIVE)).handle
    bench.ask(events.OpenCursor(0, handle))
    bench.receive("orders", timeout=None)
    bench.send("orders", b"for the waiter", b"a", b"b")
    bench.receive("orders", hold=100)
    bench.restart()
    assert bench.bodies() == [b"a", b"b"]
    assert not bench.state.handles
    assert not bench.state.cursors
    assert not bench.queue().active


def test_a_manager_over_an_empty_disk_has_no_name_and_no_queues() -> None:
    bench = Bench(start=False)
    assert bench.state.record is None
    assert bench.state.queues == {}


@pytest.mark.spec("DM-005")
def test_the_manager_and_its_queues_keep_their_identifiers() -> None:
    bench = Bench("orders", "orders;retry", ".\\offers")
    before = durable(bench.state)
    for _ in range(3):
        bench.restart()
        assert durable(bench.state).queues == before.queues
        assert bench.state.record == before.manager


@pytest.mark.spec("DM-005", "DM-141")
def test_the_number_of_a_new_queue_is_no_other_queues_even_after_a_restart() -> None:
    bench = Bench("one", "two")
    bench.ask(events.DeleteQueue(0, "one"))
    bench.restart()
    numbers = set(bench.state.queues)
    made = bench.create("three").queue
    assert made.number not in numbers


@pytest.mark.spec("DM-018", "DM-190")
def test_no_number_is_given_out_twice_whenever_the_process_ends() -> None:
    bench = Bench(sizes=Sizes(sequence_block=8))
    given_out: list[int] = []
    for round_ in range(40):
        sent = bench.send("orders", *[b"x"] * (round_ % 7 + 1))
        given_out += [lookup_id & SEQUENCE_MASK for lookup_id in sent.lookup_ids]
        bench.flush()
        if round_ % 3 == 0:
            bench.restart(crash=True)
        elif round_ % 3 == 1:
            bench.stop()
            bench.restart()
    assert len(given_out) == len(set(given_out))
    assert given_out == sorted(given_out)


@pytest.mark.spec("DM-190")
def test_an_orderly_stop_gives_back_the_numbers_that_were_only_reserved() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    last = bench.state.sequence
    bench.stop()
    bench.restart()
    assert bench.state.sequence == last


@pytest.mark.spec("DM-064", "DM-065", "DM-097")
def test_a_prepared_transaction_waits_for_its_outcome_across_a_restart() -> None:
    bench = Bench("orders", "done")
    bench.send("orders", b"received", b"moved")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    moved = walk(bench.queue())[0].lookup_id
    bench.ask(events.MoveMessage(0, "orders", moved, "done", transaction))
    bench.send("done", b"sent", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.restart()
    assert bench.bodies("orders") == bench.bodies("done") == []
    assert bench.queue("done").reserved > 0
    bench.ask(events.CommitTransaction(0, transaction))
    assert bench.bodies("orders") == []
    assert sorted(bench.bodies("done")) == [b"moved", b"sent"]
    assert bench.queue("done").reserved == 0
    check(bench.state)


@pytest.mark.spec("DM-097", "DM-114", "DM-115")
def test_a_prepared_transaction_that_decides_alone_is_aborted_at_the_start() -> None:
    bench = Bench()
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"sent", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=True))
    bench.restart()
    assert bench.bodies() == [b"received"]
    assert bench.state.transactions == {}
    check(bench.state)


@pytest.mark.spec("DM-115")
def test_nothing_is_left_of_a_transaction_that_was_not_prepared() -> None:
    bench = Bench()
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"sent", transaction=transaction)
    bench.restart()
    assert bench.bodies() == [b"received"]
    check(bench.state)


@pytest.mark.spec("DM-040", "DM-113", "DM-184")
@pytest.mark.parametrize("committed", [True, False])
def test_what_was_purged_while_a_prepared_transaction_had_it_does_not_come_back(committed: bool) -> None:
    bench = Bench(heard=[PositionDeleted])
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(events.PurgeQueue(0, "orders"))
    bench.restart()
    decide = events.CommitTransaction if committed else events.AbortTransaction
    bench.ask(decide(0, transaction))
    assert bench.bodies() == []
    reason = MessageClass.ACK_RECEIVE if committed else MessageClass.NACK_QUEUE_PURGED
    assert [each.reason for each in bench.signals if isinstance(each, PositionDeleted)] == [reason]
    check(bench.state)


@pytest.mark.spec("DM-305")
def test_what_a_prepared_transaction_received_can_still_be_peeked_at_if_it_allows_it() -> None:
    bench = Bench()
    bench.send("orders", b"open", allow_peek_when_locked=True)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"not yet", allow_peek_when_locked=True, transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.restart()
    shown = bench.ask(events.BrowseMessages(0, "orders")).messages
    assert [each.message.body for each in shown] == [b"open"]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("when", ["before prepare", "after prepare"])
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.spec("DM-108", "DM-115", "DM-154")
def test_a_prepared_transaction_outlives_the_queue_it_worked_on(
    when: str, again: bool, committed: bool
) -> None:
    bench = Bench("other", "orders")
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"wanted", transaction=transaction, negative_journaling=True)
    bench.send("orders", b"unwanted", transaction=transaction)
    prepare = events.PrepareTransaction(0, transaction, single_phase=False)
    for event in (prepare, events.DeleteQueue(0, "orders"))[:: 1 if when == "after prepare" else -1]:
        bench.ask(event)
    check(bench.state)
    if again:
        bench.restart()
        check(bench.state)
        bench.create("a new one")
    decide = events.CommitTransaction if committed else events.AbortTransaction
    assert bench.ask(decide(0, transaction)).status is HResult.OK
    check(bench.state)
    assert bench.bodies("system$;deadxact") == ([b"wanted"] if committed else [])
    if again:
        assert bench.bodies("a new one") == []


@pytest.mark.spec("DM-154", "DM-156")
def test_a_delete_that_was_under_way_goes_on_after_a_restart() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", *[b"x"] * 9)
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.go_on(2)
    bench.restart()
    assert bench.create("orders").status is HResult.OK
    bench.patient = False
    bench.go_on()
    assert [queue for queue in bench.state.queues.values() if queue.record.deleting] == []
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-109", "DM-154")
def test_a_restart_in_the_middle_of_a_delete_that_took_a_prepared_message() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.send("orders", *[b"x"] * 9)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.go_on(1)
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    check(bench.state)
    bench.patient = False
    bench.start()
    assert bench.ask(events.CommitTransaction(0, transaction)).status is HResult.OK
    assert every(bench.state, POSITIONS) == {}
    check(bench.state)


@pytest.mark.spec("DM-109", "DM-154")
def test_a_commit_finds_the_journal_of_a_queue_under_deletion_gone() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.restart()
    bench.go_on(1)
    assert bench.ask(events.CommitTransaction(0, transaction)).status is HResult.OK
    bench.go_on()
    check(bench.state)


@pytest.mark.spec("DM-077", "DM-081")
def test_a_message_expires_at_its_time_whether_or_not_there_was_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"short", time_to_be_received=10)
    bench.send("orders", b"long", time_to_be_received=1000)
    bench.advance(5)
    bench.restart()
    bench.advance(5)
    assert bench.bodies() == [b"long"]
    bench.advance(1000)
    assert bench.bodies() == []


@pytest.mark.spec("DM-077", "DM-081")
def test_a_message_that_was_held_when_its_time_ran_out_expires_after_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"held", time_to_be_received=10, negative_journaling=True)
    bench.receive("orders", hold=1000)
    bench.advance(20)
    bench.send("orders", b"later", time_to_be_received=100)
    bench.restart()
    bench.advance(1)
    assert bench.bodies() == [b"later"]
    assert bench.bodies("system$;deadletter") == [b"held"]
    check(bench.state)


def test_a_message_without_its_row_is_damage_and_is_named() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    transaction = bench.begin()
    bench.send("orders", b"b", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    number = bench.state.transactions[transaction].operations[0].position.message
    bench.rows.delete(MESSAGES, message_key(number))
    with pytest.raises(StoreDamage, match=f"message {number} was prepared and has no row"):
        bench.restart()


def test_opening_reads_no_message_however_many_there_are() -> None:
    bench = Bench()
    for _ in range(20):
        bench.send("orders", *[b"x"] * 100)
    asked: Counter[str] = Counter()
    bench.flush()

    class Watched(StagedRows):
        def get(self, table: Table[Record], key: bytes) -> Record | None:
            asked[table.name] += 1
            return super().get(table, key)

        def range(
            self, table: Table[Record], first: bytes, last: bytes, *, limit: int, reverse: bool = False
        ) -> list[tuple[bytes, Record]]:
            asked[table.name] += 1
            return super().range(table, first, last, limit=limit, reverse=reverse)

    manager = QueueManager(Watched(bench.disk), bench.chance)
    assert asked[MESSAGES.name] == asked[POSITIONS.name] == 0
    assert sum(map(len, (queue.order for queue in manager.state.queues.values()))) == 2000
