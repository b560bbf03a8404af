"""Tests the wait for an acknowledgement: it doubles, and its timer is not set for each acknowledgement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import MINUTE, SECOND, Instant, seconds
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.wsrm.codec.values import Dialect
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source.state import Sequence
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.source.waits import (
    RETRANSMIT,
    is_over,
    keep_waiting,
    span_of,
    start_wait,
    stop_wait,
)
from reliquary.protocols.wsrm.state import State
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

NAME = (RETRANSMIT, 1)


def fresh(**settings: int) -> tuple[State, Sequence]:
    return State(StagedRows(MemoryDisk(())), WsrmSettings(**settings)), Sequence(Outbound(1, Dialect()))  # type: ignore[arg-type]


def at(second: float) -> Instant:
    return Instant(seconds(second))


@given(st.integers(0, 100))
def test_each_wait_is_twice_as_long_up_to_the_longest(timeouts: int) -> None:
    state, sequence = fresh()
    sequence.timeouts = timeouts
    assert span_of(state, sequence) == min(2 * SECOND * 2**timeouts, MINUTE)


def test_a_first_wait_that_is_longer_than_the_longest_is_kept() -> None:
    state, sequence = fresh(retransmission=5 * MINUTE)
    assert span_of(state, sequence) == 5 * MINUTE


def test_progress_does_not_set_the_timer_anew() -> None:
    state, sequence = fresh()
    start_wait(state, sequence, at(0))
    start_wait(state, sequence, at(1.5))
    assert state.draft.take().effects == (SetTimer(NAME, seconds(2)),)
    assert not is_over(state, sequence, at(2))
    assert state.draft.take().effects == (SetTimer(NAME, seconds(1.5)),)
    assert is_over(state, sequence, at(3.5))


def test_a_wait_that_became_short_again_does_not_end_late() -> None:
    state, sequence = fresh()
    sequence.timeouts = 5
    start_wait(state, sequence, at(0))
    sequence.timeouts = 0
    start_wait(state, sequence, at(1))
    assert state.draft.take().effects == (SetTimer(NAME, MINUTE), SetTimer(NAME, seconds(2)))


def test_a_wait_that_has_begun_goes_on() -> None:
    state, sequence = fresh()
    keep_waiting(state, sequence, at(0))
    keep_waiting(state, sequence, at(1))
    assert sequence.deadline == at(2)


def test_a_wait_that_was_stopped_is_never_over() -> None:
    state, sequence = fresh()
    start_wait(state, sequence, at(0))
    stop_wait(state, sequence)
    stop_wait(state, sequence)
    assert state.draft.take().effects == (SetTimer(NAME, seconds(2)), CancelTimer(NAME))
    assert not is_over(state, sequence, at(9))


@pytest.mark.parametrize("back", [10, 100_000])
def test_a_clock_that_is_set_back_does_not_make_the_wait_longer(back: int) -> None:
    state, sequence = fresh()
    start_wait(state, sequence, at(200_000))
    state.draft.take()
    assert not is_over(state, sequence, at(200_000 - back))
    assert state.draft.take().effects == (SetTimer(NAME, seconds(2)),)
