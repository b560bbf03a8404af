"""Tests the client agent: what starts its requests, and which responses it ignores."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.httpr.codec.values import (
    Command,
    Outcome,
    ResponseHeader,
)
from reliquary.protocols.httpr.effects import HangUp
from reliquary.protocols.httpr.events import Failure
from reliquary.protocols.httpr.machine import TIMERS
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command
BATCHES_OF_TWO = (("maximum_batch_size", "2"), ("maximum_pipeline_depth", "1"))


def test_a_channel_that_cannot_be_forgotten_now_is_looked_at_again_after_an_equal_span() -> None:
    bench = ClientBench(settings=HttprSettings(forget_after=seconds(20)))
    bench.send(ORDERS, b"a")  # and there is no answer
    bench.advance(20)
    assert bench.timers["httpr-forget", 1] - bench.now == seconds(20)


@pytest.mark.spec("HR-009", "HR-010", "HR-087", "HR-088")
@pytest.mark.httpr("T33")
def test_each_destination_has_its_channel_and_the_requester_stays() -> None:
    bench = ClientBench()
    bench.send(ORDERS, b"a")
    bench.send("DIRECT=HTTPR://far.example/httpr/mq#bills", b"b")
    bench.send("DIRECT=HTTPR://other.example/httpr/mq#orders", b"c")
    channels = [(each.requester, each.name, each.responder) for each in bench.httpr.state.channels.values()]
    other = AGENT.replace("far", "other")
    assert channels == [(HERE, "orders", AGENT), (HERE, "bills", AGENT), (HERE, "orders", other)]
    bench.settings = HttprSettings(requester="httpr://renamed.example/httpr/mq")
    bench.restart()
    bench.send(ORDERS, b"d")
    assert [each.requester for each in bench.httpr.state.channels.values()] == [HERE] * 3


def test_nothing_goes_before_we_have_a_name() -> None:
    bench = ClientBench(addressed=False)
    bench.send(ORDERS, b"a")
    assert not bench.requests
    bench.addressed = True
    bench.restart()
    assert bench.commands() == [GRI]


def test_while_the_manager_is_offline_only_what_is_in_doubt_is_found_out() -> None:
    bench, far = ClientBench(), Far(capabilities=BATCHES_OF_TWO)
    bench.send(ORDERS, b"a", b"b", b"c")
    bench.answer(far)
    push = bench.next_request()
    bench.ask(TakeOffline(0))
    bench.fail(push)
    assert [each.header.command for each in bench.talk(far)] == [GRI, REPORT]
    assert bench.channel().in_doubt == ()
    bench.ask(BringOnline(0))
    bench.talk(far)
    assert far.stored == [b"a", b"b", b"c"]


def test_a_queue_on_hold_sends_nothing_and_goes_on_when_it_may() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    bench.ask(PauseQueue(0, ORDERS))
    bench.send(ORDERS, b"b")
    bench.talk(far)
    assert far.stored == [b"a"]
    bench.ask(ResumeQueue(0, ORDERS))
    bench.talk(far)
    assert far.stored == [b"a", b"b"]


def test_the_queue_knows_how_its_connection_is() -> None:
    bench, far = ClientBench(), Far()
    seen = []

    def look() -> None:
        seen.append((bench.link().state, bench.link().history[-1].status))

    bench.send(ORDERS, b"a")
    look()
    bench.fail(bench.next_request(), Failure.NO_CONNECTION)
    look()
    bench.advance(1)
    bench.talk(far)
    look()
    bench.advance(400)
    bench.talk(far)
    look()
    assert seen == [
        (OutgoingState.WAITING, ConnectionStatus.IN_PROCESS),
        (OutgoingState.INACTIVE, ConnectionStatus.SOCKET_CONNECT_FAILURE),
        (OutgoingState.CONNECTED, ConnectionStatus.ESTABLISHED),
        (OutgoingState.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY),
    ]
    assert bench.link().delivered == 1


@pytest.mark.spec("HR-042", "HR-043")
@pytest.mark.httpr("T31")
def test_a_response_of_an_older_connection_is_ignored() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    bench.fail(push)
    assert HangUp(1, 1) in bench.out
    before = bench.channel()
    bench.respond(push, ResponseHeader(outcome=Outcome.COMMIT, completed=1))
    bench.fail(push)
    assert bench.channel() == before
    assert before.in_doubt == (1,)


def test_every_timer_is_taken() -> None:
    assert {"httpr-retry", "httpr-fetch", "httpr-forget"} <= set(TIMERS)


@pytest.mark.spec("HR-089")
def test_the_word_of_another_responder_settles_nothing() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    wrong = ResponseHeader(outcome=Outcome.COMMIT, completed=1, responder="httpr://else.example/mq")
    bench.respond(push, wrong)
    assert bench.channel().in_doubt == (1,)
    bench.advance(60)
    bench.talk(far)
    assert far.stored == [b"a"]
