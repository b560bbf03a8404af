"""What MQQB counts, as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Sample, Section, single
from reliquary.net.mqqb.network import Network
from reliquary.net.mqqb.shared import Count as Traffic
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.state import Count, Session


def traffic(network: Network) -> Iterable[Family]:
    """Connections, packets and bytes, since the server started."""
    yield Family(
        "mqqb_traffic_total",
        "counter",
        "Connections that were accepted, refused and dialled, packets and bytes in both directions.",
        [({"kind": each.value}, network.counts[each]) for each in Traffic],
    )
    yield single("mqqb_connections", "gauge", "Connections of both directions.", network.connections)
    yield single("mqqb_half_read_bytes", "gauge", "Bytes of packets that came in part.", network.held_bytes)


def machine(opened: OpenedEngine) -> Iterable[Family]:
    """What the machine counts, whether its endpoint is on or off."""
    state = opened.machine(Mqqb).state
    yield Family(
        "mqqb_messages_total",
        "counter",
        "Messages that were retransmitted, came twice or out of turn, and acknowledgements.",
        [({"kind": each.value}, state.counts[each]) for each in Count],
        Section.MACHINES,
    )
    sessions = {
        "in": [each for each in state.sessions.values() if each.accepted],
        "out": [each for each in state.sessions.values() if not each.accepted],
    }
    for name, meaning, count in (
        ("sessions", "Sessions that peers opened, and those that were opened to peers.", len),
        ("open_sessions", "Those of them whose handshake is over.", _open),
        ("window", "Packets that may be under way in all open sessions.", _window),
        ("unacknowledged", "Packets that were sent and are not acknowledged.", _unacknowledged),
        ("waiting", "Packets that wait for room in the window.", _waiting),
    ):
        samples: list[Sample] = [({"direction": way}, count(found)) for way, found in sessions.items()]
        yield Family(f"mqqb_{name}", "gauge", meaning, samples, Section.MACHINES)


def _open(sessions: list[Session]) -> int:
    return sum(each.is_open for each in sessions)


def _window(sessions: list[Session]) -> int:
    return sum(each.room for each in sessions if each.is_open)


def _unacknowledged(sessions: list[Session]) -> int:
    return sum(len(each.outstanding) for each in sessions)


def _waiting(sessions: list[Session]) -> int:
    return sum(len(each.outbox) for each in sessions)
