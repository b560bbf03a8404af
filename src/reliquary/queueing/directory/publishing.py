"""Convert the manager and its public queues to directory objects, and copy attributes back from them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.objects import SHARED_SETTINGS, ManagerObject, QueueObject
from reliquary.queueing.model.queue import Queue, QueueManagerRecord, QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State

LOCAL_ATTRIBUTES: Final = frozenset({"identifier", "computer_name", "qualified_computer_name", "create_time"})
"""Attributes of a manager that come from its host or never change, and are not copied from the directory."""
FIXED_SETTINGS: Final = frozenset({"transactional"})
"""Settings of a queue that never change after its creation, because messages may be on their way."""


def manager_object(record: QueueManagerRecord) -> ManagerObject:
    """Return the directory object of the manager, with its directory attributes (DM-003)."""
    return ManagerObject(**{name: getattr(record, name) for name in ManagerObject.__struct_fields__})


def queue_object(queue: Queue, manager: UUID) -> QueueObject:
    """Return the directory object of a queue, with its directory attributes (DM-020)."""
    own = ("identifier", "pathname", "qualified_pathname", "create_time", "modify_time")
    paths = ("full_path", "directory_path")
    return QueueObject(
        queue_manager=manager,
        **{name: getattr(queue, name) for name in own + paths},
        **{name: getattr(queue.settings, name) for name in SHARED_SETTINGS},
    )


def is_published(queue: Queue) -> bool:
    """Return whether the directory shows a queue: it is public and no journal, subqueue or outgoing queue."""
    return (
        queue.kind is QueueType.PUBLIC
        and not queue.is_journal
        and not queue.deleting
        and queue.parent is None
        and queue.outgoing is None
    )


def take_manager(state: State, found: ManagerObject) -> None:
    """Copy the manager's attributes from its directory object (DM-090, DM-256)."""
    # DEPARTS from 3.1.3 (DM-090): the computer's names stay those that the host gave, because the path names
    # of all queues are made of them.
    taken = {
        name: getattr(found, name) for name in ManagerObject.__struct_fields__ if name not in LOCAL_ATTRIBUTES
    }
    record = msgspec.structs.replace(state.identity(), **taken)
    if record != state.identity():
        apply(state, facts.ManagerNamed(record))


def take_queue(state: State, queue: QueueState, found: QueueObject) -> None:
    """Copy a public queue's attributes from its directory object (DM-256)."""
    own = queue.record.settings
    names = FIXED_SETTINGS | set(own.__struct_fields__) - set(SHARED_SETTINGS)
    kept = {name: getattr(own, name) for name in names}
    record = msgspec.structs.replace(
        queue.record,
        settings=msgspec.structs.replace(found.settings, **kept),
        modify_time=found.modify_time,
        full_path=found.full_path,
        directory_path=found.directory_path,
    )
    if record != queue.record:
        apply(state, facts.QueueChanged(record))
