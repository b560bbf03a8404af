"""Handles the events of the directory: each one calls an operation, whose result is the answer."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.ruled import Rule
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Event
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory import events, operations, registry, upkeep
from reliquary.queueing.directory.publishing import is_published, take_manager, take_queue
from reliquary.queueing.directory.results import DirectoryResult, answer_of
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.objects import DirectoryObject, ManagerObject, QueueObject
from reliquary.queueing.model.state import State

IMPORT_LIMIT: Final = 100_000
"""The largest number of objects in one import."""


def create(state: State, event: events.CreateDirectoryObject, now: Instant) -> None:
    """Create Directory Object: add an object, and answer with the result."""
    state.reply(event.to, operations.create(state, event.subject, now, event.attributes))


def delete(state: State, event: events.DeleteDirectoryObject, now: Instant) -> None:
    """Delete Directory Object: remove an object, and answer with the result."""
    del now
    identity = state.identity()
    if event.identifier == identity.identifier and identity.directory_integrated:
        raise UsageError("this manager is in the directory as long as it is integrated with it")
    state.reply(event.to, operations.delete(state, event.kind, event.identifier))


def read(state: State, event: events.ReadDirectory, now: Instant) -> None:
    """Read Directory: answer with the first object that the filters match."""
    del now
    answer = operations.read(state, event.kind, event.filters, event.attributes, forced=event.forced)
    state.reply(event.to, answer)


def read_begin(state: State, event: events.ReadDirectoryBegin, now: Instant) -> None:
    """Read Directory Begin: start a query, and answer with its handle."""
    del now
    answer = operations.read_begin(state, event.kind, event.filters, event.attributes, event.order)
    state.reply(event.to, answer)


def read_next(state: State, event: events.ReadDirectoryNext, now: Instant) -> None:
    """Read Directory Next: answer with the next object of a query."""
    del now
    state.reply(event.to, operations.read_next(state, event.handle))


def read_end(state: State, event: events.ReadDirectoryEnd, now: Instant) -> None:
    """Read Directory End: end a query, and answer with the result."""
    del now
    state.reply(event.to, operations.read_end(state, event.handle))


def write(state: State, event: events.WriteDirectory, now: Instant) -> None:
    """Write Directory: change an object; attributes of this manager take effect at once."""
    answer = operations.write(state, event.subject, now, event.attributes)
    if answer.subject is not None:
        _take(state, answer.subject)
    state.reply(event.to, answer)


def take_in(state: State, event: events.ImportDirectory, now: Instant) -> None:
    """Write many objects in one turn, all of them or none."""
    del now
    if len(event.subjects) > IMPORT_LIMIT:
        raise UsageError(f"one import has at most {IMPORT_LIMIT} objects, not {len(event.subjects)}")
    if not operations.is_connected(state):
        state.reply(event.to, operations.not_connected(state))
        return
    answer = registry.take_in(state, event.subjects)
    for subject in event.subjects:
        operations.notify_update(state, subject)
        _take(state, subject)
    state.reply(event.to, answer)


def _take(state: State, subject: DirectoryObject) -> None:
    """Copy the attributes of this manager or one of its queues from their directory object."""
    identity = state.identity()
    if not identity.directory_integrated:
        return
    if isinstance(subject, ManagerObject) and subject.identifier == identity.identifier:
        take_manager(state, subject)
    elif isinstance(subject, QueueObject):
        queue = state.names.by_identifier.get(subject.identifier)
        if queue is not None and is_published(queue.record):
            take_queue(state, queue, subject)


def check_online(state: State, event: events.CheckDirectoryOnline, now: Instant) -> None:
    """Check Directory Online: answer whether the directory can be reached."""
    state.reply(event.to, upkeep.check_online(state, now))


def switch(state: State, event: events.SwitchDirectory, now: Instant) -> None:
    """Attach or detach the directory; this holds until the next switch, also over a restart.

    A detached directory that came back by itself with the next start would undo the decision of an
    administrator, who may be replacing a registry.
    """
    identity = state.identity()
    if identity.directory_detached is event.attached:
        moment = in_whole_seconds(now)
        changed = msgspec.structs.replace(identity, directory_detached=not event.attached, modify_time=moment)
        apply(state, facts.ManagerNamed(changed))
    if not event.attached:
        operations.not_connected(state)
    elif state.directory.connection is not Connection.APART:
        upkeep.check_online(state, now)
    state.reply(event.to, answer_of(DirectoryResult.SUCCESS))


def servers_found(state: State, event: events.DirectoryServersFound, now: Instant) -> None:
    """Store a new DirectoryServerList (DM-086)."""
    identity = state.identity()
    if event.servers != identity.directory_servers:
        moment = in_whole_seconds(now)
        changed = msgspec.structs.replace(identity, directory_servers=event.servers, modify_time=moment)
        apply(state, facts.ManagerNamed(changed))


RULES: Final[dict[type[Event], Rule[State]]] = {
    events.CreateDirectoryObject: create,
    events.DeleteDirectoryObject: delete,
    events.ReadDirectory: read,
    events.ReadDirectoryBegin: read_begin,
    events.ReadDirectoryNext: read_next,
    events.ReadDirectoryEnd: read_end,
    events.WriteDirectory: write,
    events.CheckDirectoryOnline: check_online,
    events.SwitchDirectory: switch,
    events.ImportDirectory: take_in,
    events.DirectoryServersFound: servers_found,
}
