"""Runs the lake: queues and histories as tables that analysts and programs read.

    queues --stream--> bronze/messages --decode--> silver/messages -----.
                              '--------- bad ----> silver/quarantine    |--> gold/flow, latency,
    history --files--> bronze/history ----------------------------------'    retries, dead_letters

**The batch is the unit of the whole lake.**  Batch 7 of bronze makes batch 7 of silver and of the quarantine;
each of them is seen at once and never changes (`tables`).  So every step knows by the numbers what is left to
do, a run that failed is finished by the next one, and running twice has the effect of running once.

The quarantine of a batch is there before its silver: a reader that sees silver sees all of the batch.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines import bronze, gold, silver
from reliquary.spark.pipelines.compaction import clean, compact
from reliquary.spark.pipelines.delta import DeltaTable, require_delta
from reliquary.spark.pipelines.progress import Progress
from reliquary.spark.pipelines.settings import LakeSettings
from reliquary.spark.pipelines.tables import Table, read_state, write_state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SILVER: Final = "silver/messages"
QUARANTINE: Final = "silver/quarantine"
STATE: Final = "_lake.json"
COUNTED: Final = "_gold.json"
LOCK: Final = "_lock"
PATIENCE: Final = 1
"""The seconds between checks for new batches of the query."""
LOOKS: Final = 60
"""How often the run checks whether the last batch has ended."""
STARTS: Final = 5
SLOW_START: Final = "Python worker failed to connect back"
"""The seconds for the start of a process; Spark's ten are not always enough on a busy machine."""


class TableReport(NamedTuple):
    """One table at the end of a run."""

    table: str
    rows: int
    """The number of all rows of the table."""
    added: int
    """Rows that this run added; for gold, the rows of the days that were computed again."""
    where: str


class LakeReport(NamedTuple):
    """The outcome of one run."""

    tables: tuple[TableReport, ...]
    days: tuple[str, ...]
    """The days whose gold was computed again."""

    def added(self, table: str) -> int:
        """Return the number of rows that this run added to a table."""
        return next(each.added for each in self.tables if each.table == table)


class Lake:
    """The tables of one folder."""

    def __init__(self, folder: Path, kept_as: str, *, variants: bool) -> None:
        kind: type[Table] = DeltaTable if kept_as == "delta" else Table
        self.folder = folder
        self.variants = variants
        """Whether `data` of silver is VARIANT; otherwise it is JSON text."""
        self.messages = kind(folder / bronze.MESSAGES)
        self.history = kind(folder / bronze.HISTORY)
        self.silver = kind(folder / SILVER)
        self.quarantine = kind(folder / QUARANTINE)
        self.gold = {name: kind(folder / "gold" / name) for name in gold.NAMES}

    @property
    def batched(self) -> dict[str, Table]:
        """The tables that grow by batches, by name."""
        return {
            bronze.MESSAGES: self.messages,
            bronze.HISTORY: self.history,
            SILVER: self.silver,
            QUARANTINE: self.quarantine,
        }


def open_lake(folder: Path, kept_as: str = "", data_as: str = "") -> Lake:
    """Return the lake of a folder that exists, with the formats that it was made with."""
    kept = read_state(folder / STATE)
    if not kept:
        raise UsageError(f"{folder} is no lake: `reliquary pipeline run lake` makes one")
    if kept_as and kept["format"] != kept_as:
        raise UsageError(
            f"the lake {folder} is kept as {kept['format']}, not as {kept_as};"
            " begin another in a folder of its own"
        )
    # a lake of Delta that names no form is of an earlier build, which wrote text
    has = kept.get("data_as", "text" if kept["format"] == "delta" else "variant")
    if data_as and data_as != has:
        raise UsageError(
            f"the lake {folder} has data as {has}, not as {data_as}; begin another in a folder of its own"
        )
    return Lake(folder, kept["format"], variants=has == "variant")


def lake_id(folder: Path) -> str:
    """Return the identifier of a lake, which is unique."""
    identifier: str = read_state(folder / STATE)["id"]
    return identifier


