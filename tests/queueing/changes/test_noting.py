"""Tests that the history records events which change nothing that is kept."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.model.message import ObjectId
from reliquary.queueing.model.travel.transfer import (
    BatchArrived,
    DestinationReached,
    DuplicatesDropped,
    MessageArrived,
    Outcome,
    StreamResumed,
    TransferAccepted,
    TransferEnded,
)
from tests.queueing.exchange import ELSEWHERE, Exchange, Say
from tests.queueing.history.batches import THERE, reported
from tests.queueing.history.chronicle import words
from tests.queueing.manager_harness import Bench, message


def test_what_is_not_taken_is_refused_and_what_is_known_is_a_duplicate() -> None:
    bench = Exchange(None, history=True)
    sent = message(b"a", identifier=ObjectId(THERE, 4))
    bench.handle(Say(MessageArrived("srmp", (1, 0), "nowhere", sent)))
    bench.handle(Say(DuplicatesDropped("srmp", "orders", (ObjectId(THERE, 4),))))
    bench.handle(Say(StreamResumed("srmp", "orders", ObjectId(THERE, 5), "7: 21-39", peer="there")))
    transaction = UUID(int=5 << 64 | 12)
    bench.handle(Say(BatchArrived("httpr", 5, ("nowhere",), (sent,), transaction)))
    assert words(reported(bench), "message_id", "other_queue", "reason", "protocol") == [
        ("refused", f"{THERE}\\4", "nowhere", "nack-bad-dest-queue", "srmp"),
        ("duplicate", f"{THERE}\\4", "orders", None, "srmp"),
        ("resumed", f"{THERE}\\5", "orders", "nack-source-computer-guid-changed", "srmp"),
        ("refused", f"{THERE}\\4", None, "nack-bad-dest-queue", "httpr"),
    ]


def test_a_message_that_was_too_late_is_refused() -> None:
    bench = Bench(history=True)
    bench.send("orders", b"a", sent_time=1, time_to_reach_queue=1)
    assert words(reported(bench), "reason") == [("refused", "nack-reach-queue-timeout")]


def test_a_message_for_elsewhere_is_queued_sent_acknowledged_and_delivered() -> None:
    bench = Exchange(None, history=True)
    bench.send(ELSEWHERE, b"a")
    queue = bench.outgoing()
    [lookup_id] = queue.order.locked
    bench.handle(Say(TransferAccepted(queue.number, (lookup_id,))))
    bench.handle(Say(DestinationReached(queue.number, (lookup_id,))))
    bench.handle(Say(TransferEnded(queue.number, (lookup_id,), Outcome.DELIVERED, by_receipt=True)))
    assert words(reported(bench), "queue", "queue_kind", "reason") == [
        ("queued", ELSEWHERE, "outgoing", None),
        ("sent", ELSEWHERE, "outgoing", None),
        ("acknowledged", ELSEWHERE, "outgoing", "ack-reach-queue"),
        ("acknowledged", ELSEWHERE, "outgoing", "ack-reach-queue"),
        ("delivered", ELSEWHERE, "outgoing", "ack-reach-queue"),
    ]
