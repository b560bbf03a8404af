"""Metrics in the Prometheus text format, version 0.0.4, written from views and counters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from reliquary.base.time import SECOND
from reliquary.console.context import Context, context_of
from reliquary.engine.history import HistoryStatus
from reliquary.net.api.operations import TEXT, operation
from reliquary.net.counters import Family, Kind, Sample, Section, single
from reliquary.queueing.model.display import name_of
from reliquary.queueing.model.queue_order import is_listed
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.rules.losses import by_word
from reliquary.views.consumers import all_consumers
from reliquary.views.manager import manager_view
from reliquary.views.outgoing_queues import OutgoingInfo, outgoing_queues
from reliquary.views.queues import delayed, queue_states

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
PREFIX: Final = "reliquary_"
SAMPLES: Final = 1000
"""Samples of queues that are made without a pause."""


@operation("Show the metrics for Prometheus", answers=(TEXT,))
async def show_metrics(request: Request) -> Response:
    """GET /metrics: made while it leaves, and the loop does other work between two pieces."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return StreamingResponse(_settled(context, pieces_of(context)), media_type=CONTENT_TYPE)


async def _settled(context: Context, pieces: Iterator[str]) -> AsyncIterator[str]:
    """Hand on each piece when all that it tells of is on disk."""
    for piece in pieces:
        await context.opened.settled()
        yield piece


def pieces_of(context: Context) -> Iterator[str]:
    """All families in the order of their sections; no piece has more than some thousand samples."""
    yield "".join(map(text_of, _manager(context)))
    yield from _of_queues(context.opened.state)
    found = [*_feeds(context), *_outgoing(list(outgoing_queues(context.opened.state)))]
    if context.opened.history is not None:
        found += _history(context.opened.history.status())
    for counters in context.counters:
        found += counters()
    for family in sorted(found, key=attrgetter("section")):
        yield text_of(family)


def _of_manager(name: str, kind: Kind, meaning: str, samples: Sequence[Sample]) -> Family:
    return Family(name, kind, meaning, samples, Section.MANAGER)


def _manager(context: Context) -> Iterable[Family]:
    engine, state = context.opened.engine, context.opened.state
    manager = manager_view(state)
    about = {"version": context.version, "manager": manager.identifier, "computer": manager.computer_name}
    yield _of_manager("info", "gauge", "Which server this is.", [(about, 1)])
    overflows = "Times that a poison message stayed because there was no room to put it aside."
    numbers: tuple[tuple[str, Kind, str, int], ...] = (
        ("messages", "gauge", "Messages in all queues.", manager.messages),
        ("bytes", "gauge", "Bytes that count against the manager's quota.", manager.bytes),
        ("connections", "gauge", "Clients of the data plane.", context.connections()),
        ("events_under_way", "gauge", "Events that are queued or wait for a sync.", engine.under_way),
        ("turns_total", "counter", "Events that were carried out.", engine.turns),
        ("syncs_total", "counter", "Syncs of the store.", engine.syncs.count),
        ("poison_overflows_total", "counter", overflows, manager.poison_overflows),
    )
    for name, kind, meaning, value in numbers:
        yield single(name, kind, meaning, value, Section.MANAGER)
    yield from _of_samples(context)
    yield _of_manager(
        "transactions",
        "gauge",
        "Transactions that have not ended.",
        [
            ({"state": "active"}, manager.transactions_active),
            ({"state": "prepared"}, manager.transactions_prepared),
        ],
    )
    yield _of_manager(
        "copies_lost_total",
        "counter",
        "Journal copies, dead letters, acknowledgements and reports that could not be kept.",
        [({"copy": copy.word}, manager.copies_lost.get(copy.word, 0)) for copy in Copy],
    )
    lost: list[Sample] = [
        ({"queue": name_of(state, queue), "copy": copy}, count)
        for queue in state.queues.values()
        if queue.counts.lost and is_listed(queue.record) and not queue.record.deleting
        for copy, count in by_word(queue.counts.lost).items()
    ]
    if lost:
        meaning = "The same for one queue, where there were any."
        yield _of_manager("queue_copies_lost_total", "counter", meaning, lost)


def _of_samples(context: Context) -> Iterable[Family]:
    """What the last sample measured, where there is one."""
    samples = context.console.sampler.samples
    if samples:
        for name, meaning, value in (
            (
                "confirm_seconds",
                "Time from an event to the sync that covers it, when last measured.",
                samples[-1].confirm,
            ),
            ("loop_lag_seconds", "How late the event loop was, when last measured.", samples[-1].lag),
        ):
            yield single(name, "gauge", meaning, value / SECOND, Section.MANAGER)


