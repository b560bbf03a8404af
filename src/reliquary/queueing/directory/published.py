"""Find queues, managers and distribution lists in the directory, to resolve names of other managers."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.directory import operations, registry
from reliquary.queueing.model.directory.objects import ManagerObject, ObjectKind, QueueObject
from reliquary.queueing.model.state import State


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: return its members; None if it is unknown or the directory is offline."""
    if not operations.is_connected(state):
        operations.not_connected(state)
        return None
    return registry.resolve_list(state, identifier)


def published_queue(state: State, identifier: UUID) -> QueueObject | None:
    """Return the directory object of a queue, or None if the directory does not have it."""
    found = operations.read(state, ObjectKind.QUEUE, operations.by_identifier(identifier)).subject
    return found if isinstance(found, QueueObject) else None


def computer_name(state: State, identifier: UUID) -> str:
    """Return the computer name of a manager, or an empty text if the directory does not have it."""
    found = operations.read(state, ObjectKind.QUEUE_MANAGER, operations.by_identifier(identifier)).subject
    return found.computer_name if isinstance(found, ManagerObject) else ""
