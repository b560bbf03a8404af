"""Tests timers by name: they are set, set again, cancelled, and fire in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.engine.timers import Timers

A, B, C = ("a", 0), ("b", 0), ("b", 1)


def test_timers_come_due_in_the_order_of_their_moments() -> None:
    timers = Timers()
    timers.set(A, 30)
    timers.set(B, 10)
    timers.set(C, 20)
    assert timers.next() == 10
    assert timers.take_due(25) == [B, C]
    assert timers.next() == 30
    assert len(timers) == 1
    assert (A in timers, B in timers) == (True, False)


def test_a_second_timer_of_a_name_replaces_the_first() -> None:
    timers = Timers()
    timers.set(A, 10)
    timers.set(A, 50)
    assert timers.take_due(49) == []
    timers.set(A, 20)
    assert timers.take_due(20) == [A]
    assert timers.take_due(1000) == []


def test_a_timer_that_was_cancelled_never_comes_due() -> None:
    timers = Timers()
    timers.set(A, 10)
    timers.cancel(A)
    timers.cancel(B)  # never set: no error
    assert timers.next() is None
    assert timers.take_due(100) == []


def test_a_name_that_was_cancelled_can_be_set_again_for_its_moment() -> None:
    timers = Timers()
    timers.set(A, 10)
    timers.cancel(A)
    timers.set(A, 10)
    assert timers.take_due(10) == [A]
    assert timers.take_due(10) == []


def test_setting_one_timer_again_and_again_does_not_grow_without_bound() -> None:
    timers = Timers()
    for moment in range(100_000):
        timers.set(A, moment)
    assert len(timers) == 1
    assert len(timers._heap) < 200


names = st.sampled_from([A, B, C, ("d", 7)])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("set"), names, st.integers(0, 20)),
        st.tuples(st.just("cancel"), names, st.just(0)),
        st.tuples(st.just("take"), st.just(A), st.integers(0, 20)),
    ),
    max_size=60,
)


@given(steps)
def test_timers_do_what_a_plain_dictionary_would(story: list[tuple[str, tuple[str, int], int]]) -> None:
    timers = Timers()
    model: dict[tuple[str, int], int] = {}
    for what, name, moment in story:
        if what == "set":
            timers.set(name, moment)
            model[name] = moment
        elif what == "cancel":
            timers.cancel(name)
            model.pop(name, None)
        else:
            due = sorted((at, each) for each, at in model.items() if at <= moment)
            assert timers.take_due(moment) == [each for _, each in due]
            model = {each: at for each, at in model.items() if at > moment}
        assert timers.next() == min(model.values(), default=None)
        assert len(timers) == len(model)
