"""Collects history events during a batch of turns; `take` returns them as one row.

    note_messages(...)     messages came into a queue: the event has all their attributes
    note_positions(...)    something happened to positions: the event has only their numbers
    note_unnumbered(...)   something happened to messages that have no number here

One call adds one group of events, or adds its events to the last group if they follow it (`groups`).  So a
group has the messages of a send of many, or of many sends of one.

    many messages          the first stands for all if they are alike, which is a comparison of lists;
                           else there is a group for each run of one kind
    a usual message        is compared with the last group; a new group is a few numbers behind the last one
    another message        has a group of its own
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple
from uuid import UUID

from reliquary.queueing.model.history.groups import Groups
from reliquary.queueing.model.history.numbers import (
    CORRELATED,
    NAMED,
    NUMBERED,
    SUBJECT,
    TIMED,
    TRIED,
    Numbers,
    are_alike,
    fits,
    follow,
    lineage_of,
    places,
    subjects,
)
from reliquary.queueing.model.history.records import EXPRESS, FIRSTS
from reliquary.queueing.model.message import (
    NO_GUID,
    NO_OBJECT,
    PRIORITY_LIMIT,
    USUAL,
    Message,
    ObjectId,
    Position,
)
from reliquary.queueing.model.queue import Queue
from reliquary.wire.history import HistoryEvent

_PACK_SUBJECT, _PACK_TRY = FIRSTS[SUBJECT].pack, FIRSTS[TRIED].pack
_UNIQUE: Final = 0xFFFFFFFF
_ORDINARY: Final = 3
"""The priority of a message in a queue that does not order by priority."""
LANE_SHIFT: Final = 56
"""The value of `tables.LANE_SHIFT`; this module cannot import `tables`, which imports the history rows."""


class Initiator(NamedTuple):
    """The origin of an event: the protocol, the peer, and the batch."""

    by: str = ""
    peer: str = ""
    batch: str = ""


NO_INITIATOR: Final = Initiator()
API: Final = Initiator("api")
OURSELVES: Final = Initiator("manager")
"""The origin of messages that the manager writes itself: acknowledgements and reports."""


class Notes(Groups):
    """The events of a batch in their order, from facts and messages."""

    def __init__(self) -> None:
        super().__init__()
        self.lineage = NO_GUID
        """The lineage of this manager."""

    def note_positions(
        self,
        event: HistoryEvent,
        queue: Queue | None,
        positions: Sequence[Position],
        reason: int = 0,
        initiator: Initiator = NO_INITIATOR,
        other: str = "",
    ) -> None:
        """Add an event for each of these positions."""
        count, number = len(positions), 0 if queue is None else queue.number
        key = (event, number, reason, initiator, other, 0, None, None, None)
        if count == 1 or follow(positions):
            message = positions[0].message
            offset = positions[0].lookup_id - message
            self.put(queue, key, message, offset, (offset,), count)
        elif count:
            self.add(queue, key, {0: places(positions)})

    def note_attempts(
        self,
        event: HistoryEvent,
        queue: Queue,
        positions: Sequence[Position],
        initiator: Initiator = NO_INITIATOR,
    ) -> None:
        """Add an event for each of these positions, with the number of times that it was handed out."""
        count = len(positions)
        if count != 1:
            attempts = [position.handed_out for position in positions]
            if not (follow(positions) and fits(attempts, 0)):
                if count:
                    key = (event, queue.number, 0, initiator, "", 0, None, None, None)
                    self.add(queue, key, {0: places(positions), TRIED: (attempts,)})
                return
        message, attempt = positions[0].message, positions[0].handed_out
        offset = positions[0].lookup_id - message
        key = (event, queue.number, 0, initiator, "", TRIED, None, None, None)
        if self.put(queue, key, message, offset, (offset, attempt), count):
            self._firsts[TRIED] += _PACK_TRY(attempt)

    def note_messages(
        self,
        event: HistoryEvent,
        queue: Queue | None,
        positions: Sequence[Position],
        messages: Sequence[Message],
        reason: int = 0,
        initiator: Initiator = NO_INITIATOR,
        other: str = "",
    ) -> None:
        """Add an event with all attributes for each message that came into a queue or will come."""
        count = len(messages)
        if count != 1 and (not count or not are_alike(positions, messages)):
            self._note_runs(event, queue, positions, messages, reason, initiator, other)
            return
        position, message = positions[0], messages[0]
        identifier, number = message.identifier, position.message
        usual = (
            identifier.uniquifier == number & _UNIQUE
            and identifier.lineage is self.lineage
            and not position.expires
            and message.more is None
        )
        if usual:
            offset, size, sent = position.lookup_id - number, position.size, message.sent_time
            priority = message.priority | EXPRESS if position.express else message.priority
            of_queue = 0 if queue is None else queue.number
            key = (event, of_queue, reason, initiator, other, SUBJECT, None, None, None)
            if self.put(queue, key, number, offset, (offset, size, sent, priority), count):
                self._firsts[SUBJECT] += _PACK_SUBJECT(size, sent, priority)
        else:
            self._note_rare(event, queue, position, message, reason, initiator, other, count)

    def _note_rare(
        self,
        event: HistoryEvent,
        queue: Queue | None,
        position: Position,
        message: Message,
        reason: int,
        initiator: Initiator,
        other: str,
        count: int,
    ) -> None:
        """Add an event for one message of any shape, or for a count of messages that are alike."""
        shape, named, firsts = SUBJECT, None, self._firsts
        identifier, more = message.identifier, message.more or USUAL
        sequence, correlation = more.sequence, more.correlation
        if identifier.uniquifier != position.message & _UNIQUE or identifier.lineage != self.lineage:
            shape, named = shape | NAMED, identifier.lineage
            firsts[NAMED] += FIRSTS[NAMED].pack(identifier.uniquifier)
        if sequence is not None:
            shape |= NUMBERED
            firsts[NUMBERED] += FIRSTS[NUMBERED].pack(more.sequence_number, more.previous_sequence_number)
        if position.expires:
            shape |= TIMED
            firsts[TIMED] += FIRSTS[TIMED].pack(position.expires)
        if correlation is not NO_OBJECT and correlation != NO_OBJECT:
            shape |= CORRELATED
            self._correlations.append((correlation.lineage, correlation.uniquifier))
        priority = message.priority | EXPRESS if position.express else message.priority
        firsts[SUBJECT] += _PACK_SUBJECT(position.size, message.sent_time, priority)
        cause, number = reason or more.message_class, 0 if queue is None else queue.number
        key = (event, number, cause, initiator, other, shape, named, sequence, more.transaction)
        self.put(queue, key, position.message, position.lookup_id - position.message, (), count)

    def _note_runs(
        self,
        event: HistoryEvent,
        queue: Queue | None,
        positions: Sequence[Position],
        messages: Sequence[Message],
        reason: int,
        initiator: Initiator,
        other: str,
    ) -> None:
        """Add a group for each run of messages that can share a head."""
        rare = [message.more or USUAL for message in messages]
        kinds = [
            (
                message.identifier.uniquifier == position.message & _UNIQUE,
                message.identifier.lineage,
                position.expires != 0,
                more.correlation is not NO_OBJECT and more.correlation != NO_OBJECT,
                more.sequence,
                more.transaction,
                more.message_class,
            )
            for position, message, more in zip(positions, messages, rare, strict=True)
        ]
        of_queue, end = 0 if queue is None else queue.number, 0
        for kind, run in groupby(kinds):
            begin, end = end, end + len(list(run))
            own_number, lineage, timed, correlated, sequence, transaction, message_class = kind
            here, sent, theirs = positions[begin:end], messages[begin:end], rare[begin:end]
            numbers, named = subjects(here, sent), None
            if not own_number or lineage != self.lineage:
                named = lineage
                numbers[NAMED] = ([message.identifier.uniquifier for message in sent],)
            if sequence is not None:
                numbers[NUMBERED] = (
                    [more.sequence_number for more in theirs],
                    [more.previous_sequence_number for more in theirs],
                )
            if timed:
                numbers[TIMED] = ([position.expires for position in here],)
            if correlated:
                answered = [more.correlation for more in theirs]
                self._correlations += [(each.lineage, each.uniquifier) for each in answered]
            cause, shape = reason or message_class, CORRELATED if correlated else 0
            key = (event, of_queue, cause, initiator, other, shape, named, sequence, transaction)
            self.add(queue, key, numbers)

    def note_published(
        self,
        event: HistoryEvent,
        queue: Queue,
        positions: Sequence[Position],
        initiator: Initiator,
        transaction: UUID,
    ) -> None:
        """Add an event for each message of a published batch; its attributes are taken from its position.

        The messages themselves are not in memory.
        """
        in_order = queue.settings.transactional or queue.outgoing is not None
        key = (event, queue.number, 0, initiator, "", 0, None, None, transaction)
        for expires, run in groupby(positions, lambda position: position.expires != 0):
            here = list(run)
            lanes = [position.lookup_id >> LANE_SHIFT for position in here]
            priorities = [_ORDINARY if in_order else PRIORITY_LIMIT - lane for lane in lanes]
            sizes, sents = [position.size for position in here], [0] * len(here)
            numbers: Numbers = {0: places(here), SUBJECT: (sizes, sents, priorities)}
            if expires:
                numbers[TIMED] = ([position.expires for position in here],)
            self.add(queue, key, numbers)

    def note_unnumbered(
        self,
        event: HistoryEvent,
        queue: Queue | None,
        identifiers: Sequence[ObjectId],
        reason: int = 0,
        initiator: Initiator = NO_INITIATOR,
        other: str = "",
    ) -> None:
        """Add an event for each of these messages, which have no number at this manager."""
        of_queue = 0 if queue is None else queue.number
        for lineage, run in groupby(identifiers, lineage_of):
            uniquifiers = [identifier.uniquifier for identifier in run]
            none = [0] * len(uniquifiers)
            numbers: Numbers = {0: (none, none)}
            if lineage is not None:
                numbers[NAMED] = (uniquifiers,)
            self.add(queue, (event, of_queue, reason, initiator, other, 0, lineage, None, None), numbers)
