"""The numbers of the events of one group, by the columns of `records`, as lists that C code compares."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from reliquary.queueing.model.history.records import EXPRESS, Shape
from reliquary.queueing.model.message import NO_OBJECT, Attributes, Message, ObjectId, Position

SUBJECT, NAMED, NUMBERED = int(Shape.SUBJECT), int(Shape.NAMED), int(Shape.NUMBERED)
TIMED, TRIED, CORRELATED = int(Shape.TIMED), int(Shape.TRIED), int(Shape.CORRELATED)
"""The flags of Shape as plain integers, which are quicker to combine."""

Numbers = dict[int, tuple[list[int], ...]]
"""The numbers of a group: by key of `records.BY_SHAPE`, a list for each column."""


def fits(numbers: Sequence[int], step: int) -> bool:
    """Return whether the first number of a group and the step of its column give all these numbers."""
    first = numbers[0]
    if step and first:
        return numbers == list(range(first, first + len(numbers)))
    return numbers.count(first) == len(numbers)


def places(positions: Sequence[Position]) -> tuple[list[int], list[int]]:
    """Return the numbers that every position has: its message, and its LookupIdentifier less that."""
    return (
        [position.message for position in positions],
        [position.lookup_id - position.message for position in positions],
    )


def follow(positions: Sequence[Position]) -> bool:
    """Return whether positions can be in a group without a list of their messages or LookupIdentifiers."""
    messages, offsets = places(positions)
    return bool(messages) and fits(messages, 1) and fits(offsets, 0)


def are_alike(positions: Sequence[Position], messages: Sequence[Message]) -> bool:
    """Return whether the first of these messages, and their count, say all that the history keeps of them.

    They differ only in their numbers, which follow each other, and in what the history does not keep.
    """
    places = [(each.size, each.expires, each.express, each.lookup_id - each.message) for each in positions]
    count = len(messages)
    if places.count(places[0]) != count or len(places) != count:
        return False
    kinds = [(each.sent_time, each.priority, each.identifier.lineage) for each in messages]
    rare = [each.more for each in messages]
    message, uniquifier = positions[0].message, messages[0].identifier.uniquifier
    return (
        kinds.count(kinds[0]) == count
        and uniquifier > 0  # no number follows 0 in a group
        and [each.message for each in positions] == list(range(message, message + count))
        and [each.identifier.uniquifier for each in messages] == list(range(uniquifier, uniquifier + count))
        and (rare.count(None) == count or _are_rare_alike(rare))
    )


def _are_rare_alike(rare: Sequence[Attributes | None]) -> bool:
    """Return whether the history keeps no rare attribute that differs; streams and answers have numbers."""
    kept = [
        (more.transaction, more.message_class, more.sequence, more.correlation)
        for more in rare
        if more is not None
    ]
    return kept.count(kept[0]) == len(rare) and kept[0][2:] == (None, NO_OBJECT)


def lineage_of(identifier: ObjectId) -> UUID | None:
    """Return the lineage of a message that is named, or None for a message without an identifier."""
    return None if identifier == NO_OBJECT else identifier.lineage


def subjects(positions: Sequence[Position], messages: Sequence[Message]) -> Numbers:
    """Return the numbers that each message has when it comes."""
    sizes = [position.size for position in positions]
    sents = [message.sent_time for message in messages]
    priorities = [
        message.priority | EXPRESS if position.express else message.priority
        for position, message in zip(positions, messages, strict=True)
    ]
    return {0: places(positions), SUBJECT: (sizes, sents, priorities)}
