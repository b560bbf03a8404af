"""What all sites together know of the messages that one site reads from another."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from reliquary.sim.world.register import Register


@dataclass(slots=True)
class Readings:
    """The reads of a run."""

    acknowledged: set[bytes] = field(default_factory=set)
    """Messages whose removal a server has confirmed to its client: nobody may ever get them again."""
    handed_out: Counter[bytes] = field(default_factory=Counter)
    """How often a server has handed a message out on trial."""
    out_of_turn: set[bytes] = field(default_factory=set)
    """Messages that applications of their own site have locked at some time."""
    orders: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    """What each application received for good from queues of other sites, in the order in which it came."""


def may_come_again(register: Register, body: bytes) -> bool:
    """Whether the protocol that brought a message to its queue may bring it a second time."""
    sending = register.sendings.get(body)
    return sending is not None and register.may_come_again(sending)


def is_elsewhere(request: object) -> bool:
    """Whether an application asks for messages of another site; only those of MQQP use handles."""
    queue = getattr(request, "queue", "")
    return isinstance(queue, int) or queue.startswith("DIRECT=OS:")
