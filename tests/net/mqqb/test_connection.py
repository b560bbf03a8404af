"""Tests one connection on real sockets: bytes become packets, effects become bytes, and what is wrong ends
it.
"""

from __future__ import annotations

import asyncio

import pytest

from reliquary.base.time import seconds
from reliquary.net.clock import RealClock
from reliquary.net.mqqb.shared import Count
from reliquary.net.tcp.budget import Budget
from reliquary.protocols.mqqb.effects import HangUp, SendPackets
from reliquary.protocols.mqqb.events import Accepted, ConnectionLost, PacketsArrived
from reliquary.protocols.mqqb.settings import MqqbSettings
from tests.net.http.harness import play, tick, until
from tests.net.mqqb.harness import HOST, Harness, harness
from tests.protocols.mqqb.codec.frames import COMPOSED
from tests.wire.packet.both_ways import changed

REQUEST, PARAMETERS, MESSAGE, ACK = (COMPOSED[name] for name in ("V1", "V4", "V7", "V5"))
LARGE = changed(MESSAGE, 8, to=(1 << 20).to_bytes(4, "little")) + bytes((1 << 20) - len(MESSAGE))


def packets_of(on: Harness) -> list[bytes]:
    return [packet for event in on.events.of(PacketsArrived) for packet in event.packets]


@pytest.mark.spec("QB-003", "QB-197")
def test_a_peer_that_connects_is_reported_with_a_negative_number_and_its_address() -> None:
    async def scene() -> None:
        async with harness() as on:
            _, first = await on.connect()
            _, second = await on.connect()
            await on.events.next(Accepted, 2)
            assert on.events.of(Accepted) == [Accepted(-1, HOST), Accepted(-2, HOST)]
            first.close()
            second.close()

    play(scene)


@pytest.mark.spec("QB-005")
def test_bytes_in_any_pieces_become_packets_in_their_order() -> None:
    async def scene() -> None:
        async with harness() as on:
            _, writer = await on.connect()
            for piece in (REQUEST[:100], REQUEST[100:] + PARAMETERS + MESSAGE[:7], MESSAGE[7:] + ACK):
                writer.write(piece)
                await writer.drain()
            await on.events.until(lambda: len(packets_of(on)) == 4)
            assert packets_of(on) == [REQUEST, PARAMETERS, MESSAGE, ACK]
            writer.close()

    play(scene)


def test_a_peer_that_goes_is_reported_once() -> None:
    async def scene() -> None:
        async with harness() as on:
            _, writer = await on.connect()
            await on.events.next(Accepted)
            writer.close()
            lost = await on.events.next(ConnectionLost)
            assert (lost.session, lost.malformed) == (-1, False)
            assert len(on.events.of(ConnectionLost)) == 1

    play(scene)


@pytest.mark.mqqb("T-40")
def test_effects_are_written_by_their_serials() -> None:
    async def scene() -> None:
        async with harness() as on:
            reader, writer = await on.connect()
            await on.events.next(Accepted)
            on.network.send(SendPackets(-1, 2, (b"second", b"third")))
            on.network.send(SendPackets(-1, 1, (b"first",)))
            on.network.hang_up(HangUp(-1, 4))
            on.network.send(SendPackets(-1, 3, (b"last",)))
            assert await reader.read() == b"firstsecondthirdlast"
            writer.close()

    play(scene)


@pytest.mark.mqqb("T-55")
def test_a_session_that_the_machine_closes_is_not_reported_and_what_was_written_arrives() -> None:
    async def scene() -> None:
        async with harness() as on:
            reader, writer = await on.connect()
            await on.events.next(Accepted)
            writer.write(
                MESSAGE
            )  # it may lie unread in our kernel, and closing must not take the answer with it
            on.network.send(SendPackets(-1, 1, (ACK,)))
            on.network.hang_up(HangUp(-1, 2))
            assert await reader.read() == ACK
            writer.close()
            await until(lambda: not on.network.connections)
            assert not on.events.of(ConnectionLost)

    play(scene)


def test_effects_for_a_session_that_is_gone_do_nothing() -> None:
    async def scene() -> None:
        async with harness() as on:
            on.network.send(SendPackets(-9, 1, (ACK,)))
            on.network.hang_up(HangUp(7))

    play(scene)


@pytest.mark.spec("QB-029", "QB-030")
@pytest.mark.mqqb("T-11")
def test_bytes_that_are_no_packet_close_the_connection_after_what_came_before_them() -> None:
    async def scene() -> None:
        async with harness() as on:
            reader, writer = await on.connect()
            writer.write(REQUEST + b"GET / HTTP/1.1\r\nHost: scanner\r\n\r\n")
            lost = await on.events.next(ConnectionLost)
            assert lost.malformed
            assert "version" in lost.why
            assert packets_of(on) == [REQUEST]
            assert await read_all(reader) == b""
            assert on.network.counts[Count.MALFORMED] == 1
            writer.close()

    play(scene)


