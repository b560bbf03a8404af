"""Collects the counters of MQQP as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Metric, Section
from reliquary.net.mqqp.courier import Courier
from reliquary.net.mqqp.serving import Serving
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.views import totals
from reliquary.queueing.travel.failures import Failure

CALLS: Final = Metric("mqqp_calls_total", "counter", "Calls of clients, by method.", ("method",))
FAULTS: Final = Metric(
    "mqqp_faults_total",
    "counter",
    "Calls of clients that were answered with a fault, by its status.",
    ("status",),
)
CONNECTIONS: Final = Metric("mqqp_connections", "gauge", "Connections of clients.")
CALLS_MADE: Final = Metric(
    "mqqp_calls_made_total", "counter", "Calls to other managers, by method.", ("method",)
)
FAILURES: Final = Metric(
    "mqqp_failures_total",
    "counter",
    "Links to other managers that were lost or could not be made, by the reason.",
    ("reason",),
)
TOTALS: Final = tuple(
    Metric(f"mqqp_{name}", "gauge", meaning, ("direction",), Section.MACHINES)
    for name, meaning in (
        (
            "associations",
            "Clients that read queues here, and queues of other managers that are read from here.",
        ),
        ("queues", "Queues that are open over MQQP."),
        ("pending", "Reads that wait for a message."),
        ("held", "Messages that were read and are not acknowledged."),
    )
)


def traffic(serving: Serving, listener: RpcListener, courier: Courier) -> Iterable[Family]:
    """Yield the numbers of calls in both directions since the server started."""
    yield CALLS.of([({"method": method}, serving.calls[method]) for method in sorted(serving.calls)])
    yield FAULTS.of(
        [({"status": f"{status:#010x}"}, serving.faults[status]) for status in sorted(serving.faults)]
    )
    yield CONNECTIONS.now(listener.connections)
    yield CALLS_MADE.of([({"method": method}, courier.calls[method]) for method in sorted(courier.calls)])
    yield FAILURES.of([({"reason": failure.value}, courier.failures[failure]) for failure in Failure])


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """Yield the numbers of open handles, also if the endpoint is off."""
    found = totals(opened.machine(Mqqp).state)
    for metric, values in zip(
        TOTALS, (found.associations, found.queues, found.pending, found.held), strict=True
    ):
        yield metric.of([({"direction": direction}, value) for direction, value in values.items()])
