"""Tests thousands of damaged envelopes: each is read or refused, as `wsrm.py` demands, and nothing else."""

from __future__ import annotations

import random

from tests.fuzz.wsrm import try_both, try_envelope
from tests.protocols.wsrm.codec.mutations import SEEDS, damaged

ROUNDS = 8000


def test_damaged_envelopes_are_read_or_refused() -> None:
    chance, seeds = random.Random(15), list(SEEDS.values())
    read = 0
    for _ in range(ROUNDS):
        content_type, data = chance.choice(seeds)
        read += try_envelope(content_type, damaged(data, chance))
    assert ROUNDS // 50 < read < ROUNDS // 2


def test_the_seeds_are_envelopes() -> None:
    assert all(try_envelope(content_type, data) for content_type, data in SEEDS.values())


def test_noise_is_refused() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_both(chance.randbytes(size))
        try_both(
            b"text/xml\n<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'>"
            + chance.randbytes(size)
        )
