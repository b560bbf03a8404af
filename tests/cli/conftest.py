"""The command line against a real server in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import reliquary
from reliquary import Manager
from reliquary.cli.main import cli
from tests.client.served import Served, served

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server for the tests of one file."""
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def qm(shared_server: Served) -> Iterator[Manager]:
    """Yield a connection to the server, for a test to prepare and to look; its queues go with the test."""
    with reliquary.connect(shared_server.data, control=shared_server.control) as manager:
        yield manager
        for info in manager.queues():
            if info.kind == "private" and ";" not in info.name:
                manager.delete_queue(info.name)


@pytest.fixture
def run(qm: Manager, shared_server: Served) -> Run:
    """Return a function that runs a command line against the server."""
    environment = {"RELIQUARY_SERVER": shared_server.data, "RELIQUARY_CONTROL": shared_server.control}

    def command(*arguments: str | Path, stdin: bytes | None = None) -> Result:
        return CliRunner(env=environment).invoke(cli, [*map(str, arguments)], input=stdin)

    return command
