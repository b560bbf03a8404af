"""Tests that chance from a seed can be repeated, and stays within its bounds."""

from __future__ import annotations

from reliquary.base.chance import Chance
from reliquary.sim.chance import SeededChance


def draw(chance: SeededChance) -> list[object]:
    return [chance.bits(64), chance.between(1, 6), chance.pick("abc"), chance.happens(0.5), chance.bits(8)]


def test_a_seed_repeats_itself_and_another_does_not() -> None:
    assert draw(SeededChance(7)) == draw(SeededChance(7)) != draw(SeededChance(8))


def test_seeded_chance_serves_the_machines() -> None:
    chance: Chance = SeededChance(1)
    assert 0 <= chance.bits(3) < 8


def test_numbers_are_between_their_bounds_and_reach_both() -> None:
    chance = SeededChance(1)
    assert {chance.between(-2, 3) for _ in range(200)} == {-2, -1, 0, 1, 2, 3}
    assert {chance.pick((1, 2, 3)) for _ in range(100)} == {1, 2, 3}


def test_what_is_impossible_never_happens_and_what_is_certain_always() -> None:
    chance = SeededChance(1)
    assert not any(chance.happens(0.0) for _ in range(100))
    assert all(chance.happens(1.0) for _ in range(100))


def test_an_impossible_event_draws_no_number() -> None:
    one, other = SeededChance(3), SeededChance(3)
    one.happens(0.0)
    assert one.bits(64) == other.bits(64)
