"""What the directory says about queues and managers elsewhere, as far as names ask for it."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.directory import operations, registry
from reliquary.queueing.model.directory.objects import Kind, ManagerObject, QueueObject
from reliquary.queueing.model.state import State


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: its members, or None when they are not known or cannot be asked for."""
    if not operations.is_connected(state):
        operations.not_connected(state)
        return None
    return registry.resolve_list(state, identifier)


def published_queue(state: State, identifier: UUID) -> QueueObject | None:
    """A queue that the directory knows."""
    found = operations.read(state, Kind.QUEUE, operations.by_identifier(identifier)).subject
    return found if isinstance(found, QueueObject) else None


def computer_name(state: State, identifier: UUID) -> str:
    """What a manager is called that the directory knows; empty otherwise."""
    found = operations.read(state, Kind.QUEUE_MANAGER, operations.by_identifier(identifier)).subject
    return found.computer_name if isinstance(found, ManagerObject) else ""
