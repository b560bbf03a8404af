"""Tests buffered messages: as one batch, without room, and at the end of their sequence."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CloseSequence,
    Dialect,
    Envelope,
    Incomplete,
    Payload,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.destination.facts import BufferReleased
from reliquary.protocols.wsrm.destination.flow_control import set_buffer_remaining
from reliquary.protocols.wsrm.destination.tables import BUFFERED
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.model.travel.transfer import Outcome
from reliquary.wire.security import Sid
from tests.protocols.wsrm.destination.rmd import ADDRESS, Rmd, message, numbered

RM10 = Dialect(version=Version.RM10)
RM10_NAMESPACE = "http://schemas.xmlsoap.org/ws/2005/02/rm"
NOT_READY = (Outcome.TRY_LATER, MessageClass.NORMAL, -1, "the queue manager is stopped")


def close(rmd: Rmd, sequence: str, last: int = 0) -> None:
    rmd.post(Envelope(dialect=Dialect(), body=CloseSequence(sequence, last)))


def terminate(rmd: Rmd, sequence: str, last: int = 0, dialect: Dialect = Dialect()) -> None:  # noqa: B008
    rmd.post(Envelope(dialect=dialect, body=TerminateSequence(sequence, last)))


def buffered(rmd: Rmd) -> int:
    return len(rmd.rows.range(BUFFERED, b"", b"\xff" * 16, limit=99))


# -- gaps at the end


@pytest.mark.parametrize("end", [close, terminate])
@pytest.mark.parametrize(
    ("incomplete", "delivered", "gaps"),
    [
        pytest.param(Incomplete.NO_DISCARD, (1, 3, 5), 2, id="NoDiscard"),
        pytest.param(Incomplete.FOLLOWING, (1,), 4, id="DiscardFollowingFirstGap"),
        pytest.param(Incomplete.ENTIRE, (), 5, id="DiscardEntireSequence"),
    ],
)
def test_a_sequence_with_gaps_ends_as_its_behavior_says(
    incomplete: Incomplete, delivered: tuple[int, ...], gaps: int, end: Any
) -> None:
    rmd = Rmd(incomplete=incomplete)
    sequence = rmd.create()
    rmd.send(sequence, 3, 5, 1)
    end(rmd, sequence, 5)
    assert rmd.bodies == numbered(*delivered)
    assert rmd.state.counts[Count.GAPS] == gaps, (
        "the missing ones, and all that were acknowledged and discarded"
    )
    assert f"a sequence has gaps: {sequence}: messages 2, 4 are missing" in rmd.warnings
    assert buffered(rmd) == 0
    assert not rmd.sequence(sequence).buffered


@pytest.mark.parametrize(
    ("incomplete", "text"),
    [(Incomplete.FOLLOWING, "3, 5"), (Incomplete.ENTIRE, "1, 3, 5")],
)
def test_a_warning_names_the_messages_that_are_discarded(incomplete: Incomplete, text: str) -> None:
    rmd = Rmd(incomplete=incomplete)
    sequence = rmd.create()
    rmd.send(sequence, 3, 5, 1)
    close(rmd, sequence, 5)
    expected = f"messages are discarded: {sequence}: messages {text}: the sequence is incomplete"
    assert expected in rmd.warnings


def test_gaps_are_reported_once() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2)
    close(rmd, sequence, 2)
    terminate(rmd, sequence, 2)
    assert rmd.state.counts[Count.GAPS] == 1
    assert len(rmd.warnings) == 1


def test_messages_that_were_never_sent_again_at_the_end_are_missing_too() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    terminate(rmd, sequence, 4)
    assert rmd.state.counts[Count.GAPS] == 3
    assert rmd.warnings == [f"a sequence has gaps: {sequence}: messages 2 to 4 are missing"]


def test_a_peer_cannot_make_the_count_of_gaps_senseless() -> None:
    rmd = Rmd()
    terminate(rmd, rmd.create(), 2**62)
    assert rmd.state.counts[Count.GAPS] == 4096


def test_the_ranges_that_a_warning_names_are_limited() -> None:
    rmd = Rmd(ordered=False)
    sequence = rmd.create()
    rmd.send(sequence, *range(2, 100, 2))
    terminate(rmd, sequence)
    assert rmd.warnings[0].count(",") == 20
    assert "and more are missing" in rmd.warnings[0]


def test_a_complete_sequence_has_nothing_to_report() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 1)
    terminate(rmd, sequence, 2)
    assert rmd.warnings == []
    assert rmd.state.counts[Count.GAPS] == 0


# -- DiscardEntireSequence


@pytest.mark.parametrize("ordered", [True, False])
def test_a_whole_sequence_is_delivered_as_one_batch_when_it_is_closed(ordered: bool) -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE, ordered=ordered)
    sequence = rmd.create()
    got = rmd.send(sequence, 1, 3, 2)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 3),), 8)
    assert rmd.bodies == []
    close(rmd, sequence, 3)
    assert rmd.bodies == numbered(1, 2, 3)
    assert [len(batch.messages) for batch in rmd.batches] == [3]


@pytest.mark.parametrize("bounded", [True, False])
def test_a_whole_sequence_may_be_longer_than_its_window(bounded: bool) -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE, window=2, bounded=bounded)
    sequence = rmd.create()
    rmd.send(sequence, *range(1, 31))
    close(rmd, sequence)
    assert rmd.bodies == numbered(*range(1, 31))


def test_a_whole_sequence_is_delivered_with_its_last_message() -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE)
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 3, last=True, dialect=RM10)
    rmd.send(sequence, 1, dialect=RM10)
    assert rmd.bodies == []
    rmd.send(sequence, 2, dialect=RM10)
    assert rmd.bodies == numbered(1, 2, 3)


def test_a_whole_sequence_is_delivered_with_an_empty_last_message() -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE)
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 1, 2, dialect=RM10)
    rmd.send(sequence, 3, last=True, dialect=RM10, action=f"{RM10_NAMESPACE}/LastMessage", body=Payload())
    assert rmd.bodies == numbered(1, 2)
    assert rmd.sequence(sequence).received.ranges == ((1, 3),)


@pytest.mark.parametrize(
    ("dialect", "delivered"),
    [
        pytest.param(Dialect(), (1,), id="1.1: in order"),
        pytest.param(RM10, (), id="1.0: without LastMessage"),
    ],
)
def test_a_whole_sequence_that_ends_without_a_last_number(
    dialect: Dialect, delivered: tuple[int, ...]
) -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE)
    sequence = rmd.create(dialect=dialect)
    rmd.send(sequence, 1, dialect=dialect)
    terminate(rmd, sequence, dialect=dialect)
    assert rmd.bodies == numbered(*delivered)
    assert rmd.state.counts[Count.GAPS] == 1 - len(delivered)


def test_a_whole_sequence_waits_for_room_for_all_of_it() -> None:
    rmd = Rmd(incomplete=Incomplete.ENTIRE, quota=1000)
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 1, 2, 3)
    got = rmd.send(sequence, 4, last=True)
    assert got is not None
    assert got.ranges == ((1, 4),)
    assert rmd.bodies == []
    rmd.quota = 10_000
    rmd.turn(rmd.tell_room)
    assert rmd.bodies == numbered(1, 2, 3, 4)
    assert [len(batch.messages) for batch in rmd.batches] == [4]


# -- room


def buffered_behind_a_gap(quota: int) -> tuple[Rmd, str]:
    """Return a destination that holds three messages, and whose queue has room for few of them."""
    rmd = Rmd(quota=100_000)
    sequence = rmd.create()
    rmd.send(sequence, 2, 3, 4)
    rmd.quota = quota
    rmd.turn(rmd.tell_room)
    set_buffer_remaining(rmd.sequence(sequence), 4)
    return rmd, sequence


def test_the_first_messages_of_a_batch_are_delivered_where_only_they_fit() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    got = rmd.send(sequence, 1)
    assert got is not None
    assert got.ranges == ((1, 4),)
    assert rmd.bodies == numbered(1, 2)
    assert sorted(rmd.sequence(sequence).buffered) == [3, 4]
    rmd.read()
    rmd.read()
    assert rmd.bodies == numbered(3, 4)
    assert not rmd.sequence(sequence).target.blocked
    assert buffered(rmd) == 0


def test_what_waits_for_room_stays_in_order_before_new_messages() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    rmd.send(sequence, 1)
    rmd.quota = rmd.sequence(sequence).target.free = 100_000  # the manager was not ready when it said so
    rmd.send(sequence, 5)
    assert rmd.bodies == numbered(1, 2, 3, 4, 5)
    assert not rmd.sequence(sequence).target.blocked


def test_what_waits_for_room_is_there_after_a_restart() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    rmd.send(sequence, 1)
    rmd.quota = 100_000
    rmd.restart()
    assert rmd.bodies == numbered(1, 2, 3, 4)
    assert sequence in rmd.here.by_identifier


def test_messages_that_fit_not_even_one_by_one_are_not_tried() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    rmd.send(sequence, 1)
    tickets = rmd.state.last_ticket
    rmd.turn(rmd.tell_room)
    assert rmd.state.last_ticket == tickets


def test_what_an_ended_sequence_left_waits_for_the_queue_manager() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 3)
    rmd.verdict = NOT_READY
    terminate(rmd, sequence, 3)
    assert rmd.bodies == []
    assert any(each.startswith("messages wait for room") for each in rmd.warnings)
    assert rmd.watched == {"orders"}
    rmd.verdict = None
    rmd.advance(30)
    assert rmd.bodies == numbered(2, 3)
    assert rmd.watched == frozenset()
    rmd.advance(100_000)
    assert not rmd.here.sequences


def test_what_an_ended_sequence_left_waits_also_through_a_restart() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 3)
    rmd.verdict = NOT_READY
    terminate(rmd, sequence, 3)
    rmd.restart()
    rmd.advance(200_000)
    assert rmd.sequence(sequence).buffered, "it is not forgotten before"
    rmd.verdict = None
    rmd.advance(100)
    assert rmd.bodies == numbered(2, 3)
    rmd.advance(100_000)
    assert not rmd.here.sequences


def test_what_no_queue_takes_after_the_end_is_discarded_and_reported() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 3)
    rmd.verdict = (Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE, 0, "there is no queue orders")
    close(rmd, sequence, 3)
    assert rmd.sequence(sequence).buffered, "an administrator may create the queue"
    terminate(rmd, sequence, 3)
    expected = f"messages are discarded: {sequence}: messages 2 to 3: there is no queue orders"
    assert expected in rmd.warnings
    assert rmd.state.counts[Count.GAPS] == 1 + 2
    assert buffered(rmd) == 0


def test_a_report_before_the_verdict_hands_nothing_over_twice() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    rmd.send(sequence, 1)
    rmd.reports_first, rmd.quota = True, 100_000
    rmd.turn(rmd.tell_room)
    assert rmd.bodies == numbered(1, 2, 3, 4)


# -- bounded endpoints


def test_what_a_closed_sequence_holds_goes_into_a_bounded_queue_as_far_as_its_window() -> None:
    rmd = Rmd(bounded=True, window=4)
    sequence = rmd.create()
    rmd.send(sequence, 2, 3, 4)
    rmd.queues["orders"] += [Message(body=b"local"), Message(body=b"local")]
    rmd.turn(rmd.tell_room)
    close(rmd, sequence, 4)
    assert rmd.bodies == [b"local", b"local", *numbered(2, 3)]
    assert sorted(rmd.sequence(sequence).buffered) == [4]
    rmd.read()
    assert rmd.bodies == [b"local", *numbered(2, 3, 4)]
    assert not rmd.sequence(sequence).target.blocked


def test_a_gap_is_filled_also_where_only_a_part_of_what_follows_has_room() -> None:
    rmd = Rmd(bounded=True, window=3)
    sequence = rmd.create()
    rmd.send(sequence, 3, 2)
    rmd.queues["orders"] += [Message(body=b"local"), Message(body=b"local")]
    rmd.turn(rmd.tell_room)
    got = rmd.send(sequence, 1)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 3),), 0)
    assert rmd.bodies == [b"local", b"local", *numbered(1)]
    rmd.read(count=2)
    assert rmd.bodies == numbered(1, 2, 3)
    assert buffered(rmd) == 0


def test_two_sequences_that_wait_share_the_room_that_comes() -> None:
    rmd = Rmd(bounded=True, window=8)
    open_, closed = rmd.create(), rmd.create()
    rmd.send(open_, 2, 3)
    rmd.send(closed, 2)
    rmd.queues["orders"] += [Message(body=b"local")] * 7
    rmd.turn(rmd.tell_room)
    rmd.send(open_, 1)
    close(rmd, closed, 2)
    assert set(rmd.sequence(open_).target.blocked) == {1, 2}
    for _ in range(3):
        assert len(rmd.bodies) == 8
        rmd.read()
    assert rmd.bodies[-4:] == numbered(1, 2, 3, 2)
    assert buffered(rmd) == 0


# -- one sequence after another


def left_behind() -> tuple[Rmd, str]:
    """Return a sequence that ended without room for its messages 2 and 3; the next one is open."""
    rmd = Rmd(quota=100_000)
    rmd.reports_first = True
    ended = rmd.create()
    rmd.send(ended, 2, 3, content=b"<m>old</m>")
    rmd.quota = 0
    rmd.turn(rmd.tell_room)
    terminate(rmd, ended, 3)
    assert sorted(rmd.sequence(ended).buffered) == [2, 3]
    following = rmd.create(ADDRESS)
    rmd.quota = 100_000  # it was not reported yet
    return rmd, following


OLD = [b"<m>old</m>"] * 2


def test_a_new_sequence_waits_for_what_an_earlier_one_left() -> None:
    rmd, following = left_behind()
    rmd.sequence(following).target.free = None  # there is room, as far as is known
    rmd.verdict = NOT_READY
    assert rmd.send(following, 1, 2) is None
    rmd.ask(following)
    assert rmd.acknowledgements_sent[-1] == Acknowledgement(following, buffer=0)
    assert rmd.sequence(following).dropped == 2
    rmd.verdict = None
    rmd.turn(rmd.tell_room)
    assert rmd.bodies == OLD
    assert rmd.acknowledgements_sent[-1] == Acknowledgement(following, buffer=8), "room came back"
    rmd.send(following, 1, 2)
    assert rmd.bodies == [*OLD, *numbered(1, 2)]


def test_a_message_that_waits_for_an_earlier_sequence_lets_that_one_try_again() -> None:
    rmd, following = left_behind()
    rmd.sequence(following).target.free = None
    rmd.send(following, 1)
    assert rmd.bodies == OLD
    rmd.send(following, 1)
    assert rmd.bodies == [*OLD, *numbered(1)]


@pytest.mark.parametrize("reports_first", [True, False])
def test_what_several_sequences_left_goes_into_the_queue_in_their_order(reports_first: bool) -> None:
    rmd = Rmd(quota=100_000)
    rmd.reports_first = reports_first
    first, second, third = rmd.create(), rmd.create(), rmd.create()
    rmd.send(first, 2, content=b"<m>%s</m>" % (b"large" * 200))
    rmd.send(second, 2, 3)
    rmd.send(third, 3)
    rmd.quota = 0
    rmd.turn(rmd.tell_room)
    for each in (third, second, first):
        terminate(rmd, each, 3)
    rmd.quota = 700  # enough for the small ones
    rmd.turn(rmd.tell_room)
    rmd.advance(100)
    assert rmd.bodies == []
    rmd.quota = 100_000
    rmd.turn(rmd.tell_room)
    assert rmd.bodies[1:] == numbered(2, 3, 3)
    assert rmd.watched == frozenset()


@pytest.mark.parametrize(
    ("endpoint", "waits"),
    [
        pytest.param({}, True, id="in order"),
        pytest.param({"ordered": False, "incomplete": Incomplete.FOLLOWING}, False, id="in any order"),
        pytest.param({"incomplete": Incomplete.ENTIRE}, False, id="as a whole"),
    ],
)
def test_no_message_waits_for_an_earlier_sequence_without_need(endpoint: dict[str, Any], waits: bool) -> None:
    rmd = Rmd(quota=100_000, **endpoint)
    ended = rmd.create()
    rmd.send(ended, 2)
    rmd.quota = 300  # enough for one
    rmd.send(ended, 1)
    terminate(rmd, ended, 2)
    assert rmd.sequence(ended).target.blocked
    assert rmd.sequence(rmd.create()).waits_for_earlier is waits


def test_an_earlier_sequence_that_is_open_keeps_no_message_waiting() -> None:
    rmd, sequence = buffered_behind_a_gap(600)
    rmd.send(sequence, 1)
    assert rmd.sequence(sequence).target.blocked
    assert not rmd.sequence(rmd.create()).waits_for_earlier


# -- messages that are passed on


@pytest.mark.parametrize("ordered", [True, False])
def test_messages_that_are_passed_on_stay_in_order_where_the_endpoint_says_so(ordered: bool) -> None:
    onward = "DIRECT=HTTPS://far.example/q"
    rmd = Rmd(queue=onward, ordered=ordered)
    sequence = rmd.create()
    rmd.send(sequence, 2, 1, message_id="urn:a")
    messages = rmd.queues[onward]
    assert [each.body for each in messages] == (numbered(1, 2) if ordered else numbered(2, 1))
    assert [each.carrier_header for each in messages] == ["", ""]
    transactions = [batch.transaction for batch in rmd.batches]
    expected = [transactions[0]] * 2 if ordered else [None, None]
    assert [each.transaction for each in messages] == expected


# -- for whom


def test_buffered_messages_are_delivered_for_the_user_who_sent_them() -> None:
    alice = Principal(Sid(5, (21, 1)), (Sid(5, (21, 9)),))
    rmd = Rmd()
    sequence = rmd.create(by=alice)
    rmd.post(message(sequence, 2), by=alice)
    rmd.advance(700)  # no more envelopes come
    assert rmd.batches[-1].by is alice


def test_after_a_restart_buffered_messages_are_delivered_for_the_user_without_groups() -> None:
    alice = Principal(Sid(5, (21, 1)), (Sid(5, (21, 9)),))
    rmd = Rmd()
    sequence = rmd.create(by=alice)
    anonymous = rmd.create()
    rmd.post(message(sequence, 2), by=alice)
    rmd.post(message(anonymous, 2))
    rmd.restart()
    rmd.advance(700)
    users = [(batch.by.user, batch.by.groups) for batch in rmd.batches]
    assert users == [(alice.user, ()), (ANONYMOUS.user, ())]


def test_a_batch_of_buffered_messages_is_one_fact() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 3)
    close(rmd, sequence, 3)
    assert [each for each in rmd.facts if isinstance(each, BufferReleased)] == [BufferReleased(1, (2, 3))]
