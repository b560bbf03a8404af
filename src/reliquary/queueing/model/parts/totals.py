"""Keeps the sums over all queues, and the queues whose counters have to be written."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.queueing.model.queue_state import QueueState


@dataclass(slots=True)
class Totals:
    """Sums over all queues.

    Written by: changes.counters, changes.positions, changes.queues, rules.poison, recovery, model.state.
    """

    bytes: int = 0
    """The bytes of all messages, which count against the quota of the manager."""
    lost: tuple[int, ...] = ()
    """Copies that could not be kept, by `Copy`, of messages of queues that are deleted."""
    poison_overflows: int = 0
    """Poison messages that stayed in their queue, because the poison queue had no room."""
    dirty: list[QueueState] = field(default_factory=list)
    """Queues whose counters have to be written with this batch."""
