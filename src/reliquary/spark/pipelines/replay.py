"""Replays a slice of the lake into a queue, in order and each message once, for any number of attempts.

    slice = layer, queue, since, until, where
      |-- cut by the batches of bronze: chunk 0, chunk 3, chunk 4 ...     each a write of its own
      v
    runId = replay + chunk  --->  the server's ledger knows which chunks it has

A chunk is written through the sink as a batch write under a name that depends only on the replay and the
chunk, and the server takes a name once; so a failed replay can be run again.  Batches of bronze come in
the order of the feed, and inside a chunk rows are sorted by manager, queue and feed number: queues keep their
order.

What the slice held is noted before the first message goes (rows and a digest for each chunk).  A second run
that finds something else is refused: an unknown part of the messages would be in the queue.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.lake import Lake, lake_id, open_lake
from reliquary.spark.pipelines.progress import Progress
from reliquary.spark.pipelines.silver import is_one_message, keys_of
from reliquary.spark.pipelines.tables import read_state, write_state
from reliquary.wire.columns import WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

FOLDER: Final = "_replays"
LAYERS: Final = ("bronze", "silver")


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """All settings of a replay."""

    lake: Path
    to_queue: str
    server: str = "http://127.0.0.1:8480"
    layer: str = "bronze"
    """Bronze or silver: the columns that `where` names; the unchanged message is always sent."""
    queue: str = ""
    """The queue of the slice; empty: all queues."""
    since: datetime | None = None
    """The first moment of arrival that belongs to the slice."""
    until: datetime | None = None
    """The first moment after the slice."""
    where: str = ""
    """An expression of Spark's SQL."""
    run_id: str = ""
    """The name of the replay; without one, it follows from slice and target."""
    token: str = ""
    ca: str = ""
    dry_run: bool = False

    def __post_init__(self) -> None:
        if not self.to_queue:
            raise UsageError("a replay needs a queue that the messages go to: --to-queue")
        if self.layer not in LAYERS:
            raise UsageError(f"layer is bronze or silver, not {self.layer!r}")
        for name in ("since", "until"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise UsageError(f"{name} needs a time zone, as in 2026-11-15T12:00:00Z")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise UsageError(f"since is {self.since}, which is not before until, {self.until}")

    def name_of(self, lake: str) -> str:
        """Return the name of this replay: the given one, or one made from slice and target."""
        if self.run_id:
            return self.run_id
        said = (lake, self.layer, self.queue, self.since, self.until, self.where, self.server, self.to_queue)
        return "replay-" + hashlib.sha256("\0".join(map(str, said)).encode()).hexdigest()[:24]


class ReplayReport(NamedTuple):
    """The outcome of a replay, or of a dry run."""

    run_id: str
    rows: int
    """The rows of the whole slice."""
    chunks: int
    sent: int
    """The rows that this run sent to the server, which may have had some of them already."""
    dry_run: bool


class Chunk(NamedTuple):
    """The part of a batch of bronze that belongs to the slice."""

    batch: int
    rows: int
    digest: str


def run_replay(
    spark: SparkSession,
    settings: ReplaySettings,
    *,
    progress: Progress | None = None,
    write: Callable[[DataFrame, ReplaySettings, str], None] | None = None,
) -> ReplayReport:
    """Send a slice of a lake to a queue; run again, it goes on where it stopped.

    `write` replaces the writing of a chunk to a queue.
    """
    progress = progress or Progress()
    folder = settings.lake.absolute()
    lake = open_lake(folder)
    name = settings.name_of(lake_id(folder))
    found = slice_of(spark, lake, settings)
    chunks = [] if found is None else chunks_of(found)
    rows = sum(chunk.rows for chunk in chunks)
    state = folder / FOLDER / f"{name}.json"
    kept = read_state(state)
    if kept:
        _check(kept, chunks, settings, name)
    if settings.dry_run or found is None:
        return ReplayReport(name, rows, len(chunks), 0, settings.dry_run)
    done: list[int] = kept.get("done", [])
    note: dict[str, Any] = {
        "chunks": [list(chunk) for chunk in chunks],
        "to": [settings.server, settings.to_queue],
        "done": done,
    }
    write_state(state, note)
    sent = 0
    for chunk in chunks:
        if chunk.batch not in done:
            ordered = found.where(found["batch"] == chunk.batch).orderBy(*keys_of(found))
            (write or _write)(ordered.select(*_sent_columns(found)), settings, f"{name}.{chunk.batch}")
            done.append(chunk.batch)
            write_state(state, note)
            sent += chunk.rows
            progress.tell("replay", f"batch {chunk.batch}", chunk.rows, rows - sent)
    return ReplayReport(name, rows, len(chunks), sent, False)


def slice_of(spark: SparkSession, lake: Lake, settings: ReplaySettings) -> DataFrame | None:
    """Return the unchanged messages of a slice; None if the lake has none at all."""
    messages = lake.messages.read(spark)
    if messages is None:
        return None
    if settings.layer == "bronze":
        return _filtered(messages, settings)
    silver = lake.silver.read(spark)
    if silver is None:
        return None
    wanted = _filtered(silver, settings)
    return messages.join(wanted, is_one_message(messages, wanted, ["batch", *keys_of(messages)]), "left_semi")


def _filtered(frame: DataFrame, settings: ReplaySettings) -> DataFrame:
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as f

    if settings.queue:
        frame = frame.where(f.col("queue") == settings.queue)
    if settings.since is not None:
        frame = frame.where(f.col("arrived") >= f.lit(settings.since))
    if settings.until is not None:
        frame = frame.where(f.col("arrived") < f.lit(settings.until))
    if settings.where:
        try:
            frame = frame.where(settings.where)
        except (AnalysisException, ParseException) as why:
            first = str(why).strip().splitlines()[0]
            raise UsageError(
                f"--where {settings.where!r} is no condition on {settings.layer}: {first}"
            ) from None
    return frame


def chunks_of(found: DataFrame) -> list[Chunk]:
    """Return the chunks of a slice, each with its rows and a digest of them that ignores their order."""
    from pyspark.sql import functions as f

    row = f.xxhash64("queue", "feed_id", "id", "label", "body").cast("decimal(38,0)")
    counted = found.groupBy("batch").agg(f.count("*").alias("rows"), f.sum(row).alias("digest"))
    return sorted(Chunk(each["batch"], each["rows"], str(each["digest"])) for each in counted.collect())


def _check(kept: dict[str, Any], chunks: list[Chunk], settings: ReplaySettings, name: str) -> None:
    if kept["to"] != [settings.server, settings.to_queue]:
        raise UsageError(
            f"the replay {name} went to {kept['to'][1]} of {kept['to'][0]};"
            " give another --run-id for another queue"
        )
    before = [Chunk(*each) for each in kept["chunks"]]
    if before != chunks:
        rows, now = sum(each.rows for each in before), sum(each.rows for each in chunks)
        raise UsageError(
            f"the slice of replay {name} had {rows} messages when it began and is another one now, of {now};"
            " give --until so that it does not change, and another --run-id to begin anew"
        )


def _sent_columns(frame: DataFrame) -> list[str]:
    """Return the columns that are sent with a message: all that a sink sets but the queue."""
    return [name for name in frame.columns if name in WRITTEN and name != "queue"]


def _write(frame: DataFrame, settings: ReplaySettings, run_id: str) -> None:
    options = {
        "url": settings.server,
        "queue": settings.to_queue,
        "runId": run_id,
        "token": settings.token,
        "ca": settings.ca,
    }
    given = {name: value for name, value in options.items() if value}
    frame.write.format("reliquary").mode("append").options(**given).save()
