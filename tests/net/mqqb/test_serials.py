"""Effects leave in the order of their serials."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.mqqb.serials import Serials


@pytest.mark.mqqb("T-40")
@given(st.permutations(range(1, 9)))
def test_any_order_of_arrival_gives_the_order_of_serials(order: list[int]) -> None:
    serials: Serials[int] = Serials()
    left = [item for serial in order for item in serials.take(serial, serial)]
    assert left == list(range(1, 9))


def test_an_effect_that_comes_early_waits_for_the_effects_before_it() -> None:
    serials: Serials[str] = Serials()
    assert serials.take(2, "b") == []
    assert serials.take(1, "a") == ["a", "b"]


def test_a_serial_that_comes_again_is_our_own_mistake() -> None:
    serials: Serials[str] = Serials()
    serials.take(1, "a")
    with pytest.raises(AssertionError, match="came again"):
        serials.take(1, "a")
