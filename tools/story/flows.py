"""The orders of the story: each flow sends numbered messages by one protocol, and counts what arrived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import reliquary
from tools.story.sites import Site, run_command
from tools.story.waiting import PATIENCE

ORDERS = 200
"""Messages of each flow."""


@dataclass
class Flow:
    """Messages that go from the north to one queue of the south."""

    protocol: str
    queue: str
    send: Callable[[Iterable[str]], None]
    sent: int = 0
    arrived: list[str] = field(default_factory=list)
    before: int = 0
    """Orders of an earlier story that were in the queue before this one."""
    refused: int = 0
    """Messages that came again and were dropped, as the history of the south says."""

    def send_next(self, count: int) -> None:
        """Send the next `count` orders and count them."""
        self.send([f"order {number}" for number in range(self.sent + 1, self.sent + count + 1)])
        self.sent += count

    @property
    def lost(self) -> int:
        """Orders that were sent and did not arrive."""
        return self.sent - len(set(self.arrived))

    @property
    def doubled(self) -> int:
        """Orders that arrived more than once."""
        return len(self.arrived) - len(set(self.arrived))

    @property
    def is_in_order(self) -> bool:
        """Whether the orders arrived in the order in which they were sent."""
        numbers = [int(order.rpartition(" ")[2]) for order in self.arrived]
        return numbers == sorted(numbers)


def flows_of(north: Site, south: Site, folder: Path) -> list[Flow]:
    """Return a flow for each protocol that brings messages."""

    def through(
        manager: reliquary.Manager, destination: str, *, transaction: bool
    ) -> Callable[[Iterable[str]], None]:
        def send(orders: Iterable[str]) -> None:
            queue = manager.queue(destination)
            for order in orders:
                if transaction:
                    with manager.transaction():
                        queue.send(order, label=order)
                else:
                    queue.send(order, label=order)

        return send

    def by_agent(orders: Iterable[str]) -> None:
        with agent_of(south, folder) as agent:
            for order in orders:
                agent.send("by-httpr", order.encode(), label=order)

    manager, port = north.connect(), south.data_port
    srmp = f"DIRECT=HTTP://127.0.0.1:{port}/msmq/private$/by-srmp"
    wsrm = f"wsrm://127.0.0.1:{port}/wsrm/by-wsrm"
    mqqb = rf"DIRECT=TCP:{south.settings['MQQB_HOST']}\private$\by-mqqb"
    return [
        Flow("SRMP", "by-srmp", through(manager, srmp, transaction=True)),
        Flow("HTTPR", "by-httpr", by_agent),
        Flow("WS-RM", "by-wsrm", _as_xml(through(manager, wsrm, transaction=False))),
        Flow("MQQB", "by-mqqb", through(manager, mqqb, transaction=True)),
    ]


def agent_of(south: Site, folder: Path) -> reliquary.Agent:
    """Open the agent of HTTPR, an application that sends to the south without a manager."""
    return reliquary.agent(folder / "agent", south.data, name="north/agent")


def flush_agent(south: Site, folder: Path) -> None:
    """Let the agent deliver what it kept on disk when it was closed; ServerUnreachable if it cannot."""
    with agent_of(south, folder) as agent:
        agent.flush(timeout=PATIENCE)


def _as_xml(send: Callable[[Iterable[str]], None]) -> Callable[[Iterable[str]], None]:
    """Return a sender whose messages are XML, as services of WS-RM expect them."""
    return lambda orders: send([f"<order>{order}</order>" for order in orders])


def create_queues(south: Site) -> None:
    """Create the queues of the story at the south, those of transactions as transactional ones."""
    with south.connect() as manager:
        for name, transactional in (
            ("by-srmp", True),
            ("by-mqqb", True),
            ("by-httpr", False),
            ("by-wsrm", False),
            ("by-mqqp", False),
        ):
            manager.create_queue(name, exist_ok=True, transactional=transactional)


def depths(south: Site) -> Counter[str]:
    """Return the number of messages in each queue of the south."""
    with south.connect() as manager:
        return Counter({each.name: each.messages for each in manager.queues()})


def arrived(south: Site, flows: Iterable[Flow]) -> int:
    """Return how many orders of all flows came to the south in this story."""
    found = depths(south)
    return sum(found[flow.queue] - flow.before for flow in flows)


def look(south: Site, flow: Flow) -> None:
    """Note what arrived of a flow, and leave it in its queue for Spark."""
    with south.connect() as manager:
        found = [_order(message.text) for message in manager.queue(flow.queue).browse()]
    flow.arrived = found[flow.before :]


def _order(text: str) -> str:
    start = text.find("order ")
    return text[start:].partition("<")[0]


def count_refused_duplicates(south: Site, flows: Iterable[Flow]) -> None:
    """Note in each flow how many of its messages came again and were dropped."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    run_command(south, "history", "export")
    duplicates = ds.dataset(south.folder / "history", partitioning=None).to_table(
        columns=["protocol"], filter=pc.field("event").cast("string") == "duplicate"
    )
    found = Counter(duplicates["protocol"].to_pylist())
    for flow in flows:
        flow.refused = found[flow.protocol.replace("-", "").lower()]


def read_by_mqqp(south: Site) -> Flow:
    """Send orders at the south, and receive them from there over MQQP."""
    with south.connect() as manager:

        def send(orders: Iterable[str]) -> None:
            manager.queue("by-mqqp").send_many(orders)

        flow = Flow("MQQP", "by-mqqp", send)
        flow.send_next(ORDERS // 4)
    flow.arrived = list(
        _received(f"mqqp://127.0.0.1:{south.settings['MQQP_HANDSHAKE_PORT']}/private$/by-mqqp")
    )
    return flow


def _received(address: str) -> Iterator[str]:
    with reliquary.connect(address) as manager:
        queue = manager.queue()
        while (message := queue.receive(timeout=1)) is not None:
            yield message.text
