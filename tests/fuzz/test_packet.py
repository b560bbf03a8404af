"""Tests thousands of damaged packets: each is read or refused, as `packet.py` demands, and nothing else."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.packet import try_both, try_packet, try_read_packet
from tests.fuzz.seeds import SEEDS

ROUNDS = 2500
NUMBERS = [0, 1, 2, 3, 7, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x3FFFFF, 0x400001, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to four changes: a bit, a byte, a number, a cut, a hole, some bytes twice."""
    wounded = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(max(1, min(len(wounded), 900)))
        match chance.randrange(6):
            case 0 if wounded:
                wounded[at] ^= 1 << chance.randrange(8)
            case 1 if wounded:
                wounded[at] = chance.randrange(256)
            case 2:
                number = chance.choice(NUMBERS).to_bytes(4, "little")
                size = chance.choice([1, 2, 4])
                wounded[at : at + size] = number[:size]
            case 3:
                del wounded[at + 64 * chance.randrange(8) :]
            case 4:
                del wounded[at : at + chance.randrange(1, 9)]
            case _:
                wounded[at:at] = wounded[at : at + chance.randrange(1, 17)]
    if len(wounded) > 12 and chance.random() < 0.5:  # else most would end at the size
        wounded[8:12] = len(wounded).to_bytes(4, "little")
    return bytes(wounded)


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_packet_is_read_or_refused(name: str) -> None:
    chance = random.Random(name)
    read = 0
    for _ in range(ROUNDS):
        data = damaged(SEEDS[name], chance)
        read += try_packet(data)
        try_read_packet(data)
    assert name == "read" or 0 < read < ROUNDS


def test_the_seeds_are_packets() -> None:
    assert [name for name, seed in SEEDS.items() if try_packet(seed)] == ["published", "full", "addressed"]
    assert try_read_packet(SEEDS["read"])


def test_noise_is_refused() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_both(chance.randbytes(size))
        try_both(b"\x10\0\3\0LIOR" + chance.randbytes(size))
