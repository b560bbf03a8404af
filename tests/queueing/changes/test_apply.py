"""Facts made true: each one changes memory and rows alike."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from reliquary.base.turn import Fact
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.counters import settle
from reliquary.queueing.features import APPLIERS
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced, RetainedDropped
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.objects import Kind, Site
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.tables import (
    COUNTERS,
    DIRECTORY,
    EXPIRY,
    HOLDS,
    LANE_SHIFT,
    MANAGER,
    MESSAGES,
    ONLY,
    OUTCOMES,
    PIECES,
    POSITIONS,
    QUEUES,
    SEQUENCE,
    SHARES,
    SPOOLS,
    TRANSACTIONS,
    Copy,
    Counters,
    DirectoryRow,
    Hold,
    Operation,
    Outcome,
    Piece,
    PreparedTransaction,
    Spool,
    directory_key,
    expiry_of,
    hold_key,
    piece_key,
    position_key,
    queue_key,
    spool_key,
)
from reliquary.queueing.staging.apply import APPLIERS as APPLY_STAGING
from tests.queueing.manager_harness import Bench, check, every, message, walk

REASON = MessageClass.ACK_RECEIVE
BODY = message(b"body")


class Made:
    """A bench, and facts applied to it one by one."""

    def __init__(self) -> None:
        self.bench = Bench("orders", "other")
        self.bench.flush()
        self.state = self.bench.state
        self.orders, self.other = self.bench.queue("orders"), self.bench.queue("other")

    def apply(self, fact: Fact) -> None:
        apply(self.state, fact)
        assert self.state.draft.take().facts == (fact,)

    def at(self, sequence: int, **attributes: object) -> Position:
        return Position(4 << LANE_SHIFT | sequence, sequence, 100, 0, **attributes)  # type: ignore[arg-type]

    def store(self, *positions: Position, prepared: bool = False) -> None:
        bodies = tuple(BODY for _ in positions)
        self.apply(facts.MessagesStored(self.orders.number, positions, bodies, prepared))

    def counted(self) -> tuple[int, int, int]:
        return self.orders.counts.stored, self.orders.counts.stored_size, self.orders.counts.express_size


@pytest.fixture
def made() -> Made:
    return Made()


def test_a_stored_message_has_its_rows_and_is_counted(made: Made) -> None:
    made.store(made.at(1), made.at(2, expires=50), made.at(3, express=True))
    assert made.counted() == (2, 200, 100)
    assert made.state.totals.bytes == 300
    assert [position.message for position in walk(made.orders)] == [1, 2, 3]
    assert len(every(made.state, POSITIONS)) == len(every(made.state, MESSAGES)) == 2
    assert len(every(made.state, EXPIRY)) == 1
    check(made.state)


@pytest.mark.spec("DM-286", "DM-287")
def test_a_removed_message_leaves_nothing(made: Made) -> None:
    positions = made.at(1), made.at(2, expires=50), made.at(3, express=True)
    made.store(*positions)
    made.apply(facts.PositionsRemoved(made.orders.number, positions, REASON))
    assert made.counted() == (0, 0, 0)
    assert every(made.state, POSITIONS) == {}
    assert every(made.state, MESSAGES) == {}
    assert every(made.state, EXPIRY) == {}
    assert every(made.state, SHARES) == {}
    check(made.state)


def test_a_message_that_comes_and_goes_in_one_batch_never_reaches_the_disk(made: Made) -> None:
    made.store(made.at(1))
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    puts = made.bench.rows.take().puts
    assert not puts.get(POSITIONS.name)
    assert not puts.get(MESSAGES.name)


def test_a_moved_position_keeps_its_message_and_carries_its_deadline(made: Made) -> None:
    position = made.at(1, expires=50)
    made.store(position)
    moved = facts.PositionMoved(made.orders.number, made.other.number, position, MessageClass.NORMAL)
    made.apply(moved)
    assert (walk(made.orders), walk(made.other)) == ([], [position])
    assert len(every(made.state, MESSAGES)) == 1
    check(made.state)


def test_a_position_that_changes_on_its_way_leaves_no_expiry_behind(made: Made) -> None:
    made.store(made.at(1, expires=50))
    kept = made.at(1, expires=0, reason=REASON, origin=made.orders.number)
    made.apply(facts.PositionMoved(made.orders.number, made.other.number, kept, REASON))
    assert every(made.state, EXPIRY) == {}
    assert walk(made.other) == [kept]
    check(made.state)


def test_a_copied_message_is_kept_until_the_last_position_goes(made: Made) -> None:
    first, second = made.at(1, shared=True), msgspec.structs.replace(made.at(2, shared=True), message=1)
    made.store(first)
    made.apply(facts.PositionCopied(made.other.number, second))
    assert [shares.count for shares in every(made.state, SHARES).values()] == [2]
    check(made.state)
    made.apply(facts.PositionsRemoved(made.orders.number, (first,), REASON))
    assert every(made.state, SHARES) == {}
    assert made.state.messages.get(second) == BODY
    check(made.state)
    made.apply(facts.PositionsRemoved(made.other.number, (second,), REASON))
    assert every(made.state, MESSAGES) == {}


def test_a_locked_position_is_removed_as_an_available_one_is(made: Made) -> None:
    made.store(made.at(1))
    made.orders.order.lock(made.at(1).lookup_id)
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    assert made.orders.order.locked == {}
    check(made.state)


@pytest.mark.spec("DM-040")
def test_a_position_that_is_marked_says_so_on_disk_and_stays_locked(made: Made) -> None:
    made.store(made.at(1), made.at(2))
    made.orders.order.lock(made.at(1).lookup_id)
    marked = made.at(1, handed_out=1, aborted=2)
    made.apply(facts.PositionsMarked(made.orders.number, (marked,)))
    assert made.orders.order.locked == {marked.lookup_id: marked}
    assert every(made.state, POSITIONS)[position_key(made.orders.number, marked.lookup_id)] == marked


def test_a_purge_that_waits_is_a_moment_of_its_own(made: Made) -> None:
    made.store(made.at(1, expires=70))
    made.orders.order.lock(made.at(1).lookup_id)
    marked = made.at(1, expires=70, purged=50)
    made.apply(facts.PositionsMarked(made.orders.number, (marked,)))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50, 70]
    assert made.state.deadlines.floor <= 50
    made.apply(facts.PositionsRemoved(made.orders.number, (marked,), REASON))
    assert every(made.state, EXPIRY) == {}


def test_a_delayed_position_counts_its_bytes_and_is_not_seen(made: Made) -> None:
    made.store(made.at(1, due=50), made.at(2))
    assert walk(made.orders) == [made.at(2)]
    assert len(made.orders.order) == 1
    assert made.counted() == (1, 200, 0)
    assert made.orders.counts.delayed == 1
    check(made.state)
    made.apply(facts.PositionsDue(made.orders.number, (made.at(1, due=50),)))
    assert walk(made.orders) == [made.at(1), made.at(2)]
    assert made.counted() == (2, 200, 0)
    assert made.orders.counts.delayed == 0
    assert every(made.state, EXPIRY) == {}
    check(made.state)


def test_a_delay_that_ends_with_the_time_of_the_message_leaves_its_deadline(made: Made) -> None:
    made.store(made.at(1, due=50, expires=50))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50]
    made.apply(facts.PositionsDue(made.orders.number, (made.at(1, due=50, expires=50),)))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50]
    check(made.state)


@pytest.mark.parametrize("express", [False, True])
def test_a_locked_position_can_be_delayed(made: Made, express: bool) -> None:
    made.store(made.at(1, expires=70, express=express))
    made.orders.order.lock(made.at(1).lookup_id)
    later = made.at(1, due=60, expires=70, express=express)
    made.apply(facts.PositionsDelayed(made.orders.number, (later,)))
    assert made.orders.order.locked == {}
    assert walk(made.orders) == []
    assert made.orders.total_bytes == 100
    check(made.state)
    made.apply(facts.PositionsDue(made.orders.number, (later,)))
    assert walk(made.orders) == [made.at(1, expires=70, express=express)]
    check(made.state)


# -- queues


def test_a_created_queue_is_there_under_its_name(made: Made) -> None:
    record = msgspec.structs.replace(
        made.orders.record, number=99, pathname="BENCH\\private$\\new", journal=None
    )
    made.apply(facts.QueueCreated(record))
    assert made.bench.queue("new").record == record
    assert every(made.state, QUEUES)[queue_key(99)] == record
    assert made.state.numbers.next_queue() == 100


def test_a_changed_queue_has_its_new_attributes(made: Made) -> None:
    record = msgspec.structs.replace(made.orders.record, modify_time=5)
    made.apply(facts.QueueChanged(record))
    assert made.bench.queue("orders").record == record
    assert every(made.state, QUEUES)[queue_key(record.number)] == record


def test_the_name_of_a_queue_under_deletion_is_free(made: Made) -> None:
    made.apply(facts.QueueChanged(msgspec.structs.replace(made.orders.record, deleting=True)))
    assert made.state.find(made.state.parse("orders")) is None
    assert made.orders.number in made.state.queues
    assert made.bench.create("orders").queue.number != made.orders.number


def test_a_deleted_queue_leaves_neither_row_nor_counters(made: Made) -> None:
    made.store(made.at(1))
    settle(made.state)
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    made.apply(facts.QueueDeleted(made.orders.number))
    settle(made.state)
    key = queue_key(made.orders.number)
    assert key not in every(made.state, QUEUES)
    assert key not in every(made.state, COUNTERS)
    assert made.state.find(made.state.parse("orders")) is None


def test_a_queue_that_holds_messages_cannot_be_deleted(made: Made) -> None:
    made.store(made.at(1))
    with pytest.raises(AssertionError, match="still holds 1 messages"):
        apply(made.state, facts.QueueDeleted(made.orders.number))


def test_the_manager_is_who_was_named_last(made: Made) -> None:
    record = msgspec.structs.replace(made.state.identity(), quota=5)
    made.apply(facts.ManagerNamed(record))
    assert made.state.identity() == record
    assert every(made.state, MANAGER)[ONLY] == record


# -- transactions

IDENTIFIER = UUID(int=5)


def prepared(made: Made, *positions: Position) -> facts.TransactionPrepared:
    operations = tuple(Operation("enqueue", made.orders.number, position) for position in positions)
    record = PreparedTransaction(operations, single_phase=False, prepared=0)
    return facts.TransactionPrepared(IDENTIFIER, record, tuple(BODY for _ in positions))


@pytest.mark.spec("DM-064", "DM-065", "DM-195")
def test_a_prepared_message_has_rows_is_not_counted_and_does_not_show(made: Made) -> None:
    made.apply(prepared(made, made.at(1, expires=50)))
    assert made.counted() == (0, 0, 0)
    assert walk(made.orders) == []
    assert len(every(made.state, POSITIONS)) == len(every(made.state, MESSAGES)) == 1
    assert every(made.state, EXPIRY) == {}
    assert every(made.state, TRANSACTIONS)[IDENTIFIER.bytes].operations[0].position == made.at(1, expires=50)


@pytest.mark.spec("DM-108")
def test_a_prepared_message_shows_once_it_is_stored(made: Made) -> None:
    position = made.at(1, expires=50)
    made.apply(prepared(made, position))
    made.bench.flush()
    made.apply(facts.TransactionEnded(IDENTIFIER, Outcome(committed=True, ended=1)))
    made.store(position, prepared=True)
    assert walk(made.orders) == [position]
    assert made.counted() == (1, 100, 0)
    check(made.state)


@pytest.mark.spec("DM-115")
def test_a_prepared_message_that_is_dropped_leaves_nothing(made: Made) -> None:
    made.apply(prepared(made, made.at(1)))
    made.bench.flush()
    made.apply(facts.TransactionEnded(IDENTIFIER, Outcome(committed=False, ended=1)))
    made.apply(facts.PreparedMessageDropped(made.orders.number, made.at(1)))
    assert made.orders.order.locked == {}
    check(made.state)
    assert every(made.state, MESSAGES) == {}


# -- the directory


def test_an_object_of_the_directory_is_kept_by_its_type_and_identifier(made: Made) -> None:
    site = Site(identifier=IDENTIFIER, name="north")
    made.apply(facts.DirectoryObjectWritten(site))
    assert every(made.state, DIRECTORY) == {directory_key(Kind.SITE, IDENTIFIER): DirectoryRow(site)}
    made.apply(facts.DirectoryObjectRemoved(Kind.SITE, IDENTIFIER))
    assert every(made.state, DIRECTORY) == {}
    assert made.state.directory.objects[Kind.SITE] == {}


# -- once a batch


def test_counters_are_written_once_a_batch_for_the_queues_that_changed(made: Made) -> None:
    made.store(made.at(1), made.at(2))
    made.store(made.at(3))
    assert every(made.state, COUNTERS) == {}
    settle(made.state)
    [(key, counters)] = every(made.state, COUNTERS).items()
    assert key == queue_key(made.orders.number)
    assert counters == Counters(3, 300, made.orders.order.floors())
    made.bench.flush()
    settle(made.state)
    assert made.bench.rows.is_empty


def test_an_express_message_alone_writes_nothing(made: Made) -> None:
    made.store(made.at(1, express=True, expires=50))
    settle(made.state)
    assert made.bench.rows.is_empty


def test_the_floor_of_the_expiries_goes_down_with_an_earlier_one(made: Made) -> None:
    made.bench.send("other", b"x", time_to_be_received=1)
    made.bench.advance(10)
    made.state.numbers.dirty = True
    made.bench.flush()
    assert every(made.state, SEQUENCE)[ONLY].expiry_floor > 50
    made.store(made.at(999, expires=50))
    assert made.state.deadlines.floor <= 50
    settle(made.state)
    assert every(made.state, SEQUENCE)[ONLY].expiry_floor <= 50


def test_an_outcome_is_kept_until_it_is_forgotten(made: Made) -> None:
    made.apply(prepared(made))
    outcome = Outcome(committed=True, ended=1, owner="billing", by="alice")
    made.apply(facts.TransactionEnded(IDENTIFIER, outcome))
    assert every(made.state, OUTCOMES) == {IDENTIFIER.bytes: outcome}
    assert made.state.transactions.outcomes == {IDENTIFIER: outcome}
    made.apply(facts.OutcomesForgotten((IDENTIFIER,)))
    assert not every(made.state, OUTCOMES)
    assert not made.state.transactions.outcomes


def test_a_copy_that_was_lost_is_counted_for_its_queue_or_for_those_that_are_gone(made: Made) -> None:
    for copy in (Copy.JOURNAL, Copy.REPORT, Copy.JOURNAL):
        apply(made.state, facts.CopyLost(made.orders.number, copy, "full"))
    apply(made.state, facts.CopyLost(0, Copy.DEAD_LETTER, "full"))
    settle(made.state)
    assert every(made.state, COUNTERS)[queue_key(made.orders.number)].lost == (2, 0, 0, 0, 1)
    assert every(made.state, SEQUENCE)[ONLY].lost == (0, 0, 1, 0, 0)


def test_a_piece_is_a_row_until_its_body_is_dropped(made: Made) -> None:
    made.apply(facts.PieceKept(7, b"one"))
    made.apply(facts.PieceKept(7, b"two"))
    assert every(made.state, SPOOLS) == {spool_key(7): Spool()}
    assert every(made.state, PIECES) == {piece_key(7, 0): Piece(b"one"), piece_key(7, 1): Piece(b"two")}
    check(made.state)
    made.apply(facts.SpoolsDropped((7,)))
    assert not every(made.state, SPOOLS)
    assert not every(made.state, PIECES)
    check(made.state)


def test_a_hold_locks_its_messages_and_is_a_row_with_those_that_outlive_a_crash(made: Made) -> None:
    stored, express = made.at(1), made.at(2, express=True)
    made.store(stored, express)
    made.apply(facts.HoldBegun("httpr", (3, 4), made.orders.number, (stored, express)))
    key = hold_key("httpr", (3, 4))
    assert every(made.state, HOLDS) == {key: Hold(made.orders.number, (stored.lookup_id,))}
    assert made.state.travel.holds[key].lookup_ids == (stored.lookup_id, express.lookup_id)
    assert made.orders.order.locked == {stored.lookup_id: stored, express.lookup_id: express}
    check(made.state)
    made.apply(facts.HoldsOver("httpr", ((3, 4),)))
    assert not every(made.state, HOLDS)
    assert not made.state.travel.holds


FEEDS = {ConsumerPlaced, ConsumerDropped, RetainedDropped}
"""Shown in `feed`."""


def test_every_fact_has_its_line_here() -> None:
    """A fact that is added later must be added above too."""
    shown = {
        facts.ManagerNamed, facts.QueueCreated, facts.QueueChanged, facts.QueueDeleted,
        facts.MessagesStored, facts.PositionCopied, facts.PositionMoved, facts.PositionsRemoved,
        facts.TransactionPrepared, facts.TransactionEnded, facts.PreparedMessageDropped,
        facts.PositionsMarked, facts.PositionsDelayed, facts.PositionsDue,
        facts.PieceKept, facts.SpoolsDropped, facts.HoldBegun, facts.HoldsOver,
        facts.CopyLost, facts.DirectoryObjectWritten, facts.DirectoryObjectRemoved, facts.OutcomesForgotten,
    }  # fmt: skip
    assert APPLIERS.keys() - FEEDS - APPLY_STAGING.keys() == shown
