"""Every method that may be refused has a form for it."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, ReadDescriptor, Request, Response
from reliquary.protocols.mqqp.server.calls import FREE, METHODS
from reliquary.protocols.mqqp.server.responding import REFUSALS
from reliquary.wire.rpc.statuses import FaultStatus

READ = ReadDescriptor(5, 0, 10, 7, queue_again=5, reserved=9)
HANDLE = UUID(int=3)
WRONG = 0xC00E0006

FORMS: dict[Request, Response | int] = {
    qm2qm.StartReceive(READ): qm2qm.ReadStarted(NO_HANDLE, READ, WRONG),
    qm2qm.EndReceive(HANDLE, Acknowledge.ACK): qm2qm.HandleReturned(HANDLE, WRONG),
    qm2qm.OpenQueue(HANDLE, 0, 5, 5, 5): qm2qm.HandleReturned(NO_HANDLE, WRONG),
    qm2qm.CloseQueue(HANDLE): qm2qm.HandleReturned(HANDLE, WRONG),
    qm2qm.CloseCursor(5, 6): qm2qm.StatusReturned(WRONG),
    qm2qm.CancelReceive(5, 5, 7): qm2qm.StatusReturned(WRONG),
    qm2qm.PurgeQueue(5): WRONG,
    qm2qm.StartReceive2(READ, 4): qm2qm.ReadStarted2(NO_HANDLE, READ, 4, WRONG),
    qm2qm.StartReceiveByLookupId(8, None): qm2qm.ReadStarted2(NO_HANDLE, None, 0, WRONG),
    qmcomm.OpenRemoteQueue(None, 1, 0, HANDLE): qmcomm.RemoteQueueOpened(NO_HANDLE, 0, 0, 0, WRONG),
    qmcomm.CloseRemoteQueueContext(HANDLE): int(FaultStatus.ACCESS_DENIED),
    qmcomm.CreateRemoteCursor(5): qmcomm.CursorCreated(0, WRONG),
}


def test_each_method_that_not_every_client_may_call_has_a_refusal() -> None:
    assert set(REFUSALS) == set(METHODS) - FREE
    assert {type(request) for request in FORMS} == set(REFUSALS)


@pytest.mark.spec("QP-047", "QP-111", "QP-160", "QP-162")
@pytest.mark.parametrize("request_", FORMS, ids=lambda request: type(request).__name__)
def test_a_refusal_has_the_status_and_no_new_handle(request_: Request) -> None:
    assert REFUSALS[type(request_)](request_, WRONG) == FORMS[request_]


def test_a_buffer_that_a_client_sent_does_not_come_back() -> None:
    filled = msgspec.structs.replace(READ, packet=b"junk")
    assert REFUSALS[qm2qm.StartReceive](qm2qm.StartReceive(filled), WRONG) == FORMS[qm2qm.StartReceive(READ)]
