"""One Spark session and one server for all tests of this folder that ask for them.

    spark     the session; it takes ten seconds to start, so a worker of pytest has one
    server    a real server in a thread of this process; each test makes queues of its own
    manager   a client of it
    queue     the name of a fresh queue of it
    desk      all of these, and a folder of the test's own

Every test that asks for `spark` is put into one group: with `--dist loadgroup` one worker runs them all.  So
it is with those that ask for `drivers`, which are processes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reliquary.client.sync.manager import Manager, connect
from tests.client.served import Served, served
from tests.spark.desk import Desk, fresh

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"
GROUPS = {"spark": 600, "drivers": 1200}
"""Fixtures, and seconds for each test that asks for them: some start Spark, maybe on a busy machine."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the session together."""
    for item in items:
        for group in GROUPS.keys() & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.xdist_group(group))
            item.add_marker(pytest.mark.timeout(GROUPS[group]))
            identity = getattr(item, "_id", None)
            if identity is not None and getattr(config.option, "loadgroup", False):
                # xdist 3.8 writes the group where pytest before 9.2 kept the id; so it is written here
                item._id = type(identity).parse(f"{item.nodeid}@{group}")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Yield the session of this worker."""
    from reliquary.spark.session import session

    folder = tmp_path_factory.mktemp("spark")
    running = session(
        "tests",
        **{
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": f"{QUICK_START} -Djava.io.tmpdir={folder}",
            "spark.local.dir": str(folder),
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server that all tests share; each makes queues of its own."""
    with served(tmp_path_factory.mktemp("server") / "store") as running:
        yield running


@pytest.fixture(scope="session")
def manager(server: Served) -> Iterator[Manager]:
    """Yield a client of that server."""
    with connect(server.data, control=server.control) as connected:
        yield connected


@pytest.fixture
def queue(manager: Manager) -> str:
    """Return the name of a fresh queue."""
    name = fresh("queue")
    manager.create_queue(name)
    return name


@pytest.fixture
def desk(spark: SparkSession, server: Served, manager: Manager, tmp_path: Path) -> Desk:
    """Return all of it, with a folder of the test's own."""
    return Desk(spark, manager, server.data, tmp_path)
