"""Holds the unsent APDUs of a source, and counts the sent bytes of the first one."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Apdu(NamedTuple):
    """An APDU with its ticket, which the sender gets back when it was sent."""

    ticket: object
    data: bytes


class Unsent:
    """Waiting APDUs, which the source adds and whose sent bytes it counts."""

    __slots__ = ("apdus", "first_packet", "offset")

    def __init__(self) -> None:
        self.apdus: deque[Apdu] = deque()
        self.offset = 0
        """The number of bytes of the first APDU that were sent."""
        self.first_packet = 0
        """The number of the packet in which the first APDU began; unused while `offset` is 0."""

    def withdraw(self) -> None:
        """Forget waiting APDUs; an APDU that was begun stays."""
        begun = self.apdus[0] if self.offset else None
        self.apdus.clear()
        if begun is not None:
            self.apdus.append(begun)

    def clear(self) -> None:
        """Forget all APDUs, also the one that was begun."""
        self.apdus.clear()
        self.offset = 0
