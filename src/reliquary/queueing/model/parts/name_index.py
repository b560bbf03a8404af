"""Which queue a name leads to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from reliquary.queueing.model.names.formats import SingleName
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.queue_order import QueueOrder
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.carriers import Carrier


class Elsewhere(NamedTuple):
    """A destination that is not here and has no outgoing queue yet."""

    name: SingleName
    base_priority: int


class Way(NamedTuple):
    """Where one destination of a send leads."""

    name: Pathname | SingleName
    to: QueueState | Elsewhere
    """A queue of ours, an outgoing queue, or a destination whose outgoing queue is still to be created."""
    carrier: Carrier | None
    """The protocol that brings messages there; None for a queue of ours, and where no protocol does."""


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
    ways: dict[str, tuple[Way, ...]] = field(default_factory=dict)
    """Where the names lead that messages were sent to; `State.forget_names` empties it."""
    to_receive: dict[str, QueueState] = field(default_factory=dict)
    """The queues that path names of receives lead to; `State.forget_names` empties it."""
    to_send: dict[str, QueueState] = field(default_factory=dict)
    """The queues of ours that path names of messages from elsewhere lead to; emptied likewise."""
    ways_of_turn: dict[str, tuple[Way, ...]] = field(default_factory=dict)
    """Where a name leads that depends on the directory; each turn begins with an empty one."""
