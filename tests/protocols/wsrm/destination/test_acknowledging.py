"""Tests acknowledgements: when they leave, where they go, what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.ranges import NumberRanges
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, TerminateSequence
from reliquary.protocols.wsrm.destination.acknowledging import (
    acknowledgement,
    covers,
    due_to,
    sent,
    take_due,
)
from reliquary.protocols.wsrm.destination.creation import begin_offered
from reliquary.protocols.wsrm.destination.tables import Received
from reliquary.protocols.wsrm.state import Count
from tests.protocols.wsrm.destination.rmd import ADDRESS, ANONYMOUS, POLLED, Rmd, message


def ask(identifier: str) -> Envelope:
    return Envelope(dialect=Dialect(), ack_requests=(identifier,))


# -- anonymous


@pytest.mark.spec("FC-005", "FC-014", "FC-016")
@pytest.mark.wsrm("T02")
def test_an_anonymous_source_gets_the_acknowledgement_and_the_room_on_the_response() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    response = rmd.post(message(sequence, 1))
    assert response is not None
    (got,) = response.acknowledgements
    assert (got.identifier, got.ranges, got.nacks, got.final, got.buffer) == (
        sequence,
        ((1, 1),),
        (),
        False,
        7,
    )
    assert not rmd.sent
    assert rmd.state.counts[Count.ACKNOWLEDGEMENTS_SENT] == 1


def test_a_message_that_asks_gets_one_acknowledgement() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    response = rmd.post(message(sequence, 1, ack_requests=(sequence,)))
    assert response is not None
    assert [(each.ranges, each.buffer) for each in response.acknowledgements] == [(((1, 1),), 7)]


def test_ack_requested_is_answered_also_where_nothing_came() -> None:
    rmd = Rmd()
    got = rmd.ask(rmd.create())
    assert got is not None
    assert (got.ranges, got.buffer) == ((), 8)
    assert rmd.waits


def test_ack_requested_for_an_unknown_sequence_is_refused() -> None:
    assert Rmd().fault(ask("urn:nothing")) == (FaultCode.UNKNOWN_SEQUENCE, ())


def test_ack_requested_for_an_ended_sequence_gets_the_final_acknowledgement_with_the_fault() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1, 2)
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(sequence)))
    code, (final,) = rmd.fault(ask(sequence))
    assert code is FaultCode.SEQUENCE_TERMINATED
    assert (final.ranges, final.final) == (((1, 2),), True)


def test_ack_requested_keeps_a_sequence_alive() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    for _ in range(5):
        rmd.advance(400)
        assert rmd.ask(sequence) is not None


# -- to an address


def test_an_address_gets_one_acknowledgement_for_all_messages_after_the_interval() -> None:
    rmd = Rmd(window=64)
    sequence = rmd.create(ADDRESS)
    assert rmd.send(sequence, 1, 2) is None
    rmd.advance(0.1)
    rmd.send(sequence, 3)
    assert not rmd.sent
    rmd.advance(0.1)
    ((url, envelope),) = rmd.sent
    assert url == ADDRESS.address
    assert [each.ranges for each in envelope.acknowledgements] == [((1, 3),)]
    assert rmd.waits
    rmd.advance(10)
    assert len(rmd.sent) == 1, "nothing is due any more"


def test_the_interval_begins_again_with_the_next_message() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    for number in (1, 2):
        rmd.send(sequence, number)
        rmd.advance(0.2)
    assert [each.ranges for each in rmd.acknowledgements_sent] == [((1, 1),), ((1, 2),)]


def test_half_a_window_is_acknowledged_at_once() -> None:
    rmd = Rmd(window=8)
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1, 2, 3)
    assert not rmd.sent
    rmd.send(sequence, 4)
    assert [each.ranges for each in rmd.acknowledgements_sent] == [((1, 4),)]


def test_an_address_that_asks_gets_an_acknowledgement_at_once_and_only_once() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    assert rmd.ask(sequence) is None
    assert [each.ranges for each in rmd.acknowledgements_sent] == [((1, 1),)]
    rmd.post(message(sequence, 2, ack_requests=(sequence,)))
    rmd.advance(1)
    assert [each.ranges for each in rmd.acknowledgements_sent] == [((1, 1),), ((1, 2),)]
    rmd.post(message(sequence, 2, ack_requests=(sequence,)))
    assert len(rmd.acknowledgements_sent) == 3, "a duplicate that asks is answered too"


def test_a_message_that_fills_the_window_and_asks_is_acknowledged_once() -> None:
    rmd = Rmd(window=2)
    sequence = rmd.create(ADDRESS)
    rmd.post(message(sequence, 1, ack_requests=(sequence,)))
    assert len(rmd.acknowledgements_sent) == 1


def test_an_envelope_to_the_address_carries_the_acknowledgement() -> None:
    rmd = Rmd()
    one, other = rmd.create(ADDRESS), rmd.create(ADDRESS, message_id="x")
    rmd.send(one, 1)
    rmd.send(other, 1, 2)
    assert due_to(rmd.state, ADDRESS.address) == [1, 2]
    taken = take_due(rmd.state, ADDRESS.address)
    assert [(each.identifier, each.ranges) for each in taken] == [(one, ((1, 1),)), (other, ((1, 2),))]
    assert due_to(rmd.state, ADDRESS.address) == []
    assert take_due(rmd.state, ADDRESS.address) == ()
    rmd.advance(1)
    assert not rmd.sent


def test_the_timer_serves_what_became_due_after_the_last_acknowledgement() -> None:
    rmd = Rmd()
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    take_due(rmd.state, ADDRESS.address)
    rmd.advance(0.1)
    rmd.send(sequence, 2)
    rmd.advance(0.1)
    assert [each.ranges for each in rmd.acknowledgements_sent] == [((1, 2),)]


def test_a_timer_of_a_forgotten_sequence_does_nothing() -> None:
    rmd = Rmd(most={"remembered": 1, "polling": 1})
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(sequence)))
    rmd.advance(10)
    assert not rmd.here.sequences
    assert not rmd.sent


# -- to a client that polls


def test_a_client_that_polls_finds_it_due() -> None:
    rmd = Rmd()
    sequence = rmd.create(POLLED)
    assert rmd.send(sequence, 1, 2, 3, 4, 5) is None
    assert rmd.ask(sequence) is None
    rmd.advance(10)
    assert not rmd.sent
    assert due_to(rmd.state, POLLED.address) == [1]
    number = 1
    assert acknowledgement(rmd.state, number).ranges == ((1, 5),)
    sent(rmd.state, number)
    assert due_to(rmd.state, POLLED.address) == []


# -- offered sequences: what comes on a response is acknowledged with the next request


def test_what_came_on_a_response_is_acknowledged_to_the_address_of_the_peer() -> None:
    rmd = Rmd()
    rmd.turn(lambda: begin_offered(rmd.state, "urn:ours", "replies", Dialect(), ADDRESS, rmd.now))
    rmd.post(message("urn:ours", 1), to=0, endpoint="")
    assert due_to(rmd.state, ADDRESS.address) == [1]
    rmd.advance(0.2)
    assert [each.identifier for each in rmd.acknowledgements_sent] == ["urn:ours"]


# -- the invariant


RANGES = st.lists(st.integers(1, 30), max_size=12).map(
    lambda numbers: tuple(NumberRanges([(each, each) for each in numbers]))
)


@given(RANGES, RANGES)
def test_covers_compares_sets_of_numbers(
    ranges: tuple[tuple[int, int], ...], earlier: tuple[tuple[int, int], ...]
) -> None:
    def numbers(of: tuple[tuple[int, int], ...]) -> set[int]:
        return {each for low, high in of for each in range(low, high + 1)}

    assert covers(ranges, earlier) is (numbers(earlier) <= numbers(ranges))


def test_an_acknowledgement_that_would_withdraw_numbers_is_a_defect() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1, 2)
    rmd.sequence(sequence).received = Received(((1, 1),))
    with pytest.raises(AssertionError, match="withdraws"):
        acknowledgement(rmd.state, 1)


def test_an_acknowledgement_to_an_unreachable_peer_waits() -> None:
    """A message of an anonymous source on a response has no way back until the next request."""
    rmd = Rmd()
    sequence = rmd.create()
    rmd.post(message(sequence, 1), to=0)
    assert due_to(rmd.state, ANONYMOUS.address) == [1]
    assert not rmd.sent
