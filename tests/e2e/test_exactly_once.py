"""Receive, write to a database, send: a worker, the server or both are killed at each step.

After each kill a new worker recovers and goes on; the business rows and the output queue agree, and
hold every order exactly once.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import reliquary
from tests.e2e import exactly_once_worker
from tests.e2e.exactly_once_worker import POINTS
from tests.e2e.postgres import postgres
from tests.e2e.process import ServerProcess

WORKER = (sys.executable, exactly_once_worker.__file__)
QUEUES = ("orders", "bills")


class Trial:
    """A server on a folder, a database, and the orders so far."""

    def __init__(self, folder: Path, database: str, open_database: Callable[[], Any]) -> None:
        self._folder = folder / "store"
        self._database = database
        self._open_database = open_database
        self._orders: list[str] = []
        self._server = self._started()
        self._query("CREATE TABLE bills (name VARCHAR(40))")

    def _started(self) -> ServerProcess:
        return ServerProcess(self._folder, *QUEUES).wait_until_ready()

    def _query(self, statement: str) -> list[Any]:
        with closing(self._open_database()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            connection.commit()
            return list(rows)

    def _worker(self, *more: str) -> subprocess.Popen[str]:
        addresses = (self._server.data, self._server.control)
        return subprocess.Popen(
            [*WORKER, self._database, *addresses, str(len(self._orders)), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_at(self, point: str, victims: str) -> None:
        """Process one order, with a crash at this point."""
        self._orders.append(f"order {len(self._orders)}, {point}")
        with reliquary.connect(self._server.data, control=self._server.control) as qm:
            qm.queue("orders").send(self._orders[-1])
        with self._worker(point) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == f"at {point}\n", worker.communicate()[1]
            if "server" in victims:
                self._server.kill()
                self._server.wait()
            if "worker" in victims:
                worker.kill()
            worker.communicate("go on\n" if "worker" not in victims else None)
        if "server" in victims:
            self._server.__exit__(None, None, None)
            self._server = self._started()

    def go_on(self) -> None:
        """Let another worker finish the work, and check that all agrees."""
        with self._worker() as worker:
            _, complaints = worker.communicate()
        assert worker.returncode == 0, complaints
        assert sorted(row[0] for row in self._query("SELECT name FROM bills")) == sorted(self._orders)
        with reliquary.connect(self._server.data, control=self._server.control) as qm:
            sent = [message.text for message in qm.queue("bills").browse()]
            assert sorted(sent) == sorted(self._orders)
            assert [message.text for message in qm.queue("orders").browse()] == []
            assert qm.transactions() == []

    def close(self) -> None:
        """Stop the server, so that no process stays behind."""
        self._server.__exit__(None, None, None)


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.long),
        pytest.param("postgres", marks=pytest.mark.needs("postgres")),
    ]
)
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trial]:
    """Yield a trial with each kind of database."""
    if request.param == "sqlite":
        file = str(tmp_path / "business.sqlite")
        made = Trial(tmp_path, file, lambda: sqlite3.connect(file))
        yield made
        made.close()
        return
    import psycopg

    with postgres() as where:
        made = Trial(tmp_path, where, lambda: psycopg.connect(where))
        yield made
        made.close()


@pytest.mark.timeout(600)
@pytest.mark.spec("DM-096", "DM-102", "DM-107", "DM-116")
@pytest.mark.parametrize(
    "victims",
    [
        pytest.param("the worker", marks=pytest.mark.long),
        pytest.param("the server", marks=pytest.mark.long),
        "the worker and the server",
    ],
)
def test_every_order_is_billed_exactly_once_when_any_process_is_killed(trial: Trial, victims: str) -> None:
    for point in POINTS:
        trial.kill_at(point, victims)
        trial.go_on()
