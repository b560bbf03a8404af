"""What SRMP and multicast count, as families of metrics."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family, Kind, Sample, Section, single
from reliquary.net.multicast.carrier import Carrier
from reliquary.net.multicast.carrier import Count as Multicast
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import STATUSES, Receiving
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.state import Count
from reliquary.protocols.srmp.views import streams
from reliquary.queueing.travel.failures import Failure


def traffic(receiving: Receiving, courier: Courier) -> Iterable[Family]:
    """Messages over HTTP, since the server started."""
    yield Family(
        "srmp_received_total",
        "counter",
        "POSTs that came, by the status they were answered with.",
        [({"status": str(status)}, receiving.answers[status]) for status in STATUSES],
    )
    yield single("srmp_posts_total", "counter", "POSTs that went out.", courier.posted)
    yield Family(
        "srmp_answers_total",
        "counter",
        "Answers to them, by status.",
        [
            ({"status": str(status)}, courier.answers[status])
            for status in sorted({*courier.answers, *STATUSES} - {405})
        ],
    )
    yield Family(
        "srmp_failures_total",
        "counter",
        "Those that have no answer, by the reason.",
        [({"reason": failure.value}, courier.failures[failure]) for failure in Failure],
    )
    yield single("srmp_connections", "gauge", "Outgoing queues with a connection.", courier.connections)


def machine(opened: OpenedEngine, carrier: Carrier | None) -> Iterable[Family]:
    """What the machine counts, whether its endpoint is on or off; `carrier` is None without multicast."""
    state = opened.machine(Srmp).state
    yield Family(
        "srmp_messages_total",
        "counter",
        "Messages over HTTP that came twice or out of turn, receipts that came and went.",
        [({"kind": each.value}, state.counts[each]) for each in Count],
        Section.MACHINES,
    )
    if carrier is not None:
        yield Family(
            "multicast_total",
            "counter",
            "Messages by multicast that went and came, and packets of theirs.",
            [({"kind": each.value}, carrier.counts[each]) for each in Multicast],
            Section.MACHINES,
        )
    yield from _streams(opened)


def _streams(opened: OpenedEngine) -> Iterable[Family]:
    """How far streams got, where there are any."""
    seen = list(streams(opened.state, opened.machine(Srmp).state))
    if not seen:
        return
    columns: tuple[tuple[str, Kind, str], ...] = (
        ("last", "counter", "The number of the last message that was sent or taken."),
        ("acknowledged", "counter", "The number of the last message that a receipt confirmed."),
        ("awaiting", "gauge", "Messages that wait for a receipt to come or to go."),
        ("rejected", "gauge", "Messages in a row that came out of turn."),
    )
    for name, kind, meaning in columns:
        samples: list[Sample] = [
            ({"direction": each.direction, "peer": each.peer, "queue": each.queue}, getattr(each, name))
            for each in seen
        ]
        yield Family(f"stream_{name}", kind, meaning, samples, Section.MACHINES)
