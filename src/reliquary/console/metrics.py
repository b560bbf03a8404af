"""Metrics in the Prometheus text format, version 0.0.4, written from views and counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import Context, context_of
from reliquary.engine import views
from reliquary.engine.channels import channels
from reliquary.engine.history import HistoryStatus
from reliquary.engine.streams import StreamView, streams
from reliquary.engine.views import OutgoingView
from reliquary.net.multicast.carrier import Count as Multicast
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import STATUSES, Receiving
from reliquary.protocols.httpr.codec.values import NO_ERROR, Command
from reliquary.protocols.httpr.events import Failure as HttprFailure
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.tables import Role
from reliquary.protocols.srmp.events import Failure
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.security.rights import ManagerRight
from reliquary.queueing.tables import Copy
from reliquary.queueing.travel.link import OutgoingState

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]


async def show_metrics(request: Request) -> Response:
    """GET /metrics."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    text = "".join(_families(context))
    await context.opened.settled()
    return Response(text, media_type=CONTENT_TYPE)


def _families(context: Context) -> Iterable[str]:
    engine, state = context.opened.engine, context.opened.state
    manager, queues = views.manager(state), list(views.queues(state))
    about = {"version": context.version, "manager": manager.identifier, "computer": manager.computer_name}
    yield family("reliquary_info", "gauge", "Which server this is.", [(about, 1)])
    for name, kind, meaning, value in (
        ("messages", "gauge", "Messages in all queues.", manager.messages),
        ("bytes", "gauge", "Bytes that count against the manager's quota.", manager.bytes),
        ("connections", "gauge", "Clients of the data plane.", context.connections()),
        ("events_under_way", "gauge", "Events that are queued or wait for a sync.", engine.under_way),
        ("turns_total", "counter", "Events that were carried out.", engine.turns),
        ("syncs_total", "counter", "Syncs of the store.", engine.syncs),
        (
            "poison_overflows_total",
            "counter",
            "Times that a poison message stayed because there was no room to put it aside.",
            manager.poison_overflows,
        ),
    ):
        yield family(f"reliquary_{name}", kind, meaning, [({}, value)])
    yield family(
        "reliquary_transactions",
        "gauge",
        "Transactions that have not ended.",
        [
            ({"state": "active"}, manager.transactions_active),
            ({"state": "prepared"}, manager.transactions_prepared),
        ],
    )
    yield family(
        "reliquary_copies_lost_total",
        "counter",
        "Journal copies, dead letters, acknowledgements and reports that could not be kept.",
        [({"copy": copy.word}, manager.copies_lost.get(copy.word, 0)) for copy in Copy],
    )
    lost: list[Sample] = [
        ({"queue": queue.name, "copy": copy}, count)
        for queue in queues
        for copy, count in queue.copies_lost.items()
    ]
    if lost:
        yield family(
            "reliquary_queue_copies_lost_total",
            "counter",
            "The same for one queue, where there were any.",
            lost,
        )
    for name, meaning in (
        ("messages", "Messages that can be received."),
        ("locked", "Messages that a receipt or a transaction holds."),
        ("delayed", "Messages that nobody sees yet."),
        ("bytes", "Bytes that count against the queue's quota."),
        ("readers_waiting", "Reads that wait for a message."),
        ("open_handles", "Handles that are open on the queue."),
    ):
        samples: list[Sample] = [({"queue": queue.name}, getattr(queue, name)) for queue in queues]
        yield family(f"reliquary_queue_{name}", "gauge", meaning, samples)
    yield from _feeds(context)
    yield from _outgoing(list(views.outgoing_queues(state)))
    yield from _posts(context.receiving, context.courier)
    yield from _agents(context)
    if context.opened.history is not None:
        yield from _history(context.opened.history.status())
    yield family(
        "reliquary_srmp_messages_total",
        "counter",
        "Messages over HTTP that came twice or out of turn, receipts that came and went.",
        [({"kind": each.value}, context.opened.machine(Srmp).state.counts[each]) for each in Count],
    )
    if context.carrier is not None:
        yield family(
            "reliquary_multicast_total",
            "counter",
            "Messages by multicast that went and came, and packets of theirs.",
            [({"kind": each.value}, context.carrier.counts[each]) for each in Multicast],
        )
    yield from _streams(list(streams(state, context.opened.machine(Srmp).state)))


