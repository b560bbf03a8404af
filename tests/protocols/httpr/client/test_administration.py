"""An administrator asks for a REPORT over a channel of the client."""

from __future__ import annotations

from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import Failure, ReportChannel
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.model.administration import Done
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


FETCHES = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))


def test_an_administrator_lets_a_report_be_sent() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    caller = bench.begin_asking(ReportChannel(0, 1))
    assert bench.answer_to(caller) is None
    assert [each.header.command for each in bench.talk(far)] == [REPORT]
    assert bench.answer_to(caller) == Done(True)
    caller = bench.begin_asking(ReportChannel(0, 1))
    bench.fail(bench.next_request(), Failure.TIMED_OUT)
    assert bench.answer_to(caller) == Done(
        False, "http://far.example/httpr/mq gave no usable response: timed-out"
    )
    caller = bench.begin_asking(ReportChannel(0, 1))  # the caller need not wait until the pause is over
    bench.talk(far)
    assert bench.answer_to(caller) == Done(True)


def test_a_pull_that_waits_does_not_keep_an_administrator_waiting() -> None:
    bench, far = ClientBench(settings=FETCHES), Far()
    bench.answer(far)
    bench.next_request()
    caller = bench.begin_asking(ReportChannel(0, 1))
    assert [bench.answer(far).header.command for _ in range(2)] == [GRI, REPORT]
    assert bench.answer_to(caller) == Done(True)
    assert bench.next_request().header.command is PULL
