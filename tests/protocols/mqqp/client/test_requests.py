"""Tests requests of applications about queues of other managers: the remote queue must look like one of
ours.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.protocols.mqqp.client.requests import CARRIED, NO_TRANSACTION
from reliquary.protocols.mqqp.codec.qm2qm import CancelReceive
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    BrowseMessages,
    CancelRead,
    CloseCursor,
    CloseQueue,
    EndRead,
    LookUpMessage,
    OpenCursor,
    Opened,
    OpenQueue,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.security.principals import Principal, user_sid
from reliquary.queueing.travel.remote import ASPECTS
from tests.protocols.mqqp.client.two_managers import FAR, TwoManagers, bodies_of

TRANSACTION = UUID(int=5)


def test_every_request_that_a_reader_is_handed_is_carried() -> None:
    assert set(CARRIED) == set(ASPECTS)


@pytest.mark.parametrize(
    "request_",
    [
        ReceiveMessages(0, FAR, transaction=TRANSACTION),
        LookUpMessage(0, FAR, 1, peek=False, transaction=TRANSACTION),
    ],
)
def test_a_transaction_is_refused(request_: Any) -> None:
    two = TwoManagers(b"a")
    answer = two.ask(request_)
    assert (answer.status, answer.why) == (HResult.TRANSACTION_USAGE, NO_TRANSACTION)
    assert two.methods == []


@pytest.mark.parametrize(
    "request_",
    [
        ReceiveMessages(0, FAR, count=0),
        ReceiveMessages(0, FAR, timeout=Duration(-2)),
        ReceiveMessages(0, FAR, hold=Duration(-2)),
        ReceiveMessages(0, FAR, transaction=TRANSACTION, hold=seconds(5)),
        ReceiveMessages(0, FAR, cursor=7),
        PeekMessage(0, FAR, next=True),
        PeekMessage(0, FAR, cursor=7),
        LookUpMessage(0, FAR, 2**64),
        LookUpMessage(0, FAR, 1, transaction=TRANSACTION),
        BrowseMessages(0, FAR, limit=0),
        OpenQueue(0, FAR, Access.RECEIVE, lease=Duration(0)),
    ],
)
def test_values_out_of_range_are_refused_as_for_a_local_queue(request_: Any) -> None:
    two = TwoManagers(b"a")
    field = "path" if hasattr(request_, "path") else "queue"
    expected = two.here.ask(replace(request_, **{field: "orders"}))
    answer = two.ask(request_)
    assert (answer.status, answer.why) == (expected.status, expected.why)
    assert answer.status is HResult.INVALID_PARAMETER
    assert two.methods == []
    assert two.here.state.open.remote == {}


def test_a_rejection_that_gives_back_is_refused_and_the_receipt_stays() -> None:
    two = TwoManagers(b"a")
    receipt = two.receive(hold=60).receipt
    wrong = EndRead(0, receipt, delete=False, reject=True)
    assert two.ask(wrong).status is HResult.INVALID_PARAMETER
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.OK


def test_messages_of_another_manager_cannot_be_moved() -> None:
    two = TwoManagers()
    answer = two.ask(OpenQueue(0, FAR, Access.MOVE))
    assert isinstance(answer, Opened)
    assert answer.status is HResult.UNSUPPORTED_ACCESS_MODE
    assert (two.methods, two.here.state.open.remote) == ([], {})


def test_a_queue_that_is_open_for_peeks_is_not_received_from() -> None:
    two = TwoManagers(b"a")
    handle = two.open(Access.PEEK)
    for request in (ReceiveMessages(0, handle, hold=seconds(5)), LookUpMessage(0, handle, 1, peek=False)):
        assert two.ask(request).status is HResult.ACCESS_DENIED
    for peek in (PeekMessage(0, handle), LookUpMessage(0, handle, 0, Seek.FIRST), BrowseMessages(0, handle)):
        assert bodies_of(two.ask(peek)) == [b"a"]
    assert set(two.here.state.open.remote) == {handle}


def test_numbers_of_other_kinds_are_not_open() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    receipt = two.receive(handle, hold=60).receipt
    for wrong in (
        ReceiveMessages(0, cursor),
        ReceiveMessages(0, receipt),
        OpenCursor(0, receipt),
        CloseQueue(0, cursor),
        CloseCursor(0, receipt),
    ):
        assert two.ask(wrong).status is HResult.INVALID_HANDLE


def test_a_cursor_of_another_handle_is_refused() -> None:
    two = TwoManagers(b"a")
    first, second = two.open(), two.open()
    cursor = two.ask(OpenCursor(0, first)).handle
    answer = two.ask(PeekMessage(0, second, cursor=cursor))
    assert (answer.status, answer.why) == (
        HResult.INVALID_PARAMETER,
        f"cursor {cursor} is not open on this handle",
    )


# -- cancel by tag


@pytest.mark.spec("QP-042", "QP-155")
@pytest.mark.mqqp("T23")
@pytest.mark.parametrize("by_name", [True, False])
def test_a_read_that_waits_is_cancelled_by_its_tag(by_name: bool) -> None:
    two = TwoManagers()
    handle = two.open()
    first, second = two.begin_receiving(handle, tag=7), two.begin_receiving(handle, tag=8)
    assert two.ask(CancelRead(0, FAR.lower() if by_name else handle, 7)).status is HResult.OK
    assert two.answer_to(first).status is HResult.OPERATION_CANCELLED
    assert two.answer_to(second) is None
    assert len(two.asked(CancelReceive)) == 1
    two.send(b"a")
    assert bodies_of(two.answer_to(second)) == [b"a"]


@pytest.mark.parametrize("tag", [0, 5])
def test_a_tag_under_which_nothing_waits_is_not_found(tag: int) -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    two.begin(PeekMessage(0, handle, timeout=seconds(5)))
    two.receive(handle, tag=5, hold=60)
    for queue in (handle, FAR, r"DIRECT=OS:other\private$\orders"):
        assert two.ask(CancelRead(0, queue, tag)).status is HResult.STATUS_NOT_FOUND
    cursor = two.ask(OpenCursor(0, handle)).handle
    assert two.ask(CancelRead(0, cursor, tag)).status is HResult.STATUS_NOT_FOUND


def test_no_user_cancels_the_read_of_another_user() -> None:
    two = TwoManagers()
    identity = two.here.state.identity().identifier
    anna, boris = (Principal(user_sid(identity, name)) for name in ("anna", "boris"))
    caller = two.begin(ReceiveMessages(0, FAR, timeout=FOREVER_WAIT, tag=7, by=anna))
    assert two.ask(CancelRead(0, FAR, 7, by=boris)).status is HResult.STATUS_NOT_FOUND
    assert two.answer_to(caller) is None
    assert two.ask(CancelRead(0, FAR, 7, by=anna)).status is HResult.OK


def test_a_read_is_cancelled_while_its_queue_is_opened() -> None:
    two = TwoManagers(b"a")
    two.stalled = True
    caller = two.begin_receiving(tag=7)
    two.begin(CancelRead(0, FAR, 7))
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.bodies == [b"a"]
    two.advance(3)
    assert two.is_idle


# -- who goes away


def test_a_caller_who_waits_for_nothing_may_leave() -> None:
    two = TwoManagers(b"a")
    two.leave(99)
    caller = two.begin(ReceiveMessages(0, FAR, hold=seconds(60)))
    two.leave(caller)
    assert two.bodies == []  # the reader was answered: the receipt is valid until its time is over


def test_a_caller_that_leaves_while_its_queue_is_closed_does_not_stop_it() -> None:
    two = TwoManagers()
    handle = two.open()
    two.stalled = True
    caller = two.begin(CloseQueue(0, handle))
    two.leave(caller)
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OK
    assert two.is_idle


def test_users_do_not_share_what_they_named() -> None:
    two = TwoManagers(b"a", b"b")
    identity = two.here.state.identity().identifier
    for name in ("anna", "boris", "anna"):
        two.ask(PeekMessage(0, FAR, by=Principal(user_sid(identity, name))))
    assert two.methods.count("OpenRemoteQueue") == 2


def test_the_case_of_a_name_does_not_matter() -> None:
    two = TwoManagers(b"a")
    two.ask(PeekMessage(0, FAR))
    two.ask(PeekMessage(0, FAR.replace("orders", "ORDERS")))
    assert two.methods.count("OpenRemoteQueue") == 1
    two.ask(PurgeQueue(0, FAR))
    assert two.methods.count("OpenRemoteQueue") == 2  # a purge needs more than a peek
