"""Tests that facts about messages and their positions change memory and rows alike."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.queueing.changes.counters import settle
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.tables import (
    DELAYED,
    EXPIRY,
    MESSAGES,
    ONLY,
    PIECES,
    POSITIONS,
    SEQUENCE,
    SHARES,
    SPOOLS,
    Piece,
    QueueRow,
    Spool,
    expiry_of,
    piece_key,
    position_key,
    spool_key,
)
from tests.queueing.fact_bench import BODY, REASON, FactBench
from tests.queueing.state_checks import check, every, walk


def test_a_stored_message_has_its_rows_and_is_counted(made: FactBench) -> None:
    made.store(made.at(1), made.at(2, expires=50), made.at(3, express=True))
    assert made.counted() == (2, 200, 100)
    assert made.state.totals.bytes == 300
    assert [position.message for position in walk(made.orders)] == [1, 2, 3]
    assert len(every(made.state, POSITIONS)) == len(every(made.state, MESSAGES)) == 2
    assert len(every(made.state, EXPIRY)) == 1
    check(made.state)


def test_an_inline_message_is_in_the_row_of_its_position_until_it_moves(made: FactBench) -> None:
    position = made.at(1, inline_in=made.orders.number)
    made.store(position)
    key = position_key(made.orders.number, position.lookup_id)
    assert every(made.state, POSITIONS) == {key: QueueRow(position, BODY)}
    assert every(made.state, MESSAGES) == {}
    made.apply(facts.PositionMoved(made.orders.number, made.other.number, position, MessageClass.NORMAL))
    [moved] = walk(made.other)
    assert moved == made.at(1)
    assert list(every(made.state, MESSAGES).values()) == [made.state.messages.get(moved)] == [BODY]
    check(made.state)
    made.apply(facts.PositionsRemoved(made.other.number, (moved,), REASON))
    assert every(made.state, MESSAGES) == {}
    assert every(made.state, POSITIONS) == {}


def test_an_inline_message_is_removed_with_its_position(made: FactBench) -> None:
    position = made.at(1, inline_in=made.orders.number)
    made.store(position)
    made.bench.flush()
    made.apply(facts.PositionsRemoved(made.orders.number, (position,), REASON))
    assert every(made.state, MESSAGES) == {}
    assert every(made.state, POSITIONS) == {}
    check(made.state)


def test_an_inline_message_that_is_delayed_or_marked_stays_complete(made: FactBench) -> None:
    inline_in = made.orders.number
    made.store(made.at(1, inline_in=inline_in), made.at(2, inline_in=inline_in))
    for sequence in (1, 2):
        made.orders.order.lock(made.at(sequence).lookup_id)
    marked = made.at(1, inline_in=inline_in, aborted=1)
    made.apply(facts.PositionsMarked(inline_in, (marked,)))
    made.apply(facts.PositionsDelayed(inline_in, (made.at(2, inline_in=inline_in, due=50),)))
    key = position_key(inline_in, marked.lookup_id)
    assert every(made.state, POSITIONS) == {key: QueueRow(marked, BODY)}
    assert list(every(made.state, DELAYED).values()) == [made.at(2, due=50)]
    assert list(every(made.state, MESSAGES).values()) == [BODY]


@pytest.mark.spec("DM-286", "DM-287")
def test_a_removed_message_leaves_nothing(made: FactBench) -> None:
    positions = made.at(1), made.at(2, expires=50), made.at(3, express=True)
    made.store(*positions)
    made.apply(facts.PositionsRemoved(made.orders.number, positions, REASON))
    assert made.counted() == (0, 0, 0)
    assert every(made.state, POSITIONS) == {}
    assert every(made.state, MESSAGES) == {}
    assert every(made.state, EXPIRY) == {}
    assert every(made.state, SHARES) == {}
    check(made.state)


def test_a_message_that_comes_and_goes_in_one_batch_never_reaches_the_disk(made: FactBench) -> None:
    made.store(made.at(1))
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    puts = made.bench.rows.take().puts
    assert not puts.get(POSITIONS.name)
    assert not puts.get(MESSAGES.name)


def test_a_moved_position_keeps_its_message_and_carries_its_deadline(made: FactBench) -> None:
    position = made.at(1, expires=50)
    made.store(position)
    moved = facts.PositionMoved(made.orders.number, made.other.number, position, MessageClass.NORMAL)
    made.apply(moved)
    assert (walk(made.orders), walk(made.other)) == ([], [position])
    assert len(every(made.state, MESSAGES)) == 1
    check(made.state)


def test_a_position_that_changes_on_its_way_leaves_no_expiry_behind(made: FactBench) -> None:
    made.store(made.at(1, expires=50))
    kept = made.at(1, expires=0, reason=REASON, origin=made.orders.number)
    made.apply(facts.PositionMoved(made.orders.number, made.other.number, kept, REASON))
    assert every(made.state, EXPIRY) == {}
    assert walk(made.other) == [kept]
    check(made.state)


def test_a_copied_message_is_kept_until_the_last_position_goes(made: FactBench) -> None:
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


def test_a_locked_position_is_removed_as_an_available_one_is(made: FactBench) -> None:
    made.store(made.at(1))
    made.orders.order.lock(made.at(1).lookup_id)
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    assert made.orders.order.locked == {}
    check(made.state)


@pytest.mark.spec("DM-040")
def test_a_position_that_is_marked_says_so_on_disk_and_stays_locked(made: FactBench) -> None:
    made.store(made.at(1), made.at(2))
    made.orders.order.lock(made.at(1).lookup_id)
    marked = made.at(1, handed_out=1, aborted=2)
    made.apply(facts.PositionsMarked(made.orders.number, (marked,)))
    assert made.orders.order.locked == {marked.lookup_id: marked}
    assert every(made.state, POSITIONS)[position_key(made.orders.number, marked.lookup_id)] == QueueRow(
        marked
    )


def test_a_purge_that_waits_is_a_moment_of_its_own(made: FactBench) -> None:
    made.store(made.at(1, expires=70))
    made.orders.order.lock(made.at(1).lookup_id)
    marked = made.at(1, expires=70, purged=50)
    made.apply(facts.PositionsMarked(made.orders.number, (marked,)))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50, 70]
    assert made.state.deadlines.floor <= 50
    made.apply(facts.PositionsRemoved(made.orders.number, (marked,), REASON))
    assert every(made.state, EXPIRY) == {}


def test_the_floor_of_the_expiries_goes_down_with_an_earlier_one(made: FactBench) -> None:
    made.bench.send("other", b"x", time_to_be_received=1)
    made.bench.advance(10)
    made.state.numbers.dirty = True
    made.bench.flush()
    assert every(made.state, SEQUENCE)[ONLY].expiry_floor > 50
    made.store(made.at(999, expires=50))
    assert made.state.deadlines.floor <= 50
    settle(made.state)
    assert every(made.state, SEQUENCE)[ONLY].expiry_floor <= 50


# -- delays


def test_a_delayed_position_counts_its_bytes_and_is_not_seen(made: FactBench) -> None:
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


def test_a_delay_that_ends_with_the_time_of_the_message_leaves_its_deadline(made: FactBench) -> None:
    made.store(made.at(1, due=50, expires=50))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50]
    made.apply(facts.PositionsDue(made.orders.number, (made.at(1, due=50, expires=50),)))
    assert [expiry_of(key)[0] for key in every(made.state, EXPIRY)] == [50]
    check(made.state)


@pytest.mark.parametrize("express", [False, True])
def test_a_locked_position_can_be_delayed(made: FactBench, express: bool) -> None:
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


# -- large bodies


def test_a_piece_is_a_row_until_its_body_is_dropped(made: FactBench) -> None:
    made.apply(facts.PieceKept(7, b"one"))
    made.apply(facts.PieceKept(7, b"two"))
    assert every(made.state, SPOOLS) == {spool_key(7): Spool()}
    assert every(made.state, PIECES) == {piece_key(7, 0): Piece(b"one"), piece_key(7, 1): Piece(b"two")}
    check(made.state)
    made.apply(facts.SpoolsDropped((7,)))
    assert not every(made.state, SPOOLS)
    assert not every(made.state, PIECES)
    check(made.state)
