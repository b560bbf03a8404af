"""Tests thousands of damaged streams: each gives packets or ends, as `mqqb.py` demands, and nothing else."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.mqqb import try_all, try_packet, try_ping, try_stream
from tests.fuzz.test_packet import damaged
from tests.protocols.mqqb.codec.frames import COMPOSED, SAMPLE

ROUNDS = 1000
PINGS = {"frame 1", "frame 2", "V12", "V13"}
SEEDS = {**SAMPLE, **COMPOSED}


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_packet_is_read_or_refused(name: str) -> None:
    chance = random.Random(name)
    for _ in range(ROUNDS):
        try_all(damaged(SEEDS[name], chance))


def test_a_damaged_stream_gives_the_packets_before_the_damage() -> None:
    chance = random.Random(21)
    good = [COMPOSED[name] for name in COMPOSED if name not in PINGS]
    counted = [try_stream(b"".join(good[:5]) + damaged(b"".join(good[5:]), chance)) for _ in range(ROUNDS)]
    assert min(counted) >= 5
    assert max(counted) > min(counted)


def test_the_seeds_are_what_they_are_called() -> None:
    assert {name for name, seed in SEEDS.items() if try_ping(seed)} == PINGS
    assert {name for name, seed in SEEDS.items() if try_packet(seed)} == set(SEEDS) - PINGS


def test_noise_is_refused() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_all(chance.randbytes(size))
        try_all(b"\x10\0\x0b\0LIOR" + chance.randbytes(size))
