"""Tests gaps in a stream of a restored store, and when they are closed."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant, later, seconds
from reliquary.streams.acceptance import TAKEN, Verdict, advanced, judge
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAdvanced
from reliquary.streams.gaps import CLOCKS_DIFFER, MOST_WATCHED, reconsider
from reliquary.streams.restoring import begin_era
from reliquary.streams.state import StreamState
from reliquary.streams.tables import IncomingStream
from tests.streams.streams_harness import SENDER, new_state

NOW = Instant(1_700_000_000 * SECOND)
STREAM = 1_600_000_000 << 32 | 7
KEY = (SENDER, "bench/orders")


def restored(last: int = 20, stream: int = STREAM) -> StreamState:
    """Return the streams of a restored store; one of them had `last` messages before the backup."""
    state = new_state()
    if last:
        apply(state, StreamAdvanced(*KEY, IncomingStream(stream, last)))
    begin_era(state, NOW)
    return state


def kept(state: StreamState) -> IncomingStream | None:
    incoming = state.incoming.get(KEY)
    return None if incoming is None else incoming.stream


def come(
    state: StreamState,
    current: int,
    previous: int = -1,
    *,
    stream: int = STREAM,
    first: bool = False,
    at: float = 0,
) -> Verdict:
    """Return the verdict on a message that comes after a number of seconds; an accepted one advances the
    stream.
    """
    previous = current - 1 if previous < 0 else previous
    verdict = judge(kept(state), stream, current, previous)
    now = later(NOW, seconds(at))
    verdict = reconsider(state, KEY, stream, current, previous, verdict, now, first=first)
    if verdict in TAKEN:
        after = advanced(kept(state), stream, current, previous, NOW)
        apply(state, StreamAdvanced(*KEY, after))
    return verdict


@pytest.mark.parametrize("last", [20, 0], ids=["kept", "forgotten"])
def test_the_lowest_number_that_comes_in_three_rounds_closes_the_gap(last: int) -> None:
    state = restored(last)
    assert [come(state, number) for number in (50, 51)] == [Verdict.OUT_OF_ORDER] * 2
    for at in (30, 60):
        assert [come(state, number, at=at) for number in (40, 41, 50)] == [Verdict.OUT_OF_ORDER] * 3
    assert [come(state, number, at=90) for number in (40, 41, 42)] == [
        Verdict.RESUMED,
        Verdict.GO_ON,
        Verdict.GO_ON,
    ]
    stream = kept(state)
    assert stream is not None
    assert (stream.last, stream.skipped, stream.restored) == (42, ((last + 1, 39),), False)


def test_a_request_that_the_network_repeats_is_no_round() -> None:
    """The earlier request may be lost, and come later."""
    state = restored()
    assert [come(state, 41, at=at) for at in (0, 0.03, 1, 5, 19)] == [Verdict.OUT_OF_ORDER] * 5
    assert come(state, 40, first=True, at=30) is Verdict.RESUMED


def test_a_sender_that_names_its_lowest_number_closes_the_gap_at_once() -> None:
    state = restored()
    assert come(state, 50) is Verdict.OUT_OF_ORDER
    assert come(state, 40, first=True) is Verdict.RESUMED


def test_a_number_above_the_lowest_closes_no_gap_even_if_its_sender_names_it() -> None:
    state = restored()
    assert come(state, 40) is Verdict.OUT_OF_ORDER
    assert [come(state, 41, first=True) for _ in range(3)] == [Verdict.OUT_OF_ORDER] * 3


def test_the_lowest_number_is_gone_when_a_later_one_names_a_lower_one_as_its_previous() -> None:
    state = restored()
    come(state, 40)
    assert [come(state, 41, previous=39, at=at) for at in (0, 30)] == [Verdict.OUT_OF_ORDER] * 2
    assert come(state, 41, previous=39, at=60) is Verdict.RESUMED


def test_the_next_number_counts_as_seen_though_it_was_not_taken() -> None:
    state = restored()
    for _ in range(3):
        verdict = judge(kept(state), STREAM, 21, 20)
        assert reconsider(state, KEY, STREAM, 21, 20, verdict, NOW) is Verdict.GO_ON  # and the queue is full
        assert come(state, 22) is Verdict.OUT_OF_ORDER
    assert come(state, 21) is Verdict.GO_ON


def test_a_stream_in_order_is_restored_no_more() -> None:
    state = restored()
    assert come(state, 21) is Verdict.GO_ON
    assert [come(state, 40) for _ in range(5)] == [Verdict.OUT_OF_ORDER] * 5


def test_a_number_that_was_passed_over_is_late_and_others_are_repeated() -> None:
    state = restored()
    come(state, 40, first=True)
    assert [come(state, number) for number in (20, 21, 39, 40)] == [
        Verdict.REPEATED,
        Verdict.LATE,
        Verdict.LATE,
        Verdict.REPEATED,
    ]


def test_a_store_that_was_not_restored_waits_indefinitely() -> None:
    state = new_state()
    apply(state, StreamAdvanced(*KEY, IncomingStream(STREAM, 20)))
    assert [come(state, 40, first=True) for _ in range(5)] == [Verdict.OUT_OF_ORDER] * 5
    assert not state.gaps


@pytest.mark.parametrize(("after", "verdict"), [(0, Verdict.RESUMED), (1, Verdict.OUT_OF_ORDER)])
def test_a_stream_that_began_after_the_restore_has_its_start(after: int, verdict: Verdict) -> None:
    state = restored(0)
    stream = ((NOW + CLOCKS_DIFFER) // SECOND + after) << 32
    assert come(state, 5, first=True, stream=stream) is verdict


def test_a_later_stream_goes_on_and_an_older_one_is_outdated() -> None:
    state = restored()
    assert come(state, 5, stream=STREAM - 1, first=True) is Verdict.OUTDATED
    assert come(state, 5, stream=STREAM + 1, first=True) is Verdict.RESUMED
    stream = kept(state)
    assert stream is not None
    assert (stream.number, stream.last, stream.skipped) == (STREAM + 1, 5, ((1, 4),))


@pytest.mark.parametrize(
    ("stream", "current", "skipped"),
    [(STREAM, 40, ((21, 39),)), (STREAM, 7, ()), (STREAM - 1, 3, ((1, 2),)), (STREAM + 1, 1, ())],
    ids=["gap", "back", "older", "new"],
)
def test_any_next_message_is_taken_after_a_reset(
    stream: int, current: int, skipped: tuple[tuple[int, int], ...]
) -> None:
    state = new_state()
    apply(state, StreamAdvanced(*KEY, IncomingStream(STREAM, 20, 20, reset=True)))
    assert come(state, current, stream=stream) in TAKEN
    after = kept(state)
    assert after is not None
    assert (after.number, after.last, after.skipped, after.reset) == (stream, current, skipped, False)
    assert after.acknowledged <= after.last


def test_the_number_of_watched_streams_is_limited() -> None:
    state = restored(0)
    for number in range(MOST_WATCHED + 5):
        key = (SENDER, str(number))
        reconsider(state, key, STREAM, 5, 4, Verdict.OUT_OF_ORDER, NOW)
    assert len(state.gaps) == MOST_WATCHED
    assert (SENDER, "4") not in state.gaps
