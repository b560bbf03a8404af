"""Tests that identifiers are made from the chance that is passed in."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.chance import new_guid


class Bits:
    """A source that returns the bits that a test gives it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked: list[int] = []

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return self.number


class Seeded:
    def __init__(self, seed: int) -> None:
        self.bits = Random(seed).getrandbits


@given(st.integers(0, 2**128 - 1))
def test_any_bits_make_a_guid_of_version_4(number: int) -> None:
    chance = Bits(number)
    guid = new_guid(chance)
    assert chance.asked == [128]
    assert guid.version == 4
    assert guid.variant == "specified in RFC 4122"


def test_a_seed_repeats_its_guids_and_no_guid_comes_twice() -> None:
    first, second = Seeded(1), Seeded(1)
    guids = [new_guid(first) for _ in range(1000)]
    assert guids == [new_guid(second) for _ in range(1000)]
    assert len(set(guids)) == 1000
