"""Tests messages that we fetch: what is taken, what is refused, and how often we ask."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import Carried, Command, Disposition, Outcome, ResponseHeader
from reliquary.protocols.httpr.facts import BatchReceived
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.model.facts import MessagesStored
from tests.protocols.httpr.far_server import AGENT, TO_US, ClientBench, Far
from tests.queueing.state_checks import walk

GRI, PUSH, PULL, EXCHANGE, REPORT = Command
FETCHES = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))


def fetching(settings: HttprSettings = FETCHES, far: Far | None = None, *queues: str) -> ClientBench:
    bench = ClientBench(*queues, settings=settings)
    bench.answer(far or Far())
    assert [each.header.command for each in bench.unanswered] == [PULL]
    return bench


def batch(number: int) -> ResponseHeader:
    return ResponseHeader(transaction_id=number, outcome=Outcome.COMMIT, completed=0)


@pytest.mark.spec("HR-055", "HR-056", "HR-118")
def test_a_batch_and_what_is_known_of_it_are_of_one_turn() -> None:
    bench = fetching()
    bench.respond(bench.next_request(), batch(1), Carried(TO_US, b"a"), Carried(TO_US, b"b"))
    turn = bench.turns[-1]
    assert BatchReceived(1, 1, Outcome.COMMIT) in turn.facts
    assert any(isinstance(fact, MessagesStored) for fact in turn.facts)
    assert bench.bodies() == [b"a", b"b"]
    assert [each.header.completed for each in bench.unanswered] == [1], "it was not full"


@pytest.mark.spec("HR-074")
def test_full_batches_are_fetched_by_several_and_the_last_is_reported_at_once() -> None:
    ones = Far(capabilities=(("maximum_batch_size", "1"), ("maximum_pipeline_depth", "3")))
    bench = fetching(far=ones)
    ones.offer(b"a", b"b")
    bench.answer(ones)
    assert [each.header.completed for each in bench.unanswered] == [1, 1, 1]
    bench.answer(ones)
    bench.answer(ones)
    reported = [(each.header.command, each.header.completed) for each in bench.unanswered]
    assert reported == [(PULL, 1), (PULL, 2)], "the one that waits says nothing of the last batch"
    bench.answer(ones)
    assert [each.header.completed for each in bench.unanswered] == [2]
    assert not bench.client_channel().fetching.paused, "one is waiting"
    assert bench.bodies() == [b"a", b"b"]


@pytest.mark.spec("HR-055", "HR-081")
@pytest.mark.httpr("T15")
@pytest.mark.parametrize("late", [0, 1, 2, 3])
def test_a_batch_that_comes_again_or_late_is_rejected_and_the_peer_is_asked(late: int) -> None:
    bench, far = ClientBench(settings=FETCHES), Far(last_source=1)
    far.offer(b"a")
    bench.answer(far)
    bench.answer(far)
    assert bench.channel().last_received_id == 2
    far.offer(b"lost")
    far.take(bench.requests[-1])
    bench.heard_of = len(bench.requests)
    bench.fail(bench.requests[-1])
    bench.answer(far)
    bench.answer(far)
    assert bench.channel().last_sent_id == 3
    bench.respond(bench.next_request(), batch(late), Carried(TO_US, b"again"))
    assert bench.bodies() == [b"a"]
    assert bench.channel().last_received_id == 2
    assert bench.client_channel().phase is Phase.GREETING


@pytest.mark.spec("HR-115", "HR-117")
def test_an_aborted_batch_leaves_no_trace() -> None:
    bench = fetching()
    before = bench.channel()
    bench.respond(bench.next_request(), batch(1), Carried(TO_US, b"a"), disposition=Disposition.ABORT)
    assert bench.bodies() == []
    assert bench.channel() == before


def test_an_empty_batch_is_acknowledged() -> None:
    bench = fetching()
    bench.respond(bench.next_request(), batch(1))
    assert bench.next_request().header.completed == 1


@pytest.mark.spec("HR-071")
def test_a_refused_batch_is_rolled_back_by_report_and_fetched_again_after_a_pause() -> None:
    far = Far(capabilities=(("maximum_pipeline_depth", "1"),))
    far.offer(b"a")
    bench = ClientBench("other", settings=FETCHES)  # there is no queue "orders"
    reported = bench.talk(far)
    assert [each.header.command for each in reported] == [GRI, PULL, REPORT]
    assert (reported[-1].header.outcome, reported[-1].header.completed) == (Outcome.ROLLBACK, 1)
    assert (far.in_doubt, far.waiting) == ({}, [b"a"])
    assert [each.what for each in bench.warnings] == ["a fetched batch was refused"]
    bench.advance(1)
    assert [each.header.command for each in bench.talk(far)] == [PULL, REPORT]
    bench.advance(1)
    assert not bench.unanswered  # longer each time
    bench.create("orders")
    bench.advance(1)
    bench.talk(far)
    assert bench.bodies() == [b"a"]
    assert bench.channel().last_received_id == 3


def test_responses_behind_a_refused_batch_are_ignored() -> None:
    far = Far(capabilities=(("maximum_batch_size", "1"),))
    far.offer(b"a")
    bench = fetching(FETCHES, far)
    bench.answer(far)
    old = list(bench.unanswered)
    assert len(old) == 8
    stray = Carried("target-uri:httpr://bench.example/httpr/mq#nowhere\r\n", b"x")
    bench.respond(old[0], batch(2), stray)
    bench.respond(old[1], batch(3), Carried(TO_US, b"y"))
    assert bench.bodies() == [b"a"]
    greeting = bench.requests[-1]
    bench.respond(greeting, far.take(greeting)[0])
    report = bench.requests[-1].header
    assert (report.command, report.outcome, report.completed) == (REPORT, Outcome.ROLLBACK, 2)


@pytest.mark.parametrize(
    ("fields", "queue"),
    [
        (TO_US, "orders"),
        ("", "inbox"),
        ("target-uri:httpr://bench.example/httpr/mq\r\n", "inbox"),
        ("target-uri:httpr://far.example/httpr/bills#bills\r\n", "inbox"),
    ],
    ids=["a queue of ours", "no target", "no queue", "a queue of theirs"],
)
def test_fetched_messages_are_stored_in_their_queues(fields: str, queue: str) -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, into="inbox"),))
    bench = fetching(settings, None, "orders", "inbox")
    bench.respond(bench.next_request(), batch(1), Carried(fields, b"a"))
    assert bench.bodies(queue) == [b"a"]


def test_a_fetched_message_without_a_queue_is_not_in_the_way_of_others() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, into="inbox"),))
    bench = fetching(settings, None, "orders", "inbox")
    here = "target-uri:httpr://bench.example/httpr/mq#"
    lost = (Carried(f"{here}{name}\r\n", name.encode()) for name in ("nowhere", "neither", "nowhere"))
    bench.respond(bench.next_request(), batch(1), *lost, Carried(TO_US, b"a"))
    assert (bench.bodies("inbox"), bench.bodies()) == ([b"nowhere", b"neither", b"nowhere"], [b"a"])
    assert bench.channel().last_received_outcome is Outcome.COMMIT
    assert [each.why for each in bench.warnings] == [
        "there is no queue nowhere, so its messages go to inbox, the `into` of this peer",
        "there is no queue neither, so its messages go to inbox, the `into` of this peer",
    ]


def test_fetched_messages_may_go_on_by_another_protocol() -> None:
    onward = "DIRECT=HTTP://shop.example/msmq/private$/orders"
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, into=onward),))
    bench = fetching(settings)
    assured = "class-of-service:assured\r\n"
    lost = Carried(f"target-uri:httpr://bench.example/httpr/mq#nowhere\r\n{assured}", b"lost")
    bench.respond(bench.next_request(), batch(1), Carried(assured, b"none"), lost, Carried(TO_US, b"a"))
    (queue,) = [each for name, each in bench.state.names.outgoing.items() if "shop.example" in name]
    messages = [bench.state.messages.get(position) for position in walk(queue)]
    assert [(each.body, each.carrier_header) for each in messages] == [(b"none", ""), (b"lost", "")]
    assert all(each.transaction is not None for each in messages)
    assert {each.destination_queue for each in messages} == {onward}
    assert bench.bodies() == [b"a"]


def test_a_batch_is_rolled_back_where_its_last_resort_is_missing_too() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, into="inbox"),))
    bench = fetching(settings)  # there is no queue "inbox"
    stray = Carried("target-uri:httpr://bench.example/httpr/mq#nowhere\r\n", b"x")
    bench.respond(bench.next_request(), batch(1), stray, Carried(TO_US, b"a"))
    assert (bench.bodies(), bench.channel().last_received_outcome) == ([], Outcome.ROLLBACK)


def test_a_message_for_another_agent_goes_on_where_that_is_allowed() -> None:
    settings = HttprSettings(peers=FETCHES.peers, forward=True)
    bench = fetching(settings)
    fields = "target-uri:httpr://third.example/httpr/mq#orders\r\n"
    bench.respond(bench.next_request(), batch(1), Carried(fields, b"a"))
    assert [each.url for each in bench.requests][-1] == "http://third.example/httpr/mq"


# -- how often


@pytest.mark.spec("HR-094")
def test_a_peer_that_waits_for_messages_is_asked_again_at_once() -> None:
    far = Far()
    bench = fetching(FETCHES, far)
    assert bench.unanswered[0].wait == 20_000_000
    for _ in range(3):
        bench.advance(20)
        bench.answer(far)
        assert len(bench.unanswered) == 1
    assert bench.unanswered[0].epoch == 1


def test_a_peer_that_does_not_wait_is_not_asked_all_the_time() -> None:
    far = Far()
    bench = fetching(FETCHES, far)
    bench.answer(far)
    assert not bench.unanswered
    bench.advance(0.9)
    assert not bench.unanswered
    bench.advance(0.1)
    assert len(bench.unanswered) == 1


@pytest.mark.httpr("T39")
def test_no_pull_waits_long_over_a_channel_that_also_sends() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, exchange=True),))
    bench = fetching(settings)
    assert bench.unanswered[0].wait == 100_000


def test_a_peer_that_gives_nothing_is_not_asked() -> None:
    bench, far = ClientBench(settings=FETCHES), Far(capabilities=(("flows", "PUSH"),))
    bench.talk(far)
    assert bench.commands() == [GRI]
    assert [each.what for each in bench.warnings] == ["the peer does not allow a command of a channel"]
