"""Tests RESP: commands as arrays, replies of every kind, and the three commands of a consumer in one
write.
"""

from __future__ import annotations

import asyncio

import pytest

from bench.peers.redis import RedisLink, command, reply
from tests.bench.peers.scripted import answered, linked


def test_a_command_is_an_array_of_strings_with_their_lengths() -> None:
    assert command(b"XADD", b"orders", b"*", b"b", b"a\r\nb") == (
        b"*5\r\n$4\r\nXADD\r\n$6\r\norders\r\n$1\r\n*\r\n$1\r\nb\r\n$4\r\na\r\nb\r\n"
    )


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"+OK\r\n", b"OK"),
        (b":64\r\n", 64),
        (b"$4\r\na\r\nb\r\n", b"a\r\nb"),
        (b"$0\r\n\r\n", b""),
        (b"$-1\r\n", None),
        (b"*-1\r\n", None),
        (b"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", [1, [b"x"]]),
    ],
)
def test_a_reply_is_read_whole_or_not_at_all(data: bytes, value: object) -> None:
    assert reply(bytearray(b"..." + data + b"rest"), 3) == (value, 3 + len(data))
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"more is to come|not found"):
            reply(bytearray(data[:length]), 0)


def test_a_request_is_confirmed_when_every_message_has_its_reply() -> None:
    link, transport = linked(RedisLink, in_flight=2)
    answered(link, lambda: link.send(7), b"$3\r\n1-0\r\n", b"$3\r\n2-0\r\n")
    assert transport.written.count(b"$4\r\nXADD\r\n") == 2
    assert transport.written.count(b"$1024\r\n00000000000000000007") == 2


def test_a_consumer_acknowledges_and_deletes_in_one_write_with_its_next_read() -> None:
    link, transport = linked(RedisLink)
    asyncio.run(link.start_consuming(3))
    entry = b"*2\r\n$3\r\n9-0\r\n*2\r\n$1\r\nb\r\n$20\r\n00000000000000000042\r\n"
    came = b"*1\r\n*2\r\n$6\r\norders\r\n*1\r\n" + entry
    assert answered(link, link.receive, came) == (1, 42)
    transport.written.clear()
    assert answered(link, link.receive, b":1\r\n:1\r\n*-1\r\n") == (0, 0)
    before = command(b"XACK", b"orders", b"bench", b"9-0") + command(b"XDEL", b"orders", b"9-0")
    assert transport.written.startswith(before + b"*11\r\n$10\r\nXREADGROUP\r\n")
    transport.written.clear()
    assert answered(link, link.receive, b"*-1\r\n") == (0, 0)
    assert transport.written.startswith(b"*11\r\n$10\r\nXREADGROUP\r\n")


def test_a_refusal_reaches_what_waits() -> None:
    link, _ = linked(RedisLink)
    with pytest.raises(RuntimeError, match="MISCONF no disk"):
        answered(link, lambda: link.send(7), b"-MISCONF no disk\r\n")
