"""Tests the lake in one session: run twice, finished after a crash, right with late files, nothing lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.streaming.listener import SourceProgress

from reliquary.base.faults import UsageError
from reliquary.client.sync.manager import connect
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import parse_reading
from reliquary.spark.pipelines import lake as pipeline
from reliquary.spark.pipelines import silver
from reliquary.spark.pipelines.lake import LakeReport, open_lake, run_lake, tell_query
from reliquary.spark.pipelines.progress import Progress
from reliquary.spark.pipelines.replay import ReplaySettings, run_replay
from reliquary.spark.pipelines.settings import LakeSettings
from reliquary.spark.pipelines.tables import COMPACTED
from reliquary.spark.stream import StreamReader
from tests.client.served import Served
from tests.protocols.srmp.codec.vector import VECTORS
from tests.spark.feed_double import World
from tests.spark.pipelines.feeds import at, event, files_feed, message, write_history, write_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BODIES = [
    b'{"order": 1, "items": ["a", "b"]}',
    b"<order><number>2</number></order>",
    b"plain text",
    b"\x00\x01\x02\xff",
    b'{"order": 3,',
    b"<order><number>4</order>",
    VECTORS["c2_min"].data,
    b"",
    b'{"twice": 1, "twice": 2}',
]
GOOD = 6


class LoggedProgress(Progress):
    """Keeps the progress messages of a pipeline while it runs."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, int]] = []
        self.lags: list[int | None] = []

    def tell(self, step: str, what: str, rows: int = 0, lag: int | None = None) -> None:
        self.lines.append((step, what, rows))
        self.lags.append(lag)


class LakeFolder:
    """A lake, the files that its messages come from and a history."""

    def __init__(self, spark: SparkSession, folder: Path, kept_as: str = "parquet") -> None:
        self.spark = spark
        self.feed = folder / "feed"
        self.history = folder / "history"
        self.lake = folder / "lake"
        self.kept_as = kept_as
        self.reported = LoggedProgress()
        for each in (self.feed, self.history):
            each.mkdir()

    def run(self, go_on: Callable[[], bool] = lambda: True, **more: Any) -> LakeReport:
        settings = LakeSettings(
            lake=self.lake, queues=("orders",), history=(self.history,), format=self.kept_as, **more
        )
        return run_lake(self.spark, settings, feed=files_feed(self.feed), go_on=go_on, progress=self.reported)

    def rows(self, table: str) -> list[dict[str, Any]]:
        lake = open_lake(self.lake)
        if table.startswith("gold/"):
            frame = lake.gold[table.removeprefix("gold/")].read_days(self.spark)
        else:
            frame = lake.batched[table].read(self.spark)
        return [] if frame is None else [row.asDict() for row in frame.collect()]

    def minutes(self, table: str, *columns: str) -> dict[Any, Any]:
        found = sorted(self.rows(f"gold/{table}"), key=lambda row: row["minute"])
        return {row["minute"].strftime("%d %H:%M"): tuple(row[name] for name in columns) for row in found}


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> LakeFolder:
    return LakeFolder(spark, tmp_path)


def some_messages(first: int) -> list[dict[str, Any]]:
    return [message(first + number, body, after=number) for number, body in enumerate(BODIES)]


def test_every_message_is_understood_or_quarantined_and_a_second_run_changes_nothing(
    place: LakeFolder,
) -> None:
    write_messages(place.feed, "one", some_messages(1))
    write_messages(place.feed, "two", some_messages(101))
    report = place.run()
    assert report.added("bronze/messages") == 2 * len(BODIES)
    silver, bad = place.rows("silver/messages"), place.rows("silver/quarantine")
    assert len(silver) == 2 * GOOD
    assert {row["feed_id"] for row in silver} | {row["feed_id"] for row in bad} == {
        first + number for first in (1, 101) for number in range(len(BODIES))
    }
    assert len(silver) + len(bad) == 2 * len(BODIES)

    by_id = {row["feed_id"]: row for row in silver}
    assert by_id[1]["data"].toPython() == {"order": 1, "items": ["a", "b"]}
    assert by_id[2]["data"].toPython() == {"number": 2}
    assert [by_id[number]["kind"] for number in (3, 4, 7, 8)] == ["text", "binary", "srmp", "empty"]
    assert by_id[7]["srmp"]["what"] == "user-message"
    broken = {row["feed_id"]: row for row in bad}
    assert bytes(broken[5]["body"]) == BODIES[4]
    assert broken[5]["fault_position"] == len(BODIES[4])
    assert "well-formed" in broken[6]["fault"]
    assert "VARIANT" in broken[9]["fault"]

    again = place.run()
    assert [(each.rows, each.added) for each in again.tables] == [(each.rows, 0) for each in report.tables]
    assert place.minutes("flow", "seen_messages", "quarantined") == {"15 12:00": (2 * GOOD, 6)}


