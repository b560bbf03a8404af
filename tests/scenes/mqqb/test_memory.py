"""Scenes T-97 of MQQB: what sessions and outgoing queues keep after their messages are done."""

from __future__ import annotations

import gc
from typing import Any

import msgspec
import pytest

from tests.protocols.mqqb.mqqb_harness import MqqbBench
from tests.protocols.mqqb.pair import RIGHT, Pair

BODY = bytes(1_000_000)
HEADS = 100_000
"""Much less than one body, and enough for all that is kept of a few messages."""


def bytes_in(root: Any) -> int:
    """Return the size of all bytes that an object leads to, each counted once."""
    seen: dict[int, Any] = {}
    found, left = 0, [root]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type):
            continue
        seen[id(each)] = each
        if isinstance(each, bytes | bytearray):
            found += len(each)
        elif isinstance(each, msgspec.Struct):
            left += [getattr(each, name) for name in each.__struct_fields__]
        else:
            left += gc.get_referents(each)
    return found


def kept(bench: MqqbBench) -> int:
    """Return the bytes that the sessions and the outgoing queues of MQQB hold."""
    return bytes_in((bench.mqqb.sessions, bench.mqqb.sender.queues))


@pytest.mark.mqqb("T-97")
@pytest.mark.parametrize("in_stream", [False, True])
def test_neither_a_session_nor_a_queue_keeps_the_body_of_a_message_that_is_done(in_stream: bool) -> None:
    pair = Pair()
    pair.right.create("ledger", transactional=True)
    pair.right.flush()
    send, queue = (pair.left.transact, "ledger") if in_stream else (pair.left.send, "orders")
    send(f"DIRECT=TCP:{RIGHT}\\private$\\{queue}", BODY, BODY, BODY)
    pair.run()
    assert pair.right.bodies(queue) == [BODY] * 3
    pair.advance(1)
    for site in (pair.left, pair.right):
        assert site.mqqb.sessions
        assert kept(site) < HEADS


@pytest.mark.mqqb("T-97")
def test_a_session_keeps_no_long_headers_of_a_message() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.send(*(peer.made(b"small", extension=BODY) for _ in range(3)))
    assert bench.bodies("orders") == [b"small"] * 3
    assert kept(bench) < HEADS
