"""Calls become events, answers become stubs, and what cannot be read is refused at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import pytest

from reliquary.base.turn import Event
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User, Users
from reliquary.net.mqqp.serving import INTERFACES, Serving
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.mqqp.codec.qm2qm import GetServerPort, GetVersion, PortKind, VersionReturned
from reliquary.protocols.mqqp.codec.stubs import encode_request, encode_response
from reliquary.protocols.mqqp.effects import EndAssociation, RaiseFault, Respond
from reliquary.protocols.mqqp.events import (
    AssociationLost,
    CallCancelled,
    ClientBound,
    ClientCalled,
    ConnectionLost,
)
from reliquary.protocols.rpc.events import Bound, Called
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM

ADA = User(name="ada", nt_hash=nt_hash("secret"))
VERSION = VersionReturned(6, 1, 7601)


class RecordingEngine:
    """Takes the place of the engine and of the listener, and notes what it is asked."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.sent: list[tuple[Any, ...]] = []
        self.stopped = False

    def submit(self, event: Event) -> None:
        if self.stopped:
            raise EngineStopped("the engine has stopped")
        self.events.append(event)

    def respond(self, connection: int, call: int, stub: Sequence[bytes]) -> None:
        self.sent.append((connection, call, b"".join(stub)))

    def fault(self, connection: int, call: int, status: int) -> None:
        self.sent.append((connection, call, status))

    def end_association(self, association: int) -> None:
        self.sent.append((association,))


def serving() -> tuple[Serving, RecordingEngine]:
    recorder = RecordingEngine()
    made = Serving(cast(Engine, recorder), Users(UUID(int=1), (ADA,)))
    made.listener = cast(RpcListener, recorder)
    return made, recorder


def called(
    call: int = 7, opnum: int = 8, stub: bytes = b"", encoding: Encoding = NDR20, user: str = ""
) -> Called:
    return Called(3, call, QM2QM, opnum, stub, encoding, user, Protection.INTEGRITY)


@pytest.mark.parametrize("encoding", [NDR20, NDR64])
def test_a_call_is_answered_in_the_syntax_that_it_came_in(encoding: Encoding) -> None:
    service, recorder = serving()
    service.called(5, "10.0.0.1", called(encoding=encoding))
    assert recorder.events == [ClientCalled(3, 5, 7, GetVersion(), ANONYMOUS, Protection.INTEGRITY)]
    service.respond(Respond(5, 7, VERSION))
    assert recorder.sent == [(5, 7, b"".join(encode_response(VERSION, encoding)))]
    assert service.calls == {"GetVersion": 1}


def test_the_user_of_a_call_is_the_one_of_the_settings() -> None:
    service, recorder = serving()
    stub = encode_request(GetServerPort(PortKind.READ), NDR20)
    service.called(5, "10.0.0.1", called(opnum=7, stub=stub, user="ADA"))
    (event,) = recorder.events
    assert isinstance(event, ClientCalled)
    assert event.by.name == "ada"


@pytest.mark.spec("QP-013")
@pytest.mark.parametrize(
    ("opnum", "stub", "status"),
    [
        (99, b"", FaultStatus.OP_RANGE),
        (7, b"\4\0\0\0", FaultStatus.BAD_STUB_DATA),
        (7, b"", FaultStatus.BAD_STUB_DATA),
    ],
)
def test_what_cannot_be_read_is_a_fault_and_no_event(opnum: int, stub: bytes, status: FaultStatus) -> None:
    service, recorder = serving()
    service.called(5, "10.0.0.1", called(opnum=opnum, stub=stub))
    assert recorder.events == []
    assert recorder.sent == [(5, 7, status)]
    assert service.faults == {status: 1}


def test_only_one_answer_leaves_and_none_for_a_call_that_is_forgotten_or_lost() -> None:
    service, recorder = serving()
    for call in (1, 2, 3):
        service.called(5, "", called(call))
    service.respond(Respond(5, 1, VERSION))
    service.respond(Respond(5, 1, VERSION))
    service.cancelled(5, 2, forgotten=True)
    service.respond(Respond(5, 2, VERSION))
    service.connection_lost(5)
    service.raise_fault(RaiseFault(5, 3, FaultStatus.CANCELLED))
    assert [each[:2] for each in recorder.sent] == [(5, 1)]
    assert recorder.events[3:] == [CallCancelled(5, 2, forgotten=True), ConnectionLost(5)]


def test_a_call_that_is_cancelled_still_gets_its_fault() -> None:
    service, recorder = serving()
    service.called(5, "", called())
    service.cancelled(5, 7, forgotten=False)
    service.raise_fault(RaiseFault(5, 7, FaultStatus.CANCELLED))
    assert recorder.sent == [(5, 7, FaultStatus.CANCELLED)]
    assert recorder.events[-1] == CallCancelled(5, 7)


def test_binds_and_losses_reach_the_machine() -> None:
    service, recorder = serving()
    for interface in (QMCOMM, QM2QM):
        service.bound(5, "10.0.0.1", Bound(3, interface, NDR20))
    service.association_lost(3)
    assert recorder.events == [
        ClientBound(3, 5, "10.0.0.1", "qmcomm"),
        ClientBound(3, 5, "10.0.0.1", "qm2qm"),
        AssociationLost(3),
    ]
    assert set(INTERFACES) == {QM2QM, QMCOMM}


def test_an_administrator_ends_an_association() -> None:
    service, recorder = serving()
    service.end_association(EndAssociation(3))
    assert recorder.sent == [(3,)]


def test_after_the_engine_has_stopped_nothing_happens() -> None:
    service, recorder = serving()
    recorder.stopped = True
    service.called(5, "", called())
    service.connection_lost(5)
    assert recorder.events == []


def test_a_user_that_was_removed_from_the_settings_is_denied() -> None:
    service, recorder = serving()
    service._users.renew(())
    service.called(5, "10.0.0.1", called(user="ada"))
    assert recorder.events == []
    assert recorder.sent == [(5, 7, FaultStatus.ACCESS_DENIED)]
