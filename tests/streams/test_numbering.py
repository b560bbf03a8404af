"""Tests numbers of streams, and messages that get other numbers."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import SECOND, Instant
from reliquary.streams.apply import apply
from reliquary.streams.facts import MessagesNumbered, NumbersFreed, StreamBegun, StreamEnded
from reliquary.streams.numbering import in_order, next_stream, renumber
from reliquary.streams.tables import Ordinals
from tests.streams.streams_harness import SENDER, begin, new_state


@pytest.mark.spec("SR-072", "SR-262")
def test_the_number_of_a_stream_is_made_of_time_and_ordinal() -> None:
    stream = next_stream(Ordinals(3), SENDER, Instant(1_700_000_000 * SECOND + 1))
    assert (stream.number >> 32, stream.number & 0xFFFFFFFF) == (1_700_000_000, 3)
    assert (stream.sender, stream.last, stream.acknowledged) == (SENDER, 0, 0)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=20))
def test_a_stream_has_a_greater_number_than_earlier_ones_at_any_clock_time(clock: list[int]) -> None:
    state = new_state()
    numbers = []
    for seconds in clock:
        stream = next_stream(state.ordinals, SENDER, Instant(seconds * SECOND))
        apply(state, StreamBegun(4, stream))
        apply(state, StreamEnded(4))
        numbers.append(stream.number)
    assert numbers == sorted(set(numbers))


def test_what_is_left_of_a_stream_has_the_first_numbers_of_a_new_one() -> None:
    state = new_state()
    begin(state, 105, 103, 104, 101, finals=(104,))
    sent = state.sent[4]
    apply(state, NumbersFreed(4, (105,)))
    apply(state, StreamEnded(4))
    state.draft.take()
    renumber(state, 4, sent, in_order(sent))
    again = state.sent[4]
    assert again.numbers == {103: 1, 104: 2, 101: 3}
    assert (again.finals, again.awaiting, again.start_is_lost) == ({104: 4}, 3, False)
    assert again.stream.number > sent.stream.number
    assert again.stream.sender == UUID(int=7)
    assert [type(fact) for fact in state.draft.take().facts] == [StreamBegun, MessagesNumbered]


def test_messages_are_listed_in_the_order_of_their_numbers() -> None:
    state = new_state()
    begin(state, 105, 103)
    apply(state, MessagesNumbered(4, 3, (104, 101)))
    apply(state, NumbersFreed(4, (103,)))
    assert in_order(state.sent[4]) == (105, 104, 101)