def test_an_address_of_no_network_is_closed_without_a_word_and_never_reported() -> None:
    async def scene() -> None:
        async with harness(networks=("10.0.0.0/8",)) as on:
            reader, writer = await on.connect()
            assert await read_all(reader) == b""
            assert not on.events.seen
            assert on.network.counts[Count.REFUSED] == 1
            writer.close()

    play(scene)


def test_one_connection_too_many_is_closed() -> None:
    async def scene() -> None:
        async with harness(connections=1) as on:
            _, first = await on.connect()
            await on.events.next(Accepted)
            reader, second = await on.connect()
            assert await read_all(reader) == b""
            assert len(on.events.of(Accepted)) == 1
            first.close()
            second.close()

    play(scene)


def test_a_packet_that_does_not_come_whole_in_time_ends_its_connection() -> None:
    async def scene() -> None:
        async with harness(MqqbSettings(partial_packet=seconds(60))) as on:
            reader, writer = await on.connect()
            writer.write(REQUEST + MESSAGE[:50])
            await on.events.next(PacketsArrived)
            await until(lambda: on.network.buffered_bytes == 50)
            now = RealClock().monotonic()
            on.network.sweep(now + seconds(59))
            assert not on.events.of(ConnectionLost)
            on.network.sweep(now + seconds(62))
            assert "whole" in (await on.events.next(ConnectionLost)).why
            assert await read_all(reader) == b""
            writer.close()

    play(scene)


def test_a_silent_connection_with_no_half_packet_is_left_to_the_timers_of_the_machine() -> None:
    async def scene() -> None:
        async with harness() as on:
            _, writer = await on.connect()
            writer.write(REQUEST)
            await on.events.next(PacketsArrived)
            on.network.sweep(RealClock().monotonic() + seconds(100_000))
            assert not on.events.of(ConnectionLost)
            assert on.network.connections == 1
            writer.close()

    play(scene)


def test_half_read_packets_count_in_the_budget_and_one_too_many_is_cut() -> None:
    async def scene() -> None:
        budget = Budget(bodies=3 << 19)
        async with harness(budget=budget) as on:
            _, first = await on.connect()
            first.write(LARGE[: 3 << 18])
            await until(lambda: budget.bodies.used == 3 << 18)
            _, second = await on.connect()
            second.write(LARGE[:-1])
            lost = await on.events.next(ConnectionLost)
            assert (lost.session, "memory" in lost.why) == (-2, True)
            first.close()
            second.close()
            await until(lambda: not budget.bodies.used)

    play(scene)


def test_reading_is_held_until_the_machine_has_answered_what_came() -> None:
    async def scene() -> None:
        async with harness(MqqbSettings(window=1)) as on:
            _, writer = await on.connect()
            many = 6_000
            writer.write(MESSAGE * many)
            await on.events.until(lambda: len(packets_of(on)) > 256)
            await asyncio.wait_for(quiet(on), 30)
            seen = len(packets_of(on))
            assert seen < many
            serial = 0
            while len(packets_of(on)) < many:
                serial += 1
                on.network.send(SendPackets(-1, serial, (ACK,)))
                before = len(packets_of(on))
                await on.events.until(lambda before=before: len(packets_of(on)) > before)  # type: ignore[misc]
            assert set(packets_of(on)) == {MESSAGE}
            writer.close()

    play(scene)


def test_a_peer_that_reads_nothing_is_still_read_from_and_cut_when_it_takes_no_byte_for_long() -> None:
    async def scene() -> None:
        async with harness() as on:
            _, writer = await on.connect()
            await on.events.next(Accepted)
            for serial in range(1, 33):
                on.network.send(SendPackets(-1, serial, (LARGE,)))
            await until(lambda: on.network.counts[Count.BYTES_OUT] == 32 * len(LARGE))
            writer.write(REQUEST)
            assert (await on.events.next(PacketsArrived)).packets == (REQUEST,)
            now = RealClock().monotonic()
            on.network.sweep(now + seconds(1))
            on.network.sweep(now + seconds(200))
            await on.events.next(ConnectionLost)
            writer.close()

    play(scene)


def test_pressure_stops_reading_and_what_came_is_read_afterwards() -> None:
    async def scene() -> None:
        async with harness() as on:
            on.network.pause()
            _, writer = await on.connect()
            writer.write(REQUEST)
            await on.events.next(Accepted)
            assert not on.events.of(PacketsArrived)
            on.network.resume()
            assert (await on.events.next(PacketsArrived)).packets == (REQUEST,)
            writer.close()

    play(scene)


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """Return all until the other side closes, in whichever way it does so."""
    try:
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionError:
        return b""


async def quiet(on: Harness) -> None:
    """Wait until nothing comes for a while."""
    seen = -1
    while seen != len(on.events.seen):
        seen = len(on.events.seen)
        for _ in range(50):
            await tick()