def _feeds(context: Context) -> Iterable[str]:
    """Who reads feeds, and what is kept for them, where anybody does."""
    readers = list(views.consumers(context.opened.state))
    kept = {each.queue: each for each in readers}
    for name, meaning in (
        ("messages", "Messages that left the queue and are kept for readers of its feed."),
        ("bytes", "Their bytes, which count against no quota."),
    ):
        samples: list[Sample] = [
            ({"queue": queue}, getattr(each, f"{name}_retained")) for queue, each in kept.items()
        ]
        if samples:
            yield family(f"reliquary_queue_{name}_retained", "gauge", meaning, samples)
    lag: list[Sample] = [({"queue": each.queue, "consumer": each.name}, each.lag) for each in readers]
    if lag:
        meaning = "Numbers that a reader of a feed has yet to pass; at least as many as messages."
        yield family("reliquary_consumer_lag", "gauge", meaning, lag)


def _posts(receiving: Receiving | None, courier: Courier | None) -> Iterable[str]:
    """Messages over HTTP, since the server started."""
    if receiving is None or courier is None:
        return
    yield family(
        "reliquary_srmp_received_total",
        "counter",
        "POSTs that came, by the status they were answered with.",
        [({"status": str(status)}, receiving.answers[status]) for status in STATUSES],
    )
    yield family("reliquary_srmp_posts_total", "counter", "POSTs that went out.", [({}, courier.posted)])
    answers: list[Sample] = [
        ({"status": str(status)}, courier.answers[status])
        for status in sorted({*courier.answers, *STATUSES} - {405})
    ]
    yield family("reliquary_srmp_answers_total", "counter", "Answers to them, by status.", answers)
    yield family(
        "reliquary_srmp_failures_total",
        "counter",
        "Those that have no answer, by the reason.",
        [({"reason": failure.value}, courier.failures[failure]) for failure in Failure],
    )
    yield family(
        "reliquary_srmp_connections",
        "gauge",
        "Outgoing queues with a connection.",
        [({}, courier.connections)],
    )


def _agents(context: Context) -> Iterable[str]:
    """Requests of HTTPR that came and went, where it is not switched off."""
    if context.agents is not None:
        receiving, courier = context.agents
        yield family(
            "reliquary_httpr_received_total",
            "counter",
            "Requests that came, by their commands.",
            [
                ({"command": each.value if each else "unreadable"}, receiving.requests[each])
                for each in (*Command, None)
            ],
        )
        yield family(
            "reliquary_httpr_requests_total",
            "counter",
            "Requests that went out, by their commands.",
            [({"command": each.value}, courier.requests[each]) for each in Command],
        )
        answers: list[Sample] = [
            ({"role": role, "error": str(number)}, counts[number])
            for role, counts in (("server", receiving.answers), ("client", courier.answers))
            for number in sorted({NO_ERROR, *counts})
        ]
        yield family("reliquary_httpr_answers_total", "counter", "Answers, by error; 0 is none.", answers)
        yield family(
            "reliquary_httpr_failures_total",
            "counter",
            "Requests that went out and have no usable answer, by the reason.",
            [({"reason": each.value}, courier.failures[each]) for each in HttprFailure],
        )
        yield family(
            "reliquary_httpr_messages_total",
            "counter",
            "Messages in batches that came and went; those that went, perhaps more than once.",
            [
                ({"role": "server", "direction": "in"}, receiving.messages_in),
                ({"role": "server", "direction": "out"}, receiving.messages_out),
                ({"role": "client", "direction": "in"}, courier.messages_in),
                ({"role": "client", "direction": "out"}, courier.messages_out),
            ],
        )
        yield family(
            "reliquary_httpr_connections",
            "gauge",
            "Channels that we drive with a connection.",
            [({}, courier.connections)],
        )
    in_doubt = Counter[str]()
    held = Counter[str]()
    for each in channels(context.opened.state, context.opened.machine(Httpr).state):
        in_doubt[each.role] += len(each.in_doubt)
        held[each.role] += sum(batch.messages for batch in each.in_doubt)
    for name, meaning, counts in (
        ("batches", "Batches that may have arrived or not.", in_doubt),
        ("messages", "Messages in them, which nobody else gets.", held),
    ):
        samples: list[Sample] = [({"role": role.value}, counts[role.value]) for role in Role]
        yield family(f"reliquary_httpr_{name}_in_doubt", "gauge", meaning, samples)


