"""Stores messages, on disk and in memory.

    inline    in the row of its position: a small message that has been in one queue only, as most have
    apart     in a row of its own, to which its positions refer: a message that is large, was moved, has
              several positions, waits for its time or its transaction, or is kept for a consumer
    express   only in memory (DM-046)

An inline message that moves or gets a second position is set apart first; its body is written again then,
and never after that.  Most messages are read soon after they came, so the newest ones are kept in a cache of
limited size.  A large body is stored in pieces (`bodies`) and is read only for callers that need it whole;
the message without it is small, and is cached like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows
from reliquary.queueing.model.bodies import Bodies
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.tables import MESSAGES, POSITIONS, SHARES, Shares, message_key, position_key

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
        """Store new messages; `fresh` when they have no rows yet.  Inline ones are in rows of positions."""
        stored, unlike = {}, []
        for place, position in enumerate(positions):
            stored[position.message] = messages[place]
            if position.spool or not position.inline_in:
                unlike.append(position)
        if unlike:
            self._put_apart(unlike, stored, fresh=fresh)
        if self._cached_bytes < self._cache_limit and not positions[0].due:  # delayed ones are read late
            cache = self._cache
            if not fresh:  # prepared messages are already in it
                stored = {number: each for number, each in stored.items() if number not in cache}
            self._cached_bytes += _weight(stored.values())
            cache.update(stored)

    def _put_apart(self, positions: Sequence[Position], messages: dict[int, Message], *, fresh: bool) -> None:
        """Store messages that are not inline or have large bodies; express ones leave `messages`."""
        apart, size = {}, 0
        for position in positions:
            if position.spool and fresh:
                self.bodies.own(position.spool, express=position.express)
            if position.express:
                self._express[position.message] = messages.pop(position.message)
            elif fresh and not position.inline_in:
                apart[message_key(position.message)] = messages[position.message]  # DM-047
                size += position.size
        if apart:
            self._rows.put_all(MESSAGES, apart, size=size)

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

    def set_apart(self, position: Position) -> Position:
        """Give an inline message a row of its own; return the position that refers to it.

        The caller removes or replaces the row of the position.
        """
        if not position.inline_in:
            return position
        message = self.get(position, whole=False)
        self._rows.put(MESSAGES, message_key(position.message), message, fresh=True, size=position.size)
        return replace(position, inline_in=0)

    def get(self, position: Position, *, whole: bool = True) -> Message:
        """Return the message of a position; a large body is read only when `whole` is True."""
        if position.spool and whole:
            return self._whole(self.get(position, whole=False))
        if position.express:
            return self._express[position.message]
        message = self._cache.get(position.message)
        if message is None:
            message = self._read(position)
        if message is None:
            raise StoreDamage(f"message {position.message} has a position and no row")
        return message

    def _read(self, position: Position) -> Message | None:
        if not position.inline_in:
            return self._rows.get(MESSAGES, message_key(position.message))
        row = self._rows.get(POSITIONS, position_key(position.inline_in, position.lookup_id))
        return None if row is None else row.message

    def get_all(self, positions: Sequence[Position], *, whole: bool = True) -> list[Message]:
        """Return the messages of these positions; rows that are close together are read as one range."""
        found, cached = [], self._cache.get
        for each in positions:
            message = None if each.spool else cached(each.message)
            if message is None:
                break
            found.append(message)
        else:
            return found
        missing = [each for each in positions if not each.express and each.message not in self._cache]
        read = self._near(missing) if len(missing) >= MANY else {}
        messages = [read.get(each.message) or self.get(each, whole=False) for each in positions]
        return [self._whole(each) if whole and each.stored_body else each for each in messages]

    def _near(self, positions: Sequence[Position]) -> dict[int, Message]:
        """Return messages by their numbers, read as one range, if that has few other rows."""
        queue = positions[0].inline_in
        if any(each.inline_in != queue for each in positions):
            return {}
        if queue:
            lookup_ids = [each.lookup_id for each in positions]
            first, last = (
                position_key(queue, min(lookup_ids)),
                position_key(queue, max(lookup_ids) + 1),
            )
            places = self._rows.range(POSITIONS, first, last, limit=2 * len(positions))
            return {row.position.message: row.message for _, row in places if row.message is not None}
        numbers = [each.message for each in positions]
        lowest, highest = min(numbers), max(numbers)
        if highest - lowest >= 2 * len(numbers):
            return {}
        first, last = message_key(lowest), message_key(highest + 1)
        rows = self._rows.range(MESSAGES, first, last, limit=highest - lowest + 1)
        return {int.from_bytes(key): message for key, message in rows}

    def _whole(self, message: Message) -> Message:
        """Return the message with its large body in `body`."""
        assert message.stored_body is not None
        return message.changed(body=self.bodies.whole(message.stored_body), stored_body=None)

    def share(self, position: Position) -> None:
        """Count one more position of a message."""
        self._set_shares(position, self._shares(position) + 1)

    def drop(self, positions: Sequence[Position]) -> None:
        """Remove the positions from their messages; a message without positions is deleted."""
        apart, gone = [], []
        for position in positions:
            if position.shared and (shares := self._shares(position)) > 1:
                self._set_shares(position, shares - 1)
                continue
            if position.spool:
                self.bodies.remove(position.spool, express=position.express)
            if position.express:
                del self._express[position.message]
                continue
            if not position.inline_in:
                apart.append(message_key(position.message))
            gone.append(position.message)
        if apart:
            self._rows.delete_all(MESSAGES, apart)
        self._uncache(gone)

    def uncache(self, positions: Iterable[Position]) -> None:
        """Remove the messages of these positions from the cache, because they will not be read soon."""
        self._uncache([position.message for position in positions])

    def _uncache(self, numbers: Iterable[int]) -> None:
        pop, gone = self._cache.pop, []
        for number in numbers:
            message = pop(number, None)
            if message is not None:
                gone.append(message)
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


def _weight(messages: Iterable[Message]) -> int:
    """Return the bytes that these messages take in the cache."""
    weight = 0
    for message in messages:
        weight += len(message.body)
        if message.more is not None:
            weight += len(message.more.extension) + len(message.more.soap_envelope)
    return weight
