"""The bytes that all connections of a server may hold together, for all its listeners.

    bodies    of requests, from the part that is not the first to the answer    beyond: 503 for that request
    answers   that are expected to be large, or that clients have not taken     beyond: 503 for new reads

Each connection has bounds of its own besides; without these totals, many of them would still be too many.
"""

from __future__ import annotations

import sys
from typing import Final

SMALL: Final = 64 * 1024
"""A body or an answer of this size is not counted: a client that holds only small ones costs little."""


class Account:
    """The bytes of one kind that are held now."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.limit = limit
        self.used = 0

    def fits(self, size: int) -> bool:
        """Return whether there is room for this size; the first body may have any size, else it would
        never be taken.
        """
        return not self.used or self.used + size <= self.limit

    @property
    def is_full(self) -> bool:
        """Return whether more bytes are held than allowed."""
        return self.used > self.limit


class Budget:
    """The accounts of one server."""

    __slots__ = ("answers", "bodies")

    def __init__(self, bodies: int = sys.maxsize, answers: int = sys.maxsize) -> None:
        self.bodies = Account(bodies)
        self.answers = Account(answers)
