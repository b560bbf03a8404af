"""Collects the counters of WS-RM as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Metric, Section
from reliquary.net.wsrm.courier import Courier
from reliquary.net.wsrm.receiving import Receiving
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.state import Count
from reliquary.protocols.wsrm.views import totals
from reliquary.queueing.travel.failures import Failure

USUAL: Final = (200, 202)
"""Statuses that are shown even before they were counted."""

RECEIVED: Final = Metric(
    "wsrm_received_total",
    "counter",
    "Requests of peers, by the status of the answer.",
    ("status",),
)
ANSWERS: Final = Metric(
    "wsrm_answers_total", "counter", "Responses to POSTs of this manager, by status.", ("status",)
)
POSTS: Final = Metric("wsrm_posts_total", "counter", "POSTs of this manager to peers.")
FAILURES: Final = Metric(
    "wsrm_failures_total",
    "counter",
    "POSTs of this manager without a usable response, by the reason.",
    ("reason",),
)
CONNECTIONS: Final = Metric("wsrm_connections", "gauge", "Open connections to peers.")
WAITING: Final = Metric("wsrm_waiting", "gauge", "Requests of peers that have no response yet.")
EVENTS: Final = Metric(
    "wsrm_events_total",
    "counter",
    "Messages that arrived twice or found no room, acknowledgements, retransmissions, faults and gaps.",
    ("kind",),
    Section.MACHINES,
)
SEQUENCES: Final = Metric(
    "wsrm_sequences",
    "gauge",
    "Incoming and outgoing sequences, by state.",
    ("direction", "state"),
    Section.MACHINES,
)
UNACKNOWLEDGED: Final = Metric(
    "wsrm_unacknowledged",
    "gauge",
    "Messages that were sent and are not acknowledged.",
    (),
    Section.MACHINES,
)
HELD: Final = Metric(
    "wsrm_held",
    "gauge",
    "Messages that arrived and wait for messages with lower numbers.",
    (),
    Section.MACHINES,
)


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Yield the numbers of requests and responses over HTTP since the server started."""
    for metric, answers in ((RECEIVED, receiving.answers), (ANSWERS, courier.answers)):
        yield metric.of([({"status": str(status)}, answers[status]) for status in sorted({*USUAL, *answers})])
    yield POSTS.now(courier.posted)
    yield FAILURES.of([({"reason": failure.value}, courier.failures[failure]) for failure in Failure])
    yield CONNECTIONS.now(courier.connections)
    yield WAITING.now(receiving.waiting)


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """Yield the counters of the machine, also if its endpoint is off."""
    state = opened.machine(Wsrm).state
    yield EVENTS.of([({"kind": each.value}, state.counts[each]) for each in Count])
    found = totals(state)
    yield SEQUENCES.of(
        [
            ({"direction": direction, "state": phase}, count)
            for (direction, phase), count in found.sequences.items()
        ]
    )
    yield UNACKNOWLEDGED.now(found.unacknowledged)
    yield HELD.now(found.held)