def run_lake(
    spark: SparkSession,
    settings: LakeSettings,
    *,
    progress: Progress | None = None,
    feed: Callable[[SparkSession, LakeSettings], DataFrame] | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> LakeReport:
    """Bring a lake up to date, or keep it so while `go_on` says yes; returns what was done.

    `feed` replaces the queues as the source of messages.
    """
    if settings.format == "delta":
        require_delta()
    silver.check_schema(settings.json_schema)
    folder = settings.lake.absolute()
    with locked(folder):
        _begin(folder, settings)
        return _Run(spark, settings, open_lake(folder), progress or Progress()).run(feed or queue_feed, go_on)


def queue_feed(spark: SparkSession, settings: LakeSettings) -> DataFrame:
    """Return the queues of a server as a stream."""
    options = {
        "url": settings.server,
        "queue": ",".join(settings.queues),
        "consumer": settings.consumer,
        "startingOffset": "earliest",
        "maxRowsPerBatch": str(settings.rows_per_batch),
        "token": settings.token,
        "ca": settings.ca,
    }
    reader = spark.readStream.format("reliquary")
    return reader.options(**{name: value for name, value in options.items() if value}).load()


def check_folder(folder: Path, settings: LakeSettings) -> None:
    """Refuse a folder with another lake, or with other files."""
    if (folder / STATE).exists():
        open_lake(folder, settings.format, settings.data_as)
    elif folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
        raise UsageError(f"{folder} is not empty and no lake; give a folder of its own")


def _begin(folder: Path, settings: LakeSettings) -> None:
    check_folder(folder, settings)
    if not (folder / STATE).exists():
        form = {"format": settings.format, "data_as": settings.data_as or "variant"}
        write_state(folder / STATE, {"version": 1, "id": os.urandom(16).hex(), **form})


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Allow one run at a time; the lock of a process that ended is free."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another run has the lake {folder}; one at a time") from None
        yield


class _Run:
    """One run: the query brings bronze while silver and gold follow it here."""

    def __init__(self, spark: SparkSession, settings: LakeSettings, lake: Lake, progress: Progress) -> None:
        self.spark = spark
        self.settings = settings
        self.lake = lake
        self.progress = progress
        self.days: set[str] = set()
        # a form that all readers know
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")

    def run(
        self, feed: Callable[[SparkSession, LakeSettings], DataFrame], go_on: Callable[[], bool]
    ) -> LakeReport:
        before = {name: table.rows() for name, table in self.lake.batched.items()}
        self._follow(with_gold=False)  # complete the work of an earlier run
        if self.settings.queues:
            self._bring(feed, go_on)
        elif self.settings.continuous is not None:
            self._keep_up(self.settings.continuous, go_on)
        self._follow()
        return self._report(before)

    def _bring(
        self, feed: Callable[[SparkSession, LakeSettings], DataFrame], go_on: Callable[[], bool]
    ) -> None:
        """Run the query and follow it; restart it if its process did not start in time."""
        from pyspark.errors import StreamingQueryException

        for left in reversed(range(STARTS)):
            try:
                self._watch(feed(self.spark, self.settings), go_on)
            except StreamingQueryException as failed:
                if left and SLOW_START in str(failed):
                    continue
                raise
            return

    def _watch(self, feed: DataFrame, go_on: Callable[[], bool]) -> None:
        every = self.settings.continuous
        query = bronze.start_messages(self.lake.messages, self.lake.folder, feed, every)
        try:
            while not query.awaitTermination(PATIENCE):
                tell_query(self.progress, query)
                if not go_on():
                    _wait_for_batch(query)
                    break
                self._follow(with_gold=every is not None)
        finally:
            query.stop()

    def _keep_up(self, every: float, go_on: Callable[[], bool]) -> None:
        """Look for new files of the history at the interval of the settings, if there are no queues."""
        while go_on():
            self._follow()
            again = time.monotonic() + every
            while go_on() and time.monotonic() < again:
                Event().wait(min(every, PATIENCE))  # it is the time itself that is waited for

    def _follow(self, *, with_gold: bool = True) -> None:
        """Update history, silver and gold to the state of bronze."""
        lake = self.lake
        if with_gold and self.settings.history:
            for commit in bronze.take_history(self.spark, lake.history, self.settings.history):
                self.progress.tell("history", f"batch {commit.batch}", commit.rows)
        done = lake.silver.last()
        for batch in lake.messages.batches():
            if batch > done:
                rows = decode_batch(self.spark, lake, batch, self.settings.json_schema)
                self.progress.tell("silver", f"batch {batch}", rows)
        if with_gold:
            sources = gold.Sources(lake.silver, lake.quarantine, lake.history)
            self.days |= set(
                gold.advance(
                    self.spark,
                    sources,
                    lake.gold,
                    lake.folder / COUNTED,
                    self.settings.lookback,
                    lambda day: self.progress.tell("gold", day),
                )
            )
            self._compact()

    def _compact(self) -> None:
        """Compact small batches, and remove those that have been replaced for long enough."""
        lock = self.lake.folder / LOCK
        for name, table in self.lake.batched.items():
            if not table.compacts:
                continue
            while self.settings.compact_batches:
                made = compact(self.spark, table, self.settings.compact_batches)
                if made is None:
                    break
                self.progress.tell("compaction", f"{name} {made.folder.name}")
            lock.touch()
            clean(table, self.settings.grace, lock.stat().st_mtime)

    def _report(self, before: dict[str, int]) -> LakeReport:
        reports = []
        for name, table in self.lake.batched.items():
            rows = table.rows()
            reports.append(TableReport(name, rows, rows - before[name], str(table.folder)))
        for name, table in self.lake.gold.items():
            counts = table.day_rows()
            added = sum(rows for day, rows in counts.items() if day in self.days)
            reports.append(TableReport(f"gold/{name}", sum(counts.values()), added, str(table.folder)))
        return LakeReport(tuple(reports), tuple(sorted(self.days)))


