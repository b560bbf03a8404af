"""Defines the states of a queue as a table: which requests a queue accepts, and what state follows.

ABSENT -- create --> THERE -- delete --> LEAVING -- emptied --> ABSENT
                     FIXED               its name is free at once, its messages are removed turn by turn

FIXED are the system queues of the manager and the journals: they are created and deleted with the manager or
with their queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.queue_state import QueueState


class QueueLifeState(Enum):
    """The states of a queue from its creation to its deletion."""

    ABSENT = "absent"
    THERE = "there"
    FIXED = "fixed"
    LEAVING = "leaving"


class QueueEvent(Enum):
    """The requests and events that change the state of a queue."""

    CREATE = "create"
    CHANGE = "change"
    PURGE = "purge"
    DELETE = "delete"
    EMPTIED = "emptied"


NEXT: Final[Mapping[tuple[QueueLifeState, QueueEvent], QueueLifeState | HResult]] = {
    (QueueLifeState.ABSENT, QueueEvent.CREATE): QueueLifeState.THERE,
    (QueueLifeState.ABSENT, QueueEvent.CHANGE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.ABSENT, QueueEvent.PURGE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.ABSENT, QueueEvent.DELETE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.ABSENT, QueueEvent.EMPTIED): QueueLifeState.ABSENT,
    (QueueLifeState.THERE, QueueEvent.CREATE): HResult.QUEUE_EXISTS,  # AN-19
    (QueueLifeState.THERE, QueueEvent.CHANGE): QueueLifeState.THERE,
    (QueueLifeState.THERE, QueueEvent.PURGE): QueueLifeState.THERE,
    (QueueLifeState.THERE, QueueEvent.DELETE): QueueLifeState.LEAVING,
    (QueueLifeState.THERE, QueueEvent.EMPTIED): QueueLifeState.THERE,  # by a purge
    (QueueLifeState.FIXED, QueueEvent.CREATE): HResult.QUEUE_EXISTS,
    (QueueLifeState.FIXED, QueueEvent.CHANGE): QueueLifeState.FIXED,
    (QueueLifeState.FIXED, QueueEvent.PURGE): QueueLifeState.FIXED,
    (QueueLifeState.FIXED, QueueEvent.DELETE): HResult.ACCESS_DENIED,
    (QueueLifeState.FIXED, QueueEvent.EMPTIED): QueueLifeState.FIXED,
    (QueueLifeState.LEAVING, QueueEvent.CREATE): QueueLifeState.THERE,  # a new queue with this name
    (QueueLifeState.LEAVING, QueueEvent.CHANGE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.LEAVING, QueueEvent.PURGE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.LEAVING, QueueEvent.DELETE): HResult.QUEUE_NOT_FOUND,
    (QueueLifeState.LEAVING, QueueEvent.EMPTIED): QueueLifeState.ABSENT,  # DM-156
}
"""The state that follows, or the status of a refusal."""


def life_of(queue: QueueState | None) -> QueueLifeState:
    """Return the state of a queue; None stands for a queue that was not found."""
    if queue is None:
        return QueueLifeState.ABSENT
    if queue.record.deleting:
        return QueueLifeState.LEAVING
    fixed = queue.record.kind is QueueType.SYSTEM or queue.record.is_journal
    return QueueLifeState.FIXED if fixed else QueueLifeState.THERE


def after(queue: QueueState | None, step: QueueEvent) -> QueueLifeState | HResult:
    """Return the state of a queue after a step, or the status with which the step is refused."""
    return NEXT[life_of(queue), step]
