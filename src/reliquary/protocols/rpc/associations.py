"""Groups connections that share context handles, C706 9.3.3.1 and [MS-RPCE] 3.3.1.5.7.

The first connection of a client makes a group and gets its number; further ones join it by that number.
A group ends with its last connection, and then its context handles run down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FIRST: Final = 0x1000
_LAST: Final = 0xFFFF_FFFF


@dataclass(slots=True)
class _Group:
    """One association group: connections of one peer that share context handles."""

    peer: str
    connections: int = 1


class Associations:
    """The groups of all connections of a listener."""

    __slots__ = ("_groups", "_next")

    def __init__(self, first: int = _FIRST) -> None:
        self._groups: dict[int, _Group] = {}
        self._next = first

    def __len__(self) -> int:
        return len(self._groups)

    def open(self, peer: str) -> int:
        """Make a group for a client's host and return its number, which is never 0."""
        while self._next in self._groups:
            self._advance()
        number = self._next
        self._groups[number] = _Group(peer)
        self._advance()
        return number

    def join(self, number: int, peer: str) -> bool:
        """Add a connection to a group, if the group exists and belongs to the client's host; return whether
        it was added.
        """
        group = self._groups.get(number)
        if group is None or group.peer != peer:
            return False
        group.connections += 1
        return True

    def leave(self, number: int) -> bool:
        """Remove a connection from its group, and return whether the group ended."""
        group = self._groups[number]
        group.connections -= 1
        if group.connections:
            return False
        del self._groups[number]
        return True

    def _advance(self) -> None:
        self._next = self._next + 1 if self._next < _LAST else 1