QUEUE_COLUMNS: Final[tuple[tuple[str, str, Callable[[QueueState], int]], ...]] = (
    ("messages", "Messages that can be received.", lambda queue: len(queue.order)),
    ("locked", "Messages that a receipt or a transaction holds.", lambda queue: len(queue.order.locked)),
    ("delayed", "Messages that nobody sees yet.", delayed),
    ("bytes", "Bytes that count against the queue's quota.", lambda queue: queue.total_bytes),
    ("readers_waiting", "Reads that wait for a message.", lambda queue: len(queue.readers.waiting)),
    ("open_handles", "Handles that are open on the queue.", lambda queue: len(queue.readers.descriptors)),
)


def _of_queues(state: State) -> Iterator[str]:
    """What each queue has, a family at a time; there may be very many queues."""
    labels: dict[int, str] = {}
    for name, meaning, value in QUEUE_COLUMNS:
        metric = f"{PREFIX}queue_{name}"
        lines = [_opening(metric, "gauge", meaning)]
        for queue in queue_states(state):
            label = labels.get(queue.number)
            if label is None:
                label = labels[queue.number] = _escape(name_of(state, queue))
            lines.append(f'{metric}{{queue="{label}"}} {value(queue)}\n')
            if len(lines) > SAMPLES:
                yield "".join(lines)
                lines = []
        yield "".join(lines)


def _feeds(context: Context) -> Iterable[Family]:
    """Who reads feeds, and what is kept for them, where anybody does."""
    readers = list(all_consumers(context.opened.state))
    if not readers:
        return
    kept = {each.queue: each for each in readers}
    for name, meaning in (
        ("messages", "Messages that left the queue and are kept for readers of its feed."),
        ("bytes", "Their bytes, which count against no quota."),
    ):
        samples: list[Sample] = [
            ({"queue": queue}, getattr(each, f"{name}_retained")) for queue, each in kept.items()
        ]
        yield _of_manager(f"queue_{name}_retained", "gauge", meaning, samples)
    lag: list[Sample] = [({"queue": each.queue, "consumer": each.name}, each.lag) for each in readers]
    meaning = "Numbers that a reader of a feed has yet to pass; at least as many as messages."
    yield _of_manager("consumer_lag", "gauge", meaning, lag)
    lost: list[Sample] = [({"queue": each.queue, "consumer": each.name}, each.lost) for each in readers]
    meaning = "Messages that a reader of a feed lost because its limit was passed."
    yield _of_manager("consumer_lost_total", "counter", meaning, lost)
    paused: list[Sample] = [
        ({"queue": each.queue, "consumer": each.name}, int(each.paused)) for each in readers
    ]
    yield _of_manager("consumer_paused", "gauge", "1 while a reader of a feed is paused.", paused)


def _history(status: HistoryStatus) -> Iterable[Family]:
    """What was told, and how far it is in files."""
    numbers: tuple[tuple[str, Kind, str, int], ...] = (
        ("events_total", "counter", "Events that were told since the store was made.", status.last),
        ("exported_total", "counter", "The last of them that is in a file.", status.exported),
        ("pending", "gauge", "Events that are in no file yet.", status.pending),
        ("pending_bytes", "gauge", "What they take in the store.", status.pending_bytes),
        ("files", "gauge", "Files in the folder.", status.files),
        ("file_bytes", "gauge", "Bytes of all files.", status.bytes),
        ("missing", "gauge", "Events that were not told since there is no room.", status.missing),
        ("stopped", "gauge", "1 while there is no room for more.", int(status.stopped)),
        ("failing", "gauge", "1 while nothing can be exported.", int(bool(status.error))),
    )
    for name, kind, meaning, value in numbers:
        yield single(f"history_{name}", kind, meaning, value, Section.HISTORY)


def _outgoing(queues: Sequence[OutgoingInfo]) -> Iterable[Family]:
    """What waits for other managers, where anything ever did."""
    if not queues:
        return
    columns: tuple[tuple[str, Kind, str], ...] = (
        ("messages", "gauge", "Messages that wait to be sent or are being sent."),
        ("bytes", "gauge", "Bytes that count against the queue's quota."),
        ("delivered_total", "counter", "Messages that arrived, since the server started."),
        ("refused_total", "counter", "Messages that would not be had there, since the server started."),
        ("failures", "gauge", "Failures in a row, since something last went through."),
    )
    for name, kind, meaning in columns:
        value = attrgetter(name.removesuffix("_total"))
        samples: list[Sample] = [({"destination": each.destination}, value(each)) for each in queues]
        yield _of_manager(f"outgoing_{name}", kind, meaning, samples)
    states: list[Sample] = [
        ({"destination": each.destination, "state": state.value}, int(each.state == state.value))
        for each in queues
        for state in OutgoingState
    ]
    yield _of_manager("outgoing_state", "gauge", "1 for the state that the queue is in.", states)


def text_of(family: Family) -> str:
    """One metric with all its samples."""
    name = PREFIX + family.name
    lines = [_opening(name, family.kind, family.meaning)]
    for labels, value in family.samples:
        inside = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
        lines.append(f"{name}{{{inside}}} {value}\n" if inside else f"{name} {value}\n")
    return "".join(lines)


def _opening(name: str, kind: Kind, meaning: str) -> str:
    return f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
