"""What MQQP counts, as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Section, single
from reliquary.net.mqqp.courier import Courier
from reliquary.net.mqqp.serving import Serving
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.views import totals
from reliquary.queueing.travel.failures import Failure


def traffic(serving: Serving, listener: RpcListener, courier: Courier) -> Iterable[Family]:
    """Calls in both directions, since the server started."""
    yield Family(
        "mqqp_calls_total",
        "counter",
        "Calls of clients, by method.",
        [({"method": method}, serving.calls[method]) for method in sorted(serving.calls)],
    )
    yield Family(
        "mqqp_faults_total",
        "counter",
        "Calls of clients that were answered with a fault, by its status.",
        [({"status": f"{status:#010x}"}, serving.faults[status]) for status in sorted(serving.faults)],
    )
    yield single("mqqp_connections", "gauge", "Connections of clients.", listener.connections)
    yield Family(
        "mqqp_calls_made_total",
        "counter",
        "Calls to other managers, by method.",
        [({"method": method}, courier.calls[method]) for method in sorted(courier.calls)],
    )
    yield Family(
        "mqqp_failures_total",
        "counter",
        "Links to other managers that were lost or could not be made, by the reason.",
        [({"reason": failure.value}, courier.failures[failure]) for failure in Failure],
    )


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """What the machine has open, whether its endpoint is on or off."""
    found = totals(opened.machine(Mqqp).state)
    for name, meaning, values in (
        ("associations", "Clients that read here, and queues elsewhere that are read.", found.associations),
        ("queues", "Queues that are open over MQQP.", found.queues),
        ("pending", "Reads that wait for a message.", found.pending),
        ("held", "Messages that were handed out and are not acknowledged.", found.held),
    ):
        samples = [({"direction": direction}, value) for direction, value in values.items()]
        yield Family(f"mqqp_{name}", "gauge", meaning, samples, Section.MACHINES)
