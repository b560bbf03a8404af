"""Tests one accepted connection on a recording transport: what reaches the services, and what goes back."""

from __future__ import annotations

from struct import pack

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.rpc import mgmt
from reliquary.protocols.rpc.events import Faulted, Returned
from reliquary.protocols.rpc.limits import Limits
from reliquary.wire.ndr.encoding import NDR20
from reliquary.wire.rpc.calls import encode_bare
from reliquary.wire.rpc.header import PduType
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import EPM, MGMT, QM2QM, QMCOMM
from tests.net.http.harness import play, tick
from tests.net.rpc.harness import ManualService, Side, share


def test_a_call_reaches_its_service_and_the_answer_its_client() -> None:
    async def scene() -> None:
        service = ManualService()
        side = Side(share(service))
        association = side.bind()
        assert side.call(1, opnum=9, stub=b"question") == []
        ((number, called),) = service.calls
        assert (number, called.association, called.call, called.stub) == (1, association, 1, b"question")
        assert [(bound.association, bound.interface) for bound in service.bindings] == [(association, QM2QM)]
        side.connection.respond(1, [b"ans", b"wer"])
        assert side.transport.writes[1:] == []
        await tick()
        assert side.carry() == [Returned(1, b"answer", NDR20)]
        side.connection.fault(1, 5)
        side.connection.respond(1, [b"again"])
        await tick()
        assert len(side.carry()) == 1
        assert service.notes == ["1 bound from nowhere", "1 called 9"]

    play(scene)


def test_answers_of_one_tick_leave_in_one_write() -> None:
    async def scene() -> None:
        side = Side(share(ManualService()))
        side.bind()
        for call in (1, 2, 3):
            side.call(call)
        before = len(side.transport.writes)
        side.connection.respond(2, [b"two"])
        side.connection.fault(3, 0xC00E0007)
        side.connection.respond(1, [b"one"])
        await tick()
        assert len(side.transport.writes) == before + 1
        assert side.carry() == [
            Returned(2, b"two", NDR20),
            Faulted(3, 0xC00E0007),
            Returned(1, b"one", NDR20),
        ]

    play(scene)


def test_a_call_that_is_cancelled_waits_and_one_that_is_forgotten_does_not() -> None:
    async def scene() -> None:
        service = ManualService()
        side = Side(share(service))
        side.bind()
        side.call(1)
        side.call(2)
        side.client.cancel(1)
        side.carry()
        side.connection.data_received(encode_bare(PduType.ORPHANED, 2))
        side.connection.data_received(encode_bare(PduType.ORPHANED, 2))
        assert service.notes[-2:] == ["1 cancelled 1", "1 forgot 2"]
        side.connection.respond(2, [b"late"])
        side.connection.respond(1, [b"cancelled"])
        await tick()
        assert side.carry() == [Returned(1, b"cancelled", NDR20)]

    play(scene)


def test_the_management_interface_is_answered_without_a_service() -> None:
    service = ManualService()
    shared = share(service)
    caller = Side(shared)
    caller.bind()
    caller.call(1)
    side = Side(shared, MGMT)
    side.bind()
    (answer,) = side.call(1, mgmt.INQ_IF_IDS, b"")
    assert isinstance(answer, Returned)
    assert answer.stub[:12] == pack("<III", 0x20000, 3, 3)
    assert [uuid.uuid.bytes_le in answer.stub for uuid in (QM2QM, QMCOMM, MGMT, EPM)] == [True] * 3 + [False]
    *_, statistics = side.call(2, mgmt.INQ_STATS, pack("<I", 4))
    assert isinstance(statistics, Returned)
    assert statistics.stub[:12] == pack("<III", 4, 4, 3)
    *_, refused = side.call(3, 99, b"")
    assert refused == Faulted(3, FaultStatus.OP_RANGE)
    assert service.notes == ["1 bound from nowhere", "1 called 7"]


