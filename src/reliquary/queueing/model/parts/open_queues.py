"""Keeps the handles and cursors of applications, and the callers that wait for an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reliquary.queueing.model.cursors import Cursor
from reliquary.queueing.model.descriptors import Descriptor
from reliquary.queueing.model.history.notes import Initiator
from reliquary.queueing.model.security.principals import Principal


class RemoteHandle(NamedTuple):
    """A handle, cursor or receipt of a queue that another manager has (`travel.remote`)."""

    reader: str
    by: Principal


@dataclass(slots=True)
class OpenQueues:
    """OpenQueueDescriptors, cursors and waiting callers.

    Written by: rules.handles, lifecycle, travel.remote, manager, model.state.
    """

    handles: dict[int, Descriptor] = field(default_factory=dict)
    cursors: dict[int, Cursor] = field(default_factory=dict)
    remote: dict[int, RemoteHandle] = field(default_factory=dict)
    """Handles of queues that other managers have."""
    askers: dict[int, Initiator] = field(default_factory=dict)
    """The protocol that gets the answer, and its peer, by the number of a caller that has no answer yet."""
    callers: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The number of the queue and of the waiter, for each caller that waits."""
