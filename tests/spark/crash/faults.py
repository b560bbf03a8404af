"""The format `faulty`: our source and sink, and a planned fault at any place of any batch.

    driver                                 tasks
    plan         how far the batch goes    read       half of a part was read
    logged       the offsets are written   unstaged   the rows are here, nothing was sent
    moving       before the consumer moves staging    half of a part was sent
    moved        after it                  staged     the part is on the server, Spark does not know
    unpublished  before the publish
    publishing   it was sent, and no answer was read
    published    the batch is in its queue, Spark does not know

Faults are in a file, and each fires once: the process that makes its marker fails.  So a query may be started
again and again until it ends well.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import TaskContext
from pyspark.sql.datasource import InputPartition, WriterCommitMessage
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from reliquary.client.feed import FeedClient, Published
from reliquary.spark.access import Access
from reliquary.spark.connection import pauses
from reliquary.spark.format import ReliquarySource
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import Reading, Writing, parse_reading, parse_writing
from reliquary.spark.schema import projection, written
from reliquary.spark.sink import Part, StreamWriter
from reliquary.spark.stream import StreamReader

PLANNING: Final = ("plan", "logged", "moving", "moved")
TASK: Final = ("read", "unstaged", "staging", "staged")
COMMIT: Final = ("unpublished", "publishing", "published")
PLANNED: Final = "this fault was planned"


class PlannedFault(Exception):
    """The error that a fault of the kind `raise` raises."""


class Fault(msgspec.Struct, frozen=True):
    """What fails, where, and at which batch."""

    who: str
    """`raise`, `worker`, `driver`, `server`, or `node`: an executor and the worker that started it."""
    phase: str
    batch: int

    @property
    def name(self) -> str:
        return f"{self.who}-{self.phase}-{self.batch}"


class Plan:
    """The faults of one query; its folder holds the checkpoint too.

    faults.json           what is planned
    fired.<fault>         it happened
    driver.pid ...        of the folder above: whom to kill
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.faults = msgspec.json.decode((self.folder / "faults.json").read_bytes(), type=list[Fault])

    def meet(self, phase: str, batch: int) -> None:
        """Raise or perform the fault that is planned for here, if it has not been met."""
        for fault in self.faults:
            if (fault.phase, fault.batch) == (phase, batch) and self._first(fault):
                self._strike(fault)

    def _first(self, fault: Fault) -> bool:
        try:
            os.close(os.open(self.folder / f"fired.{fault.name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def _strike(self, fault: Fault) -> None:
        match fault.who:
            case "raise":
                raise PlannedFault(f"{PLANNED}: {fault.name}")
            case "worker":
                os._exit(1)
            case "driver":
                self._kill("jvm.pid", "driver.pid")
                os._exit(1)
            case "server":
                self._kill("server.pid")
            case "node":
                executor = parent_of(parent_of(os.getpid()))
                for victim in (parent_of(executor), executor):
                    os.kill(victim, signal.SIGKILL)
                os._exit(1)
            case unknown:
                raise AssertionError(f"who is {unknown}?")

    def _kill(self, *victims: str) -> None:
        for victim in victims:
            os.kill(int((self.folder.parent / victim).read_text()), signal.SIGKILL)

    def current_batch(self) -> int:
        """Return the last batch whose offsets Spark has written; -1 before the first."""
        offsets = self.folder / "checkpoint" / "offsets"
        return max((int(path.name) for path in offsets.glob("*") if path.name.isdigit()), default=-1)


def parent_of(pid: int) -> int:
    """Return the process id of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def task_batch() -> int:
    """Return the batch of the task that runs."""
    context = TaskContext.get()
    assert context is not None
    return int(context.getLocalProperty("streaming.sql.batchId") or -1)


def halves(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield these rows in smaller batches."""
    for batch in batches:
        middle = (batch.num_rows + 1) // 2
        yield from (half for half in (batch.slice(0, middle), batch.slice(middle)) if half.num_rows)


def meeting(batches: Iterable[pa.RecordBatch], plan: Plan, phase: str) -> Iterator[pa.RecordBatch]:
    """Yield these rows, and meet the fault after the first of them."""
    for number, batch in enumerate(halves(batches)):
        if number == 1:
            plan.meet(phase, task_batch())
        yield batch


class FaultyReader(StreamReader):
    """The stream reader of Reliquary, with planned faults."""

    def __init__(self, options: Reading, names: tuple[str, ...], plan: Plan) -> None:
        super().__init__(options, names)
        self._plan_of_faults = plan

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the offset, in the process of the driver, and meet the faults of `plan`."""
        end = super().latestOffset(start, limit)
        if end != start:
            self._plan_of_faults.meet("plan", self._plan_of_faults.current_batch() + 1)
        return end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the partitions, in the process of the driver, and meet the faults of `logged`."""
        self._plan_of_faults.meet("logged", self._plan_of_faults.current_batch())
        return super().partitions(start, end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a part in a task, and meet the faults of `read`."""
        return meeting(super().read(partition), self._plan_of_faults, "read")

    def commit(self, end: dict[str, Any]) -> None:
        """Commit in the driver; Spark commits a batch when the next one is logged."""
        self._plan_of_faults.meet("moving", self._plan_of_faults.current_batch() - 1)
        super().commit(end)
        self._plan_of_faults.meet("moved", self._plan_of_faults.current_batch() - 1)


class Connect:
    """Makes clients that meet a fault while they publish."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, access: Access) -> FeedClient:
        return FaultyClient(access, self._plan)


class FaultyClient(FeedClient):
    """Our client; a publish is sent before the fault, and its answer is not read."""

    def __init__(self, access: Access, plan: Plan) -> None:
        super().__init__(access.url, timeout=access.timeout, pauses=pauses(access.timeout))
        self._plan = plan
        self._address = urlsplit(access.url).netloc

    def publish(
        self,
        query: str,
        batch: int,
        stages: Sequence[int],
        *,
        writer: str = "",
        take_over: bool = False,
        spread: str = "",
    ) -> Published:
        """Twice, when a fault is planned for the first time and does not end this process."""
        if any((fault.phase, fault.batch) == ("publishing", batch) for fault in self._plan.faults):
            asked = {
                "query": query,
                "batch": batch,
                "writer": writer,
                "stages": [str(each) for each in stages],
                "spread": spread,
            }
            connection = http.client.HTTPConnection(self._address)
            connection.request(
                "POST", "/api/v1/publish", json.dumps(asked), {"Content-Type": "application/json"}
            )
            self._plan.meet("publishing", batch)
        return super().publish(query, batch, stages, writer=writer, take_over=take_over, spread=spread)


class FaultyWriter(StreamWriter):
    """The stream writer of Reliquary, with planned faults."""

    def __init__(self, options: Writing, names: tuple[str, ...], plan: Plan) -> None:
        super().__init__(options, names, Connect(plan))
        self._plan = plan

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Part:
        """Write a part in a task, and meet the faults of a task."""
        self._plan.meet("unstaged", task_batch())
        part = super().write(meeting(iterator, self._plan, "staging"))
        self._plan.meet("staged", task_batch())
        return part

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's
        """Commit in a process of the driver, and meet the faults of a publish."""
        self._plan.meet("unpublished", batchId)
        super().commit(messages, batchId)
        self._plan.meet("published", batchId)


class FaultySource(ReliquarySource):
    """The format; its one option more, `faults`, names the folder of the query."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__({word: value for word, value in options.items() if word.lower() != "faults"})
        self._folder = options.get("faults", "")

    @classmethod
    def name(cls) -> str:
        """Return the name that `format` takes in Spark."""
        return "faulty"

    def streamReader(self, schema: StructType) -> FaultyReader:  # noqa: N802 - Spark's name
        """Return the reader for `spark.readStream`."""
        options = parse_reading(self.options, OptionUse.STREAM)
        return FaultyReader(options, projection(schema.fields), Plan(self._folder))

    def streamWriter(self, schema: StructType, overwrite: bool) -> FaultyWriter:  # noqa: N802 - Spark's name
        """Return the writer for `df.writeStream`."""
        options = parse_writing(self.options, OptionUse.SINK, queue_column=False)
        return FaultyWriter(options, written(schema.fields), Plan(self._folder))
