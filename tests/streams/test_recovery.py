"""A new process has the state of streams that the old one had; `test_apply` shows it for each fact."""

from __future__ import annotations

from reliquary.base.rows import every
from reliquary.streams.apply import apply
from reliquary.streams.facts import IdentifierRemembered, NumbersFreed, StreamAdvanced, StreamEnded
from reliquary.streams.tables import IncomingStream, Remembered
from tests.streams.streams_harness import SENDER, TABLES, begin, new_state, reborn


def test_a_first_start_finds_nothing() -> None:
    state, again = new_state(), reborn(new_state())
    assert (again.sent, again.incoming, again.places) == ({}, {}, [])
    assert (again.ordinals, again.history.next) == (state.ordinals, 0)


def test_streams_of_several_queues_are_found_with_their_messages() -> None:
    state = new_state()
    begin(state, *range(101, 201), queue=4, finals=(103, 170))
    begin(state, 301, 302, queue=5)
    begin(state, 401, queue=6)
    apply(state, NumbersFreed(4, (102, 164)))
    apply(state, StreamEnded(6))
    again = reborn(state)
    assert (again.sent, again.queue_of, again.ordinals) == (state.sent, state.queue_of, state.ordinals)
    assert [again.sent[4].at(number) for number in (1, 2, 63, 64, 100)] == [101, 0, 163, 0, 200]
    assert again.sent[4].finals == {103: 3, 170: 0}
    assert {int.from_bytes(key[:4]) for key, _ in every(state.rows, TABLES.numbers)} == {4, 5}


def test_streams_that_come_in_have_places_again() -> None:
    state = new_state()
    for destination in ("b", "a"):
        apply(state, StreamAdvanced(SENDER, destination, IncomingStream(5, 3, 2)))
    again = reborn(state)
    assert [(each.place, each.key, each.stream) for each in again.places] == [
        (0, (SENDER, "a"), IncomingStream(5, 3, 2)),
        (1, (SENDER, "b"), IncomingStream(5, 3, 2)),
    ]


def test_a_history_that_is_shorter_now_keeps_its_end() -> None:
    state = new_state(history_size=10)
    for number in range(1, 8):
        apply(state, IdentifierRemembered(Remembered(SENDER, number, 0, state.history.next, "a")))
    again = reborn(state, history_size=3)
    assert [number for _, number, _ in again.history.durable] == [5, 6, 7]
    assert again.history.next == 7


def test_equal_senders_and_destinations_are_one_object() -> None:
    """Two hundred thousand identifiers come from few senders."""
    state = new_state()
    for number in (1, 2):
        entry = Remembered(SENDER, number, 0, state.history.next, str(b"ab", "ascii"))
        apply(state, IdentifierRemembered(entry))
    first, second = reborn(state).history.durable
    assert first[2] is second[2]
