"""What HTTPR counts, as families of metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, single
from reliquary.net.httpr.courier import Courier
from reliquary.net.httpr.receiving import Receiving
from reliquary.protocols.httpr.codec.values import NO_ERROR, Command
from reliquary.protocols.httpr.events import Failure
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.tables import Role
from reliquary.protocols.httpr.views import channels


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Requests that came and went, since the server started."""
    yield Family(
        "httpr_received_total",
        "counter",
        "Requests that came, by their commands.",
        [
            ({"command": each.value if each else "unreadable"}, receiving.requests[each])
            for each in (*Command, None)
        ],
    )
    yield Family(
        "httpr_requests_total",
        "counter",
        "Requests that went out, by their commands.",
        [({"command": each.value}, courier.requests[each]) for each in Command],
    )
    yield Family(
        "httpr_answers_total",
        "counter",
        "Answers, by error; 0 is none.",
        [
            ({"role": role, "error": str(number)}, counts[number])
            for role, counts in (("server", receiving.answers), ("client", courier.answers))
            for number in sorted({NO_ERROR, *counts})
        ],
    )
    yield Family(
        "httpr_failures_total",
        "counter",
        "Requests that went out and have no usable answer, by the reason.",
        [({"reason": each.value}, courier.failures[each]) for each in Failure],
    )
    yield Family(
        "httpr_messages_total",
        "counter",
        "Messages in batches that came and went; those that went, perhaps more than once.",
        [
            ({"role": "server", "direction": "in"}, receiving.messages_in),
            ({"role": "server", "direction": "out"}, receiving.messages_out),
            ({"role": "client", "direction": "in"}, courier.messages_in),
            ({"role": "client", "direction": "out"}, courier.messages_out),
        ],
    )
    meaning = "Channels that we drive with a connection."
    yield single("httpr_connections", "gauge", meaning, courier.connections)


def in_doubt(opened: OpenedEngine) -> Iterable[Family]:
    """Batches whose outcome is not known, whether the endpoint is on or off."""
    batches, messages = Counter[str](), Counter[str]()
    for each in channels(opened.state, opened.machine(Httpr).state):
        batches[each.role] += len(each.in_doubt)
        messages[each.role] += sum(batch.messages for batch in each.in_doubt)
    for name, meaning, counts in (
        ("batches", "Batches that may have arrived or not.", batches),
        ("messages", "Messages in them, which nobody else gets.", messages),
    ):
        samples = [({"role": role.value}, counts[role.value]) for role in Role]
        yield Family(f"httpr_{name}_in_doubt", "gauge", meaning, samples)
