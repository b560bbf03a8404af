"""A server that comes back, a driver that comes back, and what must be true in the end.

Ground      a server in a process, started again on its port whenever it dies
Drivers     one driver program at a time; one that was killed is started again with its job
Crossing    one query from a queue to another with planned faults, and how it must end
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from reliquary.client.feed import FeedClient
from reliquary.client.message import OutgoingMessage
from reliquary.client.sync.manager import connect
from reliquary.protocols.standard import ALL_TABLES
from reliquary.queueing.model.tables import STAGED, STAGES
from reliquary.store import RocksDisk, verify
from tests.e2e.process import ServerProcess
from tests.spark.crash.driver import Done, Job
from tests.spark.crash.faults import Fault

ROOT = Path(__file__).parents[3]
LOCAL = "local[2,4]"
CONSUMER = "crash"
LIVES = 6
"""How many times a driver may be killed in one job."""


def environment() -> dict[str, str]:
    """Return an environment in which every process of Spark finds our package and these tests."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


class Ground:
    """A server that is started again whenever it dies, on its folder and its ports."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self.lives = 0
        self._settings = settings
        self._ports: dict[str, str] = {}
        self._leaving = False
        self._may_return = threading.Event()
        self._may_return.set()
        self._process = self._start()
        self.data, self.control = self._process.data, self._process.control
        self._ports = {
            f"{plane}_PORT": address.rpartition(":")[2]
            for plane, address in (("DATA", self.data), ("CONTROL", self.control))
        }
        self._watch = threading.Thread(target=self._again_and_again, daemon=True)
        self._watch.start()

    def _start(self) -> ServerProcess:
        process = ServerProcess(self.folder / "store", settings=self._settings | self._ports)
        (self.folder / "server.pid").write_text(str(process.pid))
        self.lives += 1
        return process.wait_until_ready()

    def _again_and_again(self) -> None:
        while True:
            self._process.wait()
            if self._leaving:
                return
            with self._process:
                pass
            self._may_return.wait()
            self._process = self._start()

    def keep_away(self, died: Path, seconds: float) -> None:
        """Wait until a file says that the server was killed, and start it again some seconds later."""
        self._may_return.clear()

        def wait() -> None:
            while not died.exists() and not self._leaving:
                time.sleep(0.1)  # noqa: TID251 - another process makes the file
            time.sleep(seconds)  # noqa: TID251 - so long it is away
            self._may_return.set()

        threading.Thread(target=wait, daemon=True).start()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Start no killed server again while the block runs."""
        self._may_return.clear()
        try:
            yield
        finally:
            self._may_return.set()

    def close(self) -> None:
        """Stop the server without a new start."""
        self._leaving = True
        self._process.stop()
        self._watch.join()
        with self._process:
            pass


@contextmanager
def ground(folder: Path, **settings: str) -> Iterator[Ground]:
    """Run a server while the block runs; then check its store, in which nothing staged is left."""
    running = Ground(folder, **settings)
    try:
        yield running
    finally:
        running.close()
    with ServerProcess(
        folder / "store", settings=settings
    ) as once_more:  # its start sweeps what crashes left
        once_more.wait_until_ready().stop()
    disk = RocksDisk(folder / "store", ALL_TABLES, create=False)
    try:
        report = verify(disk, ALL_TABLES)
    finally:
        disk.close()
    assert report.is_sound, report.damages
    assert (report.rows[STAGES.name], report.rows[STAGED.name]) == (0, 0)


