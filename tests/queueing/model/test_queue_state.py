"""What is known of a queue while the manager runs: its bytes, whether it is open, what a read returns."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.queueing.model import events
from reliquary.queueing.model.events import ReceiveMessages, SendMessages
from reliquary.queueing.model.message import Delivery, Message
from tests.queueing.manager_harness import Bench


@pytest.mark.spec("DM-286", "DM-288")
def test_total_bytes_are_those_of_all_that_is_there_express_or_not() -> None:
    bench = Bench()
    bench.send("orders", b"12345")
    one = bench.queue().total_bytes
    bench.send("orders", b"12345", delivery=Delivery.EXPRESS)
    assert bench.queue().total_bytes == 2 * one == bench.state.totals.bytes
    bench.receive("orders", count=2)
    assert bench.queue().total_bytes == bench.state.totals.bytes == 0


@pytest.mark.spec("DM-026")
def test_a_queue_is_active_while_it_is_open() -> None:
    bench = Bench()
    assert not bench.queue().active
    handle = bench.ask(events.OpenQueue(0, "orders", events.Access.PEEK)).handle
    assert bench.queue().active
    bench.ask(events.CloseQueue(0, handle))
    assert not bench.queue().active


def test_the_size_of_a_read_is_foreseen_from_what_is_available() -> None:
    bench = Bench()
    queue = bench.state.queues[bench.state.names.by_path["private$\\orders"]]
    assert queue.expected_bytes(5, 1000) == 0
    large, small = bench.ask(SendMessages(0, "orders", (Message(body=b"x" * 9000), Message()))).lookup_ids
    first, last = (queue.order.size_at(each) for each in (large, small))
    assert (first, queue.order.size_at(99), queue.order.size_at()) == (last + 9000, 0, first)
    assert queue.expected_bytes(1, 100_000) == first
    assert queue.expected_bytes(2, 100_000) == first + last
    assert queue.expected_bytes(2, 1000) == first  # one message comes whatever its size
    assert queue.expected_bytes(1, 1000, small) == 1000
    bench.ask(ReceiveMessages(0, "orders", 2, hold=seconds(9)))
    assert queue.expected_bytes(2, 100_000) == 0  # a read waits, and returns nothing now
