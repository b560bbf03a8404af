"""The states of a queue as a table: which requests a queue accepts, and what state follows.

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


class Life(Enum):
    """The states of a queue from its creation to its deletion."""

    ABSENT = "absent"
    THERE = "there"
    FIXED = "fixed"
    LEAVING = "leaving"


class Step(Enum):
    """The requests and events that change the state of a queue."""

    CREATE = "create"
    CHANGE = "change"
    PURGE = "purge"
    DELETE = "delete"
    EMPTIED = "emptied"


NEXT: Final[Mapping[tuple[Life, Step], Life | HResult]] = {
    (Life.ABSENT, Step.CREATE): Life.THERE,
    (Life.ABSENT, Step.CHANGE): HResult.QUEUE_NOT_FOUND,
    (Life.ABSENT, Step.PURGE): HResult.QUEUE_NOT_FOUND,
    (Life.ABSENT, Step.DELETE): HResult.QUEUE_NOT_FOUND,
    (Life.ABSENT, Step.EMPTIED): Life.ABSENT,
    (Life.THERE, Step.CREATE): HResult.QUEUE_EXISTS,  # AN-19
    (Life.THERE, Step.CHANGE): Life.THERE,
    (Life.THERE, Step.PURGE): Life.THERE,
    (Life.THERE, Step.DELETE): Life.LEAVING,
    (Life.THERE, Step.EMPTIED): Life.THERE,  # by a purge
    (Life.FIXED, Step.CREATE): HResult.QUEUE_EXISTS,
    (Life.FIXED, Step.CHANGE): Life.FIXED,
    (Life.FIXED, Step.PURGE): Life.FIXED,
    (Life.FIXED, Step.DELETE): HResult.ACCESS_DENIED,
    (Life.FIXED, Step.EMPTIED): Life.FIXED,
    (Life.LEAVING, Step.CREATE): Life.THERE,  # a new queue with this name
    (Life.LEAVING, Step.CHANGE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.PURGE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.DELETE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.EMPTIED): Life.ABSENT,  # DM-156
}
"""The state that follows, or the status of a refusal."""


def life_of(queue: QueueState | None) -> Life:
    """Return the state of a queue; None stands for a queue that was not found."""
    if queue is None:
        return Life.ABSENT
    if queue.record.deleting:
        return Life.LEAVING
    fixed = queue.record.kind is QueueType.SYSTEM or queue.record.is_journal
    return Life.FIXED if fixed else Life.THERE


def after(queue: QueueState | None, step: Step) -> Life | HResult:
    """Return the state of a queue after a step, or the status with which the step is refused."""
    return NEXT[life_of(queue), step]
