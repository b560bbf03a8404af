"""Late SPMs are distinguished from those of a restarted source."""

from __future__ import annotations

import pytest

from reliquary.base.time import MILLISECOND, SECOND, Instant
from reliquary.protocols.pgm.restarts import Order, SpmOrder
from reliquary.wire.pgm.serial import MASK


@pytest.mark.parametrize(
    ("came", "orders"),
    [
        pytest.param([(0, 5), (0, 6)], "newer newer", id="in order"),
        pytest.param([(0, 5), (1, 5), (2, 4)], "newer late late", id="out of order"),
        pytest.param([(0, MASK), (1, 0)], "newer newer", id="numbers come round"),
        pytest.param([(0, 700), (5000, 0), (5250, 1)], "newer suspect restarted", id="began anew"),
        pytest.param([(0, 700), (900, 0), (1400, 1), (1900, 2)], "newer late suspect restarted", id="soon"),
        pytest.param([(0, 700), (5000, 0), (5000, 1)], "newer suspect suspect", id="all at once"),
        pytest.param([(0, 700), (5000, 9), (6000, 9)], "newer suspect suspect", id="one packet twice"),
        pytest.param([(0, 700), (5000, 9), (6000, 8)], "newer suspect suspect", id="not in order"),
        pytest.param(
            [(0, 700), (5000, 9), (5001, 701), (9000, 10)], "newer suspect newer suspect", id="lives"
        ),
    ],
)
def test_the_order_and_the_times_of_numbers_show_a_restart(came: list[tuple[int, int]], orders: str) -> None:
    """Each SPM comes after the given number of milliseconds."""
    spms = SpmOrder()
    found = [spms.hear(number, Instant(SECOND + moment * MILLISECOND)) for moment, number in came]
    assert [order.value for order in found] == orders.split()
    assert spms.is_known
    assert spms.is_suspect == (found[-1] in (Order.SUSPECT, Order.RESTARTED))