def _history(status: HistoryStatus) -> Iterable[str]:
    """What was told, and how far it is in files."""
    for name, kind, meaning, value in (
        ("events_total", "counter", "Events that were told since the store was made.", status.last),
        ("exported_total", "counter", "The last of them that is in a file.", status.exported),
        ("pending", "gauge", "Events that are in no file yet.", status.pending),
        ("pending_bytes", "gauge", "What they take in the store.", status.pending_bytes),
        ("files", "gauge", "Files in the folder.", status.files),
        ("file_bytes", "gauge", "Bytes of all files.", status.bytes),
        ("missing", "gauge", "Events that were not told since there is no room.", status.missing),
        ("stopped", "gauge", "1 while there is no room for more.", int(status.stopped)),
        ("failing", "gauge", "1 while nothing can be exported.", int(bool(status.error))),
    ):
        yield family(f"reliquary_history_{name}", kind, meaning, [({}, value)])


def _streams(seen: Sequence[StreamView]) -> Iterable[str]:
    """How far streams got, where there are any."""
    for name, kind, meaning in (
        ("last", "counter", "The number of the last message that was sent or taken."),
        ("acknowledged", "counter", "The number of the last message that a receipt confirmed."),
        ("awaiting", "gauge", "Messages that wait for a receipt to come or to go."),
        ("rejected", "gauge", "Messages in a row that came out of turn."),
    ):
        samples: list[Sample] = [
            ({"direction": each.direction, "peer": each.peer, "queue": each.queue}, getattr(each, name))
            for each in seen
        ]
        if samples:
            yield family(f"reliquary_stream_{name}", kind, meaning, samples)


def _outgoing(queues: Sequence[OutgoingView]) -> Iterable[str]:
    """What waits for other managers, where anything ever did."""
    if not queues:
        return
    for name, kind, meaning in (
        ("messages", "gauge", "Messages that wait to be sent or are being sent."),
        ("bytes", "gauge", "Bytes that count against the queue's quota."),
        ("delivered_total", "counter", "Messages that arrived, since the server started."),
        (
            "refused_total",
            "counter",
            "Messages that would not be had there, since the server started.",
        ),
        ("failures", "gauge", "Failures in a row, since something last went through."),
    ):
        value = attrgetter(name.removesuffix("_total"))
        samples: list[Sample] = [({"destination": each.destination}, value(each)) for each in queues]
        yield family(f"reliquary_outgoing_{name}", kind, meaning, samples)
    states: list[Sample] = [
        ({"destination": each.destination, "state": state.value}, int(each.state is state))
        for each in queues
        for state in OutgoingState
    ]
    yield family("reliquary_outgoing_state", "gauge", "1 for the state that the queue is in.", states)


def family(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> str:
    """One metric with all its samples."""
    lines = [f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"]
    for labels, value in samples:
        inside = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
        lines.append(f"{name}{{{inside}}} {value}\n" if inside else f"{name} {value}\n")
    return "".join(lines)


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
