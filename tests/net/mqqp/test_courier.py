"""Tests the courier of MQQP's client: calls go to the right port, and their answers come back as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

import pytest

from reliquary.net.identity.users import User, Users
from reliquary.net.mqqp.courier import WELL_KNOWN, Courier
from reliquary.net.rpc.dialing import DialLimits
from reliquary.net.rpc.ntlm import ntlm_server
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import (
    FOREVER,
    Action,
    PortKind,
    ReadDescriptor,
    Request,
    Response,
)
from reliquary.protocols.mqqp.codec.stubs import decode_request, encode_response
from reliquary.protocols.mqqp.effects import CallServer, EndLink
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.protocols.rpc.events import Called
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId
from tests.net.http.harness import play, until
from tests.net.rpc.dial_harness import HOST, RpcServer, serving

FAR: Final = "far"
NO_ONES_HOST: Final = "255.255.255.255"
"""No TCP connection is made to the broadcast address, whatever listens on this machine."""
READ: Final = qm2qm.StartReceive(ReadDescriptor(1, Action.RECEIVE, FOREVER, 9, queue_again=1))
VERSION: Final = qm2qm.GetVersion()
OPEN: Final = qmcomm.OpenRemoteQueue(r"DIRECT=OS:far\private$\orders", 1, 0, UUID(int=1))

Answers = Callable[[Request], Response]


class Harness:
    """A courier, and the events that it submitted."""

    def __init__(self, courier: Courier, events: list[object]) -> None:
        self.courier = courier
        self.events = events
        self._last = 0

    def call(self, request: Request, *, link: int = 1, port: int = 0, server: str = FAR) -> int:
        """Perform the effect of a call, and return its number."""
        self._last += 1
        self.courier.call(CallServer(link, self._last, server, port, request))
        return self._last

    async def has(self, count: int) -> None:
        """Return when this many events have come."""
        await until(lambda: len(self.events) >= count)


@contextmanager
def couriers(
    *servers: ServerSettings,
    mapped: int = 0,
    limits: DialLimits = DialLimits(),  # noqa: B008 - it is frozen
) -> Iterator[Harness]:
    """Yield a courier that asks a mapper with one answer for all interfaces."""
    events: list[object] = []

    async def mapper(host: str, interface: SyntaxId) -> int:
        assert host in (HOST, NO_ONES_HOST)
        assert interface in WELL_KNOWN
        return mapped

    courier = Courier(events.append, MqqpSettings(servers=servers), limits=limits, mapper=mapper)
    try:
        yield Harness(courier, events)
    finally:
        courier.stop()


def answering(answers: dict[type[Request], Response]) -> Callable[[Called], list[bytes] | None]:
    """Answer each kind of request with one response; others are left to the test."""

    def answer(called: Called) -> list[bytes] | None:
        response = answers.get(type(requested(called)))
        return None if response is None else encode_response(response, called.encoding)

    return answer


def requested(called: Called) -> Request:
    return decode_request(called.interface, called.opnum, called.stub, called.encoding)


ANSWERS: Final = answering(
    {
        qm2qm.GetVersion: qm2qm.VersionReturned(6, 1, 7601),
        qmcomm.OpenRemoteQueue: qmcomm.RemoteQueueOpened(UUID(int=5), 7, 7, 7, 0),
        qm2qm.PurgeQueue: qm2qm.StatusReturned(0),
    }
)


def at(server: RpcServer, **more: object) -> ServerSettings:
    """Return the settings that lead `far` to a server of the test."""
    return ServerSettings(name=FAR, host=HOST, port=server.port, **more)  # type: ignore[arg-type]


def test_each_call_gets_its_response() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS)) as server:
            with couriers(at(server)) as harness:
                opened, version = harness.call(OPEN), harness.call(VERSION)
                await harness.has(2)
                assert {event.call: event.response for event in harness.events} == {  # type: ignore[attr-defined]
                    opened: qmcomm.RemoteQueueOpened(UUID(int=5), 7, 7, 7, 0),
                    version: qm2qm.VersionReturned(6, 1, 7601),
                }
                assert {asked.called.interface: requested(asked.called) for asked in server.asked} == {
                    QMCOMM: OPEN,
                    QM2QM: VERSION,
                }
                assert harness.courier.connections == 2
                assert harness.courier.calls == {"OpenRemoteQueue": 1, "GetVersion": 1}
                assert harness.courier.responses == 2
                assert min(harness.courier.traffic.sent, harness.courier.traffic.received) > 0

    play(scene)


def test_a_read_that_waits_keeps_no_other_call_waiting() -> None:
    async def scene() -> None:
        for multiplexed in (True, False):
            async with serving(RpcServer(answer=ANSWERS, multiplexed=multiplexed)) as server:
                with couriers(at(server)) as harness:
                    harness.call(READ)
                    purged = harness.call(qm2qm.PurgeQueue(1))
                    await harness.has(1)
                    assert harness.events == [ServerResponded(1, purged, qm2qm.StatusReturned(0))]
                    assert len(server.lines) == (1 if multiplexed else 2)

    play(scene)


def test_reads_that_wait_leave_room_for_the_call_that_cancels_them() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS, multiplexed=False)) as server:
            with couriers(at(server), limits=DialLimits(connections=2)) as harness:
                harness.call(READ)
                harness.call(READ)
                purged = harness.call(qm2qm.PurgeQueue(1))
                await harness.has(1)
                assert harness.events == [ServerResponded(1, purged, qm2qm.StatusReturned(0))]

    play(scene)


def test_a_fault_is_an_answer() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with couriers(at(server)) as harness:
                call = harness.call(qm2qm.PurgeQueue(1))
                await server.wait_for(1)
                server.asked[0].fault(0xC00E0007)
                await harness.has(1)
                assert harness.events == [ServerFaulted(1, call, 0xC00E0007)]
                assert harness.courier.faults == {0xC00E0007: 1}

    play(scene)


@pytest.mark.parametrize("stub", [b"", bytes(3), bytes(100)], ids=["empty", "short", "long"])
def test_a_response_that_cannot_be_read_ends_the_link(stub: bytes) -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=lambda _: [stub])) as server:
            with couriers(at(server)) as harness:
                harness.call(VERSION)
                await harness.has(1)
                (event,) = harness.events
                assert isinstance(event, LinkLost)
                assert (event.link, event.failure) == (1, Failure.LOST)
                assert "GetVersion" in event.why
                assert harness.courier.failures == {Failure.LOST: 1}
                assert harness.courier.connections == 0

    play(scene)


def test_the_loss_of_one_connection_is_the_loss_of_the_link_and_of_no_other() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with couriers(at(server)) as harness:
                harness.call(OPEN)
                harness.call(READ)
                await server.wait_for(2)
                other = harness.call(VERSION, link=2)
                await server.wait_for(3)
                next(asked for asked in server.asked if asked.called.interface == QMCOMM).line.hang_up()
                await harness.has(1)
                (event,) = harness.events
                assert isinstance(event, LinkLost)
                assert (event.link, event.failure) == (1, Failure.LOST)
                await until(lambda: server.open == 1)
                server.asked[2].respond(
                    *encode_response(qm2qm.VersionReturned(6, 1, 1), server.asked[2].called.encoding)
                )
                await harness.has(2)
                assert harness.events[1] == ServerResponded(2, other, qm2qm.VersionReturned(6, 1, 1))

    play(scene)


def test_a_lost_link_is_not_begun_again() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with couriers(at(server)) as harness:
                harness.call(VERSION)
                await server.wait_for(1)
                server.lines[0].hang_up()
                await harness.has(1)
                harness.call(VERSION)
                assert harness.courier.links == {}
                harness.call(VERSION, link=2)
                await server.wait_for(2)
                assert len(harness.events) == 1

    play(scene)


def test_a_server_that_cannot_be_reached_is_a_lost_link() -> None:
    async def scene() -> None:
        with couriers(ServerSettings(name=FAR, host=HOST, port=1)) as harness:
            harness.call(OPEN)
            harness.call(VERSION)
            await harness.has(1)
            (event,) = harness.events
            assert isinstance(event, LinkLost)
            assert event.failure is Failure.NO_CONNECTION
            assert "127.0.0.1:1" in event.why

    play(scene)


def test_after_the_end_of_a_link_nothing_of_it_is_reported() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with couriers(at(server)) as harness:
                harness.call(READ)
                await server.wait_for(1)
                harness.courier.end(EndLink(1))
                harness.courier.end(EndLink(1))
                await until(lambda: not server.open)
                assert server.ended == [server.asked[0].called.association]
                harness.call(READ)
                assert harness.events == []
                assert harness.courier.links == {}

    play(scene)


# -- ports


@pytest.mark.spec("QP-005", "QP-145")
def test_a_port_of_the_effect_is_a_new_binding_and_the_first_one_is_closed() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS)) as first, serving(RpcServer(answer=ANSWERS)) as second:
            with couriers(at(first)) as harness:
                harness.call(qm2qm.GetServerPort(PortKind.READ))
                await first.wait_for(1)
                answer = encode_response(qm2qm.PortReturned(second.port), first.asked[0].called.encoding)
                first.asked[0].respond(*answer)
                await harness.has(1)
                harness.call(VERSION, port=second.port)
                await harness.has(2)
                assert [requested(asked.called) for asked in second.asked] == [VERSION]
                await until(lambda: not first.open)
                harness.call(VERSION, port=second.port)
                harness.call(VERSION)
                await harness.has(4)
                assert (len(first.lines), len(second.lines)) == (1, 1)
                assert all(isinstance(event, ServerResponded) for event in harness.events)

    play(scene)


def test_a_binding_that_is_left_is_closed_after_its_last_answer() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as first, serving(RpcServer(answer=ANSWERS)) as second:
            with couriers(at(first)) as harness:
                harness.call(qm2qm.PurgeQueue(1))
                await first.wait_for(1)
                harness.call(VERSION, port=second.port)
                await harness.has(1)
                assert first.open == 1
                first.asked[0].fault(5)
                await harness.has(2)
                await until(lambda: not first.open)

    play(scene)


def test_the_port_that_is_called_already_is_no_new_binding() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS)) as server:
            with couriers(at(server)) as harness:
                harness.call(VERSION)
                await harness.has(1)
                harness.call(VERSION, port=server.port)
                await harness.has(2)
                assert len(server.lines) == 1

    play(scene)


def test_without_a_port_the_endpoint_mapper_is_asked() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS)) as server:
            with couriers(ServerSettings(name=FAR, host=HOST), mapped=server.port) as harness:
                harness.call(OPEN)
                harness.call(VERSION)
                await harness.has(2)
                assert len(server.asked) == 2

    play(scene)


@pytest.mark.parametrize(("request_", "port"), [(OPEN, 2103), (VERSION, 2105)], ids=["qmcomm", "qm2qm"])
def test_without_a_mapper_the_well_known_port_is_called(request_: Request, port: int) -> None:
    async def scene() -> None:
        with couriers(ServerSettings(name=FAR, host=NO_ONES_HOST)) as harness:
            harness.call(request_)
            await harness.has(1)
            (event,) = harness.events
            assert isinstance(event, LinkLost)
            assert f"{NO_ONES_HOST}:{port}" in event.why

    play(scene)


def test_the_host_is_the_one_of_the_name_where_the_settings_say_no_other() -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=ANSWERS)) as server:
            with couriers() as harness:
                harness.call(VERSION, server=HOST, port=server.port)
                await harness.has(1)
                assert len(server.asked) == 1

    play(scene)


# -- users


ALICE: Final = User(name="alice", nt_hash="8846f7eaee8fb117ad06bdd830b7586c")
"""A user whose password is the word `password`."""


@pytest.mark.parametrize(
    ("protection", "expected"),
    [
        (Protection.NONE, Protection.CONNECT),
        (Protection.CONNECT, Protection.CONNECT),
        (Protection.INTEGRITY, Protection.INTEGRITY),
        (Protection.PRIVACY, Protection.PRIVACY),
    ],
)
def test_a_user_is_known_to_the_server(protection: Protection, expected: Protection) -> None:
    async def scene() -> None:
        users = Users(UUID(int=1), (ALICE,))
        async with serving(RpcServer(answer=ANSWERS, secure=ntlm_server(users))) as server:
            settings = ServerSettings(
                name=FAR,
                host=HOST,
                port=server.port,
                user="alice",
                password="password",
                protection=protection,
            )
            with couriers(settings) as harness:
                harness.call(VERSION)
                await harness.has(1)
                assert isinstance(harness.events[0], ServerResponded)
                called = server.asked[0].called
                assert (called.user, called.protection) == ("alice", expected)

    play(scene)


def test_a_wrong_password_reaches_no_method() -> None:
    async def scene() -> None:
        users = Users(UUID(int=1), (ALICE,))
        async with serving(RpcServer(answer=ANSWERS, secure=ntlm_server(users))) as server:
            settings = ServerSettings(name=FAR, host=HOST, port=server.port, user="alice", password="wrong")
            with couriers(settings) as harness:
                harness.call(VERSION)
                await harness.has(1)
                assert not isinstance(harness.events[0], ServerResponded)
                assert server.asked == []

    play(scene)
