"""Tests Buffer Remaining: the events of [MS-WSRVCRM] 3.1.7, and the room of queues."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CloseSequence,
    Dialect,
    Envelope,
    TerminateSequence,
)
from reliquary.protocols.wsrm.destination.flow_control import (
    MAXIMUM,
    add_messages,
    forget_additions,
    get_buffer_remaining,
    message_processed,
    message_received,
    room_for,
    set_buffer_remaining,
    takes,
)
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.travel.transfer import Outcome
from tests.protocols.wsrm.destination.rmd import ADDRESS, Rmd, message, numbered

NOT_READY = (Outcome.TRY_LATER, MessageClass.NORMAL, -1, "the queue manager is stopped")


def one(rmd: Rmd) -> Sequence:
    return rmd.sequence(rmd.create())


def value(got: Acknowledgement | None) -> int:
    assert got is not None
    return got.buffer


# -- the four events


@pytest.mark.spec("FC-011", "FC-012", "FC-013")
@pytest.mark.wsrm("T01")
def test_a_new_sequence_begins_with_the_window_and_the_maximum() -> None:
    rmd = Rmd()
    sequence = one(rmd)
    assert sequence.phase is Phase.OPEN
    assert get_buffer_remaining(rmd.state, sequence) == 8
    assert MAXIMUM == 4096


@pytest.mark.spec("FC-014", "FC-015", "FC-016", "FC-021", "FC-022", "FC-024")
@pytest.mark.wsrm("T03")
def test_a_message_takes_one_off_and_the_acknowledgement_says_so() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    assert value(rmd.ask(sequence)) == 8
    assert value(rmd.send(sequence, 1)) == 7
    assert rmd.sequence(sequence).buffer == 7


@pytest.mark.spec("FC-021", "FC-022")
def test_a_message_takes_one_off_also_before_its_acknowledgement() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create(ADDRESS)
    rmd.ask(sequence)
    rmd.send(sequence, 1)
    assert len(rmd.sent) == 1, "the message is not acknowledged yet"
    assert rmd.sequence(sequence).buffer == 7


@pytest.mark.spec("FC-017", "FC-018", "FC-020")
@pytest.mark.wsrm("T04")
def test_a_processed_message_gives_its_room_back() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 1)) == 7
    rmd.read()
    assert value(rmd.ask(sequence)) == 8


@pytest.mark.spec("FC-009", "FC-023", "FC-024")
@pytest.mark.wsrm("T05")
def test_a_message_at_0_changes_nothing() -> None:
    sequence = one(Rmd())
    set_buffer_remaining(sequence, 0)
    message_received(sequence)
    assert sequence.buffer == 0


@pytest.mark.spec("FC-013", "FC-019", "FC-020")
@pytest.mark.wsrm("T06")
def test_a_processed_message_at_the_maximum_changes_nothing() -> None:
    rmd = Rmd(bounded=True, window=MAXIMUM)
    sequence = one(rmd)
    assert get_buffer_remaining(rmd.state, sequence) == MAXIMUM
    message_processed(sequence.target, 0, None)
    assert get_buffer_remaining(rmd.state, sequence) == MAXIMUM


@pytest.mark.spec("FC-025", "FC-026", "FC-027")
@pytest.mark.wsrm("T07")
def test_buffer_remaining_is_set_within_its_range() -> None:
    sequence = one(Rmd())
    set_buffer_remaining(sequence, 100)
    assert sequence.buffer == 100
    for wrong in (-1, MAXIMUM + 1):
        with pytest.raises(UsageError):
            set_buffer_remaining(sequence, wrong)
    assert sequence.buffer == 100


@pytest.mark.spec("FC-010")
def test_the_four_events_are_accepted_in_any_order() -> None:
    rmd = Rmd(bounded=True)
    sequence = one(rmd)
    message_received(sequence)
    set_buffer_remaining(sequence, 3)
    message_received(sequence)
    assert sequence.buffer == 2
    message_processed(sequence.target, 5, None)
    assert get_buffer_remaining(rmd.state, sequence) == 3


# -- the room of the queue


def test_an_unread_queue_without_a_quota_stops_no_sender() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    assert value(rmd.send(sequence, *range(1, 41))) == 8
    assert rmd.bodies == numbered(*range(1, 41))


@pytest.mark.parametrize("bounded", [True, False])
def test_messages_behind_a_gap_keep_their_room(bounded: bool) -> None:
    rmd = Rmd(bounded=bounded)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 3, 2)) == 6
    assert value(rmd.send(sequence, 1)) == (5 if bounded else 8)


def test_a_closed_sequence_with_gaps_keeps_no_room_from_others() -> None:
    rmd = Rmd(bounded=True, window=8)
    closed, other = rmd.create(), rmd.create()
    rmd.send(closed, 3, 4)
    rmd.post(Envelope(dialect=Dialect(), body=CloseSequence(closed, 4)))
    rmd.read(count=2)
    assert value(rmd.ask(other)) == 8


def test_unordered_messages_are_counted_once() -> None:
    rmd = Rmd(bounded=True, window=8, ordered=False)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 3, 5)) == 6


def test_a_quota_is_counted_in_messages_of_the_largest_size() -> None:
    rmd = Rmd(quota=10_240)
    sequence = rmd.create()
    assert value(rmd.ask(sequence)) == 8
    assert value(rmd.send(sequence, 1, content=b"x" * 2000)) == 3
    free = rmd.free("orders")
    assert free is not None
    assert free // rmd.sequence(sequence).target.largest == 3


def test_buffered_messages_count_against_the_quota() -> None:
    rmd = Rmd(quota=10_240)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 2, 3, content=b"x" * 2000)) == 5


def test_a_message_that_fits_into_an_empty_queue_is_always_accepted() -> None:
    rmd = Rmd(quota=3000)
    sequence = rmd.create()
    rmd.send(sequence, 1, content=b"x" * 2000)
    assert value(rmd.ask(sequence)) == 0
    rmd.quota = 1500  # an administrator makes the queue smaller
    rmd.read()
    assert value(rmd.ask(sequence)) == 1
    rmd.send(sequence, 2)
    assert rmd.bodies == numbered(2)


def test_a_message_of_the_turn_counts_once_whether_its_report_came_before_or_after() -> None:
    target = one(Rmd(bounded=True)).target
    add_messages(target, target.reports, (100,))
    assert (target.added, target.added_bytes) == (1, 100)
    message_processed(target, 1, None)
    assert (target.unread, target.added, target.added_bytes) == (1, 0, 0)
    before = target.reports
    message_processed(target, 2, None)
    add_messages(target, before, (100,))
    assert (target.unread, target.added) == (2, 0)
    add_messages(target, target.reports, (5000,))
    forget_additions(target)
    assert (target.added, target.largest) == (0, 5000)


def test_a_message_that_a_waiting_reader_takes_is_not_counted_permanently() -> None:
    rmd = Rmd(bounded=True, window=2)
    sequence = rmd.create()
    for number in range(1, 9):
        rmd.watched = frozenset()  # the queue manager has nothing to report: the queue is as empty as before
        rmd.send(sequence, number)
        rmd.queues["orders"].clear()
    assert rmd.sequence(sequence).next == 9
    assert value(rmd.ask(sequence)) == 2


# -- several sequences


@pytest.mark.wsrm("T29")
def test_a_sequence_with_a_gap_does_not_stop_another() -> None:
    rmd = Rmd()
    full, other = rmd.create(), rmd.create()
    rmd.send(full, *range(2, 9))
    assert value(rmd.ask(full)) == 1
    assert value(rmd.send(other, *range(1, 20))) == 8


def test_room_is_never_promised_twice() -> None:
    rmd = Rmd(bounded=True, window=8)
    one_, two = rmd.create(), rmd.create()
    assert value(rmd.ask(one_)) == 4
    assert value(rmd.ask(two)) == 4
    third = rmd.create()
    assert value(rmd.ask(third)) == 0, "all of it was promised"
    assert value(rmd.ask(one_)) == 3, "less than before: there are three now"
    assert value(rmd.ask(third)) == 1


def test_a_silent_source_keeps_no_room() -> None:
    rmd = Rmd(bounded=True, window=8)
    silent, other = rmd.create(), rmd.create()
    assert value(rmd.ask(silent)) == 4
    assert value(rmd.ask(other)) == 4
    rmd.advance(31)
    assert value(rmd.ask(other)) == 8


def test_what_was_promised_is_taken_also_when_others_came() -> None:
    rmd = Rmd(bounded=True, window=3)
    first = rmd.create()
    assert value(rmd.ask(first)) == 3
    for _ in range(4):
        assert value(rmd.ask(rmd.create())) == 0
    rmd.send(first, 1, 2, 3)
    assert rmd.bodies == numbered(1, 2, 3)


def test_a_gap_keeps_the_room_of_the_messages_that_are_missing() -> None:
    rmd = Rmd(bounded=True, window=5)
    gapped, other = rmd.create(), rmd.create()
    assert value(rmd.send(gapped, 3)) == 3, "the two that are missing, and half of what is left"
    assert value(rmd.ask(other)) == 1
    rmd.send(other, 1, 2, 3)
    assert rmd.sequence(other).next == 2, "the rest belongs to the other one"
    rmd.send(gapped, 1, 2)
    assert rmd.bodies == numbered(1, 1, 2, 3)
    assert value(rmd.ask(gapped)) == 1


def test_a_sequence_is_always_promised_what_it_misses_itself() -> None:
    rmd = Rmd(bounded=True, window=4)
    gapped, other = rmd.create(), rmd.create()
    rmd.ask(gapped)
    assert value(rmd.send(gapped, 4)) == 3
    assert value(rmd.ask(other)) == 0
    assert value(rmd.send(gapped, 2)) == 2
    assert value(rmd.send(gapped, 3)) == 1
    assert value(rmd.send(gapped, 1)) == 0
    assert rmd.bodies == numbered(1, 2, 3, 4)


def test_after_a_restart_a_gap_keeps_its_room_also_without_a_promise() -> None:
    rmd = Rmd(bounded=True, window=6)
    gapped, other = rmd.create(), rmd.create()
    rmd.send(gapped, 3)
    rmd.restart()
    assert value(rmd.ask(other)) == 2, "half of what is neither buffered nor missing"
    rmd.restart()
    rmd.send(other, 3, 4)
    assert list(rmd.sequence(other).ranges) == [(3, 3)]


@pytest.mark.wsrm("T26")
def test_a_gap_is_not_filled_while_others_have_filled_the_queue() -> None:
    rmd = Rmd(bounded=True, window=3)
    sequence = rmd.create()
    rmd.send(sequence, 3)
    rmd.queues["orders"] += [Message(body=b"local")] * 3
    rmd.turn(rmd.tell_room)
    got = rmd.send(sequence, 1)
    assert got is not None
    assert (got.ranges, got.buffer) == (((3, 3),), 0)
    assert len(rmd.bodies) == 3
    rmd.read(count=3)
    rmd.send(sequence, 1, 2)
    assert rmd.bodies == numbered(1, 2, 3)


def test_a_silent_source_keeps_no_room_for_what_is_missing() -> None:
    rmd = Rmd(bounded=True, window=4)
    silent, other = rmd.create(), rmd.create()
    rmd.send(silent, 4)
    rmd.advance(31)
    assert value(rmd.ask(other)) == 3
    rmd.send(other, 1, 2, 3)
    rmd.send(silent, 1, 2)
    assert rmd.bodies == numbered(1, 2, 3, 1)
    rmd.read(count=4)
    rmd.send(silent, 2, 3)
    assert rmd.bodies == numbered(2, 3, 4)


def test_messages_that_an_ended_sequence_left_keep_their_room() -> None:
    rmd = Rmd(bounded=True, window=4)
    other, ended = rmd.create(), rmd.create()  # in this order the open one does not wait for the other
    rmd.send(ended, 2, 3)
    rmd.verdict = NOT_READY
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(ended, 3)))
    rmd.verdict = None
    assert value(rmd.ask(other)) == 2
    rmd.advance(31)
    assert rmd.bodies == numbered(2, 3)
    assert value(rmd.ask(other)) == 2


@pytest.mark.parametrize("end", [CloseSequence, TerminateSequence])
def test_a_sequence_that_takes_no_more_messages_has_no_room(
    end: type[CloseSequence] | type[TerminateSequence],
) -> None:
    rmd = Rmd()
    sequence = rmd.create()
    response = rmd.post(Envelope(dialect=Dialect(), body=end(sequence)))
    assert response is not None
    assert [each.buffer for each in response.acknowledgements] == [0]
    assert not rmd.sequence(sequence).target.starved


STEPS = st.tuples(
    st.sampled_from(["send", "send", "send", "read", "ask", "wait", "local", "end"]),
    st.integers(0, 2),
    st.integers(0, 4),
)


@settings(max_examples=150)
@given(st.integers(1, 6), st.lists(STEPS, max_size=60))
def test_a_bounded_queue_never_gets_more_than_its_window_and_all_that_is_acknowledged(
    window: int, steps: list[tuple[str, int, int]]
) -> None:
    rmd = Rmd(bounded=True, window=window)
    sequences = [rmd.create() for _ in range(3)]
    read: list[bytes] = []
    for what, which, ahead in steps:
        sequence = rmd.sequence(sequences[which])
        number = sequence.next + ahead
        before = len(rmd.bodies)
        if what == "read":
            read += rmd.bodies[:1]
            rmd.read(count=min(1, before))
        elif what == "wait":
            rmd.advance(31)
        elif what == "local":
            rmd.queues["orders"].append(Message(body=b"local"))
            rmd.turn(rmd.tell_room)
        elif what == "end":
            rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(sequences[which])))
            sequences[which] = rmd.create()
        elif what == "ask":
            rmd.ask(sequences[which])
        else:
            rmd.send(sequences[which], number, content=b"<m>%d %d</m>" % (sequence.number, number))
        stored = len(rmd.bodies)
        assert stored <= window or what == "local" or stored <= before
    for identifier in sequences:
        rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(identifier)))
    while rmd.bodies:
        read += rmd.bodies[:1]
        rmd.read()
    received = [
        b"<m>%d %d</m>" % (number, each)
        for number, known in sorted(rmd.here.sequences.items())
        for low, high in known.received.ranges
        for each in range(low, high + 1)
    ]
    delivered = [each for each in read if each != b"local"]
    assert sorted(delivered) == sorted(received)
    for number in rmd.here.sequences:
        own = [each for each in delivered if each.startswith(b"<m>%d " % number)]
        assert own == [each for each in received if each.startswith(b"<m>%d " % number)]


@pytest.mark.spec("FC-009")
@pytest.mark.wsrm("T35")
@settings(max_examples=60)
@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from(["send", "read", "ask"]), st.integers(0, 2)), max_size=40),
)
def test_the_value_stays_in_its_range_and_ends_as_capacity_less_what_is_stored(
    window: int, steps: list[tuple[str, int]]
) -> None:
    rmd = Rmd(bounded=True, window=window)
    sequences = [rmd.create() for _ in range(3)]
    following = [1, 1, 1]
    promised = 0
    for what, which in steps:
        before = rmd.sequence(sequences[which]).buffer
        if what == "read":
            if rmd.queues["orders"]:
                rmd.read()
        elif what == "ask":
            rmd.ask(sequences[which])
        else:
            stored = len(rmd.bodies)
            rmd.send(sequences[which], following[which])
            taken = len(rmd.bodies) - stored
            following[which] += taken
            assert taken or not before, "what was promised is taken"
        values = [rmd.sequence(each).buffer for each in sequences]
        assert all(0 <= each <= MAXIMUM for each in values)
        promised = sum(values)
        assert promised + len(rmd.bodies) <= window, "nothing is promised twice"
    rmd.advance(31)
    assert value(rmd.ask(sequences[0])) == window - len(rmd.bodies)


@given(st.integers(1, 40_000), st.lists(st.integers(0, 3000), min_size=1, max_size=12))
def test_no_quota_is_promised_beyond_what_fits(quota: int, sizes: list[int]) -> None:
    rmd = Rmd(quota=quota)
    sequence = rmd.create()
    number = 1
    for size in sizes:
        got = rmd.post(message(sequence, number, content=b"x" * size))
        assert got is not None
        number = rmd.sequence(sequence).next
        free = rmd.free("orders")
        assert free is not None
        assert free >= 0
        target = rmd.sequence(sequence).target
        assert got.acknowledgements[0].buffer <= max(free // target.largest, not rmd.bodies)


# -- what is taken


def test_takes_follows_the_window_of_wcf() -> None:
    rmd = Rmd(window=4)
    sequence = one(rmd)
    assert [takes(rmd.state, sequence, number) for number in range(1, 7)] == [True] * 4 + [False] * 2


def test_asking_changes_nothing() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.sequence(rmd.create(ADDRESS))
    assert room_for(rmd.state, sequence) == 8
    assert sequence.buffer == 0
    assert not sequence.target.starved
