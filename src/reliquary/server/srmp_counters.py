"""Collects the counters of SRMP and multicast as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Metric, Section
from reliquary.net.multicast.carrier import Carrier
from reliquary.net.multicast.carrier import Count as Multicast
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import STATUSES, Receiving
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.travel.failures import Failure

RECEIVED: Final = Metric(
    "srmp_received_total", "counter", "POSTs of peers, by the status of the answer.", ("status",)
)
POSTS: Final = Metric("srmp_posts_total", "counter", "POSTs of this manager to peers.")
ANSWERS: Final = Metric(
    "srmp_answers_total", "counter", "Answers to POSTs of this manager, by status.", ("status",)
)
FAILURES: Final = Metric(
    "srmp_failures_total", "counter", "POSTs of this manager that have no answer, by the reason.", ("reason",)
)
CONNECTIONS: Final = Metric("srmp_connections", "gauge", "Outgoing queues with a connection.")
MESSAGES: Final = Metric(
    "srmp_messages_total",
    "counter",
    "Messages over HTTP that arrived twice or out of order, and receipts that were received and sent.",
    ("kind",),
    Section.MACHINES,
)
MULTICAST: Final = Metric(
    "multicast_total",
    "counter",
    "Messages and packets that were sent and received by multicast.",
    ("kind",),
    Section.MACHINES,
)


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Yield the numbers of messages over HTTP since the server started."""
    yield RECEIVED.of([({"status": str(status)}, receiving.answers[status]) for status in STATUSES])
    yield POSTS.now(courier.posted)
    yield ANSWERS.of(
        [
            ({"status": str(status)}, courier.answers[status])
            for status in sorted({*courier.answers, *STATUSES} - {405})
        ]
    )
    yield FAILURES.of([({"reason": failure.value}, courier.failures[failure]) for failure in Failure])
    yield CONNECTIONS.now(courier.connections)


def machine(opened: OpenedEngine, carrier: Carrier | None) -> Iterable[Family]:
    """Yield the counters of the machine, also if the endpoint is off; `carrier` may be None."""
    state = opened.machine(Srmp).state
    yield MESSAGES.of([({"kind": each.value}, state.counts[each]) for each in Count])
    if carrier is not None:
        yield MULTICAST.of([({"kind": each.value}, carrier.counts[each]) for each in Multicast])
