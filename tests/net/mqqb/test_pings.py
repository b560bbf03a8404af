"""Tests pings on real datagrams: who is asked, who is answered, what is ignored."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from reliquary.net.mqqb.pings import ask
from reliquary.protocols.mqqb.effects import SendPing
from reliquary.protocols.mqqb.events import PingArrived
from reliquary.wire.packet.ping import Ping
from tests.net.http.harness import play, until
from tests.net.mqqb.harness import HOST, harness

OWN, PEER = UUID(int=1), UUID(int=2)
REQUEST = Ping(7, OWN, is_client=True).encode()


class PingPort(asyncio.DatagramProtocol):
    """A port that answers every datagram with a fixed list of datagrams."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = answers
        self._transport: Any = None
        self.asked: list[tuple[bytes, tuple[str, int]]] = []

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.asked.append((data, addr))
        for answer in self._answers:
            self._transport.sendto(answer, addr)

    async def __aenter__(self) -> int:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(HOST, 0))
        return int(self._transport.get_extra_info("sockname")[1])

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()


@pytest.mark.spec("QB-089", "QB-144", "QB-302", "QB-310")
@pytest.mark.mqqb("T-29", "T-31")
@pytest.mark.parametrize(
    ("answers", "accepted"),
    [
        pytest.param([Ping(7, PEER).encode()], True, id="accepted"),
        pytest.param([Ping(7, PEER, refused=True).encode()], False, id="refused"),
        pytest.param([b"noise", Ping(6, PEER).encode(), Ping(7, PEER).encode()], True, id="after others"),
        pytest.param([Ping(6, PEER).encode()], False, id="another cookie alone: no answer"),
    ],
)
def test_a_peer_is_asked_from_a_port_of_its_own(answers: list[bytes], accepted: bool) -> None:
    async def scene() -> None:
        port_of_peer = PingPort(*answers)
        async with port_of_peer as port:
            assert await ask(HOST, port, REQUEST) is accepted
        assert [data for data, _ in port_of_peer.asked] == [REQUEST]

    play(scene)


def test_a_port_without_a_listener_refuses() -> None:
    async def scene() -> None:
        async with PingPort() as port:
            pass
        assert await ask(HOST, port, REQUEST) is False
        assert await ask("not an address", 1, REQUEST) is False

    play(scene)


@pytest.mark.spec("QB-085", "QB-088", "QB-090", "QB-311")
@pytest.mark.mqqb("T-29")
def test_a_ping_is_reported_and_answered_to_the_port_it_came_from() -> None:
    async def scene() -> None:
        async with harness() as on:
            port = await on.network.listen_for_pings(HOST, 0)
            asking = asyncio.create_task(ask(HOST, port, REQUEST))
            came = await on.events.next(PingArrived)
            assert (came.address, came.data) == (HOST, REQUEST)
            on.network.answer_ping(SendPing(came.address, came.port, Ping(7, PEER).encode()))
            assert await asking

    play(scene)


@pytest.mark.spec("QB-085")
@pytest.mark.mqqb("T-31")
def test_other_datagrams_and_strangers_are_ignored() -> None:
    async def scene() -> None:
        async with harness(networks=("10.0.0.0/8",)) as closed, harness() as on:
            port = await on.network.listen_for_pings(HOST, 0)
            other = await closed.network.listen_for_pings(HOST, 0)
            assert not await ask(HOST, other, REQUEST)
            assert not closed.events.seen
            await asyncio.gather(ask(HOST, port, b"noise"), ask(HOST, port, REQUEST))
            assert [each.data for each in on.events.of(PingArrived)] == [REQUEST]

    play(scene)


def test_under_pressure_pings_are_dropped() -> None:
    async def scene() -> None:
        async with harness() as on:
            port = await on.network.listen_for_pings(HOST, 0)
            on.network.pause()
            assert not await ask(HOST, port, REQUEST)
            on.network.resume()
            assert not on.events.seen

    play(scene)


def test_a_closed_port_answers_nothing_more() -> None:
    async def scene() -> None:
        async with harness() as on:
            await on.network.listen_for_pings(HOST, 0)
            on.network.stop_accepting()
            on.network.answer_ping(SendPing(HOST, 9, REQUEST))
            await until(lambda: True)

    play(scene)
