"""What the directory says about queues and managers elsewhere, as far as names ask for it."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reliquary.queueing.directory import registry
from reliquary.queueing.directory.objects import Kind, ManagerObject, QueueObject
from reliquary.queueing.directory.operations import by_identifier, is_connected, read
from reliquary.queueing.state import State


class PublishedQueue(NamedTuple):
    """A public queue of any manager."""

    pathname: str
    manager: UUID
    base_priority: int


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: its members, or None."""
    return registry.resolve_list(state, identifier) if is_connected(state) else None


def published_queue(state: State, identifier: UUID) -> PublishedQueue | None:
    """A queue that the directory knows."""
    found = read(state, Kind.QUEUE, by_identifier(identifier)).subject
    if not isinstance(found, QueueObject):
        return None
    return PublishedQueue(found.pathname, found.queue_manager, found.base_priority)


def computer_name(state: State, identifier: UUID) -> str:
    """What a manager is called that the directory knows; empty otherwise."""
    found = read(state, Kind.QUEUE_MANAGER, by_identifier(identifier)).subject
    return found.computer_name if isinstance(found, ManagerObject) else ""
