"""Keeps the state for other managers: carriers, reservations, watched queues, addresses and queues to
dispatch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.tables import Reservation
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.queueing.model.travel.transfer import AddressesKnown


@dataclass(slots=True)
class Rooms:
    """Queues whose free room carriers announce to their peers (`travel.rooms`)."""

    wanted: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names that each carrier watches."""
    watched: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """Carriers and watched names, by the number of the queue that the name means."""
    changed: dict[int, QueueState] = field(default_factory=dict)
    """Queues with more or less room since this turn."""
    stale: bool = False
    """Names may mean other queues than those in `watched`, or queues have other quotas."""


@dataclass(slots=True)
class Travel:
    """The state of messages to and from other managers.

    Written by: travel, changes.queues, rules.outgoing, rules.readiness, recovery, model.state.
    """

    carriers: Carriers = field(default_factory=Carriers)
    """The protocols that bring messages to other managers."""
    online: bool = True
    """ConnectionActive (DM-124, DM-125): messages come from and go to other managers."""
    reservations: dict[bytes, Reservation] = field(default_factory=dict)
    """The messages that carriers have reserved, by `tables.reservation_key`."""
    watched: dict[str, frozenset[int]] = field(default_factory=dict)
    """Queues of this manager whose messages a carrier takes in batches, by the name of the carrier."""
    unnotified: dict[int, set[str]] = field(default_factory=dict)
    """The carriers that are notified when a message is available in one of these queues, by queue."""
    rooms: Rooms = field(default_factory=Rooms)
    own_urls: dict[str, AddressesKnown] = field(default_factory=dict)
    """The URLs that mean this manager, by their schemes."""
    listeners: dict[str, set[int]] = field(default_factory=dict)
    """Queues by the multicast address that they listen to, `ip:port`."""
    listeners_changed: bool = False
    """The addresses in `listeners` differ from those that were signalled last."""
    taken: Counter[str] = field(default_factory=Counter)
    """Messages from other managers that were taken since the start, by the name of their carrier."""
    delivered: Counter[str] = field(default_factory=Counter)
    """Messages that arrived at other managers since the start, by the name of their carrier."""
    to_dispatch: dict[int, QueueState] = field(default_factory=dict)
    """Queues that may have messages for a carrier."""
    dispatch_asked: bool = False
    """A later turn that dispatches these queues was requested."""
