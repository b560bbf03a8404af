"""A manager with two queues, and facts that a test applies to it one by one."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.tables import LANE_SHIFT
from tests.queueing.manager_harness import Bench, message

REASON = MessageClass.ACK_RECEIVE
BODY = message(b"body")


class FactBench:
    """A bench that applies facts one by one and checks that the turn states each of them."""

    def __init__(self) -> None:
        self.bench = Bench("orders", "other")
        self.bench.flush()
        self.state = self.bench.state
        self.orders, self.other = self.bench.queue("orders"), self.bench.queue("other")

    def apply(self, fact: Fact) -> None:
        """Apply a fact, and take the turn that states it."""
        apply(self.state, fact)
        assert self.state.draft.take().facts == (fact,)

    def at(self, sequence: int, **attributes: object) -> Position:
        """Return a position of 100 bytes with this number."""
        return Position(4 << LANE_SHIFT | sequence, sequence, 100, 0, **attributes)  # type: ignore[arg-type]

    def store(self, *positions: Position, prepared: bool = False) -> None:
        """Store a message at each position of the queue "orders"."""
        bodies = tuple(BODY for _ in positions)
        self.apply(facts.MessagesStored(self.orders.number, positions, bodies, prepared))

    def counted(self) -> tuple[int, int, int]:
        """Return the counters of the queue "orders": messages on disk, their bytes, express bytes."""
        return self.orders.counts.stored, self.orders.counts.stored_size, self.orders.counts.express_size
