"""Tests AMQP 0-9-1: the frames of a message, confirms of one and of many, acknowledgements of all that
came.
"""

from __future__ import annotations

import struct

import pytest

from bench.peers.rabbitmq import ACK, BODY, DELIVER, HEADER, NACK, RabbitLink, frame, message, method
from tests.bench.peers.scripted import answered, linked


def confirm(tag: int, *, multiple: bool = False) -> bytes:
    return method(1, ACK, struct.pack(">QB", tag, multiple))


def test_a_message_is_a_method_a_header_and_a_body() -> None:
    written = message("abc", b"body")
    assert written.startswith(b"\x01\x00\x01\x00\x00\x00\x0c\x00\x3c\x00\x28\x00\x00\x00\x03abc\x00\xce\x02")
    assert written.endswith(
        b"\x02\x00\x01\x00\x00\x00\x0f\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x10\x00\x02\xce"
        b"\x03\x00\x01\x00\x00\x00\x04body\xce"
    )


def test_a_request_waits_for_the_confirm_of_each_message() -> None:
    link, transport = linked(RabbitLink, in_flight=3)
    answered(link, lambda: link.send(7), confirm(3), confirm(2, multiple=True))
    assert transport.written.count(b"00000000000000000007") == 3
    answered(link, lambda: link.send(8), confirm(6, multiple=True))


def test_a_message_that_is_not_taken_fails_the_load() -> None:
    link, _ = linked(RabbitLink)
    with pytest.raises(RuntimeError, match="refused"):
        answered(link, lambda: link.send(7), method(1, NACK, struct.pack(">QB", 1, 0)))


def test_the_next_receive_acknowledges_all_that_came_before() -> None:
    link, transport = linked(RabbitLink)
    one = method(1, DELIVER, b"...") + frame(HEADER, 1, b"...") + frame(BODY, 1, b"%020d" % 5)
    assert answered(link, link.receive, one) == (1, 5)
    assert not transport.written
    assert answered(link, link.receive, one) == (1, 5)
    assert transport.written == confirm(1, multiple=True)
