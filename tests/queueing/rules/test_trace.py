"""Tests of the reports on each step of a traced message."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.queueing.model.events import CommitTransaction, PurgeQueue
from reliquary.queueing.model.message import Delivery, Message, MessageClass, ObjectId
from reliquary.queueing.model.queue import Outgoing, Queue, QueueType
from reliquary.queueing.rules.acknowledge import asked
from reliquary.queueing.rules.losses import by_word
from reliquary.queueing.rules.trace import queue_name, report
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check

MANAGER = UUID("0f3c0000-0000-4000-8000-000000000001")
AFTERNOON = Instant(1_794_749_000 * 1_000_000)
TRACED = Message.of(identifier=ObjectId(MANAGER, 0x2A), tracing_requested=True, tracing_queue=UUID(int=5))

LABEL = re.compile(
    r"[0-9a-f]{4}:[0-9A-F]{8}:[0-9A-F]{2} (received|sent|delivered) by [0-9a-f-]{36}"
    r" at [01]\d:[0-5]\d:[0-5]\d (AM|PM) (Mon|Tue|Wed|Thu|Fri|Sat|Sun),[A-Z][a-z]{2} \d\d \d\d"
)


def a_queue(**attributes: Any) -> Queue:
    return Queue(
        number=1,
        identifier=UUID(int=1),
        pathname="HERE\\private$\\orders",
        qualified_pathname="HERE\\private$\\orders",
        kind=QueueType.PRIVATE,
        create_time=0,
        modify_time=0,
        **attributes,
    )


def test_a_report_names_the_message_the_step_and_the_moment() -> None:
    made = report(TRACED, MessageClass.ACK_REACH_QUEUE, a_queue(), MANAGER, AFTERNOON)
    assert made.label == f"0f3c:0000002A:00 received by {MANAGER} at 01:23:20 PM Sun,Nov 15 26"
    assert made.body.decode("utf-16-le") == (
        "<MESSAGE ID>0000002A</MESSAGE ID>\r\n<TARGET QUEUE>HERE\\private$\\orders</TARGET QUEUE>\r\n"
    )
    assert made.message_class == MessageClass.REPORT
    assert (made.correlation, made.delivery) == (TRACED.identifier, Delivery.EXPRESS)
    assert made.destination_queue == queue_name(TRACED) == f"PUBLIC={UUID(int=5)}"


def test_what_was_sent_on_says_where_to() -> None:
    outgoing = a_queue(outgoing=Outgoing(destination="DIRECT=OS:there\\q"))
    made = report(TRACED, MessageClass.ACK_REACH_QUEUE, outgoing, MANAGER, AFTERNOON)
    assert " sent by " in made.label
    assert "<NEXT HOP>DIRECT=OS:there\\q</NEXT HOP>\r\n" in made.body.decode("utf-16-le")


@pytest.mark.parametrize("hour", range(24))
def test_the_label_is_always_of_one_form(hour: int) -> None:
    moment = Instant(AFTERNOON + hour * 3_600_000_000)
    made = report(TRACED, MessageClass.ACK_RECEIVE, a_queue(), MANAGER, moment)
    assert LABEL.fullmatch(made.label), made.label


def test_a_report_is_not_reported() -> None:
    assert asked(report(TRACED, MessageClass.ACK_RECEIVE, a_queue(), MANAGER, AFTERNOON)) == 0


def steps(bench: Bench, path: str = "trail") -> list[str]:
    labels = [each.message.label for each in bench.receive(path, count=100).messages]
    return [label.split()[1] for label in labels]


@pytest.mark.parametrize("inside", [False, True])
def test_a_traced_message_is_reported_when_it_arrives_and_when_it_is_received(inside: bool) -> None:
    bench = Bench("orders", "trail")
    trail = bench.queue("trail").record.identifier
    transaction = bench.begin() if inside else None
    bench.send("orders", b"m", tracing_requested=True, tracing_queue=trail, transaction=transaction)
    if transaction is not None:
        assert bench.bodies("trail") == []
        bench.ask(CommitTransaction(0, transaction))
    assert steps(bench) == ["received"]
    bench.receive("orders")
    assert steps(bench) == ["delivered"]
    check(bench.state)


def test_a_report_without_its_queue_is_counted() -> None:
    bench = Bench()
    bench.send("orders", b"m", tracing_requested=True, tracing_queue=UUID(int=99))
    assert by_word(bench.queue().counts.lost) == {"report": 1}


def test_what_was_purged_is_not_reported() -> None:
    bench = Bench("orders", "trail")
    trail = bench.queue("trail").record.identifier
    bench.send("orders", b"m", tracing_requested=True, tracing_queue=trail)
    bench.ask(PurgeQueue(0, "orders"))
    assert steps(bench) == ["received"]
