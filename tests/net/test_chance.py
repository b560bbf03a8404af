"""Tests of random bits from the operating system."""

from __future__ import annotations

from reliquary.base.chance import Chance, new_guid
from reliquary.net.chance import SystemChance


def test_bits_are_as_many_as_asked_for() -> None:
    chance: Chance = SystemChance()
    assert all(0 <= chance.bits(count) < 2**count for count in (1, 8, 128) for _ in range(50))


def test_two_guids_differ() -> None:
    chance = SystemChance()
    assert len({new_guid(chance) for _ in range(100)}) == 100
