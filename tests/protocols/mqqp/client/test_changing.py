"""Tests cursors and purges of queues of other managers."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import StatusReturned
from reliquary.protocols.mqqp.codec.qmcomm import CursorCreated
from reliquary.queueing.model.events import (
    Access,
    CloseCursor,
    OpenCursor,
    Opened,
    PeekMessage,
    Purged,
    PurgeQueue,
    ReceiveMessages,
)
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of


@pytest.mark.spec("QP-016", "QP-100", "QP-153", "QP-157")
@pytest.mark.mqqp("T21")
def test_a_cursor_is_created_by_qmcomm_and_closed_by_qm2qm() -> None:
    two = TwoManagers(b"a")
    handle = two.open(Access.PEEK)
    opened = two.ask(OpenCursor(0, handle))
    assert isinstance(opened, Opened)
    assert (opened.status, opened.handle) == (HResult.OK, next(iter(two.link.cursors)))
    remote = two.link.cursors[opened.handle]
    assert two.asked(qmcomm.CreateRemoteCursor) == [qmcomm.CreateRemoteCursor(two.link.remote.queue)]
    assert two.ask(CloseCursor(0, opened.handle)).status is HResult.OK
    assert two.asked(qm2qm.CloseCursor) == [qm2qm.CloseCursor(two.link.remote.queue, remote)]
    assert two.link.cursors == {}
    assert two.ask(CloseCursor(0, opened.handle)).status is HResult.INVALID_HANDLE
    assert two.ask(PeekMessage(0, handle, cursor=opened.handle)).status is HResult.INVALID_PARAMETER


@pytest.mark.spec("QP-160")
@pytest.mark.parametrize("status", [0xC00E0007, 0x00000001])
def test_a_refused_cursor_is_not_opened(status: int) -> None:
    two = TwoManagers()
    handle = two.open()
    two.script[qmcomm.CreateRemoteCursor] = CursorCreated(5, status)
    answer = two.ask(OpenCursor(0, handle))
    assert isinstance(answer, Opened)
    assert answer.status is not HResult.OK
    assert two.link.cursors == {}
    assert set(two.here.state.open.remote) == {handle}


def test_a_cursor_that_cannot_be_closed_is_closed_here() -> None:
    two = TwoManagers()
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    two.script[qm2qm.CloseCursor] = StatusReturned(0xC00E0007)
    assert two.ask(CloseCursor(0, cursor)).status is HResult.INVALID_HANDLE
    assert two.link.cursors == {}


def test_to_close_a_cursor_ends_the_read_that_waits_with_it() -> None:
    two = TwoManagers()
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    caller, other = two.begin_receiving(handle, cursor=cursor), two.begin_receiving(handle)
    assert two.ask(CloseCursor(0, cursor)).status is HResult.OK
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.answer_to(other) is None


@pytest.mark.spec("QP-109", "QP-154")
@pytest.mark.mqqp("T30")
def test_a_queue_is_purged_there() -> None:
    two = TwoManagers(b"a", b"b")
    answer = two.ask(PurgeQueue(0, FAR))
    assert isinstance(answer, Purged)
    assert (answer.status, answer.count, "far" in answer.why) == (HResult.OK, 0, True)
    assert two.bodies == []
    assert two.methods[-2:] == ["CloseRemoteQueueContext", "PurgeQueue"]
    assert two.asked(qm2qm.PurgeQueue) == [qm2qm.PurgeQueue(two.link.remote.queue)]
    assert two.asked(qmcomm.OpenRemoteQueue)[0].access == 1


@pytest.mark.spec("QP-160")
@pytest.mark.mqqp("T29", "T33")
def test_a_purge_fails_alike_whether_its_status_is_returned_or_raised() -> None:
    answers = []
    for play in (StatusReturned(0xC00E0007), 0xC00E0007):
        two = TwoManagers(b"a")
        two.script[qm2qm.PurgeQueue] = play
        answers.append(two.ask(PurgeQueue(0, FAR)))
        assert two.bodies == [b"a"]
    assert answers[0] == answers[1]
    assert answers[0].status is HResult.INVALID_HANDLE


@pytest.mark.parametrize("silence", Silence)
def test_a_purge_whose_response_is_lost_says_that_the_outcome_is_unknown(silence: Silence) -> None:
    two = TwoManagers(b"a")
    two.script[qm2qm.PurgeQueue] = silence
    caller = two.begin(PurgeQueue(0, FAR))
    two.lose()
    answer = two.answer_to(caller)
    assert answer.status is HResult.OUTCOME_UNKNOWN
    assert answer.why.startswith("far may have purged the queue or not")
    assert two.is_idle


def test_a_purge_that_was_not_begun_is_not_done() -> None:
    two = TwoManagers(b"a")
    two.stalled = True
    caller = two.begin(PurgeQueue(0, FAR))
    two.lose()
    assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE


def test_an_application_that_leaves_does_not_stop_a_purge() -> None:
    two = TwoManagers(b"a")
    two.stalled = True
    caller = two.begin(PurgeQueue(0, FAR))
    two.leave(caller)
    two.stalled = False
    two.move()
    assert (two.answer_to(caller).status, two.bodies) == (HResult.OK, [])


def test_a_handle_that_is_only_for_peeks_may_have_cursors() -> None:
    two = TwoManagers(b"a")
    handle = two.open(Access.PEEK)
    cursor = two.ask(OpenCursor(0, handle)).handle
    assert bodies_of(two.ask(PeekMessage(0, handle, cursor=cursor))) == [b"a"]


def test_to_close_a_cursor_while_a_known_message_is_removed_ends_the_read() -> None:
    two = TwoManagers(b"a", b"b")
    two.script[qm2qm.EndReceive] = Silence.BEFORE
    two.begin(ReceiveMessages(0, FAR))
    two.lose()
    two.script.clear()
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    two.stalled = True
    caller = two.begin(ReceiveMessages(0, handle, cursor=cursor))
    two.carry_until(qm2qm.EndReceive)
    closer = two.begin(CloseCursor(0, cursor))
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.answer_to(closer).status is HResult.OK
    assert two.bodies == [b"b"]
