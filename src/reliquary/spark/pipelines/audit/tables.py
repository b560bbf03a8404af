"""The tables that an audit leaves: findings and streams as they are now, runs as they were.

findings  kind, stream, message_id, manager, manager_name, queue, other_manager, other_queue, events,
other_events, time, sentence
streams   stream, source and destination, counts, findings of each kind, verdict, why not judged, percentiles
runs      run, verdict, events, new files, findings of each kind
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit import rules
from reliquary.spark.pipelines.audit.coverage import Stretch
from reliquary.spark.pipelines.audit.rules import RULES, Kind, Reason, bit
from reliquary.spark.pipelines.audit.streams import Book, Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from reliquary.spark.pipelines.audit.run import AuditReport

WIDTHS: Final = (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)
"""How wide a column of the flow can be, in seconds."""
COLUMNS: Final = 60
"""So many columns the flow has at most, unless they are as wide as can be."""


def small(spark: SparkSession, schema: str, rows: list[tuple[Any, ...]]) -> DataFrame:
    """A table that every task gets a copy of; it goes to Spark as one text, without processes of Python."""
    names = [column.split()[0] for column in schema.split(", ")]
    text = msgspec.json.encode([dict(zip(names, row, strict=True)) for row in rows]).decode()
    made = f"select inline(from_json(:rows, 'array<struct<{schema}>>'))"
    return spark.sql(made, args={"rows": text})


def findings(
    spark: SparkSession,
    found: DataFrame,
    book: Book,
    texts: Iterable[tuple[int, int | None, int | None, str]],
    out: Path,
    shown: int,
) -> list[dict[str, Any]]:
    """Write the findings with their names, and return the first of them.

    `texts` names the stream of each rule and pair of places that there is among them.
    """
    from pyspark.sql import functions as f

    named = small(
        spark,
        "hashed bigint, manager_id string, name string, queue string",
        [(place.hashed, place.manager, place.manager_name, place.queue) for place in book.places.values()],
    )
    told = small(spark, "of_rule int, one bigint, two bigint, stream string", list(texts))
    kinds = " ".join(f"when {number} then '{rule.kind}'" for number, rule in enumerate(RULES))
    identifier = (
        r"regexp_replace(lower(concat(lpad(hex(id_high), 16, '0'), lpad(hex(id_low), 16, '0'))), "
        r"'^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')"
    )
    table = (
        found.where("reason is null")
        .alias("f")
        .join(f.broadcast(named).alias("a"), f.expr("f.place = a.hashed"), "left")
        .join(f.broadcast(named).alias("b"), f.expr("f.other_place = b.hashed"), "left")
        .join(
            f.broadcast(told).alias("t"),
            f.expr("f.rule = t.of_rule and f.place <=> t.one and f.other_place <=> t.two"),
            "left",
        )
        .select(
            f.expr(f"case rule {kinds} end").alias("kind"),
            "t.stream",
            f.expr(f"concat({identifier}, '\\\\', id_number)").alias("message_id"),
            f.col("a.manager_id").alias("manager"),
            f.col("a.name").alias("manager_name"),
            f.col("a.queue").alias("queue"),
            f.col("b.manager_id").alias("other_manager"),
            f.col("b.queue").alias("other_queue"),
            "f.events",
            "f.other_events",
            f.expr("timestamp_micros(f.at)").alias("time"),
            "f.sentence",
        )
    )
    folder = str(out / "findings")
    table.coalesce(1).write.mode("overwrite").parquet(folder)
    return _first(Path(folder), shown)


def _first(folder: Path, count: int) -> list[dict[str, Any]]:
    """The first rows of a table, however many it has."""
    order = [(name, "ascending") for name in ("time", "kind", "message_id")]
    best: pa.Table | None = None
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                part = pa.Table.from_batches([batch])
                both = part if best is None else pa.concat_tables([best, part])
                best = both.take(pc.sort_indices(both, order)[:count])
    return best.to_pylist() if best is not None else []


def flow(traces: DataFrame, covered: Iterable[Stretch]) -> list[dict[str, Any]]:
    """How many messages were sent, arrived and were received in each stretch of time."""
    from pyspark.sql import functions as f

    width = _width(list(covered)) * rules.SECOND
    sent = bit("accepted", "queued", "committed")
    counted = traces.groupBy(
        f.expr(f"entered_time div {width}L * {width}L").alias("entered"),
        f.expr(f"received_time div {width}L * {width}L").alias("received"),
    ).agg(
        f.count("*").alias("count"),
        f.expr(f"count_if(mask & {sent}L != 0)").alias("sent"),
        f.expr(f"count_if(mask & {bit('arrived')}L != 0)").alias("arrived"),
    )
    columns: dict[int, dict[str, Any]] = {}

    def add(at: int | None, name: str, count: int) -> None:
        if at is not None:
            column = columns.setdefault(at, {"at": at, "sent": 0, "arrived": 0, "received": 0})
            column[name] += count

    for row in counted.collect():
        add(row["entered"], "sent", row["sent"])
        add(row["entered"], "arrived", row["arrived"])
        add(row["received"], "received", row["count"])
    return [columns[at] | {"width": width} for at in sorted(columns)]


def _width(covered: list[Stretch]) -> int:
    ends = [stretch.until for stretch in covered]
    begins = [stretch.begins for stretch in covered]
    seconds = (max(ends) - min(begins)) / rules.SECOND if ends else 0
    return next((width for width in WIDTHS if seconds / width <= COLUMNS), WIDTHS[-1])


def write(report: AuditReport, out: Path, run: int) -> None:
    """Write the streams as they are now, and this run beside the earlier ones."""
    rows = [_stream(stream) for stream in report.streams]
    (out / "streams").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, _STREAMS), out / "streams" / "streams.parquet")
    folder = out / "runs"
    folder.mkdir(exist_ok=True)
    told = {
        "run": len(list(folder.glob("*.parquet"))) + 1,
        "state": run,
        "verdict": str(report.verdict),
        "events": report.events,
        "new_files": report.new_files,
        "until": max((stretch.until for stretch in report.stretches.values()), default=0),
        **{_word(kind): count for kind, count in report.found.items()},
        "not_judged": sum(report.unjudged.values()),
    }
    pq.write_table(pa.Table.from_pylist([told]), folder / f"run-{told['run']:06d}.parquet")


def _word(kind: Kind | Reason) -> str:
    return kind.value.replace("-", "_")


_STREAMS: Final = pa.schema(
    [
        *(
            (name, pa.string())
            for name in ("stream", "source_manager", "source_manager_name", "source_queue")
        ),
        *(
            (name, pa.string())
            for name in ("destination_manager", "destination_manager_name", "destination_queue")
        ),
        *((name, pa.int64()) for name in ("sent", "left", "arrived", "received", "waiting")),
        *((_word(kind), pa.int64()) for kind in Kind),
        ("not_judged", pa.int64()),
        *((_word(reason), pa.int64()) for reason in Reason),
        ("verdict", pa.string()),
        *((name, pa.float64()) for name in ("p50", "p90", "p99", "longest")),
    ]
)


def _stream(stream: Stream) -> dict[str, Any]:
    source, destination = stream.source, stream.destination
    return {
        "stream": stream.text,
        "source_manager": source.manager,
        "source_manager_name": source.manager_name,
        "source_queue": source.queue,
        "destination_manager": destination.manager if destination else None,
        "destination_manager_name": destination.manager_name if destination else None,
        "destination_queue": destination.queue if destination else None,
        "sent": stream.sent,
        "left": stream.left,
        "arrived": stream.arrived,
        "received": stream.received,
        "waiting": stream.waiting,
        **{_word(kind): stream.found.get(kind, 0) for kind in Kind},
        "not_judged": stream.not_judged,
        **{_word(reason): stream.unjudged.get(reason, 0) for reason in Reason},
        "verdict": str(stream.verdict),
        "p50": stream.percentile(0.5),
        "p90": stream.percentile(0.9),
        "p99": stream.percentile(0.99),
        "longest": stream.percentile(1.0),
    }
