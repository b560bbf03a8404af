"""Tests the state of a protocol's streams: names, indexes, additions and removals."""

from __future__ import annotations

from uuid import UUID

from reliquary.streams.tables import IncomingStream, OutgoingStream
from tests.streams.streams_harness import new_state


def test_a_stream_that_comes_in_has_one_place_for_its_timer() -> None:
    state = new_state()
    first = state.incoming_stream((UUID(int=1), "a"), IncomingStream(1))
    second = state.incoming_stream((UUID(int=1), "b"), IncomingStream(1))
    assert state.incoming_stream((UUID(int=1), "a"), IncomingStream(2)) is first
    assert [first.place, second.place] == [0, 1]
    assert state.places == [first, second]


def test_a_stream_that_goes_out_is_found_by_its_sender_and_its_number() -> None:
    """The sender is part of the key, because two managers may use one number."""
    state = new_state()
    state.add_sent(4, OutgoingStream(9, sender=UUID(int=1)))
    state.add_sent(5, OutgoingStream(9, sender=UUID(int=2)))
    assert [state.queue_of.get((UUID(int=sender), 9)) for sender in (1, 2, 3)] == [4, 5, None]
    assert state.remove_sent(4).stream.sender == UUID(int=1)
    assert (list(state.sent), state.queue_of) == ([5], {(UUID(int=2), 9): 5})
