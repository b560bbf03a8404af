"""The store of messages: one row for each message, shared by all its positions, with a cache in memory.

Most messages are read soon after they came, so the newest ones are kept in a cache of limited size.  Express
messages have no row and are only in memory (DM-046).  A large body is stored in pieces (`bodies`) and is read
only for callers that need it whole; the message without it is small, and is cached like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows
from reliquary.queueing.model.bodies import Bodies
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.tables import MESSAGES, SHARES, Shares, message_key

MANY: Final = 4
"""From this number of messages on, one read of a range is cheaper than single reads."""
CACHE_BYTES: Final = 48 * 1024 * 1024


class MessageStore:
    """The messages of all queues, on disk and in memory."""

    __slots__ = ("_cache", "_cache_limit", "_cached_bytes", "_express", "_express_shares", "_rows", "bodies")

    def __init__(self, rows: Rows, cache_bytes: int = CACHE_BYTES) -> None:
        self._rows = rows
        self.bodies = Bodies(rows)
        self._cache_limit = cache_bytes
        self._cache: dict[int, Message] = {}
        self._cached_bytes = 0
        self._express: dict[int, Message] = {}
        self._express_shares: dict[int, int] = {}

    def put(self, positions: Sequence[Position], messages: Sequence[Message], *, fresh: bool = True) -> None:
        """Store new messages; `fresh` when they have no rows yet."""
        if len(positions) == 1 and fresh and not (positions[0].express or positions[0].spool):  # most often
            number, message = positions[0].message, messages[0]
            self._rows.put(MESSAGES, message_key(number), message, fresh=True)  # DM-047
            if self._cached_bytes < self._cache_limit and not positions[0].due:
                self._cached_bytes += 0 if number in self._cache else _weight(messages)
                self._cache[number] = message
            return
        stored = {}
        for position, message in zip(positions, messages, strict=True):
            if position.express:
                self._express[position.message] = message
            else:
                stored[position.message] = message  # DM-047
            if position.spool and fresh:
                self.bodies.own(position.spool, express=position.express)
        if fresh:
            self._rows.put_all(MESSAGES, dict(zip(map(message_key, stored), stored.values(), strict=True)))
        if self._cached_bytes < self._cache_limit and not positions[0].due:  # delayed ones are read late
            cache = self._cache  # prepared messages are already in it
            self._cached_bytes += _weight([each for number, each in stored.items() if number not in cache])
            cache.update(stored)

    def put_aside(self, first: int, messages: Sequence[Message]) -> None:
        """Store new messages that have no position yet, with consecutive numbers."""
        keys = map(message_key, range(first, first + len(messages)))
        self._rows.put_all(MESSAGES, dict(zip(keys, messages, strict=True)))

    def put_again(self, messages: Iterable[tuple[int, Message]]) -> None:
        """Replace messages that have no position yet."""
        for number, message in messages:
            self._rows.put(MESSAGES, message_key(number), message)

    def drop_aside(self, numbers: Iterable[int]) -> None:
        """Delete messages that have no position and will not get one."""
        self._rows.delete_all(MESSAGES, map(message_key, numbers))

    def get(self, position: Position, *, whole: bool = True) -> Message:
        """Return the message of a position; a large body is read only when `whole` is True."""
        if position.spool and whole:
            return self._whole(self.get(position, whole=False))
        if position.express:
            return self._express[position.message]
        message = self._cache.get(position.message)
        if message is None:
            message = self._rows.get(MESSAGES, message_key(position.message))
        if message is None:
            raise StoreDamage(f"message {position.message} has a position and no row")
        return message

    def get_all(self, positions: Sequence[Position], *, whole: bool = True) -> list[Message]:
        """Return the messages of these positions; rows that are close together are read as one range."""
        cached = [None if each.spool else self._cache.get(each.message) for each in positions]
        found = [message for message in cached if message is not None]
        if len(found) == len(positions):
            return found
        numbers = [each.message for each in positions if not each.express and each.message not in self._cache]
        if len(numbers) < MANY:
            return [self.get(position, whole=whole) for position in positions]
        first, last = min(numbers), max(numbers)
        if last - first >= 2 * len(numbers):
            return [self.get(position, whole=whole) for position in positions]
        rows = self._rows.range(MESSAGES, message_key(first), message_key(last + 1), limit=last - first + 1)
        read = dict(rows)
        messages = [read.get(message_key(each.message)) or self.get(each, whole=False) for each in positions]
        return [self._whole(each) if whole and each.stored_body else each for each in messages]

    def _whole(self, message: Message) -> Message:
        """Return the message with its large body in `body`."""
        assert message.stored_body is not None
        return msgspec.structs.replace(message, body=self.bodies.whole(message.stored_body), stored_body=None)

    def share(self, position: Position) -> None:
        """Count one more position of a message."""
        self._set_shares(position, self._shares(position) + 1)

    def drop(self, positions: Iterable[Position]) -> None:
        """Remove the positions from their messages; a message without positions is deleted."""
        stored = []
        for position in positions:
            if not (position.shared or position.spool or position.express):  # the usual case
                stored.append(position.message)
                continue
            if position.shared and (shares := self._shares(position)) > 1:
                self._set_shares(position, shares - 1)
                continue
            if position.spool:
                self.bodies.remove(position.spool, express=position.express)
            if position.express:
                del self._express[position.message]
            else:
                stored.append(position.message)
        self._rows.delete_all(MESSAGES, map(message_key, stored))
        self._uncache(stored)

    def uncache(self, positions: Iterable[Position]) -> None:
        """Remove the messages of these positions from the cache, because they will not be read soon."""
        self._uncache([position.message for position in positions])

    def _uncache(self, numbers: Iterable[int]) -> None:
        pop = self._cache.pop
        gone = [message for message in [pop(number, None) for number in numbers] if message is not None]
        if gone:
            self._cached_bytes -= _weight(gone)

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


def _weight(messages: Sequence[Message]) -> int:
    """Return the bytes that these messages take in the cache."""
    return sum([len(each.body) + len(each.extension) + len(each.soap_envelope) for each in messages])
