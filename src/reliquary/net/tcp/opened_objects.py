"""Closes the objects that a connection opened together with it.

keep(handle, close)  ...  release(handle)     the client closed it itself
                     '--> close               the connection was lost: the latest is closed first
"""

from __future__ import annotations

from collections.abc import Callable, Hashable


class OpenedObjects:
    """Handles, cursors, pending reads and locks of one connection, by keys that its protocol chooses."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: dict[Hashable, Callable[[], object]] | None = {}

    def __contains__(self, key: Hashable) -> bool:
        return self._open is not None and key in self._open

    def keep(self, key: Hashable, close: Callable[[], object]) -> None:
        """Call `close` when the connection is lost, or now if it is lost already."""
        if self._open is None:
            close()
            return
        assert key not in self._open, f"{key!r} is open already"
        self._open[key] = close

    def release(self, key: Hashable) -> None:
        """Forget an object that was closed in another way; an unknown key is ignored."""
        if self._open is not None:
            self._open.pop(key, None)

    def close(self) -> None:
        """Close all open objects, the latest first, so that a cursor is closed before its handle."""
        if self._open is None:
            return
        left, self._open = self._open, None
        while left:
            left.popitem()[1]()
