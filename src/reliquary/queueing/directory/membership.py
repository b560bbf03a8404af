"""Create, change and delete the directory objects of public queues: 3.1.7.1.3, 3.1.7.1.4.

Without a directory, only its own manager knows a public queue.
"""

from __future__ import annotations

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.directory.operations import by_identifier, create, delete, read, write
from reliquary.queueing.directory.publishing import is_published, queue_object
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.model.directory.objects import SHARED_SETTINGS, ObjectKind, QueueObject
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue import Queue, QueueSettings, QueueType
from reliquary.queueing.model.state import State


def enter(
    state: State, path: Pathname, settings: QueueSettings, now: Instant
) -> QueueObject | HResult | None:
    """Create the directory object of a queue that is about to be created.

    Return the object, the status of a failure, or None if the queue needs no directory object.
    """
    identity = state.identity()
    if path.kind is not QueueType.PUBLIC or path.subqueue or not identity.directory_integrated:
        return None
    moment = in_whole_seconds(now)
    subject = QueueObject(
        queue_manager=identity.identifier,
        pathname=f"{identity.computer_name}\\{path}",
        qualified_pathname=f"{identity.qualified_computer_name}\\{path}",
        create_time=moment,
        modify_time=moment,
        **{name: getattr(settings, name) for name in SHARED_SETTINGS},
    )
    made = create(state, subject, now)  # DM-142
    if not isinstance(made.subject, QueueObject):
        return made.status
    # DEPARTS from 3.1.7.1.3 (AN-18): the queue is made although its paths cannot be read, because it
    # is in the directory already, and the directory has reported a success.
    where = by_identifier(made.subject.identifier)
    found = read(state, ObjectKind.QUEUE, where, ("full_path", "directory_path")).subject  # DM-143
    paths = {
        name: getattr(found, name) if isinstance(found, QueueObject) else ""
        for name in ("full_path", "directory_path")
    }
    return msgspec.structs.replace(made.subject, **paths)


def leave(state: State, queue: Queue) -> HResult:
    """Delete the directory object of a deleted queue; a failure does not bring the queue back (DM-157)."""
    if queue.kind is not QueueType.PUBLIC or queue.parent is not None or queue.outgoing is not None:
        return HResult.OK
    if not state.identity().directory_integrated:
        return HResult.OK
    answer = delete(state, ObjectKind.QUEUE, queue.identifier)
    # A queue that was created with iSkipDirectory has no object: that is no error.
    return HResult.OK if answer.result is DirectoryResult.OBJECT_NOT_FOUND else answer.status


def change(state: State, queue: Queue, now: Instant) -> HResult:
    """Write a queue's new attributes to the directory before the queue itself changes (DM-253).

    While the directory is not connected, the change is refused: the directory's old attributes would undo it
    at the next refresh.
    """
    if not is_published(queue) or not state.identity().directory_integrated:
        return HResult.OK
    answer = write(state, queue_object(queue, state.identity().identifier), now)
    return HResult.OK if answer.result is DirectoryResult.OBJECT_NOT_FOUND else answer.status
