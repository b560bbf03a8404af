"""Scenes of Dequeue Message and Peek Message: at once, waiting, in a transaction, cancelled."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.cursors import CursorState
from reliquary.queueing.model.events import Access, CancelRead, CloseQueue
from reliquary.queueing.model.message import MessageClass
from tests.scenes.harness import Scene


@pytest.mark.scene("T27")
@pytest.mark.spec("DM-181", "DM-182", "DM-183")
def test_closing_a_queue_ends_its_waits_and_closes_its_cursors() -> None:
    scene = Scene()
    reader = scene.open("orders")
    cursors = [scene.open_cursor(reader), scene.open_cursor(reader)]
    waiting = scene.wait(reader, tag=1)
    assert scene.ask(CloseQueue(0, reader)).status is HResult.OK
    assert scene.heard_by(waiting) is HResult.OPERATION_CANCELLED
    assert not scene.state.open.cursors.keys() & set(cursors)
    assert not scene.queue().readers.descriptors


@pytest.mark.scene("T33")
@pytest.mark.spec("DM-299")
def test_a_receive_that_may_not_wait_says_at_once_that_there_is_nothing() -> None:
    """The specification's Failed, as a status (AN-20)."""
    scene = Scene()
    assert scene.take(scene.open("orders"), timeout=0) is HResult.IO_TIMEOUT


@pytest.mark.scene("T34")
@pytest.mark.spec("DM-328", "DM-201")
def test_a_cursor_that_may_not_wait_stays_as_it_was() -> None:
    scene = Scene()
    reader = scene.open("orders")
    cursor = scene.open_cursor(reader)
    assert scene.take(reader, cursor=cursor, timeout=0) is HResult.MESSAGE_NOT_FOUND
    assert scene.state.open.cursors[cursor].state is CursorState.UNREAD


@pytest.mark.scene("T35")
@pytest.mark.spec("DM-130", "DM-302")
def test_a_wait_ends_after_its_time() -> None:
    scene = Scene()
    waiting = scene.wait(scene.open("orders"), timeout=5)
    scene.advance(4.999)
    assert scene.heard_by(waiting) is None
    scene.advance(0.001)
    assert scene.heard_by(waiting) is HResult.IO_TIMEOUT
    assert not scene.queue().readers.waiting


@pytest.mark.scene("T36")
@pytest.mark.spec("DM-289", "DM-207")
def test_what_arrives_goes_to_the_one_who_waits() -> None:
    scene = Scene()
    waiting = scene.wait(scene.open("orders"))
    scene.send("orders", b"m1")
    assert scene.heard_by(waiting) == b"m1"
    assert scene.bodies() == []
    assert scene.queue().total_bytes == 0


@pytest.mark.scene("T37")
@pytest.mark.spec("DM-203", "DM-207", "DM-208")
def test_the_first_message_is_not_passed_over() -> None:
    """The printed seek would begin behind the head (AN-01)."""
    scene = Scene()
    scene.send("orders", b"m1")
    assert scene.take(scene.open("orders")) == b"m1"
    assert scene.deleted == [MessageClass.ACK_RECEIVE]


@pytest.mark.scene("T38")
@pytest.mark.spec("DM-290")
def test_one_message_serves_one_receiver() -> None:
    scene = Scene()
    reader = scene.open("orders")
    first, second = scene.wait(reader), scene.wait(reader)
    scene.send("orders", b"m1")
    assert (scene.heard_by(first), scene.heard_by(second)) == (b"m1", None)
    scene.send("orders", b"m2")
    assert scene.heard_by(second) == b"m2"


@pytest.mark.scene("T39")
@pytest.mark.spec("DM-291", "DM-317")
def test_a_peek_and_a_receive_wait_for_one_message() -> None:
    """The peek releases the next reader itself (AN-21)."""
    scene = Scene()
    reader = scene.open("orders")
    peeking, receiving = scene.wait_to_peek(reader), scene.wait(reader)
    scene.send("orders", b"m1")
    assert (scene.heard_by(peeking), scene.heard_by(receiving)) == (b"m1", b"m1")
    answered = list(scene.answers)
    assert answered.index(peeking) < answered.index(receiving)
    assert scene.bodies() == []


@pytest.mark.scene("T40")
@pytest.mark.spec("DM-205", "DM-303")
def test_what_a_transaction_took_is_hidden() -> None:
    scene = Scene()
    scene.send("orders", b"m1")
    assert scene.take("orders", transaction=scene.begin()) == b"m1"
    assert len(scene.queue().order.locked) == 1
    assert scene.take("orders", timeout=0) is HResult.IO_TIMEOUT
    assert scene.peek("orders") is HResult.IO_TIMEOUT


@pytest.mark.scene("T41")
@pytest.mark.spec("DM-305")
def test_a_locked_message_that_allows_it_can_be_peeked_at() -> None:
    scene = Scene()
    scene.send("orders", b"m1", allow_peek_when_locked=True)
    scene.take("orders", transaction=scene.begin())
    assert scene.peek("orders") == b"m1"
    assert scene.take("orders", timeout=0) is HResult.IO_TIMEOUT


@pytest.mark.scene("T66")
@pytest.mark.spec("DM-236", "DM-237")
def test_a_wait_is_cancelled_by_its_tag() -> None:
    scene = Scene()
    reader = scene.open("orders", Access.RECEIVE)
    one, two = scene.wait(reader, tag=1), scene.wait(reader, tag=2)
    assert scene.ask(CancelRead(0, "orders", 2)).status is HResult.OK
    assert (scene.heard_by(one), scene.heard_by(two)) == (None, HResult.OPERATION_CANCELLED)
    assert scene.ask(CancelRead(0, "orders", 9)).status is HResult.STATUS_NOT_FOUND
