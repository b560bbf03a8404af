"""Tests what all sessions may miss together."""

from __future__ import annotations

from reliquary.protocols.pgm.budget import SHARE, Budget


def test_there_is_room_for_what_the_others_do_not_miss() -> None:
    budget = Budget(1000)
    assert budget.room(0) == 1000
    budget.missing = 800
    assert budget.room(500) == 200


def test_each_session_has_its_share_where_others_miss_too_much() -> None:
    budget = Budget(1000)
    budget.missing = 1100
    assert (SHARE, budget.room(0), budget.room(60), budget.room(63), budget.room(900)) == (63, 63, 3, 0, 0)