def test_a_client_that_breaks_the_protocol_learns_why_and_is_closed() -> None:
    service = ManualService()
    shared = share(service)
    side = Side(shared)
    side.connection.data_received(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    assert side.transport.shut
    assert shared.refused == 1
    bound = Side(shared)
    bound.bind()
    bound.call(1)
    bound.connection.data_received(encode_bare(PduType.SHUTDOWN, 1))
    assert bound.transport.shut
    assert bound.carry() == [Faulted(1, FaultStatus.PROTOCOL)]
    bound.connection.data_received(b"more")
    bound.connection.sweep(seconds(6))
    assert bound.transport.was_cut()
    bound.connection.connection_lost(None)
    assert service.notes[-2:] == ["2 lost", "association lost"]


def test_one_client_too_many_is_closed() -> None:
    shared = share(ManualService(), most=1)
    first, second = Side(shared), Side(shared)
    assert first.transport.open
    assert second.transport.closed
    second.connection.connection_lost(None)
    assert shared.refused == 1


def test_a_client_that_does_not_take_its_answers_is_not_read_from() -> None:
    service = ManualService()
    side = Side(share(service))
    side.bind()
    side.connection.pause_writing()
    side.call(1)
    assert service.calls == []
    assert not side.transport.reads()
    side.connection.resume_writing()
    assert len(service.calls) == 1
    assert side.transport.reads()


class TestTheEnd:
    def test_an_association_is_lost_with_its_last_connection(self) -> None:
        service = ManualService()
        shared = share(service)
        first = Side(shared)
        association = first.bind()
        second = Side(shared, QMCOMM, association)
        assert second.bind() == association
        service.notes.clear()
        first.connection.connection_lost(None)
        assert service.notes == ["1 lost"]
        second.connection.connection_lost(None)
        assert service.notes == ["1 lost", "2 lost", "association lost"]

    def test_a_client_that_bound_nothing_of_a_service_is_not_lost_to_it(self) -> None:
        service = ManualService()
        side = Side(share(service), MGMT)
        side.bind()
        side.connection.connection_lost(None)
        assert service.notes == ["association lost"]

    def test_an_answer_for_a_client_that_has_gone_is_dropped(self) -> None:
        async def scene() -> None:
            service = ManualService()
            side = Side(share(service))
            side.bind()
            side.call(1)
            sent = len(side.transport.writes)
            side.connection.connection_lost(None)
            side.connection.respond(1, [b"late"])
            await tick()
            assert len(side.transport.writes) == sent
            assert side.connection.outstanding == 0

        play(scene)

    def test_a_client_must_bind_in_time(self) -> None:
        shared = share(ManualService())
        silent, bound = Side(shared), Side(shared)
        bound.bind()
        for side in (silent, bound):
            side.connection.sweep(seconds(30))
            assert side.transport.open
            side.connection.sweep(seconds(31))
        assert silent.transport.closed
        assert bound.transport.open

    @pytest.mark.parametrize("busy", [False, True])
    def test_a_client_without_a_call_may_be_idle_for_a_time(self, busy: bool) -> None:
        side = Side(share(ManualService()))
        side.bind()
        if busy:
            side.call(1)
        side.connection.sweep(seconds(600))
        assert side.transport.open
        side.connection.sweep(seconds(601))
        assert side.transport.closed is not busy

    def test_a_client_that_has_something_open_may_be_idle(self) -> None:
        open_here: set[int] = set()
        side = Side(share(ManualService(), keeps=lambda association: association in open_here))
        open_here.add(side.bind())
        side.connection.sweep(seconds(601))
        assert side.transport.open
        open_here.clear()
        side.connection.sweep(seconds(602))
        assert side.transport.closed

    def test_a_drain_lets_calls_be_answered_and_takes_no_others(self) -> None:
        async def scene() -> None:
            service = ManualService()
            shared = share(service)
            idle, busy = Side(shared), Side(shared)
            idle.bind()
            busy.bind()
            busy.call(1)
            shared.draining = True
            for side in (idle, busy):
                side.connection.finish()
            assert idle.transport.closed
            assert busy.call(2) == [Faulted(2, FaultStatus.SERVER_TOO_BUSY)]
            assert busy.transport.open
            busy.connection.respond(1, [b"answer"])
            await tick()
            assert busy.carry()[1:] == [Returned(1, b"answer", NDR20)]
            assert busy.transport.closed

        play(scene)


def test_more_calls_than_the_limit_are_refused_and_the_connection_stays() -> None:
    service = ManualService()
    side = Side(share(service, limits=Limits(calls=2)))
    side.bind()
    for call in (1, 2):
        assert side.call(call) == []
    assert side.call(3) == [Faulted(3, FaultStatus.SERVER_TOO_BUSY)]
    assert len(service.calls) == 2
    assert side.transport.open
