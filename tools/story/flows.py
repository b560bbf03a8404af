"""The orders of the story: each flow sends numbered messages by one protocol, and counts what arrived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import reliquary
from tools.story.sites import HOST, Pair, Site, run_command

ORDERS = 200
"""The number of messages of each flow."""


class Sender(NamedTuple):
    """The state of the sender of a flow."""

    kept: int
    """Orders that it keeps, because the south has not confirmed them."""
    failures: int
    """Attempts to reach the south that failed since the last success."""


@dataclass
class Flow:
    """Messages that go from the north to one queue of the south."""

    protocol: str
    queue: str
    send: Callable[[Iterable[str]], None]
    destination: str = ""
    """The name of the queue at the north; empty for an agent, which has no manager."""
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
        """Return whether the orders arrived in the order in which they were sent."""
        numbers = [int(order.rpartition(" ")[2]) for order in self.arrived]
        return numbers == sorted(numbers)


def flows_of(north: reliquary.Manager, agent: reliquary.Agent, pair: Pair) -> list[Flow]:
    """Return a flow for each protocol that brings messages through the relay."""

    def through(destination: str, *, transaction: bool) -> Callable[[Iterable[str]], None]:
        def send(orders: Iterable[str]) -> None:
            queue = north.queue(destination)
            for order in orders:
                if transaction:
                    with north.transaction():
                        queue.send(order, label=order)
                else:
                    queue.send(order, label=order)

        return send

    def by_agent(orders: Iterable[str]) -> None:
        for order in orders:
            agent.send("by-httpr", order.encode(), label=order)

    srmp = f"DIRECT=HTTP://{HOST}:{pair.to_south}/msmq/private$/by-srmp"
    wsrm = f"wsrm://{HOST}:{pair.to_south}/wsrm/by-wsrm"
    mqqb = rf"DIRECT=TCP:{pair.mqqb_to_south}\private$\by-mqqb"
    return [
        Flow("SRMP", "by-srmp", through(srmp, transaction=True), srmp),
        Flow("HTTPR", "by-httpr", by_agent),
        Flow("WS-RM", "by-wsrm", _as_xml(through(wsrm, transaction=False)), wsrm),
        Flow("MQQB", "by-mqqb", through(mqqb, transaction=True), mqqb),
    ]


def open_agent(pair: Pair, folder: Path) -> reliquary.Agent:
    """Open the agent of HTTPR, an application that sends through the relay without a manager."""
    return reliquary.agent(folder / "agent", f"http://{HOST}:{pair.to_south}", name="north/agent")


def send_in_turns(flows: Iterable[Flow], count: int) -> None:
    """Send `count` orders of each flow: one of each, then the next ones."""
    every = list(flows)
    for _ in range(count):
        for flow in every:
            flow.send_next(1)


def sender_of(flow: Flow, north: reliquary.Manager, agent: reliquary.Agent) -> Sender:
    """Return what the sender of a flow keeps, and how its attempts to reach the south ended."""
    if not flow.destination:
        status = agent.status()
        return Sender(status.waiting, sum(each.failures for each in status.channels))
    queue = north.outgoing_queue(flow.destination)
    return Sender(queue.messages, queue.failures)


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


def arrived(south: Site, flows: Iterable[Flow]) -> Counter[str]:
    """Return how many orders came in this story, for each queue of the south."""
    found = depths(south)
    return Counter({flow.queue: found[flow.queue] - flow.before for flow in flows})


def look(south: Site, flow: Flow) -> None:
    """Note what arrived of a flow, and leave it in its queue for Spark."""
    with south.connect() as manager:
        found = [_order(message.text) for message in manager.queue(flow.queue).browse()]
    flow.arrived = found[flow.before :]


def _order(text: str) -> str:
    start = text.find("order ")
    return text[start:].partition("<")[0]


def count_refused_duplicates(south: Site, flows: Iterable[Flow], since: datetime) -> None:
    """Note in each flow how many of its messages came again since a moment and were dropped."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    run_command(south, "history", "export")
    duplicates = ds.dataset(south.folder / "history", partitioning=None).to_table(
        columns=["protocol"],
        filter=(pc.field("event").cast("string") == "duplicate") & (pc.field("time") >= since),
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
    flow.arrived = list(_received(f"mqqp://{HOST}:{south.settings['MQQP_HANDSHAKE_PORT']}/private$/by-mqqp"))
    return flow


def _received(address: str) -> Iterator[str]:
    with reliquary.connect(address) as manager:
        queue = manager.queue()
        while (message := queue.receive(timeout=1)) is not None:
            yield message.text
