"""Tests messages outside any sequence: refused with WSRMRequired, taken where an endpoint says so, or
replies.
"""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Payload,
    Reference,
)
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.queueing.model.travel.transfer import BatchArrived
from tests.protocols.wsrm.wsrm_harness import URL, WsrmBench

PLAIN = Envelope(dialect=Dialect(), action="urn:a", to=Reference(URL), body=Payload(b"<a/>"))
FREE = WsrmSettings(endpoints=(EndpointSettings(name="orders", required=False),), seed=b"x")
FAR = "DIRECT=WSRM://far.example/svc"


def code_of(response: Envelope | None) -> FaultCode:
    """Return the code of the fault that a response is."""
    assert response is not None
    assert isinstance(response.body, Fault)
    return response.body.code


def test_an_endpoint_requires_a_sequence() -> None:
    bench = WsrmBench()
    assert code_of(bench.post(PLAIN)) is FaultCode.WSRM_REQUIRED
    assert bench.bodies() == []


def test_an_endpoint_that_does_not_require_it_takes_the_message() -> None:
    bench = WsrmBench(settings=FREE)
    assert bench.post(PLAIN) is None
    assert bench.bodies() == [b"<a/>"]


def test_a_message_that_is_passed_on_leaves_its_headers_behind() -> None:
    onward = "DIRECT=HTTP://far.example/q"
    passing = EndpointSettings(name="orders", queue=onward, required=False)
    bench = WsrmBench(settings=WsrmSettings(endpoints=(passing,), seed=b"x"))
    assert bench.post(PLAIN) is None
    (arrived,) = [signal for signal in bench.signals if isinstance(signal, BatchArrived)]
    (message,) = arrived.messages
    assert (arrived.destinations, message.body, message.carrier_header) == ((onward,), b"<a/>", "")
    assert message.transaction is None


def test_what_the_queue_manager_refuses_is_a_fault() -> None:
    assert code_of(WsrmBench("others", settings=FREE).post(PLAIN)) is FaultCode.UNREACHABLE


def test_a_name_that_is_no_endpoint_is_unreachable() -> None:
    bench = WsrmBench(settings=WsrmSettings(open_endpoints=False, seed=b"x"))
    assert code_of(bench.post(PLAIN)) is FaultCode.UNREACHABLE


def replying(into: str) -> WsrmBench:
    """Return a bench whose peer answers a message with a reply outside any sequence."""
    peer = PeerSettings(address="wsrm://far.example/*", replies_into=into)
    bench = WsrmBench(settings=WsrmSettings(peers=(peer,), seed=b"x"))
    bench.send(FAR, b"<ask/>")
    ((create, _),) = bench.posted
    bench.answer(create, Envelope(dialect=Dialect(), body=CreateSequenceResponse("urn:far")))
    (sent, _) = bench.posted[-1]
    bench.answer(sent, Envelope(dialect=Dialect(), action="urn:reply", body=Payload(b"<reply/>")))
    return bench


def test_a_reply_on_a_response_goes_into_the_queue_for_replies() -> None:
    assert replying("orders").bodies() == [b"<reply/>"]


def test_a_message_is_dropped_without_the_queue_for_replies() -> None:
    assert replying("").bodies() == []


def test_a_reply_that_no_queue_takes_is_logged() -> None:
    assert "a reply was dropped" in [each.what for each in replying("missing").warnings]
