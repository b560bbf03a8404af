"""Limits the bytes that all connections of a server hold together, for all its listeners.

    bodies    of requests, from their second part to the answer             beyond: 503 for that request
    answers   that are expected to be large, or that clients have not taken     beyond: 503 for new reads

Each connection has its own limits too; without these totals, many connections would still hold too much.
"""

from __future__ import annotations

import sys
from typing import Final

SMALL: Final = 64 * 1024
"""The largest size that is not counted: a client with only small bodies and answers costs little."""


class Account:
    """The bytes of one kind that are held now."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.limit = limit
        self.used = 0

    def fits(self, size: int) -> bool:
        """Return whether there is room for this size; the first body may have any size."""
        return not self.used or self.used + size <= self.limit

    @property
    def is_full(self) -> bool:
        """Whether more bytes are held than allowed."""
        return self.used > self.limit


class Budget:
    """The accounts of one server."""

    __slots__ = ("answers", "bodies")

    def __init__(self, bodies: int = sys.maxsize, answers: int = sys.maxsize) -> None:
        self.bodies = Account(bodies)
        self.answers = Account(answers)
