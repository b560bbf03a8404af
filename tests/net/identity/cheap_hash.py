"""Hashes of passwords that cost little to verify, and the header that shows a password, for tests."""

from __future__ import annotations

from base64 import b64encode

from argon2 import PasswordHasher

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def cheap_hash(password: str) -> str:
    """Return a hash of argon2id that takes less than a millisecond to verify."""
    return CHEAP.hash(password)


def basic(name: str, password: str) -> str:
    """Return the header field of HTTP Basic."""
    return "Authorization: Basic " + b64encode(f"{name}:{password}".encode()).decode()
