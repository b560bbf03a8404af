"""Tests the time before which no expiry row exists."""

from __future__ import annotations

from reliquary.queueing.model.parts.deadlines import Deadlines
from reliquary.queueing.model.tables import expiry_key


def test_no_row_is_before_the_scan() -> None:
    assert Deadlines(scan=expiry_key(70, 1, 2)).floor == 70


def test_a_locked_position_that_is_overdue_is_before_the_scan() -> None:
    assert Deadlines(scan=expiry_key(70, 1, 2), overdue={(1, 5): 60, (1, 6): 65}).floor == 60
