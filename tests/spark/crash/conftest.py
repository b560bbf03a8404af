"""A server and a driver program for all tests of this folder; both come back when they are killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark.crash.harness import Drivers, Ground, ground


@pytest.fixture(scope="session")
def crash_ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Yield a server that is started again whenever it dies, for all tests of the folder."""
    with ground(tmp_path_factory.mktemp("crash")) as running:
        yield running


@pytest.fixture(scope="session")
def drivers(crash_ground: Ground) -> Iterator[Drivers]:
    """Yield the driver programs, which run one at a time."""
    running = Drivers(crash_ground.folder)
    yield running
    running.close()
