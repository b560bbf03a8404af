"""Collects the counters of HTTPR as families of metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Metric, Section
from reliquary.net.httpr.courier import Courier
from reliquary.net.httpr.receiving import Receiving
from reliquary.protocols.httpr.codec.values import NO_ERROR, Command
from reliquary.protocols.httpr.events import Failure
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.tables import Role
from reliquary.protocols.httpr.views import channels

RECEIVED: Final = Metric("httpr_received_total", "counter", "Requests of peers, by command.", ("command",))
REQUESTS: Final = Metric(
    "httpr_requests_total", "counter", "Requests of this manager to peers, by command.", ("command",)
)
ANSWERS: Final = Metric(
    "httpr_answers_total", "counter", "Answers to requests, by error; 0 is no error.", ("role", "error")
)
FAILURES: Final = Metric(
    "httpr_failures_total",
    "counter",
    "Requests of this manager without a usable answer, by the reason.",
    ("reason",),
)
MESSAGES: Final = Metric(
    "httpr_messages_total",
    "counter",
    "Messages in batches that were received and sent; a message may be sent more than once.",
    ("role", "direction"),
)
CONNECTIONS: Final = Metric(
    "httpr_connections", "gauge", "Channels with a connection on which this manager is the client."
)
CHANNELS: Final = Metric(
    "httpr_channels",
    "gauge",
    "Channels on which this manager is the client, and on which it is the server.",
    ("role",),
    Section.MACHINES,
)
UNANSWERED: Final = Metric(
    "httpr_unanswered", "gauge", "Requests of all channels without a response.", ("role",), Section.MACHINES
)
BATCHES: Final = Metric("httpr_batches_in_doubt", "gauge", "Batches that may have arrived or not.", ("role",))
HELD: Final = Metric(
    "httpr_messages_in_doubt",
    "gauge",
    "Messages in batches that may have arrived or not; no other reader gets them.",
    ("role",),
)


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Yield the counts of requests received and sent since the server started."""
    yield RECEIVED.of(
        [
            ({"command": each.value if each else "unreadable"}, receiving.requests[each])
            for each in (*Command, None)
        ]
    )
    yield REQUESTS.of([({"command": each.value}, courier.requests[each]) for each in Command])
    yield ANSWERS.of(
        [
            ({"role": role, "error": str(number)}, counts[number])
            for role, counts in (("server", receiving.answers), ("client", courier.answers))
            for number in sorted({NO_ERROR, *counts})
        ]
    )
    yield FAILURES.of([({"reason": each.value}, courier.failures[each]) for each in Failure])
    yield MESSAGES.of(
        [
            ({"role": "server", "direction": "in"}, receiving.messages_in),
            ({"role": "server", "direction": "out"}, receiving.messages_out),
            ({"role": "client", "direction": "in"}, courier.messages_in),
            ({"role": "client", "direction": "out"}, courier.messages_out),
        ]
    )
    yield CONNECTIONS.now(courier.connections)


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """Yield the numbers of channels and of batches in doubt, also if the endpoint is off."""
    count, unanswered, batches, messages = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for each in channels(opened.state, opened.machine(Httpr).state):
        count[each.role] += 1
        unanswered[each.role] += each.unanswered
        batches[each.role] += len(each.in_doubt)
        messages[each.role] += sum(batch.messages for batch in each.in_doubt)
    for metric, counts in (
        (CHANNELS, count),
        (UNANSWERED, unanswered),
        (BATCHES, batches),
        (HELD, messages),
    ):
        yield metric.of([({"role": role.value}, counts[role.value]) for role in Role])
