"""Batches are stored completely or not at all, once and in order, and the outcome is correct."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.values import (
    Command,
    Disposition,
    ErrorNumber,
    SessionMark,
)
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.queueing.model.travel.transfer import BatchArrived
from tests.protocols.httpr.client_harness import (
    COMMIT,
    ROLLBACK,
    Client,
    assured,
    bodies,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.spec("HR-024", "HR-035", "HR-056", "HR-067", "HR-118")
@pytest.mark.httpr("T01", "H3", "H4", "F1")
def test_a_batch_is_stored_in_its_order_and_then_acknowledged() -> None:
    client = Client(HttprBench())
    answer = client.push(1, b"a", b"b", b"c")
    assert (pair(answer), error(answer), ends(answer)) == ((COMMIT, 1), 0, False)
    assert answer.header.responder == "httpr://bench.example/httpr/orders"
    assert client.bench.bodies() == [b"a", b"b", b"c"]
    assert pair(client.push(2, b"d")) == (COMMIT, 2)


@pytest.mark.spec("HR-050", "HR-056")
@pytest.mark.httpr("T06")
def test_a_crash_before_the_write_leaves_no_message_and_a_crash_after_it_leaves_all() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    client.bench.flush()
    client.push(2, b"b")
    client.bench.restart(crash=True)
    client.connect()
    assert pair(client.report(last_pushed_id=2)) == (COMMIT, 1)
    assert client.bench.bodies() == [b"a"]
    client.push(3, b"b")
    client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    assert pair(client.report(last_pushed_id=3)) == (COMMIT, 3)
    assert client.bench.bodies() == [b"a", b"b"]


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T08", "T10", "F3")
def test_an_answer_that_was_lost_is_reported_again() -> None:
    client = Client(HttprBench())
    client.begin()
    client.push(1, b"a")
    client.connect()
    assert pair(client.report(last_pushed_id=1)) == (COMMIT, 1)
    client.connect()
    assert pair(client.begin()) == (COMMIT, 1)
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-055")
def test_a_batch_that_is_known_is_discarded_and_not_called_rolled_back() -> None:
    client = Client(HttprBench())
    client.push(3, b"a")
    for batch in (1, 3):
        answer = client.push(batch, b"x")
        assert (error(answer), pair(answer), ends(answer)) == (529, (None, None), True)
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-104")
@pytest.mark.parametrize("batch", [0, None])
def test_a_batch_without_an_id_is_malformed(batch: int | None) -> None:
    client = Client(HttprBench())
    answer = client.ask(Command.PUSH, b"a", transaction_id=batch)
    assert (error(answer), pair(answer)) == (520, (None, None))
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-057", "HR-115", "HR-116")
@pytest.mark.httpr("T16", "H6", "H7")
def test_an_aborted_batch_leaves_no_trace_and_the_session_goes_on() -> None:
    client = Client(HttprBench())
    client.begin()
    client.push(1, b"a")
    answer = client.push(2, b"hello", disposition=Disposition.ABORT)
    assert (pair(answer), error(answer), ends(answer)) == ((ROLLBACK, 2), 0, False)
    assert client.bench.bodies() == [b"a"]
    assert pair(client.report(last_pushed_id=2)) == (COMMIT, 1)
    assert pair(client.push(3, b"hello")) == (COMMIT, 3)


@pytest.mark.spec("HR-073", "HR-116")
@pytest.mark.httpr("T23")
def test_an_aborted_batch_ends_the_session_where_others_may_be_behind_it() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3)
    assert ends(client.push(1, b"a", disposition=Disposition.ABORT))
    assert error(client.push(2, b"b")) == 528
    client.begin()
    assert ends(client.exchange(3, b"c", disposition=Disposition.ABORT))
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-116")
def test_what_was_committed_is_not_rolled_back_by_an_abort() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    answer = client.push(1, b"a", disposition=Disposition.ABORT)
    assert (error(answer), pair(answer)) == (529, (None, None))


def test_a_batch_without_messages_is_taken() -> None:
    client = Client(HttprBench())
    assert pair(client.push(1)) == (COMMIT, 1)
    assert client.row.last_received_id == 1


@pytest.mark.spec("HR-083", "HR-084", "HR-119")
@pytest.mark.httpr("T34", "F4")
def test_a_full_queue_rolls_the_whole_batch_back() -> None:
    client = Client(HttprBench("orders"))
    client.bench.create("small", quota=1)
    client.service = "small"
    client.begin()
    answer = client.push(1, b"a", b"x" * 2000)
    assert (error(answer), pair(answer), ends(answer)) == (515, (ROLLBACK, 1), True)
    assert client.bench.bodies("small") == []
    assert (client.row.last_received_id, client.row.last_received_outcome) == (1, ROLLBACK)
    assert pair(client.begin()) == (ROLLBACK, 1)
    assert pair(client.push(2, b"a")) == (COMMIT, 2)


@pytest.mark.spec("HR-084")
def test_a_batch_that_was_rolled_back_and_comes_again_is_called_so_again() -> None:
    client = Client(HttprBench(), service="missing")
    assert error(client.push(1, b"a")) == 518
    answer = client.push(1, b"a")
    assert (error(answer), pair(answer)) == (529, (ROLLBACK, 1))


@pytest.mark.spec("HR-084")
@pytest.mark.httpr("T34")
@pytest.mark.parametrize(
    "fields",
    [
        ("target-uri:httpr://bench.example/httpr/mq#missing",),
        ("target-uri:httpr://elsewhere.example/httpr/mq#orders",),
        ("target-uri:httpr://bench.example/httpr/mq",),
    ],
)
def test_a_destination_that_is_not_known_rolls_the_batch_back(fields: tuple[str, ...]) -> None:
    client = Client(HttprBench())
    answer = client.push(1, b"a", assured(b"b", *fields))
    assert (error(answer), pair(answer), ends(answer)) == (518, (ROLLBACK, 1), True)
    assert client.bench.bodies() == []


def test_messages_are_stored_in_the_addressed_queues() -> None:
    client = Client(HttprBench("orders", "invoices"))
    there = assured(b"b", "target-uri:httpr://bench.example/httpr/mq#invoices")
    assert pair(client.push(1, b"a", there, b"c")) == (COMMIT, 1)
    assert client.bench.bodies("orders") == [b"a", b"c"]
    assert client.bench.bodies("invoices") == [b"b"]


@pytest.mark.spec("HR-049")
@pytest.mark.httpr("T36")
def test_messages_with_other_user_ids_are_refused() -> None:
    client = Client(HttprBench(settings=HttprSettings(user_ids=("alice",))))
    answer = client.push(1, assured(b"a", "user-id:alice"), assured(b"b", "user-id:mallory"))
    assert (error(answer), pair(answer), ends(answer)) == (526, (ROLLBACK, 1), True)
    assert error(client.push(2, b"a")) == 526
    assert pair(client.push(3, assured(b"a", "user-id:alice"))) == (COMMIT, 3)
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-084")
@pytest.mark.httpr("T34")
@pytest.mark.parametrize("number", [520, 521, 522])
def test_a_batch_that_could_not_be_read_to_its_end_is_refused(number: int) -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3)
    answer = client.push(1, fault=ErrorNumber(number))
    assert (error(answer), pair(answer), ends(answer)) == (number, (ROLLBACK, 1), True)
    assert error(client.push(2, b"b")) == 528, "it was pipelined behind a batch that is missing"


def test_the_manager_takes_nothing_before_it_is_ready() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    client.bench.stop()
    answer = client.push(2, b"b")
    assert (error(answer), pair(answer)) == (513, (ROLLBACK, 2))


@pytest.mark.spec("HR-048", "HR-109")
@pytest.mark.httpr("T37")
def test_fields_are_kept_as_they_came() -> None:
    client = Client(HttprBench())
    client.push(1, assured(b"a", "encoding:integer-reversed", "app-x:7"))
    (message,) = client.pull(0).batch
    assert "encoding:integer-reversed\r\n" in message.carrier_header
    assert "app-x:7\r\n" in message.carrier_header


@pytest.mark.spec("HR-010")
@pytest.mark.httpr("T33")
def test_channels_know_nothing_of_each_other() -> None:
    bench = HttprBench()
    p, q, r = Client(bench), Client(bench, channel="q"), Client(bench, requester="httpr://other.example/app")
    assert [pair(each.push(batch, b"x")) for each, batch in ((p, 5), (q, 1), (r, 3))] == [
        (COMMIT, 5),
        (COMMIT, 1),
        (COMMIT, 3),
    ]
    q.report(forget=1, last_pushed_id=1)
    assert [each.row.last_received_id for each in (p, q, r)] == [5, 0, 3]


@pytest.mark.spec("HR-050", "HR-059")
@pytest.mark.httpr("T06", "T11", "T12")
@pytest.mark.parametrize("written", [False, True])
def test_a_forgotten_channel_stays_forgotten_after_a_crash_if_that_was_written(written: bool) -> None:
    client = Client(HttprBench())
    client.push(4, b"a")
    client.bench.flush()
    client.report(last_pushed_id=4, forget=4)
    if written:
        client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    assert client.row.last_received_id == (0 if written else 4)
    assert pair(client.report(last_pushed_id=4, forget=4)) == (COMMIT, 0)
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T14")
@pytest.mark.parametrize("written", [False, True])
def test_a_report_counts_after_a_crash_if_it_was_written(written: bool) -> None:
    client = Client(HttprBench())
    client.push(4, b"a")
    client.bench.flush()
    client.report(last_pushed_id=5)
    if written:
        client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    assert client.row.last_sent_id == (5 if written else 0), "its answer left only where it was written"
    assert pair(client.report(last_pushed_id=5)) == (COMMIT, 4)
    assert error(client.push(5, b"late")) == 529


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T34")
@pytest.mark.parametrize("written", [False, True])
def test_a_crash_around_a_rollback(written: bool) -> None:
    client = Client(HttprBench())
    client.bench.create("small", quota=1)
    client.service = "small"
    client.push(1, b"a")
    client.bench.flush()
    client.push(2, b"x" * 2000)
    if written:
        client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    assert pair(client.report(last_pushed_id=2)) == ((ROLLBACK, 2) if written else (COMMIT, 1))
    assert pair(client.push(3, b"b")) == (COMMIT, 3)
    assert client.bench.bodies("small") == [b"a", b"b"]


@pytest.mark.httpr("T22", "F7")
@pytest.mark.spec("HR-072")
def test_push_pull_and_exchange_may_be_mixed() -> None:
    client = Client(HttprBench("orders", "answers"), service="both")
    client.bench.httpr.state.settings = HttprSettings(
        services=(Service(name="both", into="orders", source="answers"),)
    )
    client.bench.send("answers", b"1")
    client.begin()
    assert pair(client.push(1, b"a")) == (COMMIT, 1)
    answer = client.exchange(2, b"b", completed=0)
    assert (pair(answer), answer.header.transaction_id, bodies(answer)) == ((COMMIT, 2), 1, [b"1"])
    client.bench.send("answers", b"2")
    answer = client.pull(1)
    assert (pair(answer), answer.header.transaction_id, bodies(answer)) == ((COMMIT, 2), 2, [b"2"])
    answer = client.report(session=SessionMark.END, completed=2, outcome=COMMIT, forget=2, last_pushed_id=2)
    assert (pair(answer), answer.header.last_pulled_id, ends(answer)) == ((COMMIT, 0), 0, True)
    assert client.bench.bodies("orders") == [b"a", b"b"]


def test_the_batch_is_one_transaction_for_the_queue() -> None:
    client = Client(HttprBench("orders"))
    client.bench.create("ledger", transactional=True)
    client.service = "ledger"
    assert pair(client.push(1, b"a", b"b")) == (COMMIT, 1)
    assert pair(client.push(2, b"c")) == (COMMIT, 2)
    reported = [signal for signal in client.bench.signals if isinstance(signal, BatchArrived)]
    assert len({signal.transaction for signal in reported}) == 2
    assert client.bench.bodies("ledger") == [b"a", b"b", b"c"]
