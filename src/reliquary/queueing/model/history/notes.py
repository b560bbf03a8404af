"""The collector of history events during a batch of turns; `take` returns them as one row.

    note_messages(...)     messages came into a queue: the event has all their attributes
    note_positions(...)    something happened to positions: the event has only their numbers
    note_unnumbered(...)   something happened to messages that have no number here

These functions run for every message, so they append to arrays and create no structs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from reliquary.base.time import Instant
from reliquary.queueing.model.history.records import EXPRESS, Head, HistoryRow, Shape
from reliquary.queueing.model.message import (
    NO_GUID,
    NO_OBJECT,
    PRIORITY_LIMIT,
    Message,
    MessageClass,
    ObjectId,
    Position,
    SequenceId,
)
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.queue import Queue, QueueType
from reliquary.wire.history import Happening

_SUBJECT, _NAMED, _NUMBERED = int(Shape.SUBJECT), int(Shape.NAMED), int(Shape.NUMBERED)
_TIMED, _TRIED, _CORRELATED = int(Shape.TIMED), int(Shape.TRIED), int(Shape.CORRELATED)
_UNIQUE: Final = 0xFFFFFFFF
_ORDINARY: Final = 3
"""The priority of a message in a queue that does not order by priority."""
LANE_SHIFT: Final = 56
"""The value of `tables.LANE_SHIFT`; this module cannot import `tables`, which imports the history rows."""


class Bringer(NamedTuple):
    """The origin of an event: the protocol, the peer, and the batch."""

    by: str = ""
    peer: str = ""
    batch: str = ""


NOBODY: Final = Bringer()
API: Final = Bringer("api")
OURSELVES: Final = Bringer("manager")
"""The origin of messages that the manager writes itself: acknowledgements and reports."""

HEAD_BYTES: Final = 100
"""The approximate size of a head on disk, in bytes."""
KNOWN: Final = 1024
"""The number of heads that are kept for the next batches."""


def kind_of(queue: Queue) -> str:
    """Return the kind of a queue, as the history names it."""
    if queue.outgoing is not None:
        return "outgoing"
    if queue.is_journal:
        return "journal"
    if queue.kind is not QueueType.SYSTEM:
        return "local"
    name = queue.pathname.rpartition(";")[2].casefold()
    return {"journal": "journal", "deadletter": "dead-letter", "deadxact": "dead-letter"}.get(name, "system")


def _head(
    happening: Happening,
    queue: Queue | None,
    reason: int,
    bringer: Bringer,
    other: str,
    shape: int,
    lineage: UUID | None,
    sequence: SequenceId | None,
    transaction: UUID | None,
) -> Head:
    ordinal, timestamp = (0, 0) if sequence is None else (sequence.ordinal, sequence.timestamp)
    name, kind = ("", "") if queue is None else (short_path(queue.pathname), kind_of(queue))
    return Head(
        happening=int(happening),
        queue=name,
        kind=kind,
        shape=shape,
        reason=int(reason),
        by=bringer.by,
        other=other,
        peer=bringer.peer,
        batch=bringer.batch,
        lineage=lineage,
        ordinal=ordinal,
        timestamp=timestamp,
        transaction=transaction,
    )


class Notes:
    """The events of a batch in their order, as columns."""

    def __init__(self) -> None:
        self.moment = 0
        self.lineage = NO_GUID
        """The lineage of this manager."""
        self._known: dict[Any, Head] = {}
        self._places = array("I")
        self._messages = array("q")
        self._lookup_ids = array("q")
        self._sizes = array("q")
        self._sents = array("I")
        self._priorities = array("B")
        self._uniquifiers = array("q")
        self._numbers = array("q")
        self._previous = array("q")
        self._deadlines = array("q")
        self._attempts = array("I")
        self._columns = {
            "places": self._places,
            "messages": self._messages,
            "lookup_ids": self._lookup_ids,
            "sizes": self._sizes,
            "sents": self._sents,
            "priorities": self._priorities,
            "uniquifiers": self._uniquifiers,
            "numbers": self._numbers,
            "previous": self._previous,
            "deadlines": self._deadlines,
            "attempts": self._attempts,
        }
        """The columns under the names that they have in a row; each is emptied at the end of a batch."""
        self._clear()

    def _clear(self) -> None:
        self._heads: dict[Any, int] = {}
        self._made: list[Head] = []
        self._moments: list[tuple[int, int]] = [(0, self.moment)]
        self._correlations: list[tuple[UUID, int]] = []
        for column in self._columns.values():
            if column:
                del column[:]

    def __len__(self) -> int:
        return len(self._places)

    def at(self, now: Instant) -> None:
        """Set the moment of the events that follow."""
        if now != self.moment:
            self.moment = now
            self._moments.append((len(self._places), now))

    # -- heads

    def head(
        self,
        happening: Happening,
        queue: Queue | None,
        reason: int = 0,
        bringer: Bringer = NOBODY,
        other: str = "",
        shape: int = 0,
        lineage: UUID | None = None,
        sequence: SequenceId | None = None,
        transaction: UUID | None = None,
    ) -> int:
        """Return the index of the head with these attributes, which is made when it does not exist."""
        number = 0 if queue is None else queue.number
        key = (happening, number, reason, bringer, other, shape, lineage, sequence, transaction)
        place = self._heads.get(key)
        if place is None:
            place = self._heads[key] = len(self._made)
            recurs = sequence is None and transaction is None and not bringer.batch
            head = self._known.get(key) if recurs else None
            if head is None:
                head = _head(happening, queue, reason, bringer, other, shape, lineage, sequence, transaction)
                if recurs:
                    if len(self._known) >= KNOWN:
                        self._known.clear()
                    self._known[key] = head
            self._made.append(head)
        return place

    # -- events

    def note_positions(
        self,
        happening: Happening,
        queue: Queue | None,
        positions: Sequence[Position],
        reason: int = 0,
        bringer: Bringer = NOBODY,
        other: str = "",
    ) -> None:
        """Add an event for each of these positions."""
        place = self.head(happening, queue, reason, bringer, other)
        if len(positions) == 1:
            position = positions[0]
            self._places.append(place)
            self._messages.append(position.message)
            self._lookup_ids.append(position.lookup_id)
        else:
            self._places.extend([place] * len(positions))
            self._messages.extend([position.message for position in positions])
            self._lookup_ids.extend([position.lookup_id for position in positions])

    def note_attempts(
        self, happening: Happening, queue: Queue, positions: Sequence[Position], bringer: Bringer = NOBODY
    ) -> None:
        """Add an event for each of these positions, with the number of times that it was handed out."""
        place = self.head(happening, queue, 0, bringer, "", _TRIED)
        self._places.extend([place] * len(positions))
        self._messages.extend([position.message for position in positions])
        self._lookup_ids.extend([position.lookup_id for position in positions])
        self._attempts.extend([position.handed_out for position in positions])

    def note_messages(
        self,
        happening: Happening,
        queue: Queue | None,
        positions: Sequence[Position],
        messages: Sequence[Message],
        reason: int = 0,
        bringer: Bringer = NOBODY,
        other: str = "",
    ) -> None:
        """Add an event with all attributes for each message that came into a queue or will come."""
        own, sizes, sents, priorities = self.lineage, self._sizes, self._sents, self._priorities
        common: tuple[object, ...] = ()
        place = 0
        for position, message in zip(positions, messages, strict=True):
            number = position.message
            lineage, sequence, shape = message.identifier.lineage, message.sequence, _SUBJECT
            uniquifier = message.identifier.uniquifier
            if uniquifier != number & _UNIQUE or (lineage is not own and lineage != own):
                shape |= _NAMED
                self._uniquifiers.append(uniquifier)
            else:
                lineage = own
            if sequence is not None:
                shape |= _NUMBERED
                self._numbers.append(message.sequence_number)
                self._previous.append(message.previous_sequence_number)
            if position.expires:
                shape |= _TIMED
                self._deadlines.append(position.expires)
            if message.correlation is not NO_OBJECT and message.correlation != NO_OBJECT:
                shape |= _CORRELATED
                self._correlations.append((message.correlation.lineage, message.correlation.uniquifier))
            cause = reason or message.message_class
            if common != (shape, lineage, sequence, message.transaction, cause):
                common = (shape, lineage, sequence, message.transaction, cause)
                named = lineage if shape & _NAMED else None
                place = self.head(
                    happening, queue, cause, bringer, other, shape, named, sequence, message.transaction
                )
            self._places.append(place)
            self._messages.append(number)
            self._lookup_ids.append(position.lookup_id)
            sizes.append(position.size)
            sents.append(message.sent_time)
            priorities.append(message.priority | EXPRESS if position.express else message.priority)

    def note_published(
        self,
        happening: Happening,
        queue: Queue,
        positions: Sequence[Position],
        bringer: Bringer,
        transaction: UUID,
    ) -> None:
        """Add an event for each message of a published batch; its attributes are taken from its position.

        The messages themselves are not in memory.
        """
        in_order = queue.settings.transactional or queue.outgoing is not None
        for position in positions:
            shape = _SUBJECT | (_TIMED if position.expires else 0)
            if position.expires:
                self._deadlines.append(position.expires)
            place = self.head(happening, queue, 0, bringer, "", shape, None, None, transaction)
            self._places.append(place)
            self._messages.append(position.message)
            self._lookup_ids.append(position.lookup_id)
            self._sizes.append(position.size)
            self._sents.append(0)
            lane = position.lookup_id >> LANE_SHIFT
            self._priorities.append(_ORDINARY if in_order else PRIORITY_LIMIT - lane)

    def note_unnumbered(
        self,
        happening: Happening,
        queue: Queue | None,
        identifiers: Sequence[ObjectId],
        reason: int = 0,
        bringer: Bringer = NOBODY,
        other: str = "",
    ) -> None:
        """Add an event for each of these messages, which have no number at this manager."""
        for identifier in identifiers:
            named, shape = (identifier.lineage, _NAMED) if identifier != NO_OBJECT else (None, 0)
            place = self.head(happening, queue, reason, bringer, other, shape, named)
            self._places.append(place)
            self._messages.append(0)
            self._lookup_ids.append(0)
            if shape:
                self._uniquifiers.append(identifier.uniquifier)

    def gap(self, missing: int) -> None:
        """Add an event before all others of the batch which says that `missing` events are lost."""
        self._places.insert(0, self.head(Happening.GAP, None, MessageClass.NORMAL))
        self._messages.insert(0, missing)
        self._lookup_ids.insert(0, 0)
        self._moments = [(place + 1 if place else 0, moment) for place, moment in self._moments]

    # -- the end of a batch

    def drop(self) -> int:
        """Delete all events of the batch, and return their number."""
        count = len(self._places)
        self._clear()
        return count

    def take(self, total: int) -> HistoryRow:
        """Return all events of the batch as one row, and delete them; `total` is that of the last row."""
        numbers = {name: column.tobytes() for name, column in self._columns.items() if column}
        size = sum(map(len, numbers.values())) + HEAD_BYTES * len(self._made) + 24 * len(self._correlations)
        row = HistoryRow(
            count=len(self._places),
            total=total + size,
            heads=tuple(self._made),
            moments=tuple(dict(self._moments).items()),
            correlations=tuple(self._correlations),
            **numbers,
        )
        self._clear()
        return row
