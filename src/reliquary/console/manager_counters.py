"""Collects the counters of the manager as families of metrics.

Messages, syncs, consumers, outgoing queues.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from reliquary.base.time import SECOND
from reliquary.console.context import Context
from reliquary.engine.history import HistoryStatus
from reliquary.net.counters import Family, Metric, MetricType, Section
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.views.consumers import all_consumers
from reliquary.views.manager import manager_view
from reliquary.views.outgoing_queues import outgoing_queues


def _own(name: str, kind: MetricType, meaning: str, *labels: str) -> Metric:
    return Metric(name, kind, meaning, labels, Section.MANAGER)


INFO: Final = _own(
    "info",
    "gauge",
    "Always 1; the labels say which server this is.",
    "version",
    "manager",
    "computer",
)
MESSAGES: Final = _own("messages", "gauge", "Messages in all queues.")
BYTES: Final = _own("bytes", "gauge", "Bytes that count against the manager's quota.")
QUOTA: Final = _own("quota_bytes", "gauge", "The manager's quota, if it has one.")
THROTTLED: Final = _own("throttled", "gauge", "1 while the manager accepts no messages.")
ONLINE: Final = _own("online", "gauge", "1 while messages are received from other managers and sent to them.")
ACTS_FAILING: Final = _own("acts_failing", "gauge", "1 while acts of administrators cannot be logged.")
CONNECTIONS: Final = _own("connections", "gauge", "Clients of the data plane.")
UNDER_WAY: Final = _own("events_under_way", "gauge", "Events that are queued or wait for a sync.")
TURNS: Final = _own("turns_total", "counter", "Events that were processed.")
SYNCS: Final = _own("syncs_total", "counter", "Syncs of the store.")
SYNC_SECONDS: Final = _own("sync_seconds", "histogram", "How long syncs of the store took.")
SYNC_TURNS: Final = _own("sync_turns", "histogram", "How many turns each sync of the store covered.")
LOOP_LAG: Final = _own(
    "loop_lag_seconds", "histogram", "How late a timer of the event loop was; measured ten times a second."
)
CONFIRM: Final = _own(
    "confirm_seconds", "gauge", "Time from an event to the sync that covers it, when last measured."
)
OVERFLOWS: Final = _own(
    "poison_overflows_total",
    "counter",
    "Times that a poison message stayed because there was no room to put it aside.",
)
TRANSACTIONS: Final = _own("transactions", "gauge", "Transactions that have not ended.", "state")
COPIES_LOST: Final = _own(
    "copies_lost_total",
    "counter",
    "Journal copies, dead letters, acknowledgements and reports that could not be kept.",
    "copy",
)
_CONSUMER: Final = ("queue", "consumer")
CONSUMERS: Final = (
    _own(
        "consumer_lag",
        "gauge",
        "Numbers of a feed that a consumer has not read; not fewer than its unread messages.",
        *_CONSUMER,
    ),
    _own(
        "consumer_lost_total",
        "counter",
        "Messages that a reader of a feed lost because its limit was passed.",
        *_CONSUMER,
    ),
    _own("consumer_paused", "gauge", "1 while a reader of a feed is paused.", *_CONSUMER),
)
_OUTGOING: Final[tuple[tuple[str, MetricType, str], ...]] = (
    ("messages", "gauge", "Messages that wait to be sent or are being sent."),
    ("bytes", "gauge", "Bytes that count against the queue's quota."),
    ("delivered_total", "counter", "Messages that arrived, since the server started."),
    ("refused_total", "counter", "Messages that the peer refused, since the server started."),
    ("failures", "gauge", "Failures in a row, since the last success."),
)
OUTGOING: Final = tuple(
    _own(f"outgoing_{name}", kind, meaning, "destination") for name, kind, meaning in _OUTGOING
)
OUTGOING_STATE: Final = _own(
    "outgoing_state", "gauge", "1 for the state that the queue is in.", "destination", "state"
)
_HISTORY: Final[tuple[tuple[str, MetricType, str], ...]] = (
    ("events_total", "counter", "Events that were recorded since the store was made."),
    ("exported_total", "counter", "The number of the last event that is in a file."),
    ("pending", "gauge", "Events that are in no file yet."),
    ("pending_bytes", "gauge", "Bytes of events that are in no file yet."),
    ("files", "gauge", "Files in the folder of the history."),
    ("file_bytes", "gauge", "Bytes of all files of the history."),
    ("missing", "gauge", "Events that were not recorded, because there was no room."),
    ("stopped", "gauge", "1 while there is no room for more events."),
    ("failing", "gauge", "1 while no event can be exported."),
)
HISTORY: Final = tuple(
    Metric(f"history_{name}", kind, meaning, (), Section.HISTORY) for name, kind, meaning in _HISTORY
)


def manager(context: Context) -> Iterable[Family]:
    """Yield the numbers of the whole manager."""
    engine = context.opened.engine
    found = manager_view(context.opened.state)
    about = {"version": context.version, "manager": found.identifier, "computer": found.computer_name}
    yield INFO.of([(about, 1)])
    yield MESSAGES.now(found.messages)
    yield BYTES.now(found.bytes)
    if found.quota_kilobytes != FOREVER:
        yield QUOTA.now(found.quota_kilobytes * 1024)
    yield THROTTLED.now(int(found.throttled))
    yield ONLINE.now(int(found.online))
    yield ACTS_FAILING.now(int(bool(context.acts.trouble)))
    yield CONNECTIONS.now(context.connections())
    yield UNDER_WAY.now(engine.under_way)
    yield TURNS.now(engine.turns)
    yield SYNCS.now(engine.syncs.count)
    yield SYNC_SECONDS.spread(engine.syncs.durations)
    yield SYNC_TURNS.spread(engine.syncs.sizes)
    sampler = context.console.sampler
    yield LOOP_LAG.spread(sampler.lag.late)
    if sampler.samples:
        yield CONFIRM.now(sampler.samples[-1].confirm / SECOND)
    yield OVERFLOWS.now(found.poison_overflows)
    yield TRANSACTIONS.of(
        [
            ({"state": "active"}, found.transactions_active),
            ({"state": "prepared"}, found.transactions_prepared),
        ]
    )
    yield COPIES_LOST.of([({"copy": copy.word}, found.copies_lost.get(copy.word, 0)) for copy in Copy])


def consumers(state: State) -> Iterable[Family]:
    """Yield the backlog of the readers of feeds, if there are any."""
    readers = list(all_consumers(state))
    for metric in CONSUMERS if readers else ():
        value = attrgetter(metric.name.removeprefix("consumer_").removesuffix("_total"))
        yield metric.of(
            [({"queue": each.queue, "consumer": each.name}, int(value(each))) for each in readers]
        )


def outgoing(state: State) -> Iterable[Family]:
    """Yield the backlog of messages for other managers, if there was any since the start."""
    queues = list(outgoing_queues(state))
    if not queues:
        return
    for metric in OUTGOING:
        value = attrgetter(metric.name.removeprefix("outgoing_").removesuffix("_total"))
        yield metric.of([({"destination": each.destination}, value(each)) for each in queues])
    yield OUTGOING_STATE.of(
        [
            ({"destination": each.destination, "state": state.value}, int(each.state == state.value))
            for each in queues
            for state in OutgoingState
        ]
    )


def history(status: HistoryStatus) -> Iterable[Family]:
    """Yield the number of recorded events, and the progress of their export to files."""
    values = (
        status.last,
        status.exported,
        status.pending,
        status.pending_bytes,
        status.files,
        status.bytes,
        status.missing,
        int(status.stopped),
        int(bool(status.error)),
    )
    for metric, value in zip(HISTORY, values, strict=True):
        yield metric.now(value)