def test_only_the_rows_that_are_bad_are_decoded_again(
    place: LakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = silver.decoded
    rows: list[int] = []

    def counted(frame: DataFrame, **how: Any) -> DataFrame:
        rows.append(frame.count())
        return decoded(frame, **how)

    monkeypatch.setattr(silver, "decoded", counted)
    bad = BODIES[4]
    twins = [message(1, bad, queue="twin"), message(2, bad, manager="south")]
    write_messages(place.feed, "one", [*some_messages(1), *twins])
    write_messages(place.feed, "two", [message(101, bad)])
    write_messages(place.feed, "three", [message(201, b"{}")])
    report = place.run(data_as="text")
    assert rows == [len(BODIES) + 2, len(BODIES) - GOOD + 2, 1, 1, 1]
    found = {row["feed_id"]: row["data"] for row in place.rows("silver/messages")}
    assert (found[1], found[3]) == ('{"items":["a","b"],"order":1}', None), "text, as it was asked for"
    assert report.added("silver/quarantine") == len(BODIES) - GOOD + 3


def test_what_died_between_bronze_and_silver_is_finished_by_the_next_run(
    place: LakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_messages(place.feed, "one", some_messages(1))

    def die(*_: object) -> None:
        raise OSError("no more")

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "decode_batch", die)
        with pytest.raises(OSError, match="no more"):
            place.run()
    assert place.rows("silver/messages") == []
    assert len(place.rows("bronze/messages")) == len(BODIES)
    # the quarantine is there, and silver is not
    with monkeypatch.context() as patched:
        patched.setattr("reliquary.spark.pipelines.tables.Table.publish", _dies_at_silver())
        with pytest.raises(OSError, match="no more"):
            place.run()
    assert len(place.rows("silver/quarantine")) == len(BODIES) - GOOD
    place.run()
    assert len(place.rows("silver/messages")) == GOOD
    assert len(place.rows("silver/quarantine")) == len(BODIES) - GOOD


def _dies_at_silver() -> Any:
    from reliquary.spark.pipelines.tables import Staged, Table

    publish = Table.publish

    def die(table: Table, staged: Staged, *rest: Any) -> Any:
        if table.folder.parts[-2:] == ("silver", "messages"):
            raise OSError("no more")
        return publish(table, staged, *rest)

    return die


DAY = 86_400


def test_gold_is_right_with_events_that_come_late(place: LakeFolder) -> None:
    """The receiving is recorded a day after the sending, and its file comes first."""
    write_history(
        place.history,
        [
            event(9, "received", 1, DAY),
            event(10, "dead-lettered", 5, DAY + 60, queue="dead", reason="timeout"),
            event(11, "moved", 6, DAY + 120, other_queue="elsewhere"),
        ],
    )
    report = place.run()
    assert report.days == ("2026-11-16",)
    assert place.minutes("latency", "received", "unmeasured", "p50_ms") == {"16 12:00": (1, 1, None)}
    write_history(
        place.history,
        [
            event(1, "accepted", 1, 0, message_id="m1\\1", size=500, sent=at(0)),
            event(2, "accepted", 2, 61, message_id="m1\\2", size=700, sent=at(61)),
            event(3, "handed-out", 2, 62, attempt=1),
            event(4, "returned", 2, 63),
            event(5, "handed-out", 2, 64, attempt=2),
            event(6, "received", 2, 64.5),
        ],
    )
    assert place.run().days == ("2026-11-15", "2026-11-16")
    assert place.minutes("latency", "received", "unmeasured", "p50_ms") == {
        "15 12:01": (1, 0, 3500.0),
        "16 12:00": (1, 0, DAY * 1000.0),
    }
    assert place.minutes("flow", "in_messages", "in_bytes", "out_messages", "out_bytes") == {
        "15 12:00": (1, 500, 0, 0),
        "15 12:01": (1, 700, 1, 700),
        "16 12:00": (0, 0, 1, 500),
        "16 12:01": (1, 0, 0, 0),
        "16 12:02": (0, 0, 1, 0),
    }
    moved_to = [row for row in place.rows("gold/flow") if row["queue"] == "elsewhere"]
    assert [(row["in_messages"], row["out_messages"], row["seen_messages"]) for row in moved_to] == [
        (1, 0, None)
    ]
    assert place.minutes("retries", "handed_out", "again", "returned", "most_attempts") == {
        "15 12:01": (2, 1, 1, 2)
    }
    assert place.minutes("dead_letters", "reason", "messages") == {"16 12:01": ("timeout", 1)}
    assert place.run().days == ()


@pytest.mark.long
def test_batches_that_became_one_are_read_counted_and_followed_as_before(place: LakeFolder) -> None:
    for name, first in (("one", 1), ("two", 101), ("three", 201)):
        write_messages(place.feed, name, some_messages(first))
    write_history(place.history, [event(1, "accepted", 1, 0, message_id="m1\\1", size=500, sent=at(0))])
    place.run(compact_batches=0)
    keys = ("batch", "feed_id")
    before = {
        name: sorted(tuple(row[key] for key in keys) for row in place.rows(name))
        for name in ("bronze/messages", "silver/messages", "silver/quarantine")
    }
    report = place.run(compact_batches=2, grace=0)
    assert ("compaction", "silver/messages 0-1", 0) in place.reported.lines
    folders = (place.lake / "bronze/messages").glob("batch=*")
    assert sorted(path.name for path in folders) == ["batch=1", "batch=2"]
    assert [each.added for each in report.tables[:4]] == [0] * 4
    write_messages(place.feed, "four", [message(301, b"{}")])
    assert place.run(compact_batches=2, grace=0).added("silver/messages") == 1
    for name, rows in before.items():
        more = [] if name == "silver/quarantine" else [(3, 301)]
        assert sorted(tuple(row[key] for key in keys) for row in place.rows(name)) == [*rows, *more]
    assert place.minutes("flow", "in_messages", "seen_messages") == {"15 12:00": (1, 3 * GOOD + 1)}


def test_delta_has_each_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    place = LakeFolder(spark, tmp_path, "delta")
    write_messages(place.feed, "one", some_messages(1))
    write_history(place.history, [event(1, "accepted", 1, 0, message_id="m1\\1", size=500, sent=at(0))])
    place.run()
    write_messages(place.feed, "two", some_messages(101))
    place.run()
    bronze = DeltaTable(str(place.lake / "bronze" / "messages"))
    assert bronze.version() == 1
    assert sorted(bronze.to_pyarrow_table(columns=["feed_id"])["feed_id"].to_pylist()) == [
        first + number for first in (1, 101) for number in range(len(BODIES))
    ]
    log = DeltaTable(str(place.lake / "silver" / "messages"))
    assert log.protocol().reader_features == ["variantType"]
    read = {
        row["feed_id"]: row["data"] for row in log.to_pyarrow_table(columns=["feed_id", "data"]).to_pylist()
    }
    found = {row["feed_id"]: row["data"] for row in place.rows("silver/messages")}
    assert len(found) == 2 * GOOD
    assert found[101].toPython() == {"order": 1, "items": ["a", "b"]}
    assert {number for number, data in found.items() if data is None} == {3, 4, 7, 8, 103, 104, 107, 108}
    written = {
        number: data and {"value": data.value, "metadata": data.metadata} for number, data in found.items()
    }
    assert read == written, "a program without Spark reads what Spark wrote, rows without data too"
    for table in (bronze, log):
        assert table.optimize.z_order(["feed_id"])["numFilesRemoved"] > 0
    assert len(place.rows("bronze/messages")) == 2 * len(BODIES), "what was replaced is not read"
    again = {row["feed_id"]: row["data"] for row in place.rows("silver/messages")}
    assert {number: repr(data) for number, data in again.items()} == {
        number: repr(data) for number, data in found.items()
    }
    for table in (bronze, log):
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
    assert open_lake(place.lake).silver.rows() == len(place.rows("silver/messages")) == 2 * GOOD
    gold = DeltaTable(str(place.lake / "gold" / "flow")).to_pyarrow_table()
    assert [row["in_messages"] for row in gold.to_pylist()] == [1]


def test_a_lake_goes_on_until_it_is_asked_to_stop_and_the_next_run_reads_the_rest(place: LakeFolder) -> None:
    write_messages(place.feed, "one", some_messages(1))

    def go_on() -> bool:
        reached = open_lake(place.lake).silver.last()
        if reached == 0:
            write_messages(place.feed, "two", some_messages(101))
        return reached < 1

    assert place.run(go_on, continuous=0.1).added("bronze/messages") == 2 * len(BODIES)
    reported = [line for line in place.reported.lines if line[0] != "bronze"]
    each = [("silver", f"batch {batch}", len(BODIES)) for batch in range(2)]
    assert reported == [each[0], ("gold", "2026-11-15", 0), each[1], ("gold", "2026-11-15", 0)]
    assert place.minutes("flow", "seen_messages", "quarantined") == {"15 12:00": (2 * GOOD, 6)}
    write_messages(place.feed, "three", some_messages(201))
    assert place.run().added("bronze/messages") == len(BODIES)
    assert sorted(row["feed_id"] for row in place.rows("bronze/messages")) == [
        first + number for first in (1, 101, 201) for number in range(len(BODIES))
    ]


@pytest.mark.long
def test_a_lake_that_goes_on_is_compacted_while_its_query_runs(place: LakeFolder) -> None:
    """A message comes when the one before it is in silver, and each look reads every row once."""
    sent, looks = [1], []
    write_messages(place.feed, "1", [message(1, b"{}")])

    def go_on() -> bool:
        reached = open_lake(place.lake).silver.last()
        if reached + 1 < len(sent):
            return True
        rows = [sorted(row["feed_id"] for row in place.rows(name)) for name in TABLES]
        looks.append((rows, sorted(path.name for path in bronze.glob("batch=*"))))
        assert rows == [sent, sent]
        sent.append(len(sent) + 1)
        write_messages(place.feed, str(sent[-1]), [message(sent[-1], b"{}")])
        return len(sent) < 6

    bronze = place.lake / "bronze/messages"
    place.run(go_on, continuous=0.1, compact_batches=2, grace=0)
    during = [folders for _, folders in looks]
    assert during[:3] == [["batch=0"], ["batch=1"], ["batch=1", "batch=2"]], "old files go during the run"
    assert during[3:] == [["batch=1", "batch=3"], ["batch=1", "batch=3", "batch=4"]]
    assert place.run(compact_batches=2, grace=0).added("silver/messages") <= 1
    assert [sorted(row["feed_id"] for row in place.rows(name)) for name in TABLES] == [sent, sent]
    assert sorted(path.name for path in (bronze / COMPACTED).iterdir()) == ["0-1", "2-3", "4-5"]


TABLES = ("bronze/messages", "silver/messages")


def query_with(batch: int, *latest: object) -> Any:
    """Return a query whose sources reported this with their last batch, as Spark hands it on."""
    fields = ("description", "startOffset", "endOffset", "inputRowsPerSecond", "processedRowsPerSecond")
    blank = dict.fromkeys(fields, "") | {"numInputRows": 0}
    sources = [SourceProgress.fromJson(blank | {"latestOffset": each}) for each in latest]
    return SimpleNamespace(lastProgress=SimpleNamespace(batchId=batch, sources=sources))


def test_the_progress_has_what_the_last_batch_left_in_the_queues() -> None:
    world = World()
    for queue, count in (("orders", 5), ("parts", 6)):
        world.create(queue)
        world.send(queue, count)
    given = {"url": "http://server:1", "queue": "*", "consumer": "lake", "maxRowsPerBatch": "4"}
    stream = StreamReader(parse_reading(given, OptionUse.STREAM), ("feed_id",), world.connect)
    stream.latestOffset(stream.initialOffset(), ReadMaxRows(4))
    logged = LoggedProgress()
    tell_query(logged, query_with(7, stream.reportLatestOffset()))
    tell_query(logged, query_with(8, {"logOffset": 3}, "None", "[1]"))  # sources that report nothing of it
    tell_query(logged, SimpleNamespace(lastProgress=None))  # type: ignore[arg-type]
    assert logged.lines == [("bronze", "batch 7", 0), ("bronze", "batch 8", 0)]
    assert logged.lags == [7, None]


def test_one_run_at_a_time_and_no_other_folder(place: LakeFolder) -> None:
    with pipeline.locked(place.lake), pytest.raises(UsageError, match="one at a time"):
        place.run()
    (place.lake / "letters.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        place.run()
    with pytest.raises(UsageError, match="is no lake"):
        open_lake(place.lake)


def test_a_checkpoint_that_is_gone_is_noticed_before_anything_is_lost(place: LakeFolder) -> None:
    write_messages(place.feed, "one", some_messages(1))
    place.run()
    shutil.rmtree(place.lake / "_checkpoints")
    with pytest.raises(Exception, match="its checkpoint is gone"):
        place.run()
    assert len(place.rows("bronze/messages")) == len(BODIES)


def test_queues_of_a_server_come_into_the_lake_stay_in_their_queue_and_are_replayed_once(
    spark: SparkSession, server: Served, queue: str, tmp_path: Path
) -> None:
    """The history is that of this server: queue and history have one name for the queue."""
    history = tmp_path / "history"
    history.mkdir()
    with connect(server.data, control=server.control) as manager:
        orders = manager.queue(queue)
        orders.send_many(BODIES)
        manager.export_history(str(history))
        place = tmp_path / "lake"
        settings = LakeSettings(
            lake=place, server=server.data, queues=(queue,), consumer=queue, history=(history,)
        )
        assert run_lake(spark, settings).added("bronze/messages") == len(BODIES)
        assert flow_of(place, queue) == (len(BODIES), 0, GOOD, len(BODIES) - GOOD)
        orders.send(b'{"order": 5}')
        assert orders.receive() is not None
        manager.export_history(str(history))
        report = run_lake(spark, settings)
        assert [report.added(table) for table in ("bronze/messages", "silver/messages")] == [1, 1]
        assert flow_of(place, queue) == (len(BODIES) + 1, 1, GOOD + 1, len(BODIES) - GOOD)
        assert_as_exported(place, history)

        again = manager.create_queue(f"{queue}-again")
        replay = ReplaySettings(lake=place, server=server.data, to_queue=f"{queue}-again")
        assert run_replay(spark, replay).sent == len(BODIES) + 1
        shutil.rmtree(place / "_replays")  # it forgot what it had sent; the server did not
        run_replay(spark, replay)
        bodies = [each.body for each in again.browse()]
        assert bodies == [*BODIES, b'{"order": 5}']


def flow_of(lake: Path, queue: str) -> tuple[int, ...]:
    """Return the counts in, out, seen and quarantined of a queue, over all minutes."""
    names = ("in_messages", "out_messages", "seen_messages", "quarantined")
    rows = pq.ParquetDataset(lake / "gold" / "flow").read().to_pylist()
    return tuple(sum(row[name] or 0 for row in rows if row["queue"] == queue) for name in names)


def assert_as_exported(lake: Path, history: Path) -> None:
    """Bronze has every event of the exporter's files, with every value, though Spark read and wrote them."""
    reported = [row for file in history.rglob("*.parquet") for row in pq.ParquetFile(file).read().to_pylist()]
    kept = pq.ParquetDataset(lake / "bronze" / "history").read().to_pylist()
    assert len(kept) == len(reported) > 0
    by_id = {row["event_id"]: row for row in kept}
    for row in reported:
        found = by_id[row["event_id"]]
        found["batch"] = found.pop("carried_in")
        assert {name: found[name] for name in row} == row
