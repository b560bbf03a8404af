"""Finds queues by their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from reliquary.queueing.model.names.formats import SingleName
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue_order import QueueOrder
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.carriers import Carrier


class RemoteTarget(NamedTuple):
    """A destination on another manager that has no outgoing queue yet."""

    name: SingleName
    base_priority: int


class SendTarget(NamedTuple):
    """A destination of a send, with its queue and its carrier."""

    name: Pathname | SingleName
    to: QueueState | RemoteTarget
    """A queue of this manager, an outgoing queue, or a destination that has no outgoing queue yet."""
    carrier: Carrier | None
    """The protocol that brings messages there; None for a queue of this manager, and if there is none."""


@dataclass(slots=True)
class NameIndex:
    """Queues by their names.

    Written by: changes.queues, rules.destinations, manager, model.state.
    """

    by_path: dict[str, int] = field(default_factory=dict)
    """Numbers of queues, by the keys of their path names."""
    by_identifier: dict[UUID, QueueState] = field(default_factory=dict)
    """Queues by Queue.Identifier, for public names."""
    outgoing: dict[str, QueueState] = field(default_factory=dict)
    """Outgoing queues by `formats.key_of` their destination."""
    in_order: QueueOrder = field(default_factory=QueueOrder)
    """Queues by name, for lists."""
    ways: dict[str, tuple[SendTarget, ...]] = field(default_factory=dict)
    """A cache of the destinations of names in sends; `State.forget_names` empties it."""
    to_receive: dict[str, QueueState] = field(default_factory=dict)
    """A cache of the queues of path names in receives; `State.forget_names` empties it."""
    to_send: dict[str, QueueState] = field(default_factory=dict)
    """A cache of the queues of path names in arriving messages; `State.forget_names` empties it."""
    ways_of_turn: dict[str, tuple[SendTarget, ...]] = field(default_factory=dict)
    """A cache of destinations that depend on the directory; it is empty when a turn begins."""
