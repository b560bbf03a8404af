"""Keeps at most one connection for each peer: that of the newest epoch.

    find(key, 1) --> opened
    find(key, 1) --> the connection of epoch 1
    find(key, 3) --> opened; that of epoch 1 is ended
    find(key, 2) --> None: epoch 2 is over
    end(key, 3)      that of epoch 3 is ended, and does not begin again

The user of connections numbers those to one peer: the *epochs*.  A response that arrives after its
epoch was ended is not reported, and a request that comes for it is not sent, so late responses and
requests have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Generic, Protocol, TypeVar

NEVER: Final = -1
"""The number before the first epoch."""


class Endable(Protocol):
    """The object of an epoch: a connection, or an object with one."""

    def end(self) -> None:
        """Close the connection; requests in flight are not reported."""


EpochT = TypeVar("EpochT", bound=Endable)


class Epochs(Generic[EpochT]):
    """The open connections, by the key of their user: a session, a channel."""

    def __init__(self, begin: Callable[[], EpochT]) -> None:
        self._begin = begin
        self._open: dict[int, tuple[int, EpochT]] = {}
        self._over: dict[int, int] = {}
        """The last epoch of each key that was ended."""

    def __iter__(self) -> Iterator[EpochT]:
        return (opened for _, opened in self._open.values())

    def __getitem__(self, key: int) -> EpochT:
        return self._open[key][1]

    def __len__(self) -> int:
        return len(self._open)

    def find(self, key: int, epoch: int) -> EpochT | None:
        """Return the connection of this epoch, or begin it and end older ones; None if the epoch is over."""
        current = self._open.get(key)
        if current is not None and current[0] == epoch:
            return current[1]
        if epoch <= self._over.get(key, NEVER):
            return None
        self.end(key, epoch - 1)
        opened = self._begin()
        self._open[key] = (epoch, opened)
        return opened

    def end(self, key: int, epoch: int) -> None:
        """End this epoch and all older ones; a newer one continues."""
        self._over[key] = max(epoch, self._over.get(key, NEVER))
        current = self._open.get(key)
        if current is not None and current[0] <= epoch:
            del self._open[key]
            current[1].end()

    def end_all(self) -> None:
        """End every epoch that is open."""
        for key, (epoch, _) in list(self._open.items()):
            self.end(key, epoch)