class Drivers:
    """Driver programs, one after the other."""

    def __init__(self, folder: Path, master: str = LOCAL) -> None:
        self.folder = folder
        self.lives = 0
        self._master = master
        self._process: subprocess.Popen[str] | None = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self.lives += 1
            with (self.folder / "driver.stderr").open("ab") as stderr:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.spark.crash.driver", str(self.folder), self._master],
                    cwd=ROOT,
                    env=environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                    start_new_session=True,
                )
            assert _line(self._process) == "ready\n", self.said
        return self._process

    @property
    def said(self) -> str:
        """The last part of the stderr of all drivers."""
        return (self.folder / "driver.stderr").read_text()[-20_000:]

    def run(self, job: Job) -> Done:
        """Run a job until the query has ended well, even if processes are killed meanwhile."""
        for _ in range(LIVES):
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(job).decode() + "\n")
            process.stdin.flush()
            answer = _line(process)
            if answer:
                return msgspec.json.decode(answer, type=Done)
            self.close()
        raise AssertionError(f"killed again and again:\n{self.said}")

    def close(self) -> None:
        """End it, and whatever it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            _close(stream)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _close(stream: IO[str] | None) -> None:
    assert stream is not None
    with suppress(BrokenPipeError):  # what was not read by a process that was killed
        stream.close()


def body_of(label: str) -> bytes:
    """Return the body of the row with this label."""
    return f"body of {label}".encode()


class Crossing:
    """Rows that go from a queue to another, whatever happens."""

    def __init__(self, ground: Ground, name: str, rows: int, rows_per_batch: int) -> None:
        self._ground = ground
        self.folder = ground.folder / name
        self.folder.mkdir()
        self.source, self.target = f"{name}.from", f"{name}.to"
        self.labels: list[str] = []
        self._rows_per_batch = rows_per_batch
        with connect(ground.data, control=ground.control) as manager:
            manager.create_queue(self.source)
            manager.create_queue(self.target, transactional=True)
        self.send(rows)

    def send(self, count: int) -> None:
        """Send more rows to the source."""
        labels = [f"{number:05}" for number in range(len(self.labels), len(self.labels) + count)]
        with connect(self._ground.data, control=self._ground.control) as manager:
            messages = [OutgoingMessage(body=body_of(label), label=label) for label in labels]
            manager.queue(self.source).send_many(messages)
        self.labels += labels

    @property
    def last_batch(self) -> int:
        """The number of the last batch."""
        return -(-len(self.labels) // self._rows_per_batch) - 1

    def job(self, faults: Sequence[Fault], timeout: float = 60.0, consumer: str = CONSUMER) -> Job:
        """Return the query with these faults."""
        (self.folder / "faults.json").write_bytes(msgspec.json.encode(list(faults)))
        return Job(
            str(self.folder),
            self._ground.data,
            self.source,
            self.target,
            self._rows_per_batch,
            consumer,
            timeout,
        )

    def fired(self) -> set[str]:
        """Return the faults that were met."""
        return {path.name.removeprefix("fired.") for path in self.folder.glob("fired.*")}

    def assert_arrived(self, consumers: int = 1) -> None:
        """Check each row once and in order, one query in the ledger, and the place of the consumer."""
        with connect(self._ground.data, control=self._ground.control) as manager:
            arrived = [(each.label, each.body) for each in manager.queue(self.target).browse()]
        assert arrived == [(label, body_of(label)) for label in self.labels]
        with FeedClient(self._ground.data) as client:
            mine = [each for each in client.writers() if self.target in each.writers]
            assert [(each.batch, each.total, each.waiting) for each in mine] == [
                (self.last_batch, len(self.labels), 0)
            ]
            assert mine[0].query == self._query()
            cursors = {each.name: each.cursor for each in client.consumers(self.source)}
            assert len(cursors) == consumers
            assert cursors[CONSUMER] == self._offset(self.last_batch - 1)

    def _query(self) -> str:
        return str(msgspec.json.decode((self.folder / "checkpoint" / "metadata").read_bytes())["id"])

    def _offset(self, batch: int) -> int:
        """Return the end of a batch in the feed of the source, as Spark has written it."""
        written = (self.folder / "checkpoint" / "offsets" / str(batch)).read_text().splitlines()
        return int(next(iter(msgspec.json.decode(written[2])["managers"].values()))[self.source]["id"])
