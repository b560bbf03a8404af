"""Create a queue with its journal, or a subqueue of another queue: Create Queue, [MS-MQDMPR] 3.1.7.1.3."""

from __future__ import annotations

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.objects import QueueObject
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue import Queue, QueueSettings, QueueType
from reliquary.queueing.model.state import State


def create_at(
    state: State, path: Pathname, settings: QueueSettings, now: Instant, entry: QueueObject | None = None
) -> Queue:
    """Create a queue at a free path and return its record; `entry` is its object in the directory."""
    owner = state.find(path.queue) if path.subqueue else None
    journal = None
    if owner is None and path.kind is not QueueType.SYSTEM:  # DM-137
        journal = _record(state, Pathname(path.kind, path.name, journal=True), QueueSettings(), now)
    queue = _record(state, path, settings, now)
    queue = msgspec.structs.replace(
        queue,
        journal=journal.number if journal else None,
        parent=owner.number if owner else None,
    )
    if entry is not None:
        queue = msgspec.structs.replace(
            queue,
            identifier=entry.identifier,  # DM-142
            full_path=entry.full_path,
            directory_path=entry.directory_path,
        )
    if journal is not None:
        journal = msgspec.structs.replace(journal, parent=queue.number, is_journal=True)
        apply(state, facts.QueueCreated(journal))
    apply(state, facts.QueueCreated(queue))
    return queue


def _record(state: State, path: Pathname, settings: QueueSettings, now: Instant) -> Queue:
    """Return the record of a new queue with this path and these settings."""
    identity, moment = state.identity(), in_whole_seconds(now)
    return Queue(
        number=state.numbers.next_queue(),
        identifier=new_guid(state.chance),
        pathname=f"{identity.computer_name}\\{path}",
        qualified_pathname=f"{identity.qualified_computer_name}\\{path}",  # DM-022
        kind=path.kind,  # DM-140
        settings=settings,  # DM-135, DM-138
        create_time=moment,  # DM-139
        modify_time=moment,
    )
