"""Tests how queues of other managers are opened and closed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client.phases import LinkPhase
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import (
    NO_HANDLE,
    GetVersion,
    HandleReturned,
    PortKind,
    PortReturned,
    StartReceive,
    StartReceive2,
    VersionReturned,
)
from reliquary.protocols.mqqp.codec.qmcomm import RemoteQueueOpened
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.events import (
    Access,
    CloseQueue,
    LookUpMessage,
    Opened,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
    Seek,
    Share,
)
from reliquary.queueing.model.facts import ManagerNamed
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of

OPENING = ["OpenRemoteQueue", "GetServerPort", "GetVersion", "OpenQueue", "CloseRemoteQueueContext"]
OPEN = OpenQueue(0, FAR, Access.RECEIVE)


@pytest.mark.spec("QP-014", "QP-085", "QP-144", "QP-145", "QP-161", "QP-163", "QP-045")
@pytest.mark.mqqp("T10")
def test_a_queue_is_opened_in_the_order_of_the_specification() -> None:
    two = TwoManagers()
    answer = two.ask(OPEN)
    assert isinstance(answer, Opened)
    assert (answer.status, two.methods) == (HResult.OK, OPENING)
    link = two.link
    assert (link.phase, link.handle, link.server) == (LinkPhase.OPEN, answer.handle, "far")
    assert two.here.client.handles == {answer.handle: link}
    assert link.remote.session in two.there.server.handles
    assert link.remote.opened not in two.there.server.handles


@pytest.mark.spec("QP-115", "QP-145")
def test_qm2qm_is_called_at_the_port_that_the_server_gives() -> None:
    two = TwoManagers()
    two.open()
    ports = [(type(each.request).__name__, each.port) for each in two.went]
    assert ports == list(zip(OPENING, (0, 0, 2105, 2105, 0), strict=True))
    assert two.asked(qm2qm.GetServerPort) == [qm2qm.GetServerPort(PortKind.READ)]
    two.ask(PeekMessage(0, two.link.handle))
    assert two.went[-1].port == 2105


@pytest.mark.spec("QP-087", "QP-146")
@pytest.mark.parametrize(
    ("servers", "level"), [({}, 0), ({"routing_server": True}, 1), ({"directory_server": True}, 1)]
)
def test_the_request_has_the_identity_and_the_access_of_the_client(
    servers: dict[str, bool], level: int
) -> None:
    two = TwoManagers()
    identity = two.here.state.identity()
    apply(two.here.state, ManagerNamed(replace(identity, **servers)))
    two.open(Access.PEEK, share=Share.DENY_RECEIVE)
    (opened,) = two.asked(qmcomm.OpenRemoteQueue)
    assert (opened.name, opened.access, opened.share) == (FAR, 0x20, 1)
    assert (opened.client, opened.level) == (identity.identifier, level)
    (entered,) = two.asked(qm2qm.OpenQueue)
    assert (entered.client, entered.level) == (identity.identifier, level)


def test_the_name_goes_out_as_the_application_wrote_it() -> None:
    two = TwoManagers()
    name = r"direct=tcp:10.0.0.7\PRIVATE$\Orders"
    two.open(name=name)
    assert two.asked(qmcomm.OpenRemoteQueue)[0].name == name
    assert two.link.server == "10.0.0.7"


def test_the_three_numbers_of_an_old_server_go_each_to_its_place() -> None:
    two = TwoManagers()
    two.script[qmcomm.OpenRemoteQueue] = RemoteQueueOpened(UUID(int=5), 11, 12, 13, 0)
    two.script[qm2qm.OpenQueue] = HandleReturned(UUID(int=5), 0)
    two.script[StartReceive2] = Silence.BEFORE
    handle = two.open()
    two.begin(ReceiveMessages(0, handle))
    (entered,), (read,) = two.asked(qm2qm.OpenQueue), two.asked(StartReceive2)
    assert (entered.context, entered.queue_again, entered.queue) == (11, 12, 13)
    assert read.read is not None
    assert (read.read.queue_again, read.read.queue) == (12, 13)


VERSIONS = [
    ((4, 0, 0), StartReceive),
    ((5, 0, 2195), StartReceive),
    ((5, 1, 950), StartReceive),
    ((5, 1, 951), StartReceive2),
    ((6, 1, 7601), StartReceive2),
    (None, StartReceive),
]


@pytest.mark.spec("QP-149", "QP-150")
@pytest.mark.mqqp("T08")
@pytest.mark.parametrize(("version", "expected"), VERSIONS)
def test_old_servers_are_read_with_the_old_method(version: Any, expected: type[qm2qm.Request]) -> None:
    two = TwoManagers(b"a")
    two.script[GetVersion] = FaultStatus.OP_RANGE if version is None else VersionReturned(*version)
    handle = two.open()
    for _ in range(2):
        assert bodies_of(two.ask(PeekMessage(0, handle))) == [b"a"]
    assert len(two.asked(GetVersion)) == 1  # H-14
    assert len(two.asked(expected)) == 2
    sequential = [each.sequential for each in two.asked(StartReceive2)]
    assert set(sequential) <= {0}


def test_an_old_server_cannot_be_asked_for_lookup_identifiers() -> None:
    two = TwoManagers(b"a")
    two.script[GetVersion] = VersionReturned(5, 0, 2195)
    answer = two.ask(LookUpMessage(0, FAR, 5, Seek.NEXT))
    assert answer.status is HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER
    assert "far" in answer.why
    assert two.methods == OPENING


@pytest.mark.parametrize("method", [qmcomm.OpenRemoteQueue, qm2qm.GetServerPort, GetVersion, qm2qm.OpenQueue])
@pytest.mark.parametrize("status", [0x721, 0xC00E0025, 0xC00E0999])
def test_a_fault_while_opening_fails_the_open_and_leaves_nothing(
    method: type[qm2qm.Request], status: int
) -> None:
    two = TwoManagers()
    two.script[method] = status
    answer = two.ask(OPEN)
    assert isinstance(answer, Opened)
    assert answer.status in (HResult.ACCESS_DENIED, HResult.ERROR)
    assert "far" in answer.why
    assert two.is_idle
    assert two.ended == [1]


@pytest.mark.spec("QP-052", "QP-160")
@pytest.mark.mqqp("T33")
@pytest.mark.parametrize("status", [0xC00E0003, 0xC0000043, 0x400E03E9, 0x00000001, 0x8007000E])
def test_any_status_but_success_fails_the_open(status: int) -> None:
    for method, response in (
        (qmcomm.OpenRemoteQueue, RemoteQueueOpened(NO_HANDLE, 1, 1, 1, status)),
        (qm2qm.OpenQueue, HandleReturned(NO_HANDLE, status)),
    ):
        two = TwoManagers()
        two.script[method] = response
        answer = two.ask(OPEN)
        assert answer.status is not HResult.OK
        assert two.is_idle


@pytest.mark.spec("QP-145")
def test_a_server_without_a_port_for_reads_cannot_be_read() -> None:
    two = TwoManagers()
    two.script[qm2qm.GetServerPort] = PortReturned(0)
    assert two.ask(OPEN).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.is_idle


def test_a_queue_that_is_not_there_is_refused_by_its_server() -> None:
    two = TwoManagers()
    answer = two.ask(OpenQueue(0, r"DIRECT=OS:far\private$\none", Access.RECEIVE))
    assert (answer.status, answer.why) == (HResult.QUEUE_NOT_FOUND, "far: the queue does not exist")
    assert two.is_idle


@pytest.mark.spec("QP-147")
@pytest.mark.mqqp("T37")
def test_a_server_that_hangs_while_it_opens_is_given_up_after_five_minutes() -> None:
    two = TwoManagers()
    two.script[qm2qm.OpenQueue] = Silence.BEFORE
    caller = two.begin(OPEN)
    two.advance(299)
    assert two.answer_to(caller) is None
    two.advance(1)
    answer = two.answer_to(caller)
    assert answer.status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert "did not answer the call to enter in time" in answer.why
    assert (two.ended, two.is_idle) == ([1], True)


def test_the_other_calls_of_an_open_have_the_time_of_a_call() -> None:
    for method in (qmcomm.OpenRemoteQueue, qm2qm.GetServerPort, GetVersion):
        two = TwoManagers(settings=MqqpSettings(seed=b"x", call_time=seconds(7)))
        two.script[method] = Silence.BEFORE
        caller = two.begin(OPEN)
        two.advance(6)
        assert two.answer_to(caller) is None
        two.advance(1)
        assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE


@pytest.mark.spec("QP-094", "QP-158")
@pytest.mark.mqqp("T10")
def test_a_closed_queue_is_closed_there_and_its_connections_too() -> None:
    two = TwoManagers()
    handle = two.open()
    session = two.link.remote.session
    assert two.ask(CloseQueue(0, handle)).status is HResult.OK
    assert two.asked(qm2qm.CloseQueue) == [qm2qm.CloseQueue(session)]
    assert two.ended == [1]
    assert two.is_idle
    assert two.ask(ReceiveMessages(0, handle)).status is HResult.INVALID_HANDLE


@pytest.mark.spec("QP-156")
def test_to_close_ends_reads_that_wait_and_gives_back_what_is_held() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    assert bodies_of(two.receive(handle, hold=60)) == [b"a"]
    caller = two.begin_receiving(handle)
    assert two.ask(CloseQueue(0, handle)).status is HResult.OK
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.bodies == [b"a"]
    assert two.is_idle


@pytest.mark.parametrize("status", [0xC00E0007, 0x721])
def test_a_server_that_refuses_to_close_is_hung_up_on(status: int) -> None:
    two = TwoManagers()
    handle = two.open()
    two.script[qm2qm.CloseQueue] = HandleReturned(NO_HANDLE, status) if status >> 31 else status
    assert two.ask(CloseQueue(0, handle)).status is not HResult.OK
    assert (two.ended, two.is_idle) == ([1], True)


def test_a_queue_whose_connection_breaks_while_it_is_closed_is_closed() -> None:
    two = TwoManagers()
    handle = two.open()
    two.script[qm2qm.CloseQueue] = Silence.BEFORE
    caller = two.begin(CloseQueue(0, handle))
    assert two.answer_to(caller) is None
    two.lose()
    assert two.answer_to(caller).status is HResult.OK
    assert two.is_idle


def test_a_lease_ends_a_handle_that_is_not_used() -> None:
    two = TwoManagers(b"a")
    handle = two.open(lease=seconds(10))
    two.advance(9)
    assert bodies_of(two.ask(PeekMessage(0, handle))) == [b"a"]
    two.advance(9)
    assert two.link.phase is LinkPhase.OPEN
    two.advance(1)
    assert two.is_idle
    assert two.ask(PeekMessage(0, handle)).status is HResult.INVALID_HANDLE


def test_to_wait_is_to_use_a_lease() -> None:
    two = TwoManagers()
    handle = two.open(lease=seconds(10))
    caller = two.begin_receiving(handle)
    two.advance(35)
    two.send(b"a")
    assert bodies_of(two.answer_to(caller)) == [b"a"]
    two.advance(10)
    assert two.is_idle


def test_a_queue_that_is_named_is_opened_once_for_requests_that_follow_each_other() -> None:
    two = TwoManagers(b"a", b"b")
    assert bodies_of(two.receive()) == [b"a"]
    two.advance(2)
    assert bodies_of(two.receive()) == [b"b"]
    assert two.methods.count("OpenRemoteQueue") == 1
    two.advance(2)
    assert two.link.phase is LinkPhase.OPEN
    two.advance(1)
    assert two.is_idle
    assert two.methods[-1] == "CloseQueue"


def test_requests_that_come_while_a_named_queue_is_opened_wait_for_it() -> None:
    two = TwoManagers(b"a", b"b")
    two.stalled = True
    callers = [two.begin(ReceiveMessages(0, FAR)) for _ in range(2)]
    two.stalled = False
    two.move()
    assert sorted(bodies_of(two.answer_to(caller))[0] for caller in callers) == [b"a", b"b"]
    assert two.methods.count("OpenRemoteQueue") == 1


def test_a_peek_does_not_open_a_queue_for_receives() -> None:
    two = TwoManagers(b"a")
    two.ask(PeekMessage(0, FAR))
    two.receive()
    assert [each.access for each in two.asked(qmcomm.OpenRemoteQueue)] == [0x20, 0x01]


def test_a_queue_that_cannot_be_opened_fails_all_that_wait_for_it() -> None:
    two = TwoManagers()
    two.script[qm2qm.OpenQueue] = HandleReturned(NO_HANDLE, 0xC00E0025)
    two.stalled = True
    callers = [two.begin(ReceiveMessages(0, FAR)), two.begin(ReceiveMessages(0, FAR, hold=seconds(5)))]
    two.stalled = False
    two.move()
    assert [two.answer_to(each).status for each in callers] == [HResult.ACCESS_DENIED] * 2
    assert two.is_idle


def test_an_application_that_leaves_while_a_queue_is_opened_leaves_nothing() -> None:
    two = TwoManagers()
    two.script[qm2qm.OpenQueue] = Silence.AFTER
    caller = two.begin(OPEN)
    two.leave(caller)
    assert two.answer_to(caller) == Opened(HResult.OPERATION_CANCELLED, "the queue was closed")
    assert (two.ended, two.is_idle) == ([1], True)


def test_no_client_has_to_wait_for_a_queue_that_is_closed() -> None:
    two = TwoManagers()
    handle = two.open()
    two.here.handle(CloseQueue(0, handle))
    two.move()
    assert two.is_idle


def test_an_exclusive_reader_is_not_kept_out_by_a_queue_that_is_open_for_no_client() -> None:
    two = TwoManagers(b"a", b"b")
    two.receive()
    assert two.ask(OpenQueue(0, FAR, Access.RECEIVE, Share.DENY_RECEIVE)).status is HResult.OK
    other = two.receive()
    assert (other.status, other.why) == (
        HResult.SHARING_VIOLATION,
        "far: the queue is open in a mode that excludes this one",
    )
    two.lose()
    two.receive(r"DIRECT=OS:other\private$\orders")
    two.begin_receiving(timeout=5)
    two.begin_receiving(timeout=5)
    refused = two.ask(OpenQueue(0, FAR.upper(), Access.RECEIVE, Share.DENY_RECEIVE))
    assert refused.status is HResult.SHARING_VIOLATION
