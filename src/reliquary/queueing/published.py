"""What the directory says about queues and managers elsewhere, as far as names ask for it."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reliquary.queueing.state import State


class PublishedQueue(NamedTuple):
    """A public queue of any manager."""

    pathname: str
    manager: UUID
    base_priority: int


def resolve_list(state: State, identifier: UUID) -> tuple[str, ...] | None:
    """Resolve Distribution List: its members, or None."""
    del state, identifier
    return None


def published_queue(state: State, identifier: UUID) -> PublishedQueue | None:
    """A queue that the directory knows."""
    del state, identifier
    return None


def computer_name(state: State, identifier: UUID) -> str:
    """What a manager is called that the directory knows; empty otherwise."""
    del state, identifier
    return ""
