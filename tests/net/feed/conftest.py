"""A server for the tests of one file, and a fresh queue for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

import reliquary
from reliquary import Manager, Queue
from reliquary.client.feed import FeedClient
from tests.client.served import Served, served

_names = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server that runs for all tests of a module."""
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="module")
def qm(server: Served) -> Iterator[Manager]:
    """Yield a client of the server's manager."""
    with reliquary.connect(server.data, control=server.control) as manager:
        yield manager


@pytest.fixture
def queue(qm: Manager) -> Queue:
    """Return a queue that no test has used."""
    return qm.create_queue(f"q{next(_names)}")


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[FeedClient]:
    """Yield a client for feeds and batches of the server."""
    with FeedClient(server.data, pauses=()) as client:
        yield client
