"""Collects the metrics that protocols share: messages in both directions, and streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.client.streams import streams
from reliquary.net.counters import Family, Metric, Section
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.reader import NAME as MQQP
from reliquary.queueing.model.administration import Machines
from reliquary.queueing.travel.loopback import NAME as LOOPBACK

MESSAGES: Final = Metric(
    "protocol_messages_total",
    "counter",
    "Messages that this manager took from others (in) and that others took from it (out); "
    "multicast counts as SRMP.",
    ("protocol", "direction"),
    Section.MACHINES,
)
STREAMS: Final = tuple(
    Metric(f"stream_{name}", "gauge", meaning, ("protocol", "direction", "peer", "queue"), Section.MACHINES)
    for name, meaning in (
        (
            "last",
            "The number of the last message of a stream that was sent or received; a new stream begins at 1.",
        ),
        (
            "acknowledged",
            "The number of the last message of a stream that was confirmed.",
        ),
        ("awaiting", "Messages of a stream that are not confirmed."),
        ("rejected", "Messages of a stream in a row that arrived out of order."),
    )
)


def families(machines: Machines) -> Iterable[Family]:
    """Yield the counts of messages by protocol, and the progress of existing streams."""
    travel, mqqp = machines.state.travel, machines.machine(Mqqp).state
    # the loopback leads to no other manager
    carriers = [name for name in travel.carriers.names if name != LOOPBACK]
    counts = [(name, travel.taken[name], travel.delivered[name]) for name in carriers]
    counts.append((MQQP, mqqp.client.taken, mqqp.server.taken))
    yield MESSAGES.of(
        [
            ({"protocol": name, "direction": direction}, count)
            for name, taken, delivered in counts
            for direction, count in (("in", taken), ("out", delivered))
        ]
    )
    yield from _streams(machines)


def _streams(machines: Machines) -> Iterable[Family]:
    seen = list(streams(machines))
    for metric in STREAMS if seen else ():
        value = metric.name.removeprefix("stream_")
        yield metric.of(
            [({name: getattr(each, name) for name in metric.labels}, getattr(each, value)) for each in seen]
        )
