"""Tests GET-RESPONDER-INFO at the client: sessions, capabilities, and where a responder is found."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import (
    VERSION,
    Command,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.settings import PROPOSED, HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


@pytest.mark.spec("HR-026", "HR-065", "HR-034")
@pytest.mark.httpr("T26")
def test_a_server_without_sessions_gets_requests_without_a_session() -> None:
    bench, far = ClientBench(), Far(sessions=False)
    bench.send(ORDERS, b"a")
    bench.talk(far)
    assert bench.commands() == [GRI, PUSH]
    push = bench.requests[1].header
    assert (push.session_id, push.responder) == ("", AGENT)
    assert push.capabilities is not None
    assert not push.capabilities.sessions
    bench.send(ORDERS, b"b", b"c")
    push = bench.next_request().header
    assert (push.transaction_id, push.session_id) == (2, "")
    assert not bench.unanswered


@pytest.mark.spec("HR-024", "HR-037", "HR-038", "HR-039")
@pytest.mark.httpr("T24")
def test_the_agreed_capabilities_are_valid_for_one_session() -> None:
    bench, far = ClientBench(), Far(capabilities=(("maximum_batch_size", "5"),))
    bench.send(ORDERS, *[b"x"] * 6)
    bench.answer(far)
    assert [len(each.batch) for each in bench.unanswered] == [5, 1]
    bench.talk(far)
    far.capabilities = (("maximum_batch_size", "3"),)
    bench.advance(100)  # longer than the server keeps an idle session
    bench.send(ORDERS, *[b"y"] * 6)
    assert bench.answer(far).header.capabilities == PROPOSED
    assert [len(each.batch) for each in bench.unanswered] == [3, 3]


@pytest.mark.spec("HR-037")
@pytest.mark.parametrize(
    "answer",
    [
        ResponseHeader(version=VERSION, responder=AGENT, session_id="1", outcome=Outcome.COMMIT, completed=0,
                       capabilities=(("maximum_batch_size", "9999"),)),
        ResponseHeader(version=VERSION, responder=AGENT, outcome=Outcome.COMMIT, completed=0),
        ResponseHeader(version=VERSION, responder=AGENT, session=SessionMark.END),
        ResponseHeader(version=VERSION, responder="httpr://else.example/mq", session_id="1",
                       outcome=Outcome.COMMIT, completed=1),
    ],
    ids=["more than was proposed", "no session", "ended for no reason", "another agent"],
)  # fmt: skip
def test_an_impossible_greeting_is_no_greeting(answer: ResponseHeader) -> None:
    bench = ClientBench()
    bench.send(ORDERS, b"a")
    bench.respond(bench.next_request(), answer)
    assert bench.client_channel().phase is Phase.RESTING
    assert not bench.unanswered
    bench.advance(60)
    assert bench.commands()[1] is GRI


def test_an_agent_without_a_host_is_looked_for_where_the_settings_say() -> None:
    nowhere = HttprSettings(peers=(Peer(responder="httpr:/mq", pull=True),))
    bench = ClientBench(settings=nowhere)
    assert not bench.requests
    assert bench.client_channel().phase is Phase.RESTING
    url = "http://proxy.example/mq"
    there = HttprSettings(peers=(Peer(responder="httpr:/mq", pull=True, url=url),))
    bench = ClientBench(settings=there)
    assert bench.requests[0].url == url
