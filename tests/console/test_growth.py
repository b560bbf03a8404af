"""By how much counters grew lately."""

from __future__ import annotations

from reliquary.console.growth import RECENT, Growth


def test_the_steps_of_the_last_quarter_of_an_hour_are_added_up() -> None:
    growth = Growth()
    for moment, count in ((0, 2), (1, 2), (2, 5)):
        growth.note(moment, {"far": count})
    assert growth.recent() == {"far": 5}
    growth.note(RECENT, {"far": 5})
    assert growth.recent() == {"far": 3}
    growth.note(RECENT + 2, {"far": 5})
    assert growth.recent() == {}


def test_a_counter_that_ends_and_begins_again_at_0_is_counted_anew() -> None:
    growth = Growth()
    growth.note(0, {"far": 7, "near": 0})
    growth.note(1, {})
    growth.note(2, {"far": 1})
    assert growth.recent() == {"far": 8}
