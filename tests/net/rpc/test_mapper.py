"""The port of an interface, as the endpoint mapper of a computer knows it."""

from __future__ import annotations

import asyncio

import pytest

from reliquary.base.time import seconds
from reliquary.net.rpc.mapper import ask_mapper
from reliquary.protocols.rpc import epm
from reliquary.protocols.rpc.epm import Endpoint
from reliquary.protocols.rpc.events import Called
from reliquary.wire.rpc.syntaxes import EPM, QM2QM, QMCOMM, SyntaxId
from tests.net.http.harness import play
from tests.net.rpc.dial_harness import HOST, RpcServer, serving

ENDPOINTS = (Endpoint(QM2QM, 2116), Endpoint(QMCOMM, 2114))


def mapped(called: Called) -> list[bytes]:
    """Answer as a mapper does that knows two interfaces."""
    answer = epm.answer(called.opnum, called.stub, called.encoding, ENDPOINTS)
    assert isinstance(answer, bytes)
    return [answer]


@pytest.mark.parametrize(
    ("interface", "port"), [(QM2QM, 2116), (QMCOMM, 2114), (EPM, 0)], ids=["qm2qm", "qmcomm", "unknown"]
)
def test_a_mapper_says_at_which_port_an_interface_is(interface: SyntaxId, port: int) -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(EPM,), answer=mapped)) as server:
            assert await ask_mapper(HOST, interface, port=server.port) == port

    play(scene)


@pytest.mark.parametrize("stub", [b"", b"\xff" * 40, bytes(7)])
def test_an_answer_that_cannot_be_read_has_no_port(stub: bytes) -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(EPM,), answer=lambda _: [stub])) as server:
            assert await ask_mapper(HOST, QM2QM, port=server.port) == 0

    play(scene)


def test_a_mapper_that_refuses_is_passed_over() -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(EPM,))) as server:
            port = asyncio.ensure_future(ask_mapper(HOST, QM2QM, port=server.port))
            await server.wait_for(1)
            server.asked[0].fault(5)
            assert await port == 0

    play(scene)


def test_a_mapper_that_hangs_up_is_passed_over() -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(EPM,))) as server:
            port = asyncio.ensure_future(ask_mapper(HOST, QM2QM, port=server.port))
            await server.wait_for(1)
            server.lines[0].hang_up()
            assert await port == 0

    play(scene)


def test_a_computer_without_a_mapper_is_passed_over() -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(QM2QM,))) as server:
            assert await ask_mapper(HOST, QM2QM, port=server.port) == 0
        assert await ask_mapper(HOST, QM2QM, port=1) == 0

    play(scene)


def test_a_mapper_that_is_slow_is_passed_over() -> None:
    async def scene() -> None:
        async with serving(RpcServer(interfaces=(EPM,))) as server:
            assert await ask_mapper(HOST, QM2QM, port=server.port, within=seconds(0.05)) == 0

    play(scene)
