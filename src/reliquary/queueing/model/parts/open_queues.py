"""What applications have open: handles, cursors, and callers that wait for an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reliquary.queueing.model.cursors import Cursor
from reliquary.queueing.model.descriptors import Descriptor
from reliquary.queueing.model.history.notes import Bringer
from reliquary.queueing.model.security.principals import Principal


class RemoteHandle(NamedTuple):
    """A handle, cursor or receipt of a queue that another manager has (`travel.remote`)."""

    reader: str
    by: Principal


@dataclass(slots=True)
class OpenQueues:
    """OpenQueueDescriptors and what belongs to them.

    Written by: rules.handles, lifecycle, travel.remote, manager, model.state.
    """

    handles: dict[int, Descriptor] = field(default_factory=dict)
    cursors: dict[int, Cursor] = field(default_factory=dict)
    remote: dict[int, RemoteHandle] = field(default_factory=dict)
    """Handles of queues that other managers have."""
    askers: dict[int, Bringer] = field(default_factory=dict)
    """The protocol that gets the answer, and its peer, by the number of a caller that has no answer yet."""
    callers: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Where a waiting caller waits: the number of the queue and of the waiter."""
