"""Tests thousands of damaged bodies: each is read or refused, as `httpr.py` demands, and nothing else."""

from __future__ import annotations

import random

from tests.fuzz.httpr import try_both, try_request, try_response
from tests.protocols.httpr.codec.mutations import damaged
from tests.protocols.httpr.codec.vector import REQUESTS, RESPONSES

ROUNDS = 5000


def test_damaged_requests_are_read_or_refused() -> None:
    chance, bodies = random.Random(47), [each.data for each in REQUESTS.values()]
    read = sum(try_request(damaged(chance.choice(bodies), chance)) for _ in range(ROUNDS))
    assert ROUNDS // 50 < read < ROUNDS * 3 // 4


def test_damaged_responses_are_read_or_refused() -> None:
    chance, bodies = random.Random(48), [each.data for each in RESPONSES.values()]
    read = sum(try_response(damaged(chance.choice(bodies), chance)) for _ in range(ROUNDS))
    assert ROUNDS // 50 < read < ROUNDS * 3 // 4


def test_the_seeds_are_bodies() -> None:
    assert all(try_request(vector.data) for vector in REQUESTS.values())
    assert all(try_response(vector.data) for vector in RESPONSES.values())


def test_noise_is_refused() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_both(chance.randbytes(size))
        try_both(b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:1\r\n\r\n" + chance.randbytes(size))
