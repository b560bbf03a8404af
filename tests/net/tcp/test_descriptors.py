"""Tests descriptors: the limit is raised, and connections leave some for files."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys

import pytest

from reliquary.base.time import seconds
from reliquary.net.tcp.descriptors import MOST, RESERVE, is_reserved, last_for_connections
from reliquary.net.tcp.dialing import NotConnected, OutgoingConnection, ServerAddress, reach
from tests.net.http.harness import play, until
from tests.net.stream_server import stream_server
from tests.net.tcp.lines import accepting, client_of


class Socket:
    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number


class Transport(asyncio.BaseTransport):
    def __init__(self, number: int | None) -> None:
        self._number = number

    def get_extra_info(self, name: str, default: object = None) -> object:
        assert name == "socket"
        return None if self._number is None else Socket(self._number)


@pytest.mark.parametrize("limit", [64, 1024, 20_000, 1_000_000])
def test_files_have_a_reserve_at_any_limit(limit: int) -> None:
    assert limit - 1 - last_for_connections(limit) == min(RESERVE, limit // 2)


def test_only_the_highest_descriptors_are_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))
    assert [is_reserved(Transport(number)) for number in (None, 5, 511, 512, 1023)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert not is_reserved(Transport(100_000))


def test_the_limit_is_raised_as_far_as_it_can_be() -> None:
    """The test runs in a process of its own, whose limit is not ours."""
    program = (
        "import resource; from reliquary.net.tcp.descriptors import raise_limit;"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1];"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard));"
        "raise_limit(); print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    soft, hard = map(int, done.stdout.split())
    assert soft == (MOST if hard == resource.RLIM_INFINITY else min(hard, MOST))


def test_a_client_with_a_descriptor_of_the_reserve_is_refused_and_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, _):
            _, port = await acceptor.listen()
            async with client_of(port) as first:
                assert await first.ask("open a") == "opened a"
                used = len(os.listdir("/proc/self/fd"))
                monkeypatch.setattr(resource, "getrlimit", lambda _: (2 * (used + 20), 2 * (used + 20)))
                async with client_of(port) as second:
                    assert "no descriptor is left" in await second.read()
                await until(lambda: acceptor.connections == 1)
                monkeypatch.undo()
                async with client_of(port) as third:
                    assert await third.ask("open b") == "opened b"
                assert await first.ask("open c") == "opened c"

    play(scene)


def test_no_connection_is_opened_with_a_descriptor_of_the_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async def nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await reader.read()

        async with stream_server(nothing) as port:
            monkeypatch.setattr(resource, "getrlimit", lambda _: (4, 4))
            with pytest.raises(NotConnected, match="no descriptor is left"):
                await reach(ServerAddress("127.0.0.1", port), OutgoingConnection(), seconds(10))
            monkeypatch.undo()

    play(scene)
