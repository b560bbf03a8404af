"""A program that runs queries queue -> queue in one session, as its input says; it may be killed.

    in     one line for each query: a `Job` as JSON
    out    `ready` when the session is there, then one line for each query that ended: a `Done` as JSON

A query that ends with an error is started again with its checkpoint, in this session, as long as a
fault was met that had not been met before.  The test that kills this program starts it again, with that line.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.errors import StreamingQueryException

from reliquary.spark.session import session
from tests.spark.crash.faults import FaultySource
from tests.spark.desk import SLOW_START

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_PLANNED = "no fault was planned for this"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"


class Job(msgspec.Struct, frozen=True):
    """A query from one queue to another."""

    folder: str
    """The folder of the driver's faults and its checkpoint."""
    url: str
    source: str
    target: str
    rows_per_batch: int
    consumer: str
    timeout: float
    reading: dict[str, str] = {}
    """More options of the source."""
    writing: dict[str, str] = {}
    """More options of the sink."""


class Done(msgspec.Struct, frozen=True):
    """A query that ended well, or was given up."""

    errors: list[str]
    """The errors of the runs before; the last is NOT_PLANNED when it was given up."""


def run(spark: SparkSession, job: Job) -> None:
    """Run the query once, to the end of what is there."""
    access = {"url": job.url, "timeout": str(job.timeout), "faults": job.folder}
    rows = (
        spark.readStream.format("faulty")
        .options(**access, queue=job.source, consumer=job.consumer, maxRowsPerBatch=str(job.rows_per_batch))
        .options(**job.reading)
        .load()
    )
    query = (
        rows.select("label", "body")
        .writeStream.format("faulty")
        .options(**access, queue=job.target, writerId=job.target)
        .options(**job.writing)
        .option("checkpointLocation", f"{job.folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def run_until_it_ends_well(spark: SparkSession, job: Job) -> Done:
    """Run as often as faults are met; a machine too busy to start a process is no fault."""
    errors: list[str] = []
    while True:
        met = fired(job)
        try:
            run(spark, job)
        except StreamingQueryException as error:
            if SLOW_START in str(error):
                continue
            errors.append(str(error))
            if fired(job) == met:
                return Done([*errors, NOT_PLANNED])
        else:
            return Done(errors)


def fired(job: Job) -> set[str]:
    """Return the faults that were met."""
    return {path.name for path in Path(job.folder).glob("fired.*")}


def tell(line: str) -> None:
    """Write a line to the test that started this program."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(folder: Path, master: str) -> None:
    """Take jobs until there are no more."""
    spark = session(
        "crash",
        **{
            "spark.master": master,
            "spark.driver.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"{QUICK_START} -Djava.io.tmpdir={folder}",
            "spark.executor.memory": "512m",
            "spark.local.dir": str(folder),
            "spark.log.level": "ERROR",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )
    jvm = spark._jvm
    assert jvm is not None
    (folder / "jvm.pid").write_text(str(jvm.java.lang.ProcessHandle.current().pid()))
    (folder / "driver.pid").write_text(str(os.getpid()))
    spark.dataSource.register(FaultySource)
    tell("ready")
    for line in sys.stdin:
        done = run_until_it_ends_well(spark, msgspec.json.decode(line, type=Job))
        tell(msgspec.json.encode(done).decode())
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
