"""Scenes of cursors, [MS-MQDMPR] 3.2."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model.cursors import END, CursorState
from reliquary.queueing.model.events import PeekMessage
from tests.scenes.harness import Scene


def with_cursor(*bodies: bytes) -> tuple[Scene, int, int]:
    """Return a queue with these messages, a reader's handle, and its new cursor."""
    scene = Scene()
    if bodies:
        scene.send("orders", *bodies)
    reader = scene.open("orders")
    return scene, reader, scene.open_cursor(reader)


@pytest.mark.scene("T58")
@pytest.mark.spec("DM-327")
def test_a_new_cursor_has_no_next() -> None:
    scene, reader, cursor = with_cursor(b"m1", b"m2")
    assert scene.peek(reader, cursor, following=True) is HResult.ILLEGAL_CURSOR_ACTION


@pytest.mark.scene("T59")
@pytest.mark.spec("DM-326", "DM-328")
def test_a_cursor_walks_and_takes() -> None:
    scene, reader, cursor = with_cursor(b"m1", b"m2")
    assert scene.peek(reader, cursor) == b"m1"
    assert scene.peek(reader, cursor) == b"m1"
    assert scene.peek(reader, cursor, following=True) == b"m2"
    assert scene.take(reader, cursor=cursor) == b"m2"
    assert scene.state.open.cursors[cursor].state is CursorState.UNREAD
    assert scene.take(reader, cursor=cursor, timeout=0) is HResult.MESSAGE_NOT_FOUND
    assert scene.bodies() == [b"m1"]


@pytest.mark.scene("T60")
@pytest.mark.spec("DM-326", "DM-327", "DM-328")
def test_a_cursor_on_a_message_that_is_gone() -> None:
    scene, reader, cursor = with_cursor(b"m1", b"m2")
    assert scene.peek(reader, cursor) == b"m1"
    assert scene.take("orders") == b"m1"
    assert scene.peek(reader, cursor) is HResult.MESSAGE_ALREADY_RECEIVED
    assert scene.take(reader, cursor=cursor) is HResult.MESSAGE_ALREADY_RECEIVED
    assert scene.peek(reader, cursor, following=True) == b"m2"


@pytest.mark.scene("T61")
@pytest.mark.spec("DM-330")
def test_a_cursor_that_waits_stands_on_what_came() -> None:
    scene, reader, cursor = with_cursor(b"m1", b"m2")
    scene.peek(reader, cursor)
    scene.peek(reader, cursor, following=True)
    waiting = scene.wait_to_peek(reader, cursor, following=True)
    assert scene.heard_by(waiting) is None
    sent = scene.send("orders", b"m3")
    assert scene.heard_by(waiting) == b"m3"
    assert scene.state.open.cursors[cursor].state is CursorState.READ
    assert scene.state.open.cursors[cursor].place == sent.lookup_ids[0]


@pytest.mark.scene("T62")
@pytest.mark.spec("DM-331")
def test_a_cursor_whose_receive_timed_out_is_at_the_end() -> None:
    scene, reader, cursor = with_cursor()
    waiting = scene.wait(reader, cursor=cursor, timeout=5)
    scene.advance(5)
    assert scene.heard_by(waiting) is HResult.IO_TIMEOUT
    assert scene.state.open.cursors[cursor].state is CursorState.UNREAD
    assert scene.state.open.cursors[cursor].place == END


@pytest.mark.scene("T63")
@pytest.mark.spec("DM-331")
def test_a_cursor_whose_peek_timed_out_stays_at_its_position() -> None:
    scene, reader, cursor = with_cursor()
    place = scene.state.open.cursors[cursor].place
    waiting = scene.begin_asking(PeekMessage(0, reader, seconds(5), cursor))
    scene.advance(5)
    assert scene.heard_by(waiting) is HResult.IO_TIMEOUT
    assert scene.state.open.cursors[cursor].state is CursorState.UNREAD
    assert scene.state.open.cursors[cursor].place == place
    assert scene.peek(reader, cursor, following=True) is HResult.ILLEGAL_CURSOR_ACTION
