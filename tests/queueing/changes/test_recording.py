"""Tests that the history records what each fact says about messages, and agrees with the queues."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.model import events, facts
from reliquary.queueing.model.message import Acknowledgement, Delivery, ObjectId, SequenceId
from reliquary.queueing.model.travel.transfer import (
    BatchArrived,
    MessageArrived,
    Outcome,
    ReservationsEnded,
    ReservationWanted,
)
from tests.queueing.exchange import Exchange, Say
from tests.queueing.history.batches import THERE, reported
from tests.queueing.history.chronicle import words
from tests.queueing.manager_harness import Bench, message
from tests.queueing.random_runs import try_seeds

# -- the history alone says what is in the queues


def test_the_history_says_what_is_in_the_queues_after_any_random_run() -> None:
    """A few random runs; tests/queueing/test_recovery.py tries many more."""
    try_seeds(range(20_000, 20_040))


# -- what comes


def test_a_message_that_comes_is_reported_with_all_that_is_known_of_it() -> None:
    bench = Bench(history=True)
    about = ObjectId(THERE, 5)
    bench.send("orders", b"body", priority=6, correlation=about, time_to_be_received=90)
    [event] = reported(bench)
    position = bench.queue().order.first()
    assert position is not None
    assert event["event"] == "accepted"
    assert event["message_id"] == f"{bench.state.identity().identifier}\\{position.message}"
    assert (event["queue"], event["queue_kind"], event["protocol"]) == ("orders", "local", "api")
    assert (event["message"], event["lookup_id"]) == (position.message, position.lookup_id)
    assert (event["size"], event["priority"], event["durable"]) == (position.size, 6, True)
    assert event["correlation"] == f"{THERE}\\5"
    assert (event["deadline"] - event["sent"]).total_seconds() == 90
    assert event["time"] == event["sent"]


def test_an_express_message_is_reported_and_its_answer_does_not_wait() -> None:
    bench = Bench(history=True)
    bench.send("orders", b"body", delivery=Delivery.EXPRESS)
    [turn] = [
        turn for turn in bench.turns if any(isinstance(each, facts.MessagesStored) for each in turn.facts)
    ]
    assert all(fact.volatile for fact in turn.facts)
    assert [(event["event"], event["durable"]) for event in reported(bench)] == [("accepted", False)]


def test_what_came_from_elsewhere_names_its_source_its_stream_and_its_carrier() -> None:
    bench = Exchange(None, history=True)
    bench.create("stream", transactional=True)
    sent = message(
        b"a",
        identifier=ObjectId(THERE, 4),
        sequence=SequenceId(3, 9),
        sequence_number=8,
        previous_sequence_number=7,
    )
    bench.handle(Say(MessageArrived("srmp", (1, 0), "stream", sent, peer="there")))
    [event] = reported(bench)
    assert words([event], "queue", "message_id", "protocol", "peer") == [
        ("arrived", "stream", f"{THERE}\\4", "srmp", "there")
    ]
    assert (event["stream"], event["stream_number"], event["previous_number"]) == ("3.9", 8, 7)


def test_a_batch_is_reported_with_its_channel_and_number() -> None:
    bench = Exchange(None, history=True)
    batch = tuple(
        message(body, identifier=ObjectId(THERE, number)) for number, body in enumerate((b"a", b"b"), 1)
    )
    transaction = UUID(int=5 << 64 | 12)
    bench.handle(Say(BatchArrived("httpr", 5, ("orders", "orders"), batch, transaction, peer="a client")))
    assert words(reported(bench), "message_id", "protocol", "peer", "batch") == [
        ("arrived", f"{THERE}\\1", "httpr", "a client", "5:12"),
        ("arrived", f"{THERE}\\2", "httpr", "a client", "5:12"),
    ]


def test_a_prepared_transaction_is_reported_and_so_is_its_end() -> None:
    bench = Bench(history=True)
    kept, undone = bench.begin(), bench.begin()
    for transaction in (kept, undone):
        bench.send("orders", b"a", transaction=transaction)
        bench.ask(events.PrepareTransaction(0, transaction))
    bench.ask(events.CommitTransaction(0, kept))
    bench.ask(events.AbortTransaction(0, undone))
    found = reported(bench)
    assert words(found, "transaction", "message") == [
        ("prepared", str(kept), 1),
        ("prepared", str(undone), 2),
        ("committed", str(kept), 1),
        ("aborted", None, 2),
    ]
    assert found[0]["batch"] == str(kept)


# -- what goes


def test_hand_outs_are_counted_and_too_many_are_poison() -> None:
    bench = Bench(history=True)
    bench.ask(events.ChangeQueue(0, "orders", {"poison_limit": 2}))
    bench.send("orders", b"a")
    for _ in range(2):
        bench.receive("orders", hold=5)
        bench.advance(6)
    assert words(reported(bench), "attempt", "other_queue") == [
        ("accepted", None, None),
        ("handed-out", 1, None),
        ("returned", 1, None),
        ("handed-out", 2, None),
        ("poisoned", None, "orders;poison"),
    ]


def test_a_retry_that_is_put_off_is_reported_as_coming_back_and_as_delayed() -> None:
    bench = Bench(history=True)
    bench.ask(events.ChangeQueue(0, "orders", {"retry_delay": 30}))
    bench.send("orders", b"a")
    bench.receive("orders", hold=5)
    bench.advance(60)
    assert [event["event"] for event in reported(bench)] == [
        "accepted",
        "handed-out",
        "returned",
        "delayed",
        "due",
    ]


def test_a_journal_and_a_dead_letter_queue_are_reported_after_the_queue_that_was_left() -> None:
    bench = Bench(history=True)
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", b"a")
    bench.receive("orders")
    bench.send("orders", b"b", negative_journaling=True, time_to_be_received=1)
    bench.advance(5)
    assert words(reported(bench), "queue", "queue_kind", "other_queue", "reason") == [
        ("accepted", "orders", "local", None, None),
        ("received", "orders", "local", None, "ack-receive"),
        ("journaled", "orders;journal", "journal", "orders", "ack-receive"),
        ("accepted", "orders", "local", None, None),
        ("expired", "orders", "local", None, "nack-receive-timeout"),
        ("dead-lettered", "system$;deadletter", "dead-letter", "orders", "nack-receive-timeout"),
    ]


def test_a_batch_that_a_carrier_holds_is_reported_until_it_is_there() -> None:
    bench = Exchange(None, history=True)
    bench.send("orders", b"a")
    for number, outcome in enumerate((Outcome.TRY_LATER, Outcome.DELIVERED), 1):
        bench.handle(Say(ReservationWanted("httpr", (5, number), ("orders",), 10, 1000)))
        bench.handle(Say(ReservationsEnded("httpr", ((5, number),), outcome)))
    assert words(reported(bench), "protocol", "batch") == [
        ("accepted", "api", None),
        ("held", "httpr", "5:1"),
        ("released", "httpr", None),
        ("held", "httpr", "5:2"),
        ("received", "httpr", None),
    ]


def test_what_the_manager_writes_itself_says_so() -> None:
    bench = Bench("orders", "news", history=True)
    bench.send(
        "orders",
        b"a",
        acknowledgements=(Acknowledgement.FULL_REACH_QUEUE,),
        administration_queue="DIRECT=OS:.\\private$\\news",
    )
    found = reported(bench)
    assert words(found, "queue", "protocol", "reason") == [
        ("accepted", "orders", "api", None),
        ("accepted", "news", "manager", "ack-reach-queue"),
    ]
    assert found[1]["correlation"] == found[0]["message_id"]
