"""Tests batches that are fetched: what is in them, how long they wait, what becomes of one that was not
sent.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.base.turn import Reply
from reliquary.protocols.httpr.codec.values import Capabilities, Command
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model.events import BringOnline, TakeOffline
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.travel.transfer import QueuesWatched
from tests.protocols.httpr.client_harness import (
    COMMIT,
    INDOUBT,
    ROLLBACK,
    Client,
    assured,
    bodies,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench

SLOW = Capabilities(max_wait_batch=5000)


@pytest.mark.spec("HR-050", "HR-105")
@pytest.mark.httpr("H8", "H9", "F5")
def test_a_batch_is_in_doubt_until_it_is_acknowledged() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a", b"b")
    client.begin()
    answer = client.pull(0)
    assert (answer.header.transaction_id, pair(answer), bodies(answer)) == (1, (COMMIT, 0), [b"a", b"b"])
    assert client.in_doubt == [1]
    assert not client.row.pulled, "it fetches from a queue, and nothing that is addressed to it"
    client.bench.send("orders", b"c")
    answer = client.pull(1)
    assert (answer.header.transaction_id, bodies(answer)) == (2, [b"c"])
    assert client.in_doubt == [2]


def test_no_other_reader_gets_what_is_in_doubt() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.pull()
    assert client.bench.bodies() == []
    other = Client(client.bench, channel="other")
    assert bodies(other.pull()) == []
    client.report(completed=0, outcome=COMMIT)
    assert bodies(other.pull()) == [b"a"]


def test_a_pull_that_waits_is_not_in_the_way_of_word_about_a_batch() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=8, max_wait_batch=9000)
    client.bench.send("orders", b"a")
    assert client.pull(0).header.transaction_id == 1
    first, second = client.pull_later(0), client.pull_later(0)
    assert client.answer_to(first) is None, "neither says anything of it"
    reported = client.pull_later(1)
    for caller in (first, second):
        answer = client.answer_to(caller)
        assert answer is not None
        assert (bodies(answer), error(answer), ends(answer)) == ([], 0, False)
    assert (client.answer_to(reported), client.in_doubt) == (None, [])
    behind = client.pull_later(1)
    assert client.answer_to(reported) is None, "it is known already"
    client.bench.send("orders", b"b")
    assert bodies(client.wait_for(reported)) == [b"b"]
    assert client.answer_to(behind) is None


@pytest.mark.spec("HR-094", "HR-097")
@pytest.mark.httpr("T39", "H11")
@pytest.mark.parametrize(
    ("proposed", "after"),
    [
        (Capabilities(), 0.1),
        (Capabilities(empty_batch_delay=300, max_wait_batch=1000), 0.3),
        (Capabilities(empty_batch_delay=0), 0),
    ],
)
def test_an_empty_queue_answers_when_the_wait_is_over(proposed: Capabilities, after: float) -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=proposed)
    if after:
        client.bench.advance(after - 0.001)
        assert client.answer_to(caller) is None
        client.bench.advance(0.001)
    answer = client.answer_to(caller)
    assert answer is not None
    assert (answer.header.transaction_id, pair(answer), error(answer)) == (None, (COMMIT, 0), 0)
    assert client.row.last_source_id == 0


def test_a_full_batch_does_not_wait() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", *[b"%d" % each for each in range(12)])
    answer = client.answer_to(client.pull_later(capabilities=SLOW))
    assert answer is not None
    assert len(answer.batch) == 10


@pytest.mark.spec("HR-095", "HR-096")
@pytest.mark.httpr("T40")
def test_a_batch_is_closed_so_long_after_its_first_message() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=SLOW)
    client.bench.advance(1)
    client.bench.send("orders", b"1")
    client.bench.advance(0.06)
    client.bench.send("orders", b"2")
    client.bench.advance(0.039)
    assert client.answer_to(caller) is None
    client.bench.advance(0.001)
    answer = client.answer_to(caller)
    assert answer is not None
    assert bodies(answer) == [b"1", b"2"]


@pytest.mark.spec("HR-096")
@pytest.mark.httpr("T40")
def test_a_batch_is_closed_so_long_after_its_latest_message() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=Capabilities(max_wait_batch=5000, max_latency=1000))
    for body in (b"1", b"2", b"3"):
        client.bench.send("orders", body)
        client.bench.advance(0.09)
        assert client.answer_to(caller) is None
    client.bench.advance(0.01)
    answer = client.answer_to(caller)
    assert answer is not None
    assert bodies(answer) == [b"1", b"2", b"3"]
    assert client.in_doubt == [1]
    client.report(completed=1, outcome=COMMIT)
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-097")
def test_a_batch_is_closed_so_long_after_its_request() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=Capabilities(max_latency=9000, max_wait_next=9000))
    client.bench.send("orders", b"1")
    client.bench.advance(0.099)
    assert client.answer_to(caller) is None
    client.bench.advance(0.001)
    assert client.answer_to(caller) is not None


def test_a_batch_that_becomes_full_while_it_waits_is_closed_at_once() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=Capabilities(maximum_batch_size=3, max_wait_batch=5000))
    client.bench.send("orders", b"1", b"2")
    assert client.answer_to(caller) is None
    client.bench.send("orders", b"3", b"4")
    answer = client.answer_to(caller)
    assert answer is not None
    assert bodies(answer) == [b"1", b"2", b"3"]
    assert client.bench.bodies() == [b"4"]


def test_a_batch_is_closed_when_it_has_enough_bytes() -> None:
    client = Client(HttprBench(settings=HttprSettings(batch_bytes=3000)))
    client.bench.send("orders", b"x" * 2000, b"y" * 2000, b"z" * 2000)
    answer = client.answer_to(client.pull_later(capabilities=SLOW))
    assert answer is not None
    assert len(answer.batch) == 1
    client.bench.send("orders", b"w" * 9000)
    for batch, size in ((1, 2000), (2, 2000), (3, 9000)):
        assert [len(body) for body in bodies(client.pull(batch, capabilities=SLOW))] == [size]


@pytest.mark.spec("HR-111")
@pytest.mark.httpr("T41")
def test_a_higher_priority_is_fetched_first() -> None:
    client = Client(HttprBench())
    for priority in (7, 0, 4, 4):
        client.bench.send("orders", b"%d" % priority, priority=priority)
    assert bodies(client.pull()) == [b"7", b"4", b"4", b"0"]


@pytest.mark.spec("HR-045", "HR-044")
@pytest.mark.httpr("T45")
def test_a_second_batch_without_an_acknowledgement_is_refused_at_depth_1() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull()
    client.bench.send("orders", b"b")
    refused = client.pull()
    assert (error(refused), ends(refused), bodies(refused)) == (523, True, [])
    client.session = ""
    assert error(client.exchange(1, b"x")) == 523
    client.begin()
    client.report(completed=1, outcome=COMMIT)
    assert bodies(client.pull(1)) == [b"b"]
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-015", "HR-127", "HR-070")
@pytest.mark.httpr("F7", "T22")
def test_batches_are_fetched_ahead_and_acknowledged_together() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"1", b"2", b"3")
    client.begin(maximum_pipeline_depth=2, maximum_batch_size=1)
    first, second = client.pull_later(0), client.pull_later(0)
    assert [client.wait_for(each).header.transaction_id for each in (first, second)] == [1, 2]
    assert client.in_doubt == [1, 2]
    assert client.pull(2).header.transaction_id == 3
    assert client.in_doubt == [3]
    assert client.report(completed=3, outcome=COMMIT).header.last_pulled_id == 0


@pytest.mark.spec("HR-053", "HR-071")
def test_what_a_client_rolled_back_comes_again_under_another_id() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull(0)
    answer = client.pull(1, ROLLBACK)
    assert (answer.header.transaction_id, bodies(answer), ends(answer)) == (2, [b"a"], False)


@pytest.mark.spec("HR-053", "HR-077")
def test_a_client_that_rolls_back_while_more_is_on_the_way_begins_a_new_session() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"1", b"2", b"3")
    client.begin(maximum_pipeline_depth=2, maximum_batch_size=1)
    client.pull(0)
    client.pull(0)
    answer = client.pull(1, ROLLBACK)
    assert (ends(answer), bodies(answer)) == (True, [])
    assert client.in_doubt == []
    client.begin(maximum_pipeline_depth=2, maximum_batch_size=2)
    assert bodies(client.pull(1, ROLLBACK)) == [b"1", b"2"], "a repeated rollback changes nothing"


@pytest.mark.spec("HR-068", "HR-071")
@pytest.mark.httpr("T19")
def test_a_client_that_is_in_doubt_gets_no_further_batch() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"1", b"2")
    client.begin(maximum_pipeline_depth=4, maximum_batch_size=1)
    client.pull(0)
    answer = client.pull(1, INDOUBT)
    assert (ends(answer), bodies(answer), error(answer)) == (True, [], 0)
    assert client.in_doubt == [1]


@pytest.mark.spec("HR-067", "HR-072", "HR-073")
@pytest.mark.httpr("T21", "F8", "H16", "H17")
def test_an_exchange_brings_and_fetches() -> None:
    client = Client(HttprBench())
    client.begin()
    answer = client.exchange(1, b"a", completed=0)
    assert (pair(answer), answer.header.transaction_id, bodies(answer)) == ((COMMIT, 1), 1, [b"a"])
    answer = client.exchange(2, b"b", completed=1)
    assert (pair(answer), answer.header.transaction_id, bodies(answer)) == ((COMMIT, 2), 2, [b"b"])


@pytest.mark.spec("HR-073")
@pytest.mark.httpr("T23")
def test_an_exchange_that_is_not_committed_fetches_nothing() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    answer = client.exchange(1, b"x", fault=None, completed=0, session_id=client.session)
    client.report(completed=1, outcome=COMMIT)
    refused = client.exchange(1, b"x", completed=1)
    assert (error(refused), ends(refused), bodies(refused)) == (529, True, [])
    assert pair(answer) == (COMMIT, 1)


@pytest.mark.spec("HR-067")
def test_a_rollback_is_not_reported_by_pull_where_a_push_may_be_behind_it() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=4)
    assert pair(client.ask(Command.PUSH, b"a", transaction_id=1)) == (COMMIT, 1)
    assert pair(client.pull(0)) == (COMMIT, 1)
    client.report(completed=1, outcome=COMMIT)
    client.push(2, assured(b"b", "target-uri:httpr://bench.example/httpr/mq#missing"))
    client.begin(maximum_pipeline_depth=4)
    assert client.row.last_received_outcome is ROLLBACK
    assert pair(client.pull(0)) == (None, None)
    client.begin()
    assert pair(client.pull(0)) == (ROLLBACK, 2), "nothing can be behind it"


def test_a_queue_that_does_not_exist_or_is_not_to_be_read() -> None:
    client = Client(HttprBench(), service="missing")
    assert error(client.pull()) == 518


@pytest.mark.spec("HR-098")
@pytest.mark.httpr("T34")
def test_a_message_that_is_too_large_for_the_client_is_not_sent() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a", b"b" * 100, b"c")
    small = Capabilities(maximum_message_size=99)
    assert bodies(client.pull(0, capabilities=small)) == [b"a"]
    refused = client.pull(1, capabilities=small)
    assert (error(refused), ends(refused)) == (521, True)
    assert bodies(client.pull(1)) == [b"b" * 100, b"c"]


@pytest.mark.spec("HR-113")
@pytest.mark.httpr("T42")
def test_a_message_whose_time_is_over_is_not_presented() -> None:
    client = Client(HttprBench())
    client.push(1, assured(b"a", "put-time:14 Nov 2023 22:13:20", "expiry:1"), b"b")
    client.bench.advance(2)
    assert bodies(client.pull(0)) == [b"b"]


def test_deleted_outgoing_queues_are_no_error() -> None:
    client = Client(HttprBench(), service="mq")
    client.bench.httpr.state.waiting = {77: "DIRECT=HTTPR://client.example/app#in"}
    answer = client.pull(0)
    assert (error(answer), bodies(answer)) == (0, [])
    assert client.bench.httpr.state.waiting == {}


def test_a_manager_that_is_offline_gives_nothing_and_that_is_no_error() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.bench.ask(TakeOffline(0))
    answer = client.pull(0)
    assert (error(answer), bodies(answer)) == (0, [])
    client.bench.ask(BringOnline(0))
    assert bodies(client.pull(0)) == [b"a"]


@pytest.mark.spec("HR-050", "HR-051")
def test_an_answer_waits_for_what_earlier_turns_stated_also_where_an_express_message_makes_it_full() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(capabilities=replace(SLOW, maximum_batch_size=2))
    client.bench.send("orders", b"a")
    client.bench.send("orders", b"b", delivery=Delivery.EXPRESS)
    answer = client.answer_to(caller)
    assert answer is not None
    assert bodies(answer) == [b"a", b"b"]
    turn = next(turn for turn in client.bench.turns if Reply(caller, answer) in turn.effects)
    assert all(fact.volatile for fact in turn.facts)
    assert turn.waits


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T43")
@pytest.mark.parametrize("written", [False, True])
def test_a_crash_while_a_batch_is_collected_loses_and_doubles_nothing(written: bool) -> None:
    client = Client(HttprBench())
    client.pull_later(capabilities=SLOW)
    client.bench.flush()
    client.bench.send("orders", b"a")
    client.bench.send("orders", b"b")
    if written:
        client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    report = client.report(completed=0, outcome=COMMIT)
    assert report.header.last_pulled_id == (1 if written else 0)
    answer = client.pull(0)
    assert (answer.header.transaction_id, bodies(answer)) == ((2, [b"a", b"b"]) if written else (None, []))


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T18", "T43")
@pytest.mark.parametrize("written", [False, True])
def test_an_acknowledgement_counts_after_a_crash_if_it_was_written(written: bool) -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.pull(0)
    client.bench.flush()
    client.report(completed=1, outcome=COMMIT)
    if written:
        client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    assert client.in_doubt == ([] if written else [1])
    assert client.report(completed=1, outcome=COMMIT).header.last_pulled_id == 0
    assert bodies(client.pull(1)) == []
    assert client.bench.queue().counts.stored == 0


def test_queues_are_watched_while_a_client_waits() -> None:
    bench = HttprBench("orders", "invoices")
    orders, invoices = Client(bench), Client(bench, service="invoices")
    first = orders.pull_later(capabilities=SLOW)
    second = invoices.pull_later(capabilities=SLOW)
    numbers = {bench.queue("orders").number, bench.queue("invoices").number}
    assert bench.httpr.state.server.watched == numbers
    bench.send("invoices", *[b"x"] * 10)
    assert invoices.answer_to(second) is not None
    assert bench.httpr.state.server.watched == {bench.queue("orders").number}
    bench.advance(10)
    assert orders.answer_to(first) is not None
    assert bench.httpr.state.server.watched == frozenset()
    assert not bench.httpr.state.server.waiting_pulls
    assert any(isinstance(signal, QueuesWatched) for signal in bench.signals)


@pytest.mark.spec("HR-117")
def test_a_batch_for_a_lost_client_was_not_sent() -> None:
    client = Client(HttprBench())
    client.pull_later(capabilities=SLOW)
    client.bench.send("orders", b"a")
    assert client.in_doubt == [1]
    client.hang_up()
    assert client.in_doubt == []
    assert client.bench.bodies() == [b"a"]
    client.connect()
    assert client.pull(0).header.transaction_id == 2


@pytest.mark.spec("HR-046")
@pytest.mark.httpr("T28")
def test_a_pull_that_waits_holds_back_what_is_behind_it() -> None:
    client = Client(HttprBench("orders", "other"))
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    first = client.pull_later(0)
    second = client.ask_later(Command.PUSH, b"x", transaction_id=1)  # it would wake the PULL
    assert client.answer_to(second) is None
    assert client.bench.bodies() == []
    answer = client.wait_for(first)
    assert bodies(answer) == []
    assert pair(client.wait_for(second)) == (COMMIT, 1)


@pytest.mark.httpr("T37")
def test_the_managers_own_service_gives_what_is_addressed_to_who_asks() -> None:
    bench = HttprBench()
    bench.send("DIRECT=HTTPR://client.example/app#in", b"1", b"2")
    bench.send("DIRECT=HTTPR://other.example/app#in", b"x")
    client = Client(bench, service="mq")
    client.begin(max_wait_batch=5000)
    answer = client.pull(0)
    assert bodies(answer) == [b"1", b"2"]
    bench.send("DIRECT=HTTPR://other.example/app#in", b"y")
    bench.send("DIRECT=HTTPR://client.example/app#more", b"3")
    assert bodies(client.pull(1)) == [b"3"]
    waits = client.pull_later(2)
    bench.send("DIRECT=HTTPR://other.example/app#in", b"z")
    bench.send("DIRECT=HTTPR://client.example/app#new", b"4")
    bench.send("DIRECT=HTTPR://client.example/app#in", b"5")
    assert bodies(client.wait_for(waits)) == [b"4"]
    assert bodies(client.pull(3)) == [b"5"]
    assert client.row.pulled, "no agent need be dialled for them"
    client.report(completed=4, outcome=COMMIT)
    assert [queue.counts.stored for queue in bench.state.names.outgoing.values()] == [0, 3, 0, 0], (
        "the other's stay"
    )


def test_outgoing_queues_of_one_agent_have_their_turns() -> None:
    bench = HttprBench()
    for name in ("a", "b", "c"):
        bench.send(f"DIRECT=HTTPR://client.example/app#{name}", *[name.encode()] * 2)
    client = Client(bench, service="mq")
    client.begin(maximum_batch_size=1)
    seen = [bodies(client.pull(batch)) for batch in range(6)]
    assert seen == [[b"a"], [b"b"], [b"c"], [b"a"], [b"b"], [b"c"]]
