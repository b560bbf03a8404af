"""Tests calls to a server: on one connection where it multiplexes, else on several of one association
group.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from reliquary.base.time import seconds
from reliquary.net.rpc.dialing import Association, Call, DialLimits
from reliquary.net.rpc.outgoing import Traffic
from reliquary.net.tcp.dialing import ServerAddress
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.syntaxes import MGMT, QM2QM, SyntaxId
from tests.net.http.harness import play, tick, until
from tests.net.rpc.dial_harness import HOST, Asked, Notes, RpcServer, serving

NO_SERVER = ServerAddress(HOST, 1)


@contextmanager
def calling(
    address: ServerAddress,
    *,
    interface: SyntaxId = QM2QM,
    limits: DialLimits = DialLimits(),  # noqa: B008 - it is frozen
    group: int | None = None,
    encodings: Sequence[Encoding] = (NDR20, NDR64),
) -> Iterator[tuple[Association, Notes]]:
    """Yield an association with a server, and the caller of its answers; `group` replaces the server's."""
    notes = Notes()

    async def find() -> ServerAddress:
        return address

    def connect(association: int) -> ClientConnection:
        wanted = group if group is not None and association else association
        return ClientConnection(interface, association=wanted, encodings=encodings)

    association = Association(find, connect, notes, limits, Traffic())
    try:
        yield association, notes
    finally:
        association.close()


def a_call(number: int, stub: bytes = b"ask", *, may_wait: bool = False) -> Call:
    return Call(number, 7, lambda _: [stub], may_wait)


def test_calls_of_one_connection_are_answered_in_any_order() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, notes):
                for number in range(1, 6):
                    association.call(a_call(number, b"ask %d" % number))
                await server.wait_for(5)
                for asked in reversed(server.asked):
                    asked.respond(b"to " + asked.called.stub)
                await until(lambda: len(notes.returns) == 5)
                assert notes.returns == {number: b"to ask %d" % number for number in range(1, 6)}
                assert len(server.lines) == association.connections == 1
                assert [asked.called.opnum for asked in server.asked] == [7] * 5
                assert not association.is_busy

    play(scene)


def test_with_a_server_that_does_not_multiplex_each_call_has_a_connection_of_the_group() -> None:
    async def scene() -> None:
        async with serving(RpcServer(multiplexed=False)) as server:
            with calling(server.address) as (association, notes):
                for number in (1, 2, 3):
                    association.call(a_call(number))
                await server.wait_for(3)
                assert len(server.lines) == association.connections == 3
                assert len({asked.called.association for asked in server.asked}) == 1
                for asked in server.asked:
                    asked.respond(b"done")
                await until(lambda: len(notes.returns) == 3)
                association.call(a_call(4))
                await server.wait_for(4)
                assert len(server.lines) == 3, "a connection that is free is used again"

    play(scene)


def test_calls_beyond_the_limit_wait_for_a_connection() -> None:
    async def scene() -> None:
        async with serving(RpcServer(multiplexed=False)) as server:
            with calling(server.address, limits=DialLimits(connections=2)) as (association, notes):
                for number in (1, 2, 3):
                    association.call(a_call(number))
                await server.wait_for(2)
                assert association.is_busy
                server.asked[0].respond(b"done")
                await server.wait_for(3)
                assert len(server.lines) == 2
                assert len(notes.returns) == 1

    play(scene)


@pytest.mark.parametrize(
    "end", [lambda asked: asked.respond(b"done"), lambda asked: asked.fault(5)], ids=["response", "fault"]
)
def test_a_call_that_cancels_finds_room_while_all_others_wait(end: Callable[[Asked], None]) -> None:
    async def scene() -> None:
        async with serving(RpcServer(multiplexed=False)) as server:
            with calling(server.address, limits=DialLimits(connections=3)) as (association, notes):
                for number in (1, 2, 3, 4):
                    association.call(a_call(number, may_wait=True))
                association.call(a_call(5, b"cancel"))
                await server.wait_for(3)
                assert sorted(asked.called.stub for asked in server.asked) == [b"ask", b"ask", b"cancel"]
                cancel = next(asked for asked in server.asked if asked.called.stub == b"cancel")
                cancel.respond(b"cancelled")
                await until(lambda: notes.returns)
                assert len(server.asked) == 3, "the slot is not for calls that may wait"
                end(next(asked for asked in server.asked if asked is not cancel))
                await server.wait_for(4)

    play(scene)


def test_a_connection_that_multiplexes_has_a_limit_too() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address, limits=DialLimits(connections=2, calls=2)) as (association, _):
                for number in range(1, 6):
                    association.call(a_call(number))
                await server.wait_for(4)
                assert len(server.lines) == 2
                assert association.is_busy

    play(scene)


