"""Computes the numbers of the events of a group, and whether the first number determines all of them."""

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
    """Return whether positions can be in a group without a list of their messages or LookupIdentifiers.

    This function and the next one run for every message, and a loop costs less than lists that are compared.
    """
    if not positions or not positions[0].message:
        messages, offsets = places(positions)
        return bool(messages) and fits(messages, 1) and fits(offsets, 0)
    message, lookup_id = positions[0].message, positions[0].lookup_id
    for position in positions:
        if position.message != message or position.lookup_id != lookup_id:
            return False
        message += 1
        lookup_id += 1
    return True


def are_alike(positions: Sequence[Position], messages: Sequence[Message]) -> bool:
    """Return whether the first of these messages and their count determine everything that the history keeps.

    Then they differ only in consecutive numbers, and in attributes that the history does not keep.
    """
    place, first = positions[0], messages[0]
    message, lookup_id, size = place.message, place.lookup_id, place.size
    expires, express, usual = place.expires, place.express, first.more is None
    lineage, uniquifier = first.identifier.lineage, first.identifier.uniquifier
    sent, priority = first.sent_time, first.priority
    if not uniquifier or len(positions) != len(messages):  # no number follows 0 in a group
        return False
    for position, each in zip(positions, messages, strict=True):
        identifier = each.identifier
        if (
            position.message != message
            or position.lookup_id != lookup_id
            or position.size != size
            or position.expires != expires
            or position.express is not express
            or identifier.uniquifier != uniquifier
            or (identifier.lineage is not lineage and identifier.lineage != lineage)
            or each.sent_time != sent
            or each.priority != priority
            or (usual and each.more is not None)
        ):
            return False
        message += 1
        lookup_id += 1
        uniquifier += 1
    return usual or _are_rare_alike([each.more for each in messages])


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
    """Return the numbers that each message has when it arrives."""
    sizes = [position.size for position in positions]
    sents = [message.sent_time for message in messages]
    priorities = [
        message.priority | EXPRESS if position.express else message.priority
        for position, message in zip(positions, messages, strict=True)
    ]
    return {0: places(positions), SUBJECT: (sizes, sents, priorities)}
