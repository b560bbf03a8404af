"""Collects the counters of MQQB as families of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Metric, Section
from reliquary.net.mqqb.network import Network
from reliquary.net.mqqb.shared import Count as Traffic
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.state import Count, Session

TRAFFIC: Final = Metric(
    "mqqb_traffic_total",
    "counter",
    "Connections that were accepted, refused and dialled, packets and bytes in both directions.",
    ("kind",),
)
CONNECTIONS: Final = Metric("mqqb_connections", "gauge", "Connections of both directions.")
HALF_READ: Final = Metric("mqqb_half_read_bytes", "gauge", "Bytes of packets that have arrived only in part.")
MESSAGES: Final = Metric(
    "mqqb_messages_total",
    "counter",
    "Messages sent again or received twice, out of order or beyond a limit; acknowledgements.",
    ("kind",),
    Section.MACHINES,
)
KEPT: Final = Metric(
    "mqqb_kept",
    "gauge",
    "Incoming streams, their senders and refusals, each limited by the setting of its name.",
    ("kind",),
    Section.MACHINES,
)


def _of_sessions(name: str, meaning: str) -> Metric:
    return Metric(f"mqqb_{name}", "gauge", meaning, ("direction",), Section.MACHINES)


SESSIONS: Final[tuple[tuple[Metric, Callable[[list[Session]], int]], ...]] = (
    (_of_sessions("sessions", "Sessions that peers opened, and those that were opened to peers."), len),
    (
        _of_sessions("open_sessions", "Sessions whose handshake is complete, by who opened them."),
        lambda sessions: sum(each.is_open for each in sessions),
    ),
    (
        _of_sessions("window", "Packets that may be under way in all open sessions."),
        lambda sessions: sum(each.room for each in sessions if each.is_open),
    ),
    (
        _of_sessions("unacknowledged", "Packets that were sent and are not acknowledged."),
        lambda sessions: sum(len(each.outstanding) for each in sessions),
    ),
    (
        _of_sessions("waiting", "Packets that wait for room in the window."),
        lambda sessions: sum(len(each.outbox) for each in sessions),
    ),
)


def traffic(network: Network) -> Iterable[Family]:
    """Yield the numbers of connections, packets and bytes since the server started."""
    yield TRAFFIC.of([({"kind": each.value}, network.counts[each]) for each in Traffic])
    yield CONNECTIONS.now(network.connections)
    yield HALF_READ.now(network.buffered_bytes)


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """Yield the counters of the machine, also if its endpoint is off."""
    state = opened.machine(Mqqb).state
    yield MESSAGES.of([({"kind": each.value}, state.counts[each]) for each in Count])
    kept = {
        "streams": len(state.places),
        "senders": len(state.by_sender),
        "refusals": state.receiver.refusals.total,
    }
    yield KEPT.of([({"kind": kind}, count) for kind, count in kept.items()])
    sessions = {
        "in": [each for each in state.sessions.values() if each.accepted],
        "out": [each for each in state.sessions.values() if not each.accepted],
    }
    for metric, count in SESSIONS:
        yield metric.of([({"direction": way}, count(found)) for way, found in sessions.items()])