def test_a_fault_is_the_answer_to_its_call_alone() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, notes):
                association.call(a_call(1))
                association.call(a_call(2))
                await server.wait_for(2)
                server.asked[0].fault(0xC00E0007)
                server.asked[1].respond(b"done")
                await until(lambda: notes.faults and notes.returns)
                assert notes.faults == {1: 0xC00E0007}
                assert not notes.losses

    play(scene)


@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR 2.0", "NDR64"])
def test_the_stub_is_encoded_as_was_agreed(encoding: Encoding) -> None:
    async def scene() -> None:
        async with serving(RpcServer(answer=lambda _: [b"done"])) as server:
            with calling(server.address, encodings=(encoding,)) as (association, notes):
                association.call(Call(1, 0, lambda encoding: [b"wide" if encoding.wide else b"narrow"]))
                await until(lambda: notes.returns)
                assert notes.encodings == {encoding}
                assert server.asked[0].called.stub == (b"wide" if encoding.wide else b"narrow")

    play(scene)


def test_the_loss_of_any_connection_is_the_loss_of_all() -> None:
    async def scene() -> None:
        async with serving(RpcServer(multiplexed=False)) as server:
            with calling(server.address) as (association, notes):
                for number in (1, 2, 3):
                    association.call(a_call(number))
                await server.wait_for(3)
                server.lines[1].hang_up()
                await until(lambda: notes.losses)
                await until(lambda: not server.open)
                ((failure, why),) = notes.losses
                assert failure is Failure.LOST
                assert str(server.address) in why
                assert len(server.ended) == 1, "the server runs the handles of the group down"
                association.call(a_call(4))
                assert not association.is_busy, "nothing is called any more"

    play(scene)


def test_bytes_that_are_no_pdu_end_the_association() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, notes):
                association.call(a_call(1))
                await server.wait_for(1)
                server.lines[0].say(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                await until(lambda: notes.losses)
                assert [failure for failure, _ in notes.losses] == [Failure.LOST]

    play(scene)


@pytest.mark.parametrize(
    ("address", "failure"),
    [
        pytest.param(NO_SERVER, Failure.NO_CONNECTION, id="a port without a listener"),
        pytest.param(ServerAddress("not a host.invalid", 1), Failure.NO_ADDRESS, id="no address"),
    ],
)
def test_a_server_that_cannot_be_reached_is_reported_once(address: ServerAddress, failure: Failure) -> None:
    async def scene() -> None:
        with calling(address) as (association, notes):
            association.call(a_call(1))
            association.call(a_call(2))
            await until(lambda: notes.losses)
            assert [each for each, _ in notes.losses] == [failure]

    play(scene)


def test_a_server_without_the_interface_is_no_connection() -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(MGMT,))) as server:
            with calling(server.address) as (association, notes):
                association.call(a_call(1))
                await until(lambda: notes.losses)
                assert [each for each, _ in notes.losses] == [Failure.NO_CONNECTION]

    play(scene)


def test_a_server_that_never_accepts_the_bind_is_too_slow() -> None:
    async def scene() -> None:
        listener = await asyncio.get_running_loop().create_server(asyncio.Protocol, HOST, 0)
        address = ServerAddress(HOST, listener.sockets[0].getsockname()[1])
        with calling(address, limits=DialLimits(bind_time=seconds(0.01))) as (association, notes):
            association.call(a_call(1))
            await until(lambda: notes.losses)
            assert notes.losses == [(Failure.TIMED_OUT, f"{address} did not accept the bind in time")]
        listener.close()

    play(scene)


def test_a_further_connection_outside_the_group_ends_the_association() -> None:
    async def scene() -> None:
        async with serving(RpcServer(multiplexed=False)) as server:
            with calling(server.address, group=0) as (association, notes):
                association.call(a_call(1))
                association.call(a_call(2))
                await until(lambda: notes.losses)
                ((failure, why),) = notes.losses
                assert failure is Failure.LOST
                assert "join" in why

    play(scene)


def test_the_system_finds_out_that_a_silent_server_has_crashed() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, _):
                association.call(a_call(1))
                await server.wait_for(1)
                (connection,) = association._open
                assert connection._transport is not None
                line = connection._transport.get_extra_info("socket")
                assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    play(scene)


def test_after_the_end_nothing_is_reported() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, notes):
                association.call(a_call(1))
                await server.wait_for(1)
                association.close()
                server.asked[0].respond(b"late")
                await until(lambda: not server.open)
                assert notes == Notes()

    play(scene)


def test_an_association_can_end_before_the_server_was_reached() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, notes):
                association.call(a_call(1))
                await tick()
            await tick(20)
            assert notes == Notes()

    play(scene)


def test_what_a_caller_sent_before_the_end_still_arrives() -> None:
    async def scene() -> None:
        async with serving(RpcServer()) as server:
            with calling(server.address) as (association, _):
                association.call(a_call(1))
                await server.wait_for(1)
                association.call(a_call(2, bytes(100_000)))
                association.close()
                await server.wait_for(2)
                assert server.asked[1].called.stub == bytes(100_000)

    play(scene)
