"""Tests the fields of requests."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.headers import encode_request
from reliquary.protocols.httpr.codec.values import Command, Outcome, ResponseHeader
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


@pytest.mark.spec("HR-033", "HR-070", "HR-101", "HR-105")
@pytest.mark.httpr("H5", "H8", "H12")
def test_requests_of_a_session_have_only_these_fields() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, channel="primary"),))
    bench, far = ClientBench(settings=settings), Far(capabilities=(("maximum_pipeline_depth", "1"),))
    bench.answer(far)
    assert encode_request(bench.next_request().header) == (
        b"request:PULL HTTPR/1.0\r\nsessionid:1\r\noutcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n"
    )
    bench.send(ORDERS, b"a")
    bench.respond(bench.requests[-1], ResponseHeader(outcome=Outcome.COMMIT, completed=0))
    assert encode_request(bench.requests[-1].header) == (
        b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
    )


@pytest.mark.spec("HR-061", "HR-088")
def test_every_request_without_a_session_names_its_requester() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))
    bench, far = ClientBench(settings=settings), Far(sessions=False)
    for body in (b"a", b"b"):
        bench.send(ORDERS, body)
        bench.talk(far)
    for request in bench.requests:
        header = request.header
        assert (header.requester, header.channel, header.responder) == (HERE, "orders", AGENT)
        assert header.session is None


@pytest.mark.spec("HR-070")
def test_a_push_acknowledges_what_nothing_else_has() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, channel="primary"),))
    bench, far = ClientBench(settings=settings), Far(capabilities=(("maximum_pipeline_depth", "1"),))
    bench.answer(far)
    far.offer(b"x")
    bench.send(ORDERS, b"a", b"b")
    bench.answer(far)
    push = bench.next_request().header
    assert (push.command, push.outcome, push.completed) == (PUSH, Outcome.COMMIT, 1)
