"""Tests records of sequences for administrators."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import as_datetime, later, seconds
from reliquary.protocols.wsrm.destination.phases import Phase as InboundPhase
from reliquary.protocols.wsrm.destination.tables import Received
from reliquary.protocols.wsrm.nouns import SequenceInfo
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.phases import Phase as OutboundPhase
from reliquary.protocols.wsrm.views import ranges_text, sequence, sequences, totals
from tests.protocols.wsrm.known_sequences import NOON, add_inbound, add_outbound, empty


def test_a_manager_without_sequences_lists_none() -> None:
    state = empty()
    assert list(sequences(state)) == []
    assert sequence(state, 1) is None
    found = totals(state)
    assert set(found.sequences.values()) == {0}
    assert (found.unacknowledged, found.held) == (0, 0)


def test_an_incoming_sequence_shows_received_and_missing_numbers() -> None:
    state = empty()
    made = add_inbound(state, 3, Received(ranges=((1, 5), (7, 7)), last=9), offered=4)
    made.buffered, made.duplicates, made.dropped = {7: 100}, 2, 1
    made.heard = later(NOON, seconds(5))
    assert sequence(state, 3) == SequenceInfo(
        number=3,
        direction="in",
        state="open",
        identifier="urn:in:3",
        queue="orders",
        endpoint="in",
        version="1.0",
        soap="1.1",
        addressing="2004/08",
        acknowledged="1-5, 7",
        gaps="6, 8-9",
        last=9,
        held=1,
        duplicates=2,
        dropped=1,
        room=7,
        acks_to="http://client.example/acks",
        pair=4,
        created=as_datetime(NOON),
        expires=as_datetime(later(NOON, seconds(60))),
        used=as_datetime(later(NOON, seconds(5))),
    )


def test_an_ended_sequence_shows_the_time_of_its_end() -> None:
    state = empty()
    add_inbound(state, 1, Received(phase=InboundPhase.ENDED, ended=later(NOON, seconds(9))))
    [view] = sequences(state)
    assert (view.state, view.ended) == ("ended", as_datetime(later(NOON, seconds(9))))
    assert view.room is None, "it takes no message any more"
    assert (view.acknowledged, view.gaps, view.last) == ("", "", 0)
    assert view.used is None, "nothing has arrived since the process started"


def test_the_last_number_is_what_came_where_the_source_did_not_say_it() -> None:
    state = empty()
    add_inbound(state, 1, Received(ranges=((2, 4),)))
    [view] = sequences(state)
    assert (view.last, view.gaps) == (4, "1")


def test_an_outgoing_sequence_shows_unacknowledged_messages_and_the_room() -> None:
    state = empty()
    made = add_outbound(state, 2, (3, 5), phase=OutboundPhase.OPEN, last=5, acknowledged=((1, 2), (4, 4)))
    made.retransmissions, made.used = 6, later(NOON, seconds(1))
    made.flow.buffer, made.flow.polling = 0, Polling.POLLING
    assert sequence(state, 2) == SequenceInfo(
        number=2,
        direction="out",
        state="open",
        identifier="urn:out:2",
        queue="DIRECT=WSRM://far.example/service",
        version="1.1",
        soap="1.2",
        addressing="1.0",
        acknowledged="1-2, 4",
        gaps="3, 5",
        last=5,
        unacknowledged=2,
        retransmissions=6,
        room=0,
        polling=True,
        to="http://far.example/service",
        used=as_datetime(later(NOON, seconds(1))),
    )


def test_a_destination_that_never_said_how_much_room_it_has_shows_none() -> None:
    state = empty()
    add_outbound(state, 1)
    [view] = sequences(state)
    assert (view.state, view.room, view.polling) == ("creating", None, False)


def test_a_sequence_to_an_unreachable_client_has_no_address() -> None:
    state = empty()
    add_inbound(state, 1, Received(), offered=2)
    add_outbound(state, 2, target=None, offered_by=1)
    assert [(view.number, view.to, view.pair) for view in sequences(state)] == [(1, "", 2), (2, "", 1)]


def test_what_we_offered_is_shown_with_the_sequence_that_offered_it() -> None:
    state = empty()
    add_outbound(state, 1, offer="urn:in:2")
    add_outbound(state, 3, offer="urn:in:9")
    add_inbound(state, 2, Received(), endpoint="")
    assert [(view.number, view.pair) for view in sequences(state)] == [(1, 2), (2, 1), (3, 0)]


def test_sequences_are_listed_and_found_by_their_numbers() -> None:
    state = empty()
    for number in (5, 2):
        add_inbound(state, number, Received())
    for number in (4, 1, 3):
        add_outbound(state, number)
    views = list(sequences(state))
    assert [view.number for view in views] == [1, 2, 3, 4, 5]
    assert [sequence(state, view.number) for view in views] == views


def test_totals_count_sequences_by_state_and_the_messages_in_them() -> None:
    state = empty()
    add_inbound(state, 1, Received()).buffered = {2: 10, 3: 10}
    add_inbound(state, 2, Received(phase=InboundPhase.ENDED))
    add_outbound(state, 3, (1, 2), phase=OutboundPhase.OPEN)
    add_outbound(state, 4, (1,), phase=OutboundPhase.CLOSING)
    found = totals(state)
    assert {kind: count for kind, count in found.sequences.items() if count} == {
        ("in", "open"): 1,
        ("in", "ended"): 1,
        ("out", "open"): 1,
        ("out", "closing"): 1,
    }
    assert (found.unacknowledged, found.held) == (3, 2)


@pytest.mark.parametrize(
    ("ranges", "text"), [([], ""), ([(1, 1)], "1"), ([(1, 2)], "1-2"), ([(1, 5), (7, 7)], "1-5, 7")]
)
def test_ranges_are_written_as_people_do(ranges: list[tuple[int, int]], text: str) -> None:
    assert ranges_text(ranges) == text


@given(st.sets(st.integers(1, 40), min_size=1))
def test_what_is_acknowledged_and_the_gaps_are_all_numbers_up_to_the_last(numbers: set[int]) -> None:
    state = empty()
    ranges = NumberRanges([(number, number) for number in sorted(numbers)])
    add_inbound(state, 1, Received(ranges=tuple(ranges)))
    [view] = sequences(state)
    came, missing = read(view.acknowledged), read(view.gaps)
    assert came == numbers
    assert missing == set(range(1, max(numbers) + 1)) - numbers


def read(text: str) -> set[int]:
    """Return the numbers of `1-5, 7`."""
    found: set[int] = set()
    for part in filter(None, text.split(", ")):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found
