"""Tests the lines of NATS and the requests of JetStream."""

from __future__ import annotations

import pytest

from bench.peers.nats import NatsLink, fetch, publish, too_old
from tests.bench.peers.scripted import answered, linked


def given(subject: str, body: bytes, reply: str = "") -> bytes:
    words = " ".join(["MSG", subject, "1", *([reply] if reply else []), str(len(body))])
    return words.encode() + b"\r\n" + body + b"\r\n"


def test_a_publish_says_where_its_answer_goes() -> None:
    assert publish("orders", "_INBOX.1", b"a\r\nb") == b"PUB orders _INBOX.1 4\r\na\r\nb\r\n"


def test_a_fetch_asks_for_64_and_ends_by_itself() -> None:
    request = b'{"batch": 64, "expires": 250000000}'
    assert fetch("orders", "in") == publish("$JS.API.CONSUMER.MSG.NEXT.orders.bench", "in", request)


def test_a_request_waits_for_the_answer_of_each_message() -> None:
    link, transport = linked(NatsLink, in_flight=2)
    stored = given("in", b'{"stream":"orders","seq":1}')
    answered(link, lambda: link.send(7), b"PING\r\n", stored, stored)
    assert transport.written.count(b"00000000000000000007") == 2
    assert b"PONG\r\n" in transport.written


@pytest.mark.parametrize("answer", [given("in", b'{"error":{"code":503}}'), b"-ERR 'no space'\r\n"])
def test_a_refusal_fails_the_load(answer: bytes) -> None:
    link, _ = linked(NatsLink)
    with pytest.raises(RuntimeError, match=r"503|no space"):
        answered(link, lambda: link.send(7), answer)


def test_the_next_receive_acknowledges_and_asks_again_only_when_the_request_is_over() -> None:
    link, transport = linked(NatsLink)
    one = given("orders", b"%020d" % 5, reply="$JS.ACK.1")
    assert answered(link, link.receive, one) == (1, 5)
    assert transport.written == fetch("orders", link._inbox)
    transport.written.clear()
    over = b"HMSG in 1 32 32\r\nNATS/1.0 408 Request Timeout\r\n\r\n\r\n"
    assert answered(link, link.receive, over) == (0, 0)
    assert transport.written == publish("$JS.ACK.1", "", b"+ACK")
    transport.written.clear()
    assert answered(link, link.receive, one) == (1, 5)
    assert transport.written == fetch("orders", link._inbox)


def test_a_version_before_2_10_cannot_sync_before_it_confirms() -> None:
    assert too_old("2.9.25")
    assert not too_old("2.10.0")
    assert not too_old("3.0.1")
