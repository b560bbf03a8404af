"""Tests the listener on real sockets: limits, NTLM, long answers, the endpoint mapper, the end."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import pytest

from reliquary.base.time import SECOND, seconds
from reliquary.net.identity.failures import AT_ONCE, LONGEST_WAIT, PACE, Failures
from reliquary.net.rpc.guesses import Guesses
from reliquary.net.rpc.listener import RpcClient
from reliquary.net.rpc.ntlm import NTLM, SPNEGO, ntlm_client
from reliquary.net.tcp.budget import Budget
from reliquary.protocols.rpc import mgmt
from reliquary.protocols.rpc.epm import EPT_MAP, map_request, read_map_response
from reliquary.protocols.rpc.events import Closed, Opened
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import EPM, MGMT, QM2QM, QMCOMM
from tests.net.http.harness import play, tick, until
from tests.net.rpc.harness import PASSWORD, Caller, EchoService, ManualService, caller, listening

MEGABYTE = 1024 * 1024


async def bound(client: Caller) -> int:
    opened = await client.bind()
    assert isinstance(opened, Opened)
    return opened.association


@pytest.mark.spec("QP-002", "QP-006", "QP-012")
def test_calls_are_answered_at_every_port() -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service, QMCOMM: service}) as (listener, port):
            for number in (port, await listener.listen()):
                async with caller(number) as client:
                    await bound(client)
                    assert await client.call(3, b"hello") == b"hello"
                    (seen,) = listener.clients()
                    assert seen == RpcClient(seen.connection, "127.0.0.1", seen.association, 0)
                    assert listener.associations == 1
                await until(lambda: listener.connections == 0)
            assert (listener.calls, listener.refused) == (2, 0)

    play(scene)


def test_a_long_request_and_a_long_answer_go_in_fragments() -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service}) as (_, port), caller(port) as client:
            await bound(client)
            stub = bytes(range(256)) * (4 * MEGABYTE // 256)
            assert await client.call(1, stub) == stub
            assert await client.call(1, stub + b"!") == FaultStatus.ACCESS_DENIED
            assert await client.hear() is None

    play(scene)


def test_a_request_in_fragments_for_which_no_room_is_left_is_cut_off() -> None:
    async def scene() -> None:
        service, budget = EchoService(), Budget(bodies=MEGABYTE)
        async with listening({QM2QM: service}, budget=budget) as (listener, port):
            async with caller(port) as client:
                await bound(client)
                stub = bytes(2 * MEGABYTE)
                assert await client.call(1, stub) == stub  # the first may be of any size
                assert budget.bodies.used == 0
                budget.bodies.used = MEGABYTE  # another connection has it
                assert await client.call(1, b"small") == b"small"
                with suppress(OSError):
                    await client.call(1, stub)
                await until(lambda: listener.connections == 0)
            assert listener.refused == 1
            assert budget.bodies.used == MEGABYTE

    play(scene)


@pytest.mark.parametrize("auth_type", [NTLM, SPNEGO])
@pytest.mark.parametrize("protection", [Protection.CONNECT, Protection.INTEGRITY, Protection.PRIVACY])
def test_a_user_logs_on_and_the_calls_are_protected(auth_type: int, protection: Protection) -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service}) as (_, port), caller(port) as client:
            await client.bind(
                auth_type=auth_type,
                security=ntlm_client("alice", PASSWORD, auth_type, "localhost"),
                protection=protection,
            )
            for stub in (b"", b"a secret", bytes(100_000)):
                assert await client.call(1, stub) == stub
            assert {(called.user, called.protection) for _, called in service.calls} == {
                ("alice", protection)
            }

    play(scene)


@pytest.mark.parametrize("auth_type", [NTLM, SPNEGO])
def test_a_wrong_password_opens_nothing(auth_type: int) -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service}) as (_, port), caller(port) as client:
            heard = await client.bind(
                auth_type=auth_type,
                security=ntlm_client("alice", "wrong", auth_type, "localhost"),
                protection=Protection.INTEGRITY,
            )
            if isinstance(heard, Opened):  # after NTLM's last token there is no answer
                assert await client.call(1) == FaultStatus.ACCESS_DENIED
            else:
                assert isinstance(heard, Closed)
            assert service.calls == []

    play(scene)


@pytest.mark.parametrize("auth_type", [NTLM, SPNEGO])
def test_the_answer_to_a_wrong_password_waits_and_nothing_is_read_until_then(auth_type: int) -> None:
    async def scene() -> None:
        service, failures, logged = EchoService(), Failures(lambda: 10**9), list[str]()
        for _ in range(AT_ONCE):
            failures.failed("127.0.0.1")
        guesses = Guesses(failures, lambda peer, _: logged.append(peer))
        async with listening({QM2QM: service}, guesses=guesses) as (listener, port), caller(port) as client:
            began = asyncio.get_running_loop().time()
            heard = await client.bind(
                auth_type=auth_type,
                security=ntlm_client("alice", "wrong", auth_type, "localhost"),
                protection=Protection.INTEGRITY,
            )
            if isinstance(heard, Opened):  # after NTLM's last token there is no answer
                assert await client.call(1) == FaultStatus.ACCESS_DENIED
            assert asyncio.get_running_loop().time() - began >= PACE / SECOND
            assert (logged, service.calls, listener.calls) == (["127.0.0.1"], [], 0)

    play(scene)


@pytest.mark.parametrize("auth_type", [NTLM, SPNEGO])
def test_a_right_password_opens_nothing_while_too_many_wrong_ones_come(auth_type: int) -> None:
    async def scene() -> None:
        service, failures = EchoService(), Failures(lambda: 10**9)
        while failures.failed("127.0.0.1") < LONGEST_WAIT / SECOND:
            pass
        async with (
            listening({QM2QM: service}, guesses=Guesses(failures)) as (_, port),
            caller(port) as client,
        ):
            heard = await client.bind(
                auth_type=auth_type,
                security=ntlm_client("alice", PASSWORD, auth_type, "localhost"),
                protection=Protection.INTEGRITY,
            )
            if isinstance(heard, Opened):
                assert await client.call(1) == FaultStatus.ACCESS_DENIED
            assert service.calls == []

    play(scene)


@pytest.mark.spec("QP-004")
def test_the_endpoint_mapper_tells_the_ports_and_serves_nothing_else() -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service, QMCOMM: service}) as (listener, port):
            second = await listener.listen(interfaces=[QMCOMM])
            mapper = await listener.listen_as_mapper(port=0)
            for interface, ports in ((QM2QM, [port]), (QMCOMM, [port, second]), (MGMT, [])):
                async with caller(mapper) as client:
                    assert isinstance(await client.bind(EPM), Opened)
                    answer = await client.call(EPT_MAP, map_request(interface))
                    assert isinstance(answer, bytes)
                    towers = read_map_response(answer)
                    assert [(str(tower.host), tower.port) for tower in towers] == [
                        ("127.0.0.1", number) for number in ports
                    ]
            async with caller(mapper) as client:
                assert isinstance(await client.bind(QM2QM), Closed)
            async with caller(mapper) as client:
                await client.bind(MGMT)
                identifiers = await client.call(mgmt.INQ_IF_IDS)
                assert isinstance(identifiers, bytes)
                assert EPM.uuid.bytes_le in identifiers
            async with caller(port) as client:
                assert isinstance(await client.bind(EPM), Closed)

    play(scene)


def test_the_server_says_its_name() -> None:
    async def scene() -> None:
        async with listening({}) as (_, port), caller(port) as client:
            await client.bind(MGMT)
            name = await client.call(mgmt.INQ_PRINC_NAME, bytes((10, 0, 0, 0, 255, 0, 0, 0)))
            assert isinstance(name, bytes)
            assert socket.gethostname().encode() in name

    play(scene)


def test_limits_of_connections_contexts_and_calls_are_kept() -> None:
    async def scene() -> None:
        options = {"connections": 2, "contexts": 1, "calls": 1}
        async with listening({QM2QM: ManualService()}, **options) as (listener, port), caller(port) as client:
            assert isinstance(await client.bind(encodings=[NDR20]), Opened)
            client.ask(1)
            assert await client.call(2) == FaultStatus.SERVER_TOO_BUSY
            async with caller(port) as other:
                assert isinstance(await other.bind(encodings=[NDR20, NDR64]), Closed)  # a context for each
            await until(lambda: listener.connections == 1)
            async with caller(port) as other:
                await until(lambda: listener.connections == 2)
                async with caller(port) as third:
                    assert await third.is_cut()
            assert listener.refused == 2

    play(scene)


def test_a_client_that_crashed_is_noticed_by_the_network() -> None:
    async def scene() -> None:
        service = ManualService()
        async with listening({QM2QM: service}) as (listener, port), caller(port) as client:
            await bound(client)
            (connection,) = listener._shared.connections.values()
            assert connection._transport is not None
            underlying = connection._transport.get_extra_info("socket")
            assert underlying.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert underlying.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60

    play(scene)


def test_all_connections_of_an_association_are_cut() -> None:
    async def scene() -> None:
        service = ManualService()
        async with (
            listening({QM2QM: service}) as (listener, port),
            caller(port) as first,
            caller(port) as second,
            caller(port) as other,
        ):
            association = await bound(first)
            await second.bind(association=association)
            await bound(other)
            service.notes.clear()
            listener.end_association(association)
            assert await first.is_cut()
            assert await second.is_cut()
            await until(lambda: len(service.notes) == 3)
            assert sorted(service.notes) == ["1 lost", "2 lost", "association lost"]
            assert [each.connection for each in listener.clients()] == [3]
            for number in (1, 99):
                listener.respond(number, 1, [b"late"])
                listener.fault(number, 1, 5)

    play(scene)


def test_a_listener_that_is_paused_reads_nothing() -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service}) as (listener, port), caller(port) as client:
            await bound(client)
            listener.pause()
            client.ask(1, b"meanwhile")
            await tick(20)
            assert service.calls == []
            listener.resume()
            await until(lambda: service.calls)

    play(scene)


def test_a_client_that_reads_no_answers_is_not_asked_for_more_and_is_cut_in_the_end() -> None:
    async def scene() -> None:
        service = EchoService()
        async with listening({QM2QM: service}) as (listener, port), caller(port) as client:
            await bound(client)
            stub = bytes(4 * MEGABYTE)
            for _ in range(12):
                client.ask(1, stub)
            await until(lambda: 1 <= len(service.calls) < 12)
            for _ in range(50):
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)
            assert len(service.calls) < 12
            now = listener._shared.now
            listener.sweep(now + seconds(61))
            listener.sweep(now + seconds(122))
            await until(lambda: listener.connections == 0)
            assert "association lost" in service.notes

    play(scene)


def test_a_drain_cuts_who_still_waits() -> None:
    async def scene() -> None:
        service = ManualService()
        async with listening({QM2QM: service}) as (listener, port), caller(port) as client:
            await bound(client)
            client.ask(1)
            await until(lambda: service.calls)
            assert await listener.drain(seconds(0.05)) == 1
            assert await client.is_cut()
            assert service.notes[-2:] == ["1 lost", "association lost"]
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await asyncio.open_connection("127.0.0.1", port)

    play(scene)
