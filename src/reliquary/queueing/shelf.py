"""Where messages lie: one row each, shared by all positions that show them, some also in memory.

Most messages are read soon after they came, so bodies are kept beside their rows up to a bound.
Express messages have no row and lie here alone (DM-046).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows
from reliquary.queueing.message import Message, Position
from reliquary.queueing.tables import MESSAGES, SHARES, Shares, message_key

CACHE_BYTES: Final = 48 * 1024 * 1024


class Shelf:
    """The messages of all queues."""

    __slots__ = ("_cache", "_cached_bytes", "_express", "_express_shares", "_rows")

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._cache: dict[int, Message] = {}
        self._cached_bytes = 0
        self._express: dict[int, Message] = {}
        self._express_shares: dict[int, int] = {}

    def put(self, position: Position, message: Message, *, fresh: bool = True) -> None:
        """Keep a new message; `fresh` when it has no row yet."""
        number = position.message
        if position.express:
            self._express[number] = message
            return
        self._rows.put(MESSAGES, message_key(number), message, fresh=fresh)
        if self._cached_bytes < CACHE_BYTES and number not in self._cache:
            self._cache[number] = message
            self._cached_bytes += len(message.body) + len(message.extension)

    def get(self, position: Position) -> Message:
        """The message that a position shows."""
        if position.express:
            return self._express[position.message]
        message = self._cache.get(position.message)
        if message is None:
            message = self._rows.get(MESSAGES, message_key(position.message))
        if message is None:
            raise StoreDamage(f"message {position.message} has a position and no row")
        return message

    def share(self, position: Position) -> None:
        """One more position shows the message."""
        self._set_shares(position, self._shares(position) + 1)

    def drop(self, position: Position) -> None:
        """This position shows its message no longer; the last one takes the message along."""
        if position.shared and (shares := self._shares(position)) > 1:
            self._set_shares(position, shares - 1)
        elif position.express:
            del self._express[position.message]
        else:
            self._rows.delete(MESSAGES, message_key(position.message))
            message = self._cache.pop(position.message, None)
            if message is not None:
                self._cached_bytes -= len(message.body) + len(message.extension)

    def _shares(self, position: Position) -> int:
        if position.express:
            return self._express_shares.get(position.message, 1)
        shares = self._rows.get(SHARES, message_key(position.message))
        return shares.count if shares else 1

    def _set_shares(self, position: Position, count: int) -> None:
        number = position.message
        if position.express:
            self._express_shares[number] = count
            if count == 1:
                del self._express_shares[number]
        elif count == 1:
            self._rows.delete(SHARES, message_key(number))
        else:
            self._rows.put(SHARES, message_key(number), Shares(count))
