"""Cursors are created by qmcomm, used by reads, and closed by qm2qm."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Action
from reliquary.protocols.mqqp.server.cursors import CURSORS
from tests.protocols.mqqp.server.server_harness import ServerBench, body_of

ILLEGAL, INVALID_HANDLE, NO_SUCH_CURSOR = 0xC00E001C, 0xC00E0007, 0xC000000D


@pytest.mark.spec("QP-059", "QP-061", "QP-165")
@pytest.mark.mqqp("T19")
def test_a_receive_takes_the_message_at_the_cursor() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b", b"c")
    client = bench.client()
    queue = client.open()
    cursor = client.cursor(queue)
    assert body_of(client.peek(queue, cursor=cursor)) == b"a"
    assert body_of(client.peek(queue, Action.PEEK_NEXT, cursor=cursor)) == b"b"
    started = client.receive(queue, cursor=cursor)
    assert body_of(started) == b"b"
    assert started.read.cursor == cursor
    assert bench.bodies() == [b"a", b"c"]
    assert body_of(client.receive(queue, cursor=cursor)) == b"c"


@pytest.mark.spec("QP-056", "QP-062")
@pytest.mark.mqqp("T20")
def test_the_next_message_is_shown_only_after_a_first_one() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b")
    client = bench.client()
    queue = client.open()
    cursor = client.cursor(queue)
    assert client.peek(queue, Action.PEEK_NEXT).status == NO_SUCH_CURSOR
    assert client.peek(queue, Action.PEEK_NEXT, cursor=cursor).status == ILLEGAL
    assert body_of(client.peek(queue, cursor=cursor)) == b"a"
    assert body_of(client.peek(queue, Action.PEEK_NEXT, cursor=cursor)) == b"b"
    assert body_of(client.peek(queue, cursor=cursor)) == b"b"  # H-04: it moved


@pytest.mark.spec("QP-101", "QP-102")
@pytest.mark.mqqp("T21")
def test_a_cursor_is_closed_once_and_with_its_own_queue() -> None:
    bench = ServerBench()
    client = bench.client()
    queue, other = client.open(), client.open()
    cursor = client.cursor(queue)
    assert client.call(qm2qm.CloseCursor(other.number, cursor)).status == INVALID_HANDLE
    assert client.call(qm2qm.CloseCursor(1, cursor)).status == INVALID_HANDLE
    assert client.call(qm2qm.CloseCursor(queue.number, cursor)).status == 0
    assert client.call(qm2qm.CloseCursor(queue.number, cursor)).status == INVALID_HANDLE
    assert client.receive(queue, cursor=cursor).status == NO_SUCH_CURSOR
    assert not bench.state.open.cursors


def test_a_cursor_of_another_queue_is_unknown() -> None:
    client = ServerBench().client()
    queue, other = client.open(), client.open()
    assert client.peek(other, cursor=client.cursor(queue)).status == NO_SUCH_CURSOR


def test_a_read_that_waits_at_a_cursor_ends_with_it() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    cursor = client.cursor(queue)
    place = client.begin_reading(queue, cursor=cursor)
    assert client.answer(place) is None
    assert client.call(qm2qm.CloseCursor(queue.number, cursor)).status == 0
    assert client.answer(place).status == 0xC00E0008
    assert not bench.server.asked


def test_a_cursor_may_be_created_before_the_session() -> None:
    client = ServerBench().client()
    assert client.call(qmcomm.CreateRemoteCursor(client.open_remote().queue)).status == 0


def test_a_number_without_a_message_gets_no_cursor() -> None:
    client = ServerBench().client()
    assert client.call(qmcomm.CreateRemoteCursor(77)) == qmcomm.CursorCreated(0, INVALID_HANDLE)


def test_the_cursors_of_a_queue_are_limited() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    cursors = {client.cursor(queue) for _ in range(CURSORS)}
    assert len(cursors) == CURSORS
    assert 0 not in cursors
    assert client.call(qmcomm.CreateRemoteCursor(queue.number)) == qmcomm.CursorCreated(0, 0xC00E0027)
    client.call(qm2qm.CloseCursor(queue.number, cursors.pop()))
    client.cursor(queue)
    client.close(queue)
    assert not bench.state.open.cursors


def test_a_manager_that_is_not_ready_opens_no_cursor() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    bench.stop()
    assert client.call(qmcomm.CreateRemoteCursor(queue.number)) == qmcomm.CursorCreated(0, 0xC00E000B)
