"""Tests SRMP in a server: its names, the servers that it trusts, and that its effects are performed."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
import uvloop

from reliquary.net.host import host_name
from reliquary.net.http import HttpClient
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.server.build import build
from reliquary.server.config import Settings
from reliquary.server.names import Listening
from reliquary.server.srmp import SrmpEndpoint, addressed
from reliquary.server.srmp_options import SrmpOptions
from tests.console.harness import Harness, play
from tests.server.endpoints import endpoint_of


def settings(receipts_host: str = "", **options: Any) -> Settings:
    srmp = SrmpOptions(protocol=SrmpSettings(receipts_host=receipts_host), **options)
    return Settings(computer_name="HERE", domain="shop.example", tables=(srmp,))


PLAIN = Listening("http", "127.0.0.1", 8480)


class TestAddressed:
    """Peers send receipts to the address at which this manager listens (SR-281)."""

    def test_on_the_loopback_receipts_go_to_localhost(self) -> None:
        reported = addressed(settings(), [PLAIN])
        assert reported.receipts_host == "localhost:8480"
        assert (reported.secure_receipts_host, reported.receipts_scheme) == ("", "http")

    @pytest.mark.spec("SR-281")
    def test_beyond_the_loopback_receipts_go_to_the_computers_name(self) -> None:
        reported = addressed(settings(), [Listening("http", "0.0.0.0", 8480)])
        assert reported.receipts_host == "HERE:8480"

    def test_an_https_server_alone_asks_by_https(self) -> None:
        reported = addressed(settings(), [Listening("https", "10.0.0.1", 443)])
        assert (reported.receipts_host, reported.secure_receipts_host, reported.receipts_scheme) == (
            "HERE",
            "",
            "https",
        )

    def test_with_both_each_has_its_port_and_the_port_of_its_own_comes_first(self) -> None:
        reported = addressed(
            settings(),
            [
                Listening("http", "0.0.0.0", 80),
                Listening("http", "0.0.0.0", 8480),
                Listening("https", "::", 81),
            ],
        )
        assert (reported.receipts_host, reported.secure_receipts_host, reported.receipts_scheme) == (
            "HERE",
            "HERE:81",
            "",
        )

    def test_what_was_chosen_counts(self) -> None:
        reported = addressed(settings("mq.example:9"), [PLAIN])
        assert reported.receipts_host == "mq.example:9"
        assert "mq.example:9" in reported.authorities
        assert "mq.example" not in reported.authorities

    def test_each_name_is_ours_bare_and_with_each_port(self) -> None:
        reported = addressed(
            settings(names=("MQ.example", "other:7")), [Listening("http", "10.0.0.1", 80), PLAIN]
        )
        names = {"here", "here.shop.example", "localhost", "127.0.0.1", "[::1]", "10.0.0.1", "mq.example"}
        names.add(host_name().lower())
        expected = names | {f"{name}:{port}" for name in names for port in (80, 8480)} | {"other:7"}
        assert reported.authorities == expected

    def test_everywhere_is_no_name(self) -> None:
        reported = addressed(settings(), [Listening("http", "0.0.0.0", 80), Listening("https", "::", 443)])
        assert not {"0.0.0.0", "[::]", "::"} & reported.authorities


def test_a_server_takes_posts_beside_its_api_and_says_so_to_the_machine(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.data.request("GET", "/MSMQ/private$/orders")).status == 405
        assert (await harness.data.request("POST", "/api/v1/queues/orders/messages", b"{}")).status == 201
        assert (await harness.data.request("POST", "/elsewhere", b"{}")).status == 404
        assert harness.server.opened.state.identity().http_support

    play(tmp_path, scene)


def test_a_server_whose_srmp_is_off_has_nothing_there(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.data.request("POST", "/msmq/private$/orders", b"x")).status == 404
        assert SrmpEndpoint not in map(type, harness.server.endpoints)
        assert not harness.server.opened.state.identity().http_support

    play(tmp_path, scene, tables=(SrmpOptions(enabled=False),))


def own_port(harness: Harness) -> int:
    """Return the port for SRMP alone that takes plain HTTP."""
    listener = endpoint_of(harness.server, SrmpEndpoint).own["http"]
    port: int = listener._servers[0].sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    return port


@pytest.mark.spec("SR-004")
def test_srmp_may_have_a_port_of_its_own(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        async with HttpClient(f"http://127.0.0.1:{own_port(harness)}") as client:
            assert (await client.request("GET", "/msmq/private$/orders")).status == 405
            assert (await client.request("GET", "/api/v1/health")).status == 404

    play(tmp_path, scene, tables=(SrmpOptions(http_port=0),))


def test_the_port_of_srmp_shares_the_memory_for_bodies_with_all_other_ports(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        bodies = harness.server.data._shared.budget.bodies
        async with HttpClient(f"http://127.0.0.1:{own_port(harness)}") as client:
            bodies.used = bodies.limit  # another connection has all of it
            answer = await client.request("POST", "/msmq/private$/orders", b"x" * 500_000)
            assert answer.status == 503
            bodies.used = 0
            assert (await client.request("POST", "/msmq/private$/orders", b"x" * 500_000)).status == 400

    play(tmp_path, scene, tables=(SrmpOptions(http_port=0),))


def test_no_name_is_looked_up_at_the_start_and_nothing_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def look_up(*asked: object, **how: object) -> None:
        raise AssertionError(f"{asked[0]} was looked up")

    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getfqdn"):
        monkeypatch.setattr(socket, name, look_up)
    chosen = SrmpOptions(
        names=("nowhere.invalid",), protocol=SrmpSettings(receipts_host="mq.nowhere.invalid"), http_port=0
    )

    async def scene() -> None:
        settings = Settings(
            folder=tmp_path,
            data_port=0,
            control_port=0,
            computer_name="NOBODY",
            domain="x.invalid",
            tables=(chosen,),
        )
        server = await build(settings)
        try:
            await server.listen(settings)
            await server.opened.settled()
        finally:
            await server.stop()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scene())
    assert caplog.records == []
