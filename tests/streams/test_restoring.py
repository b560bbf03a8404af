"""Tests that streams are marked when the store is restored."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAdvanced, StreamBegun, StreamEnded
from reliquary.streams.restoring import begin_era
from reliquary.streams.tables import IncomingStream, OutgoingStream
from tests.streams.streams_harness import SENDER, begin, new_state, reborn


def test_streams_of_both_directions_are_marked_on_disk() -> None:
    state = new_state()
    begin(state, 101, 102)
    apply(state, StreamAdvanced(SENDER, "bench/orders", IncomingStream(5, 3, 2, "alpha/receipts")))
    begin_era(state, Instant(77))
    for each in (state, reborn(state)):
        assert each.sent[4].stream.closed
        assert each.incoming[SENDER, "bench/orders"].stream == IncomingStream(
            5, 3, 2, "alpha/receipts", restored=True
        )
        assert each.ordinals.restored == 77


def test_a_later_stream_has_no_mark_and_the_time_of_the_restore_is_kept() -> None:
    state = new_state()
    begin(state, 101)
    begin_era(state, Instant(77))
    apply(state, StreamEnded(4))
    apply(state, StreamBegun(4, OutgoingStream(9 << 32 | state.ordinals.stream, sender=SENDER)))
    again = reborn(state)
    assert (again.sent[4].stream.closed, again.ordinals.restored) == (False, 77)
