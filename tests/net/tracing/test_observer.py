"""Tests what becomes a span, and how each ends; `tests/server/test_tracing.py` has whole servers."""

from __future__ import annotations

import pytest
from opentelemetry.trace import StatusCode

from reliquary.base.hresult import HResult
from reliquary.net.tracing import observer
from reliquary.protocols.httpr.codec.values import Carried, Command, RequestHeader
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure as HttprFailure
from reliquary.protocols.httpr.events import RequestArrived, RequestFailed
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import PostEnded
from reliquary.queueing.model.events import Answer, LookUpMessage, PeekMessage, ReceiveMessages, SendMessages
from reliquary.queueing.model.message import Message
from tests.net.tracing.harness import OTHER, PARENT, Bench

TRACED = Message().changed(trace_context=PARENT)


def post(epoch: int, lookup_id: int, context: str = PARENT) -> Post:
    return Post(7, epoch, lookup_id, "http://b", "b", "/msmq/q", "text/xml", b"", 0, context)


def request(number: int, *messages: Message) -> SendRequest:
    return SendRequest(3, 1, number, "http://b/httpr/mq", RequestHeader(command=Command.PUSH), messages)


def test_a_message_without_a_context_is_not_traced_on_its_way() -> None:
    bench = Bench(Post, SendRequest)
    plain, batch = post(1, 1, ""), request(1, Message())
    bench.perform(plain, batch)
    bench.observer.see(PostEnded(7, 1, 1, 200))
    assert bench.ended == []
    assert bench.edge.performed == [plain, batch]


def test_posts_of_a_session_that_is_closed_end_with_it_and_those_of_a_later_one_do_not() -> None:
    bench = Bench(Post, EndSession)
    bench.perform(post(1, 1), post(1, 2), post(2, 1), EndSession(7, 1))
    assert [each.status.status_code for each in bench.ended] == [StatusCode.ERROR] * 2
    bench.observer.see(PostEnded(7, 2, 1, 200))
    assert bench.ended[-1].status.status_code is StatusCode.UNSET
    bench.observer.see(PostEnded(7, 1, 1, 200))  # too late
    assert len(bench.ended) == 3


def test_a_request_of_httpr_that_fails_takes_those_behind_it_along() -> None:
    bench = Bench(SendRequest, HangUp)
    bench.perform(*(request(number, TRACED) for number in (1, 2, 3)))
    bench.observer.see(RequestFailed(3, 1, 2, HttprFailure.LOST, "the connection was lost"))
    assert [each.status.description for each in bench.ended] == ["the connection was lost"] * 2
    bench.perform(HangUp(3, 1))
    assert len(bench.ended) == 3


def test_requests_without_an_end_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "MOST_FORWARDS", 2)
    bench = Bench(Post)
    bench.perform(*(post(1, number) for number in range(1, 4)))
    for number in range(1, 4):
        bench.observer.see(PostEnded(7, 1, number, 200))
    assert len(bench.ended) == 1


@pytest.mark.parametrize(
    ("header", "contexts"),
    [
        (f"app-x:1\r\napp-reliquary-trace:{PARENT} a%2C1\r\n", 1),
        ("app-reliquary-trace:%ff%\r\n", 0),
        ("x:app-reliquary-trace:\r\n", 0),
        ("", 0),
    ],
)
def test_whatever_a_header_of_httpr_says_the_request_is_taken(header: str, contexts: int) -> None:
    bench = Bench()
    event = RequestArrived(5, 1, "mq", None, (Carried(header), Carried("")))
    bench.edge.answers[5] = lambda _: None
    before = bench.edge.answers[5]
    assert bench.observer.see(event) is event
    assert (bench.edge.answers[5] is not before) == bool(contexts)


def test_a_peek_and_a_receive_of_nothing_leave_no_span() -> None:
    bench = Bench()
    bench.edge.answers = dict.fromkeys((1, 2, 3), lambda _: None)
    for event in (PeekMessage(1, "q"), LookUpMessage(2, "q", 1), ReceiveMessages(3, "q")):
        assert bench.observer.see(event) is event
        bench.edge.answers[event.to](Answer(HResult.IO_TIMEOUT))
    assert bench.ended == []


def test_a_send_whose_messages_have_contexts_is_handed_on_as_it_is() -> None:
    bench = Bench()
    event = SendMessages(1, "q", (TRACED, TRACED.changed(trace_context=OTHER)))
    assert bench.observer.see(event) is event
    empty = SendMessages(2, "q", ())  # asks only for the right
    assert bench.observer.see(empty) is empty
