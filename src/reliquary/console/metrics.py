"""Writes metrics in the Prometheus text format, version 0.0.4, from views and counters.

`manager_counters` has the counters of the manager, endpoints have theirs (`Context.counters`); this
module has those of queues, which may be very many, and the text format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from operator import attrgetter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from reliquary.console import manager_counters
from reliquary.console.context import Context, context_of
from reliquary.net.api.operations import TEXT, operation
from reliquary.net.counters import Family, Metric, Section
from reliquary.queueing.model.display import name_of
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy
from reliquary.views.queues import delayed, queue_states

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
PREFIX: Final = "reliquary_"
SAMPLES: Final = 1000
"""The samples of queues that are made without a pause."""


@operation("Show the metrics for Prometheus", answers=(TEXT,))
async def show_metrics(request: Request) -> Response:
    """Serve GET /metrics in pieces, so that the loop does other work between two of them."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return StreamingResponse(_settled(context, pieces_of(context)), media_type=CONTENT_TYPE)


async def _settled(context: Context, pieces: Iterator[str]) -> AsyncIterator[str]:
    """Yield each piece after everything that it reports is on disk."""
    for piece in pieces:
        await context.opened.settled()
        yield piece


def pieces_of(context: Context) -> Iterator[str]:
    """Yield all families in the order of their sections; a piece has at most some thousand samples."""
    opened = context.opened
    yield "".join(map(text_of, manager_counters.manager(context)))
    yield from _of_queues(opened.state)
    found = [*manager_counters.consumers(opened.state), *manager_counters.outgoing(opened.state)]
    if opened.history is not None:
        found += manager_counters.history(opened.history.status())
    for counters in context.counters:
        found += counters()
    for family in sorted(found, key=attrgetter("section")):
        yield text_of(family)


def _of_a_queue(name: str, meaning: str) -> Metric:
    return Metric(f"queue_{name}", "gauge", meaning, ("queue",), Section.MANAGER)


QUEUE_COLUMNS: Final[tuple[tuple[Metric, Callable[[QueueState], int]], ...]] = (
    (_of_a_queue("messages", "Messages that can be received."), lambda queue: len(queue.order)),
    (
        _of_a_queue("locked", "Messages that a receipt or a transaction has locked."),
        lambda queue: len(queue.order.locked),
    ),
    (_of_a_queue("delayed", "Messages that are delayed and cannot be received yet."), delayed),
    (
        _of_a_queue("bytes", "Bytes that count against the queue's quota."),
        lambda queue: queue.total_bytes,
    ),
    (
        _of_a_queue("readers_waiting", "Reads that wait for a message."),
        lambda queue: len(queue.readers.waiting),
    ),
    (
        _of_a_queue("open_handles", "Handles that are open on the queue."),
        lambda queue: len(queue.readers.descriptors),
    ),
    (
        _of_a_queue(
            "messages_retained", "Messages that left the queue and are kept for readers of its feed."
        ),
        lambda queue: queue.feed.retained,
    ),
    (
        _of_a_queue(
            "bytes_retained",
            "Bytes of messages that are kept for readers of the feed; no quota counts them.",
        ),
        lambda queue: queue.feed.retained_size,
    ),
)
COPIES_LOST: Final = Metric(
    "queue_copies_lost_total",
    "counter",
    "Journal copies, dead letters, acknowledgements and reports of one queue that could not be kept.",
    ("queue", "copy"),
    Section.MANAGER,
)
_NONE_LOST: Final = (0,) * len(Copy)


def _of_queues(state: State) -> Iterator[str]:
    """Yield the metrics of each queue, also zeros, one family at a time; there may be very many queues."""
    labels: dict[int, str] = {}

    def label_of(queue: QueueState) -> str:
        label = labels.get(queue.number)
        if label is None:
            label = labels[queue.number] = _escape(name_of(state, queue))
        return label

    for column, value in QUEUE_COLUMNS:
        metric = PREFIX + column.name
        lines = [_opening(column)]
        for queue in queue_states(state):
            lines.append(f'{metric}{{queue="{label_of(queue)}"}} {value(queue)}\n')
            if len(lines) > SAMPLES:
                yield "".join(lines)
                lines = []
        yield "".join(lines)
    lines = [_opening(COPIES_LOST)]
    for queue in queue_states(state):
        start = f'{PREFIX}{COPIES_LOST.name}{{queue="{label_of(queue)}",copy="'
        for copy, count in zip(Copy, (*queue.counts.lost, *_NONE_LOST), strict=False):
            lines.append(f'{start}{copy.word}"}} {count}\n')
        if len(lines) > SAMPLES:
            yield "".join(lines)
            lines = []
    yield "".join(lines)


def text_of(family: Family) -> str:
    """Return one metric with all its samples as text."""
    name = PREFIX + family.name
    lines = [_opening(family.metric)]
    for labels, value in family.samples:
        inside = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
        lines.append(f"{name}{{{inside}}} {value}\n" if inside else f"{name} {value}\n")
    if family.histogram is not None:
        for bound, count in family.histogram.cumulative():
            lines.append(f'{name}_bucket{{le="{_bound(bound)}"}} {count}\n')
        lines += [f"{name}_sum {family.histogram.sum}\n", f"{name}_count {family.histogram.count}\n"]
    return "".join(lines)


def _bound(bound: float) -> str:
    return "+Inf" if bound == float("inf") else f"{bound:g}"


def _opening(metric: Metric) -> str:
    name = PREFIX + metric.name
    return f"# HELP {name} {metric.meaning}\n# TYPE {name} {metric.kind}\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
