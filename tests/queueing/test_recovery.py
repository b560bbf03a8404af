"""Whatever a manager went through, a new process over the same disk knows the same."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reliquary.base.faults import StoreDamage
from reliquary.base.hresult import HResult
from reliquary.base.rows import Record, Table
from reliquary.base.time import seconds
from reliquary.base.turn import Event
from reliquary.queueing import events
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.message import FOREVER, Acknowledgement, Delivery, ObjectId
from reliquary.queueing.state import Sizes
from reliquary.queueing.tables import EXPIRY, MESSAGES, POSITIONS, SEQUENCE_MASK, expiry_of, message_key
from reliquary.store.staging import StagedRows
from tests.queueing.manager_harness import Bench, Snapshot, check, durable, every, message, walk

TINY = Sizes(window=2, at_once=2, sequence_block=4, cache_bytes=5)
"""So that small examples reach every edge."""

PATHS = ("a", "b", "a;sub")
READABLE = (*PATHS, "a;journal", "system$;deadletter", "system$;journal")

paths = st.sampled_from(PATHS)
readable = st.sampled_from(READABLE)
some = st.integers(0, 5)
ways = st.sampled_from(("for good", "held", "inside"))
attributes = st.fixed_dictionaries(
    {},
    optional={
        "priority": st.integers(0, 7),
        "delivery": st.sampled_from(Delivery),
        "time_to_be_received": st.sampled_from((0, 1, 5, 90, FOREVER)),
        "positive_journaling": st.booleans(),
        "negative_journaling": st.booleans(),
        "allow_peek_when_locked": st.booleans(),
        "application_deadletter_queue": paths,
    },
)


class Life(RuleBasedStateMachine):
    """Each rule is one thing that can happen; after each the state is checked against the rows."""

    @initialize()
    def open(self) -> None:
        self.bench = Bench("a", "b", "a;sub", sizes=TINY)
        self.receipts: list[int] = []
        self.transactions: list[UUID] = []
        self.flush()

    def inside(self, wanted: bool) -> UUID | None:
        """A transaction that can be used, if one is wanted."""
        if not wanted:
            return None
        usable = [each for each in self.transactions if not self.bench.state.transactions[each].prepared]
        if not usable:
            usable = [self.bench.begin()]
            self.transactions += usable
        return usable[-1]

    def one(self, path: str, which: int) -> int:
        """The LookupIdentifier of an available message, or one that nobody has."""
        queue = self.bench.state.find(self.bench.state.parse(path))
        here = walk(queue) if queue else []
        return here[which % len(here)].lookup_id if here else 1

    def keep(self, answer: events.Answer) -> None:
        if isinstance(answer, events.Received) and answer.receipt:
            self.receipts.append(answer.receipt)

    # -- messages

    @rule(path=paths, count=st.integers(1, 4), attributes=attributes, inside=st.booleans())
    def send(self, path: str, count: int, attributes: dict[str, Any], inside: bool) -> None:
        if self.bench.state.find(self.bench.state.parse(path)) is None:
            self.bench.create(path)
        self.bench.send(path, *[b"body"] * count, transaction=self.inside(inside), **attributes)

    @rule(path=st.one_of(paths, readable), count=st.integers(1, 4), way=ways)
    def receive(self, path: str, count: int, way: str) -> None:
        hold, inside = 20 if way == "held" else 0, self.inside(way == "inside")
        self.keep(self.bench.receive(path, count=count, hold=hold, transaction=inside))

    @rule(path=readable, which=some, way=ways)
    def receive_from_the_middle(self, path: str, which: int, way: str) -> None:
        hold, inside = seconds(20 if way == "held" else 0), self.inside(way == "inside")
        lookup_id = self.one(path, which)
        request = events.LookUpMessage(0, path, lookup_id, peek=False, transaction=inside, hold=hold)
        self.keep(self.bench.ask(request))

    @precondition(lambda self: self.receipts)
    @rule(which=some, delete=st.booleans(), only_first=st.booleans())
    def end_read(self, which: int, delete: bool, only_first: bool) -> None:
        receipt = self.receipts[which % len(self.receipts)]
        descriptor = self.bench.state.handles.get(receipt)
        held = tuple(sorted(descriptor.held)) if descriptor and only_first else ()
        self.bench.ask(events.EndRead(0, receipt, delete, held[:1]))

    @rule(path=readable, which=some, into=st.one_of(paths, readable), inside=st.booleans())
    def move(self, path: str, which: int, into: str, inside: bool) -> None:
        self.bench.ask(events.MoveMessage(0, path, self.one(path, which), into, self.inside(inside)))

    # -- transactions

    @rule(timeout=st.sampled_from((None, 50)))
    def begin(self, timeout: int | None) -> None:
        self.transactions.append(self.bench.begin(timeout))

    @rule(path=paths, count=st.integers(1, 3), attributes=attributes, which=some, into=paths)
    def prepare_one_that_did_everything(
        self, path: str, count: int, attributes: dict[str, Any], which: int, into: str
    ) -> None:
        self.begin(timeout=None)
        self.send(path, count, attributes, inside=True)
        self.receive(path, count, "inside")
        self.move(path, which, into, inside=True)
        self.prepare(len(self.transactions) - 1, single_phase=False)

    @precondition(lambda self: self.transactions)
    @rule(which=some, single_phase=st.booleans())
    def prepare(self, which: int, single_phase: bool) -> None:
        transaction = self.transactions[which % len(self.transactions)]
        self.bench.ask(events.PrepareTransaction(0, transaction, single_phase))

    @precondition(lambda self: self.transactions)
    @rule(which=some, request=st.sampled_from((events.CommitTransaction, events.AbortTransaction)))
    def decide(self, which: int, request: type[Event]) -> None:
        self.bench.ask(request(0, self.transactions.pop(which % len(self.transactions))))

    # -- queues

    @rule(path=st.one_of(paths, readable))
    def purge(self, path: str) -> None:
        self.bench.ask(events.PurgeQueue(0, path))

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self.bench.ask(events.DeleteQueue(0, path))

    @rule(
        path=paths, journaling=st.booleans(), transactional=st.booleans(), quota=st.sampled_from((1, FOREVER))
    )
    def create_or_change(self, path: str, journaling: bool, transactional: bool, quota: int) -> None:
        made = self.bench.create(path, journaling=journaling, transactional=transactional)
        if made.status is HResult.QUEUE_EXISTS:
            self.bench.ask(events.ChangeQueue(0, path, {"journaling": journaling, "quota": quota}))

    # -- time and the process

    @rule(span=st.sampled_from((1, 5, 60, 100)))
    def wait(self, span: int) -> None:
        self.bench.advance(span)
        self.forget_what_ended()

    @rule(patient=st.booleans())
    def put_off_or_go_on(self, patient: bool) -> None:
        """Let what takes many turns stand, or go on with it."""
        self.bench.patient = patient
        self.bench.go_on(1 if patient else None)

    @rule(stop=st.booleans())
    def flush(self, stop: bool = False) -> None:
        if stop:
            self.bench.stop()
        self.bench.flush()
        self.safe = durable(self.bench.state)

    @rule()
    def restart(self) -> None:
        live, sequence = durable(self.bench.state), self.bench.state.sequence
        self.bench.restart(start=False)
        assert self.bench.state.sequence >= sequence, "a number would be given out twice"
        self.look_again(live)

    @rule()
    def crash(self) -> None:
        self.bench.restart(crash=True, start=False)
        self.look_again(self.safe)

    def look_again(self, expected: Snapshot) -> None:
        assert durable(self.bench.state) == expected
        check(self.bench.state)
        self.bench.start()
        self.receipts.clear()
        self.forget_what_ended()
        self.flush()

    def forget_what_ended(self) -> None:
        self.transactions = [each for each in self.transactions if each in self.bench.state.transactions]

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            self.restart()
            self.crash()
            self.put_off_or_go_on(patient=False)
            check(self.bench.state)

    @invariant()
    def the_state_agrees_with_the_rows(self) -> None:
        if hasattr(self, "bench"):
            check(self.bench.state)

    @invariant()
    def the_timer_is_set_for_what_expires_next(self) -> None:
        if not hasattr(self, "bench") or self.bench.pending:
            return
        state = self.bench.state
        ahead = [key for key in every(state, EXPIRY) if key >= state.expiry_scan]
        if ahead:
            assert ("expiry", 0) in self.bench.timers
            assert 0 < state.next_expiry <= expiry_of(min(ahead))[0]


@pytest.mark.spec("DM-002", "DM-004", "DM-005", "DM-018", "DM-040", "DM-047", "DM-064", "DM-065")
class TestANewProcessKnowsWhatTheOldOneKnew(Life.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=400, stateful_step_count=50)


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
    bench = Bench("orders", "other")
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
