"""Tests of the positions that staged messages get: their marks, deadlines and the ends of the batch."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.queueing.staging.events import CompleteStage
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.staging.writing import begin, publish, stage, write
from tests.queueing.state_checks import check, walk


def test_the_first_and_the_last_message_of_the_batch_are_marked_as_its_ends() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", b"b", part=0), write(bench, b"c", part=1))
    messages = [bench.state.messages.get(each) for each in walk(bench.queue())]
    assert [each.first_in_transaction for each in messages] == [True, False, False]
    assert [each.last_in_transaction for each in messages] == [False, False, True]
    check(bench.state)


def test_positions_have_the_properties_and_the_deadlines_of_their_messages() -> None:
    bench = Bench()
    number = begin(bench)
    stage(bench, number, b"plain")
    stage(bench, number, b"peekable", allow_peek_when_locked=True)
    stage(bench, number, b"dead letter", negative_journaling=True)
    stage(bench, number, b"short", time_to_be_received=60)
    bench.ask(CompleteStage(0, number))
    bench.advance(30)  # a message does not expire while its batch waits
    publish(bench, number)
    found = walk(bench.queue())
    assert [each.peekable for each in found] == [False, True, False, False]
    assert [each.dead_letter for each in found] == [False, False, True, False]
    assert [each.expires for each in found] == [0, 0, 0, NOON + 90 * SECOND]
    check(bench.state)
