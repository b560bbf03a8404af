"""Sorts effects by their serials, in any order of arrival (G-59).

    take(1, a) --> a          take(3, c) --> nothing yet          take(2, b) --> b, c

Effects of a turn that wrote nothing durable leave before those of an earlier turn that waits for the disk.
Packets are numbered by their order alone, so the network puts them back into it.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


class Serials(Generic[Item]):
    """The effects of one session that came before their turn."""

    __slots__ = ("_early", "_next")

    def __init__(self) -> None:
        self._next = 1
        self._early: dict[int, Item] = {}

    def take(self, serial: int, item: Item) -> list[Item]:
        """Add an item, and return all items whose turn has come, in order."""
        if serial != self._next:
            assert serial > self._next, f"serial {serial} came again; {self._next} is the next one"
            self._early[serial] = item
            return []
        ready = [item]
        self._next += 1
        while self._early and self._next in self._early:
            ready.append(self._early.pop(self._next))
            self._next += 1
        return ready
