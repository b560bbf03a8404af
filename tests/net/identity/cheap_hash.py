"""Hashes of passwords that cost little to verify, for tests."""

from __future__ import annotations

from argon2 import PasswordHasher

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def cheap_hash(password: str) -> str:
    """A hash of argon2id that takes less than a millisecond to verify."""
    return CHEAP.hash(password)
