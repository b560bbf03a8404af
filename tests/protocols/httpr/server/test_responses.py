"""Tests answers as bytes: those that the vectors print."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.headers import encode_response
from reliquary.protocols.httpr.codec.values import (
    Carried,
    Command,
    Disposition,
    RequestHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.settings import AGENT_TYPE
from reliquary.queueing.model.events import StorePiece
from reliquary.queueing.model.facts import SpoolsDropped
from reliquary.queueing.model.message import StoredBody
from tests.protocols.httpr.client_harness import (
    COMMIT,
    Client,
    error,
)
from tests.protocols.httpr.httpr_harness import ORIGIN, HttprBench

ZEROS = b"completed:0000000000000000\r\n\r\n"


def text(answer: Answer) -> bytes:
    return encode_response(answer.header)


@pytest.fixture
def client() -> Client:
    """Return a client in a session, on a connection that knows our agent-type."""
    client = Client(HttprBench())
    client.begin()
    return client


@pytest.mark.spec("HR-056")
def test_also_a_refusal_waits_for_the_disk_where_only_a_loose_body_goes(client: Client) -> None:
    """A refusal may report a batch of an earlier turn; that the body is dropped need not be on disk."""
    bench = client.bench
    stored = bench.ask(StorePiece(0, 0, b"x"))
    header = RequestHeader(command=Command.PUSH, session_id="NOBODY", transaction_id=1)
    large = Carried("", b"", StoredBody(stored.spool, stored.size, stored.pieces))
    request = RequestArrived(bench.new_caller(), 9, "orders", header, (large,), Disposition.LAST)
    turn = bench.handle(request)
    assert [type(fact) for fact in turn.facts] == [SpoolsDropped]
    assert all(fact.volatile for fact in turn.facts)
    assert turn.waits


@pytest.mark.httpr("H7")
def test_an_aborted_batch_is_answered_with_rollback(client: Client) -> None:
    client.push(1, b"a")
    answer = client.push(2, b"hello", disposition=Disposition.ABORT)
    assert text(answer) == b"outcome:ROLLBACK\r\ncompleted:0000000000000002\r\n\r\n"


@pytest.mark.httpr("H4")
def test_a_push_without_a_session_is_answered_with_its_responder(client: Client) -> None:
    client.session = ""
    answer = client.push(1, b"a", responder="httpr://bench.example/orders")
    assert text(answer) == (
        b"responder:httpr://bench.example/orders\r\noutcome:COMMIT\r\ncompleted:0000000000000001\r\n\r\n"
    )


@pytest.mark.httpr("H9", "H11")
def test_a_pull_with_messages_and_without(client: Client) -> None:
    assert text(client.pull(0)) == b"outcome:COMMIT\r\n" + ZEROS
    client.bench.send("orders", b"abc")
    answer = client.pull(0)
    assert text(answer) == b"transactionid:0000000000000001\r\noutcome:COMMIT\r\n" + ZEROS


@pytest.mark.httpr("H13")
def test_a_report_that_forgets(client: Client) -> None:
    client.push(1, b"a")
    client.push(2, b"b")
    answer = client.report(session=SessionMark.END, last_pushed_id=2, forget=2)
    assert text(answer) == b"session:end\r\nlast-pulled-id:0000000000000000\r\noutcome:COMMIT\r\n" + ZEROS


@pytest.mark.httpr("H14")
def test_a_late_batch_is_answered_with_529(client: Client) -> None:
    client.report(last_pushed_id=2)
    assert text(client.push(2, b"late")) == (
        b"session:end\r\noutcome:ROLLBACK\r\ncompleted:0000000000000002\r\n"
        b"error:529 OUT-OF-SEQUENCE-TRANSACTION-DISCARDED\r\n"
        b"app-reliquary-reason:batch 2 is late\r\n\r\n"
    )


@pytest.mark.httpr("H15")
def test_a_session_that_is_not_known(client: Client) -> None:
    assert text(client.push(1, b"a", session_id="X")) == (
        b"session:end\r\nerror:528 SESSION-IDENTIFIER-NOT-RECOGNISED\r\n"
        b"app-reliquary-reason:there is no session X\r\n\r\n"
    )


@pytest.mark.httpr("H17")
def test_an_exchange_is_answered_with_both_outcomes(client: Client) -> None:
    client.exchange(1, b"hi", completed=0)
    answer = client.exchange(2, b"ok", completed=1, outcome=COMMIT)
    assert text(answer) == (
        b"transactionid:0000000000000002\r\noutcome:COMMIT\r\ncompleted:0000000000000002\r\n\r\n"
    )


@pytest.mark.spec("HR-101")
@pytest.mark.httpr("T01")
def test_the_first_response_of_a_connection_says_who_we_are() -> None:
    client = Client(HttprBench())
    assert [client.push(batch, b"a").header.agent_type for batch in (1, 2)] == [AGENT_TYPE, ""]
    client.connect()
    assert client.report().header.agent_type == AGENT_TYPE
    assert error(client.report(session_id="NOBODY")) == 528
    client.connect()
    assert client.report(session_id="NOBODY").header.agent_type == AGENT_TYPE


@pytest.mark.spec("HR-035")
def test_the_responder_stands_in_every_answer_outside_a_session() -> None:
    client = Client(HttprBench())
    name = f"{ORIGIN}/httpr/orders"
    answers = [client.push(1, b"a"), client.report(), client.pull(), client.push(1, b"a")]
    assert [answer.header.responder for answer in answers] == [name] * 4
    assert client.begin().header.responder == name
    assert client.push(2, b"a").header.responder == ""
