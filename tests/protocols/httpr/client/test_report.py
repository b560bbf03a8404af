"""Tests REPORT and GET-RESPONDER-INFO, which resolve batches in doubt, and the guard that makes it safe."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import (
    Command,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command
FETCHES = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))


@pytest.mark.spec("HR-079")
def test_zeros_let_us_forget_what_came() -> None:
    bench, far = ClientBench(settings=FETCHES), Far()
    far.offer(b"a")
    bench.answer(far)
    bench.answer(far)
    assert bench.channel().last_received_id == 1
    lost = bench.next_request()
    bench.heard_of = len(bench.requests)
    bench.fail(lost)
    bench.answer(far)
    report = bench.next_request()
    bench.respond(report, ResponseHeader(outcome=Outcome.COMMIT, completed=0, last_pulled_id=0))
    assert bench.channel().last_received_id == 0
    pull = bench.next_request()
    assert (pull.header.command, pull.header.completed) == (PULL, 0)


@pytest.mark.spec("HR-053")
def test_a_report_without_an_outcome_settles_nothing() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.fail(bench.next_request())
    bench.answer(far)
    bench.respond(bench.next_request(), ResponseHeader(last_pulled_id=0))
    assert bench.channel().in_doubt == (1,)
    assert bench.client_channel().phase is Phase.RESTING


@pytest.mark.spec("HR-017", "HR-016")
@pytest.mark.httpr("T12")
def test_a_forget_whose_answer_is_lost_is_said_again() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    bench.advance(301)
    bench.answer(far)
    lost = bench.next_request()
    assert (lost.header.forget, lost.header.session) == (1, SessionMark.END)
    far.take(lost)
    bench.fail(lost)
    bench.advance(10)
    reported = bench.talk(far)
    assert reported[-1].header.forget == 1
    assert bench.channel().source_forgotten
    bench.advance(1000)
    assert not bench.unanswered


def test_a_channel_that_cannot_be_forgotten_now_is_looked_at_later() -> None:
    bench, _ = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.next_request()  # it has no answer for a very long time
    bench.advance(301)
    assert bench.timers["httpr-forget", 1] - bench.now > 200 * SECOND
    bench.advance(3600)
    assert bench.commands() == [GRI]
