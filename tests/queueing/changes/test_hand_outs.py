"""A hand-out is one row: what it counts is never lost, and it goes with the last of its messages."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.time import seconds
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import EndRead, Received, ReceiveMessages
from reliquary.queueing.model.tables import HAND_OUTS, POSITIONS, HandOut
from tests.queueing.fact_bench import REASON, FactBench
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every, walk


def hand_outs(made: FactBench) -> list[HandOut]:
    return list(every(made.state, HAND_OUTS).values())


def handed_out(made: FactBench, *tries: int) -> list[int]:
    """Store a message for each number, hand all of them out so often, and return their LookupIdentifiers."""
    positions = [made.at(sequence, inline_in=made.orders.number) for sequence in range(1, len(tries) + 1)]
    made.store(*positions)
    counted = [
        msgspec.structs.replace(each, handed_out=tried) for each, tried in zip(positions, tries, strict=True)
    ]
    made.apply(facts.PositionsHandedOut(made.orders.number, tuple(counted)))
    return [each.lookup_id for each in positions]


@pytest.mark.parametrize(("tries", "stored"), [((1, 1, 1), (1,)), ((1, 4, 2), (1, 4, 2))])
def test_a_hand_out_is_one_row_and_the_rows_of_its_messages_stay(
    made: FactBench, tries: tuple[int, ...], stored: tuple[int, ...]
) -> None:
    lookup_ids = handed_out(made, *tries)
    assert hand_outs(made) == [HandOut(made.orders.number, tuple(lookup_ids), stored)]
    assert [row.position.handed_out for row in every(made.state, POSITIONS).values()] == [0, 0, 0]
    assert [each.handed_out for each in made.orders.order.locked.values()] == list(tries)


def test_the_row_of_a_hand_out_goes_with_its_last_message(made: FactBench) -> None:
    handed_out(made, 1, 1, 1)
    for sequence in (2, 1, 3):
        assert len(hand_outs(made)) == 1
        gone = made.at(sequence, inline_in=made.orders.number, handed_out=1)
        made.apply(facts.PositionsRemoved(made.orders.number, (gone,), REASON))
    assert hand_outs(made) == []
    assert made.state.hand_outs.open == made.orders.readers.handed_out == {}


def test_a_message_that_is_written_with_its_tries_is_named_by_the_hand_out_no_more(made: FactBench) -> None:
    first, second = handed_out(made, 3, 5)
    unseen = made.at(1, inline_in=made.orders.number, handed_out=2)
    made.apply(facts.PositionsMarked(made.orders.number, (unseen,)))
    assert hand_outs(made) == [HandOut(made.orders.number, (second,), (5,))]
    assert made.orders.readers.handed_out == {second: 1}
    assert first in made.orders.order.locked


def test_express_messages_have_no_row(made: FactBench) -> None:
    position = made.at(1, express=True)
    made.store(position)
    made.apply(facts.PositionsHandedOut(made.orders.number, (position,)))
    assert hand_outs(made) == []
    made.apply(facts.PositionsRemoved(made.orders.number, (position,), REASON))
    check(made.state)


def test_a_crash_writes_the_tries_into_the_messages_that_are_left() -> None:
    bench = Bench()
    bench.send("orders", b"a", b"b", b"c")
    received = bench.ask(ReceiveMessages(7, "orders", count=3, hold=seconds(30)))
    assert isinstance(received, Received)
    gone = received.messages[1].position.lookup_id
    bench.ask(EndRead(8, received.receipt, delete=True, lookup_ids=(gone,)))
    bench.flush()
    bench.restart(crash=True)
    assert [each.handed_out for each in walk(bench.queue())] == [1, 1]
    assert every(bench.state, HAND_OUTS) == {}
    check(bench.state)
    bench.flush()
    bench.restart(crash=True)
    assert [each.handed_out for each in walk(bench.queue())] == [1, 1]


def test_a_hand_out_that_is_acknowledged_in_its_batch_leaves_no_trace() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    bench.flush()
    received = bench.ask(ReceiveMessages(7, "orders", hold=seconds(30)))
    assert isinstance(received, Received)
    bench.ask(EndRead(8, received.receipt, delete=True))
    assert not bench.rows.take().puts.get(HAND_OUTS.name)
