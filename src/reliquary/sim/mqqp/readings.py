"""Records, for all sites together, the messages that one site reads from another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from reliquary.sim.world.register import Register


@dataclass(slots=True)
class Readings:
    """The reads of a run."""

    acknowledged: set[bytes] = field(default_factory=set)
    """Messages whose removal a server has confirmed to its client: they must not be handed out again."""
    handed_out: Counter[bytes] = field(default_factory=Counter)
    """The number of times that a server has handed a message out on trial."""
    out_of_turn: set[bytes] = field(default_factory=set)
    """Messages that applications of their own site have locked at any time."""
    returned: Counter[bytes] = field(default_factory=Counter)
    """The number of restores after which a message was in a queue again: after each it may be read
    once more."""
    orders: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    """The messages that each application received permanently from queues of other sites, in
    order of arrival.
    """

    def take_back(self, bodies: Iterable[bytes]) -> None:
        """Record that a site was restored: these messages are in its queues again, and may be read again."""
        there = set(bodies)
        self.acknowledged -= there
        self.out_of_turn |= there
        self.returned.update(there)


def may_come_again(register: Register, body: bytes) -> bool:
    """Return whether the protocol that brought a message to its queue may bring it a second time."""
    sending = register.sendings.get(body)
    return sending is not None and register.may_come_again(sending)


def is_elsewhere(request: object) -> bool:
    """Return whether an application requests messages of another site; only requests of MQQP use handles."""
    queue = getattr(request, "queue", "")
    return isinstance(queue, int) or queue.startswith("DIRECT=OS:")
