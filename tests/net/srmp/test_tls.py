"""Tests SRMP over HTTPS: which servers the courier trusts, and which clients a server accepts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reliquary.base.time import seconds
from reliquary.net.http import Listener
from reliquary.net.srmp.courier import Courier
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostEnded
from reliquary.queueing.travel.failures import Failure
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.trust import trust_of
from tests.net.http.harness import echo, everywhere, play, until
from tests.net.srmp.certificates import Authority, serving


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@asynccontextmanager
async def server(certificate: Path, clients: Path | None = None) -> AsyncIterator[int]:
    listener = Listener([everywhere(echo)], tls=serving(certificate, clients))
    _, port = await listener.listen()
    try:
        yield port
    finally:
        await listener.drain(seconds(0.001))


async def posted(options: SrmpOptions, server: str) -> PostEnded:
    """Send one POST and return how it ends."""
    ended: list[PostEnded] = []
    courier = Courier(ended.append, in_flight=4, response_time=seconds(10), tls=trust_of("srmp.", options))
    courier.post(Post(1, 0, 1, server, "localhost", "/msmq/q", "text/xml", b"x"))
    await until(lambda: bool(ended))
    courier.stop()
    return ended[0]


@pytest.mark.spec("SR-003", "SR-031", "SR-313")
def test_a_server_with_a_certificate_from_our_authority_is_trusted(tmp_path: Path, ours: Authority) -> None:
    certificate = ours.vouch("peer.example")

    async def scene() -> None:
        async with server(certificate) as port:
            ended = await posted(SrmpOptions(ca_file=ours.file), f"https://localhost:{port}")
            assert (ended.status, ended.failure) == (200, None)

    play(scene)


def test_a_server_from_another_authority_is_not_trusted(tmp_path: Path, ours: Authority) -> None:
    certificate = Authority(tmp_path, "theirs").vouch("peer.example")

    async def scene() -> None:
        async with server(certificate) as port:
            ended = await posted(SrmpOptions(ca_file=ours.file), f"https://localhost:{port}")
            assert (ended.status, ended.failure) == (0, Failure.NOT_TRUSTED)
            ended = await posted(SrmpOptions(), f"https://localhost:{port}")
            assert ended.failure is Failure.NOT_TRUSTED

    play(scene)


def test_a_certificate_for_another_name_is_not_trusted(tmp_path: Path, ours: Authority) -> None:
    certificate = ours.vouch("peer.example")

    async def scene() -> None:
        async with server(certificate) as port:
            ended = await posted(SrmpOptions(ca_file=ours.file), f"https://127.0.0.1:{port}")
            assert ended.failure is Failure.NOT_TRUSTED

    play(scene)


def test_a_server_that_wants_to_know_its_clients_lets_in_those_it_knows(
    tmp_path: Path, ours: Authority
) -> None:
    certificate, own = ours.vouch("peer.example"), ours.vouch("sender.example")
    stranger = Authority(tmp_path, "theirs").vouch("stranger.example")

    async def scene() -> None:
        async with server(certificate, ours.file) as port:
            where = f"https://localhost:{port}"
            known = SrmpOptions(ca_file=ours.file, certificate=own, key=own)
            assert (await posted(known, where)).status == 200
            for options in (
                SrmpOptions(ca_file=ours.file),
                SrmpOptions(ca_file=ours.file, certificate=stranger, key=stranger),
            ):
                ended = await posted(options, where)
                assert ended.status == 0
                assert ended.failure in (Failure.LOST, Failure.NO_CONNECTION)

    play(scene)


def test_a_server_without_tls_is_no_connection(ours: Authority) -> None:
    async def scene() -> None:
        listener = Listener([everywhere(echo)])
        _, port = await listener.listen()
        ended = await posted(SrmpOptions(ca_file=ours.file), f"https://localhost:{port}")
        assert ended.failure is Failure.NO_CONNECTION
        await listener.drain(seconds(0.001))

    play(scene)
