"""Tests what ends with a link."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.base.turn import TimerFired
from reliquary.protocols.mqqp.client import calling, links
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import StartReceive2
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.queueing.model.events import (
    Access,
    BrowseMessages,
    CloseCursor,
    CloseQueue,
    EndRead,
    OpenCursor,
    Opened,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
)
from reliquary.queueing.travel.failures import Failure
from reliquary.queueing.travel.remote import RemoteReadsEnded
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of


def test_handles_cursors_and_receipts_end_with_their_link() -> None:
    two = TwoManagers(b"a")
    handle = two.open(lease=seconds(100))
    cursor = two.ask(OpenCursor(0, handle)).handle
    receipt = two.receive(handle, hold=60).receipt
    two.lose()
    assert two.is_idle
    ended = [each.numbers for each in two.here.signals if isinstance(each, RemoteReadsEnded)]
    assert {handle, cursor, receipt} <= {number for numbers in ended for number in numbers}
    for request in (CloseQueue(0, handle), CloseCursor(0, cursor), EndRead(0, receipt, delete=True)):
        assert two.ask(request).status is HResult.INVALID_HANDLE
    assert two.bodies == [b"a"]
    assert not [name for name, _ in two.here.timers if name.startswith("mqqp")]


@pytest.mark.parametrize("why", Failure)
def test_waiting_requests_fail_with_a_sentence_about_the_server(why: Failure) -> None:
    two = TwoManagers()
    handle = two.open()
    callers = [
        two.begin_receiving(handle),
        two.begin_receiving(handle, hold=seconds(5)),
        two.begin(PeekMessage(0, handle, timeout=seconds(50))),
    ]
    two.lose(why, "unplugged")
    for caller in callers:
        answer = two.answer_to(caller)
        assert answer.status in (HResult.REMOTE_MACHINE_NOT_AVAILABLE, HResult.ACCESS_DENIED)
        assert answer.why == f"far cannot be reached ({why.value}): unplugged"
    assert two.is_idle


def test_a_server_that_cannot_be_reached_fails_the_open() -> None:
    two = TwoManagers()
    two.stalled = True
    caller = two.begin(OpenQueue(0, FAR, Access.RECEIVE))
    two.lose(Failure.NO_CONNECTION, "connection refused")
    answer = two.answer_to(caller)
    assert isinstance(answer, Opened)
    assert answer.status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.here.state.open.remote == {}
    assert two.here.client.links == {}


def test_a_lost_message_is_there_again_for_the_next_reader() -> None:
    """The promise: a lost response never loses a message (F-07)."""
    two = TwoManagers(b"a")
    two.script[StartReceive2] = Silence.AFTER
    caller = two.begin(ReceiveMessages(0, FAR))
    assert two.bodies == []
    two.advance(60)
    assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.ended == [1]
    del two.script[StartReceive2]
    assert bodies_of(two.receive()) == [b"a"]


def test_messages_that_came_and_were_not_delivered_are_there_again() -> None:
    two = TwoManagers(b"a", b"b")
    two.script[StartReceive2] = lambda _: Silence.AFTER if len(two.asked(StartReceive2)) == 2 else None
    caller = two.begin(ReceiveMessages(0, FAR, count=2))
    two.lose()
    assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.bodies == [b"a", b"b"]


def test_the_next_request_opens_a_new_link() -> None:
    two = TwoManagers(b"a")
    two.ask(PeekMessage(0, FAR))
    two.lose()
    assert bodies_of(two.ask(PeekMessage(0, FAR))) == [b"a"]
    assert len({each.link for each in two.went}) == 2


def test_a_cursor_that_is_being_opened_or_closed_does_not_exist_afterwards() -> None:
    two = TwoManagers()
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    two.script[qmcomm.CreateRemoteCursor] = two.script[qm2qm.CloseCursor] = Silence.BEFORE
    opened, closed = two.begin(OpenCursor(0, handle)), two.begin(CloseCursor(0, cursor))
    two.lose()
    answer = two.answer_to(opened)
    assert isinstance(answer, Opened)
    assert answer.status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.answer_to(closed).status is HResult.OK
    assert two.is_idle


def test_a_browse_that_breaks_off_fails() -> None:
    two = TwoManagers(b"a", b"b")
    two.script[qm2qm.StartReceiveByLookupId] = lambda _: (
        Silence.BEFORE if len(two.asked(qm2qm.StartReceiveByLookupId)) == 2 else None
    )
    caller = two.begin(BrowseMessages(0, FAR))
    two.lose()
    assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE


def test_late_responses_are_ignored() -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = Silence.BEFORE
    handle = two.open()
    caller = two.begin_receiving(handle)
    (link, call) = two.went[-1].link, two.went[-1].call
    two.here.handle(ServerFaulted(99, call, 5))
    two.here.handle(ServerFaulted(link, 99, 5))
    assert two.answer_to(caller) is None
    two.lose()
    assert two.answer_to(caller) is not None
    for late in (
        LinkLost(link, Failure.LOST),
        ServerFaulted(link, call, 5),
        ServerResponded(link, call, qm2qm.HandleReturned(qm2qm.NO_HANDLE, 0)),
    ):
        assert two.here.handle(late).effects == ()
    assert two.here.client.links == {}


def test_a_restart_here_leaves_nothing_there() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    two.receive(handle, hold=60)
    two.begin_receiving(handle)
    two.restart(crash=True)
    assert two.bodies == [b"a"]
    assert two.is_idle
    assert two.ask(CloseQueue(0, handle)).status is HResult.INVALID_HANDLE


def test_a_timer_whose_matter_is_over_does_nothing() -> None:
    two = TwoManagers()
    handle = two.open()
    for name in (calling.TIMER, links.HOLD_TIMER, links.LEASE_TIMER, links.IDLE_TIMER):
        assert two.here.handle(TimerFired((name, 999))).effects == ()
    two.begin_receiving(handle)
    assert two.here.handle(TimerFired((links.IDLE_TIMER, two.link.number))).effects == ()
    assert two.link.handle == handle
