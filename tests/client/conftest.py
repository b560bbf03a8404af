"""Runs every test over both transports: a folder in process, and a real server over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

import reliquary
from reliquary import AsyncManager, Manager
from tests.client.served import Served, served

Scene = Callable[[AsyncManager], Awaitable[None]]
Play = Callable[[Scene], None]


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server for the tests of one file."""
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def server(shared_server: Served) -> Iterator[Served]:
    """Yield a running server, empty again for the next test."""
    yield shared_server
    with reliquary.connect(shared_server.data, control=shared_server.control) as manager:
        for transaction in manager.transactions():
            manager.abort(transaction.id)
        for outgoing in manager.outgoing():
            manager.delete_queue(outgoing.destination)
        for info in manager.queues():
            if info.kind == "private":
                if ";" not in info.name:  # a part of a queue goes with it
                    manager.delete_queue(info.name)
            elif info.messages:
                manager.queue(info.name).purge()


@pytest.fixture(params=["local", "remote"])
def qm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    """Yield a manager, over each transport in turn."""
    if request.param == "local":
        with reliquary.connect(tmp_path / "local") as manager:
            yield manager
    else:
        running: Served = request.getfixturevalue("server")
        with reliquary.connect(running.data, control=running.control) as manager:
            yield manager


@pytest.fixture(params=["local", "remote"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Return a function that runs a scene with an async manager, over each transport in turn."""
    if request.param == "local":
        connecting = reliquary.connect_async(tmp_path / "local")
    else:
        running: Served = request.getfixturevalue("server")
        connecting = reliquary.connect_async(running.data, control=running.control)

    async def whole(scene: Scene) -> None:
        async with connecting as manager:
            await asyncio.wait_for(scene(manager), 20)

    return lambda scene: asyncio.run(whole(scene))
