"""What WS-RM counts, as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Section, single
from reliquary.net.wsrm.courier import Courier
from reliquary.net.wsrm.receiving import Receiving
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.state import Count
from reliquary.protocols.wsrm.views import totals
from reliquary.queueing.travel.failures import Failure

USUAL: Final = (200, 202)
"""Statuses that are shown though they were not counted yet."""


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Requests and responses over HTTP, since the server started."""
    for name, meaning, answers in (
        ("received", "Requests that came, by the status they were answered with.", receiving.answers),
        ("answers", "Responses to POSTs that went out, by status.", courier.answers),
    ):
        samples = [({"status": str(status)}, answers[status]) for status in sorted({*USUAL, *answers})]
        yield Family(f"wsrm_{name}_total", "counter", meaning, samples)
    yield single("wsrm_posts_total", "counter", "POSTs that went out.", courier.posted)
    yield Family(
        "wsrm_failures_total",
        "counter",
        "POSTs that went out and have no usable response, by the reason.",
        [({"reason": failure.value}, courier.failures[failure]) for failure in Failure],
    )
    yield single("wsrm_connections", "gauge", "Routes to peers with a connection.", courier.connections)
    meaning = "Requests that came and have no response yet."
    yield single("wsrm_waiting", "gauge", meaning, receiving.waiting)


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """What the machine counts, whether its endpoint is on or off."""
    state = opened.machine(Wsrm).state
    yield Family(
        "wsrm_events_total",
        "counter",
        "Messages that came again or found no room, acknowledgements, retransmissions, faults and gaps.",
        [({"kind": each.value}, state.counts[each]) for each in Count],
        Section.MACHINES,
    )
    found = totals(state)
    yield Family(
        "wsrm_sequences",
        "gauge",
        "Sequences that come in and go out, by their state.",
        [
            ({"direction": direction, "state": phase}, count)
            for (direction, phase), count in found.sequences.items()
        ],
        Section.MACHINES,
    )
    for name, meaning, value in (
        ("unacknowledged", "Messages that were sent and are not acknowledged.", found.unacknowledged),
        ("held", "Messages that came and wait for those before them.", found.held),
    ):
        yield single(f"wsrm_{name}", "gauge", meaning, value, Section.MACHINES)