def decode_batch(spark: SparkSession, lake: Lake, batch: int, json_schema: str = "") -> int:
    """Make silver and quarantine of one batch of bronze; return the rows of both together."""
    came = lake.messages.commit_of(batch)
    frame = lake.messages.read(spark, batches=[batch])
    if frame is None:  # a batch without rows
        return 0
    frame = frame.drop("batch")

    def decoded(rows: DataFrame) -> DataFrame:
        return silver.decoded(rows, json_schema=json_schema, variants=lake.variants)

    good = lake.silver.stage(batch, silver.understood(decoded(frame)))
    bad = came.rows - good.rows
    if bad:
        rest = silver.without(frame, good.read(spark))  # the good rows are not decoded again
        kept = lake.quarantine.append(batch, silver.quarantined(decoded(rest), frame.columns), came.by)
        assert kept.rows == bad, (
            f"batch {batch}: {came.rows} rows came, {good.rows} and {kept.rows} were kept"
        )
    lake.silver.publish(good, came.by)
    return came.rows


def _wait_for_batch(query: StreamingQuery) -> None:
    """Wait until the current batch ends, which would otherwise be repeated."""
    for _ in range(LOOKS):
        if not query.status["isTriggerActive"] or query.awaitTermination(PATIENCE):
            return


def tell_query(progress: Progress, query: StreamingQuery) -> None:
    """Report the last batch of a query, and the messages that it left in the queues."""
    last: Any = query.lastProgress
    if last is not None:
        progress.tell("bronze", f"batch {last.batchId}", 0, _behind(last.sources))


def _behind(sources: Iterable[Any]) -> int | None:
    """Return how many messages the last batch left in the queues; None if the sources do not report it.

    Each queue is counted up to the limit of the source.
    """
    counts = [
        count
        for source in sources
        for queues in _reported(source.latestOffset).get("behind", {}).values()
        for count in queues.values()
    ]
    return sum(counts) if counts else None


def _reported(latest_offset: str) -> dict[str, Any]:
    """Return what a source reports with its latest offset; empty where that is no JSON of an object."""
    try:
        found = json.loads(latest_offset)
    except ValueError:  # "None" of a source without one
        return {}
    return found if isinstance(found, dict) else {}
