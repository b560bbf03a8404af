"""Tests opening sessions on real sockets: names, several addresses, failures, pings before them."""

from __future__ import annotations

import asyncio
import socket
from uuid import UUID

import pytest

from reliquary.base.time import Duration
from reliquary.net.mqqb import dialing
from reliquary.net.mqqb.shared import Count
from reliquary.net.tcp.dialing import ServerAddress, reach
from reliquary.protocols.mqqb.effects import Dial, HangUp, SendPackets
from reliquary.protocols.mqqb.events import (
    Accepted,
    AddressesFound,
    ConnectionLost,
    DialFailed,
    Dialled,
    PacketsArrived,
)
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.ping import Ping
from tests.net.http.harness import play, until
from tests.net.mqqb.harness import HOST, harness
from tests.net.mqqb.test_pings import PingPort
from tests.ports import free_port
from tests.protocols.mqqb.codec.frames import COMPOSED

PING = Ping(3, UUID(int=5)).encode()


@pytest.mark.spec("QB-002", "QB-003", "QB-004")
@pytest.mark.mqqb("T-15")
def test_packets_go_and_come_on_a_session_that_we_opened() -> None:
    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, HOST, there.port))
            assert await here.events.next(AddressesFound) == AddressesFound(1, (HOST,))
            assert await here.events.next(Dialled) == Dialled(1, HOST)
            assert await there.events.next(Accepted) == Accepted(-1, HOST)
            here.network.send(SendPackets(1, 1, (COMPOSED["V1"],)))
            assert await there.events.next(PacketsArrived) == PacketsArrived(-1, (COMPOSED["V1"],))
            there.network.send(SendPackets(-1, 1, (COMPOSED["V2"],)))
            assert await here.events.next(PacketsArrived) == PacketsArrived(1, (COMPOSED["V2"],))
            there.network.hang_up(HangUp(-1, 2))
            assert (await here.events.next(ConnectionLost)).session == 1
            assert here.network.counts[Count.DIALLED] == 1

    play(scene)


@pytest.mark.spec("QB-173")
@pytest.mark.mqqb("T-24")
def test_the_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, "anything", there.port, ("127.0.0.99", HOST)))
            assert await here.events.next(Dialled) == Dialled(1, HOST)
            assert not here.events.of(AddressesFound)

    play(scene)


@pytest.mark.spec("QB-112")
def test_a_name_is_resolved_to_all_its_addresses() -> None:
    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, "localhost", there.port))
            found = await here.events.next(AddressesFound)
            assert HOST in found.addresses
            assert await here.events.next(Dialled) == Dialled(1, HOST)

    play(scene)


@pytest.mark.spec("QB-112")
def test_an_address_of_ipv6_is_dialled_without_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every computer has IPv6, so the connection goes to another address in the end."""
    places: list[ServerAddress] = []

    async def reach_here(place: ServerAddress, opening: dialing.Opening, within: Duration) -> dialing.Opening:
        places.append(place)
        return await reach(ServerAddress(HOST, place.port), opening, within)

    monkeypatch.setattr(dialing, "reach", reach_here)

    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, "FE80::1", there.port))
            assert await here.events.next(AddressesFound) == AddressesFound(1, ("fe80::1",))
            assert (await here.events.next(Dialled)).session == 1
            assert await there.events.next(Accepted) == Accepted(-1, HOST)
            assert places[-1] == ServerAddress("fe80::1", there.port)

    play(scene)


@pytest.mark.spec("QB-169")
@pytest.mark.parametrize(
    ("host", "failure"),
    [
        pytest.param(HOST, Failure.NO_CONNECTION, id="a port without a listener"),
        pytest.param("no-such-host.invalid", Failure.NO_ADDRESS, id="an unknown name"),
        pytest.param("a" * 70, Failure.NO_ADDRESS, id="what cannot be a name"),
    ],
)
def test_a_session_that_cannot_be_opened_is_reported_once_with_its_reason(
    host: str, failure: Failure
) -> None:
    async def scene() -> None:
        async with harness() as here:
            here.network.dial(Dial(1, host, free_port()))
            failed = await here.events.next(DialFailed)
            assert (failed.session, failed.failure, failed.ping) == (1, failure, False)
            assert failed.why
            assert not here.events.of(ConnectionLost)
            assert here.network.counts[Count.DIAL_FAILED] == 1

    play(scene)


def test_a_session_that_is_given_up_while_it_is_dialled_is_not_reported() -> None:
    async def scene() -> None:
        with socket.socket() as deaf:
            deaf.bind((HOST, 0))  # no process listens, and nothing is refused before the task runs
            async with harness() as here:
                here.network.dial(Dial(1, HOST, free_port()))
                here.network.hang_up(HangUp(1))
                here.network.dial(Dial(2, HOST, free_port()))
                await here.events.next(DialFailed)
                assert [each.session for each in here.events.of(DialFailed)] == [2]

    play(scene)


def test_a_session_that_is_given_up_when_it_has_just_opened_is_closed() -> None:
    async def scene() -> None:
        async with harness() as here, harness() as there:
            here.network.dial(Dial(1, HOST, there.port))
            await here.events.next(Dialled)
            here.network.hang_up(HangUp(1))
            assert (await there.events.next(ConnectionLost)).session == -1
            assert not here.events.of(ConnectionLost)

    play(scene)


def test_one_connection_too_many_is_a_failure_to_dial() -> None:
    async def scene() -> None:
        async with harness(connections=1) as here, harness() as there:
            here.network.dial(Dial(1, HOST, there.port))
            await here.events.next(Dialled)
            here.network.dial(Dial(2, HOST, there.port))
            assert "too many" in (await here.events.next(DialFailed)).why

    play(scene)


@pytest.mark.spec("QB-176", "QB-177", "QB-302")
@pytest.mark.mqqb("T-29")
@pytest.mark.parametrize("accepting", [True, False])
def test_a_ping_decides_whether_a_session_is_opened(accepting: bool) -> None:
    async def scene() -> None:
        answer = Ping(3, UUID(int=9), refused=not accepting).encode()
        port = PingPort(answer)
        async with port as number, harness(MqqbSettings(ping_port=number)) as here, harness() as there:
            here.network.dial(Dial(1, HOST, there.port, (HOST,), PING))
            await until(lambda: here.events.seen)
            if accepting:
                assert await here.events.next(Dialled) == Dialled(1, HOST)
            else:
                assert (await here.events.next(DialFailed)).ping
                assert not there.events.seen
            assert [data for data, _ in port.asked] == [PING]

    play(scene)


def test_what_a_peer_says_before_we_do_is_not_lost() -> None:
    async def scene() -> None:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(COMPOSED["V4"])
            writer.write_eof()
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(greet, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        async with harness() as here:
            here.network.dial(Dial(1, HOST, port))
            assert await here.events.next(PacketsArrived) == PacketsArrived(1, (COMPOSED["V4"],))
            kinds = [type(each) for each in here.events.seen]
            assert kinds[:3] == [AddressesFound, Dialled, PacketsArrived]
        server.close()

    play(scene)
