"""The life of a queue: what can be asked of it, and when it is gone.

ABSENT -- create --> THERE -- delete --> LEAVING -- emptied --> ABSENT
                     FIXED               its name is free at once, its messages go turn by turn

FIXED are the manager's own queues and the journals: they come and go with what they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.state import QueueState


class Life(Enum):
    """Where a queue stands."""

    ABSENT = "absent"
    THERE = "there"
    FIXED = "fixed"
    LEAVING = "leaving"


class Step(Enum):
    """What happens to a queue."""

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
    (Life.LEAVING, Step.CREATE): Life.THERE,  # another queue of the same name
    (Life.LEAVING, Step.CHANGE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.PURGE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.DELETE): HResult.QUEUE_NOT_FOUND,
    (Life.LEAVING, Step.EMPTIED): Life.ABSENT,  # DM-156
}


def life_of(queue: QueueState | None) -> Life:
    """Where this queue stands; None is one that nobody found."""
    if queue is None:
        return Life.ABSENT
    if queue.record.deleting:
        return Life.LEAVING
    fixed = queue.record.kind is QueueType.SYSTEM or queue.record.is_journal
    return Life.FIXED if fixed else Life.THERE


def after(queue: QueueState | None, step: Step) -> Life | HResult:
    """Where it stands then, or why it cannot be."""
    return NEXT[life_of(queue), step]
