"""Gold: what people ask, a row for each queue and minute; one file for each day.

    flow           came in and went out, by the history; seen and quarantined, by the feed
    latency        from the sending to the receiving: percentiles in milliseconds
    retries        handed out again, come back, given back by a carrier, poisoned
    dead_letters   by their reason

A day that new rows belong to is computed anew from all that the lake has of it, and its file is replaced by
one rename; so rows that come late are counted as if they had come in time.  A message may come on one day and
leave on another: with a day, those after it are computed anew too, as far as messages are followed back
(`lookback`).  Which batches are counted is written down last; a crash before that computes the same days
once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reliquary.spark.pipelines.bronze import UNKNOWN_DAY, history_schema
from reliquary.spark.pipelines.tables import Table, read_state, write_state
from reliquary.wire.history import CAME, LEFT, Happening

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

COMES: Final = frozenset({*CAME, Happening.JOURNALED, Happening.DEAD_LETTERED})
MOVES: Final = frozenset({Happening.MOVED, Happening.POISONED})
"""They leave one queue and come into another."""
LEAVES: Final = frozenset({*LEFT, *MOVES})
RETRIES: Final = frozenset({Happening.HANDED_OUT, Happening.RETURNED, Happening.RELEASED, Happening.POISONED})
MOVED_IN: Final = "moved-in"
"""The other side of a move, made here."""
PERCENTILES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
SILVER_SCHEMA: Final = "queue string, arrived timestamp, sent timestamp, size bigint, kind string"
FLOW: Final = (
    "queue", "minute", "in_messages", "in_bytes", "out_messages", "out_bytes",
    "seen_messages", "seen_bytes", "quarantined",
)  # fmt: skip

# -- one day, as frames


def _words(events: Iterable[Happening]) -> list[str]:
    return sorted(event.word for event in events)


def came(history: DataFrame) -> DataFrame:
    """What is known of each message on its manager, and when it was sent.

    SentTime has whole seconds; an event of that second, mostly of the manager that it was sent at, tells the
    moment.
    """
    from pyspark.sql import functions as f

    told = history.where(f.col("message_id").isNotNull())
    born = told.groupBy("message_id").agg(f.min("time").alias("born"))
    known = told.groupBy("manager", "message").agg(
        f.first("message_id").alias("message_id"), f.max("size").alias("size"), f.min("sent").alias("sent")
    )
    at_once = f.col("born") < f.col("sent") + f.expr("interval 1 second")
    begun = f.when(at_once, f.greatest("born", "sent")).otherwise(f.coalesce("sent", "born"))
    return known.join(born, "message_id", "left").select(
        "manager", "message", f.col("size").alias("known_size"), begun.alias("begun")
    )


def told_of(history: DataFrame, day: str) -> DataFrame:
    """The events of a day that are counted, with their minute, their bytes and the time since the sending."""
    from pyspark.sql import functions as f

    counted = _words(COMES | LEAVES | RETRIES)
    today = history.where((f.col("day") == day) & f.col("event").isin(counted))
    here = f.struct("queue", "event")
    there = f.struct(f.col("other_queue").alias("queue"), f.lit(MOVED_IN).alias("event"))
    sides = f.when(f.col("event").isin(_words(MOVES)), f.array(here, there)).otherwise(f.array(here))
    return today.join(came(history), ["manager", "message"], "left").select(
        f.inline(sides),
        f.date_trunc("minute", "time").alias("minute"),
        "reason",
        "attempt",
        f.coalesce("size", "known_size", f.lit(0)).alias("bytes"),
        ((f.unix_micros("time") - f.unix_micros("begun")) / 1000).alias("took"),
    )


def flow(events: DataFrame, silver: DataFrame | None, bad: DataFrame | None) -> DataFrame:
    """In and out for each queue and minute."""
    from pyspark.sql import functions as f

    comes = f.col("event").isin([*_words(COMES), MOVED_IN])
    leaves = f.col("event").isin(_words(LEAVES))
    told = (
        events.where(comes | leaves)
        .groupBy("queue", "minute")
        .agg(
            f.count_if(comes).alias("in_messages"),
            f.sum(f.when(comes, f.col("bytes")).otherwise(0)).alias("in_bytes"),
            f.count_if(leaves).alias("out_messages"),
            f.sum(f.when(leaves, f.col("bytes")).otherwise(0)).alias("out_bytes"),
        )
    )
    for frame, names in ((silver, ("seen_messages", "seen_bytes")), (bad, ("quarantined", ""))):
        if frame is not None:
            told = told.join(_seen(frame, *names), ["queue", "minute"], "full")
    missing = [name for name in FLOW if name not in told.columns]
    for name in missing:
        told = told.withColumn(name, f.lit(None).cast("bigint"))
    return told.select(*FLOW)


def _seen(frame: DataFrame, messages: str, size: str) -> DataFrame:
    from pyspark.sql import functions as f

    counts = [f.count("*").alias(messages)]
    if size:
        counts.append(f.sum("size").alias(size))
    minute = f.date_trunc("minute", f.coalesce("arrived", "sent"))
    return frame.withColumn("minute", minute).groupBy("queue", "minute").agg(*counts)


def latency(events: DataFrame) -> DataFrame:
    """From the sending to the receiving, for each queue and minute of receiving."""
    from pyspark.sql import functions as f

    took = f.when(f.col("took") < 0, 0.0).otherwise(f.col("took"))  # clocks of two managers differ
    places = [f.percentile("took", at).alias(f"{name}_ms") for name, at in PERCENTILES.items()]
    return (
        events.where(f.col("event") == "received")
        .withColumn("took", took)
        .groupBy("queue", "minute")
        .agg(
            f.count("*").alias("received"),
            f.count_if(f.col("took").isNull()).alias("unmeasured"),
            *places,
            f.max("took").alias("longest_ms"),
            f.avg("took").alias("mean_ms"),
        )
    )


def retries(events: DataFrame) -> DataFrame:
    """What had to be tried again, for each queue and minute."""
    from pyspark.sql import functions as f

    event = f.col("event")
    again = (event == "handed-out") & (f.coalesce("attempt", f.lit(1)) > 1)
    return (
        events.where(event.isin(_words(RETRIES)))
        .groupBy("queue", "minute")
        .agg(
            f.count_if(event == "handed-out").alias("handed_out"),
            f.count_if(again).alias("again"),
            f.count_if(event == "returned").alias("returned"),
            f.count_if(event == "released").alias("released"),
            f.count_if(event == "poisoned").alias("poisoned"),
            f.max("attempt").alias("most_attempts"),
        )
        .where("again + returned + released + poisoned > 0")
    )


def dead_letters(events: DataFrame) -> DataFrame:
    """Dead letters, for each queue, minute and reason."""
    from pyspark.sql import functions as f

    return (
        events.where(f.col("event") == Happening.DEAD_LETTERED.word)
        .groupBy("queue", "minute", "reason")
        .agg(f.count("*").alias("messages"), f.sum("bytes").alias("bytes"))
    )


_OF_HISTORY: Final[dict[str, Callable[[DataFrame], DataFrame]]] = {
    "latency": latency,
    "retries": retries,
    "dead_letters": dead_letters,
}
NAMES: Final = ("flow", *_OF_HISTORY)


# -- days


class Sources:
    """The tables that gold is made of."""

    def __init__(self, silver: Table, quarantine: Table, history: Table) -> None:
        self.silver = silver
        self.quarantine = quarantine
        self.history = history

    def touched(self, counted: dict[str, int], lookback: int) -> list[str]:
        """The days that batches behind those that are counted belong to, and those that depend on them."""
        feed = {day for table in (self.silver, self.quarantine) for day in _days(table, counted["silver"])}
        told = _days(self.history, counted["history"])
        later = {
            day
            for day in (_days(self.history, -1) if told else ())
            for first in told
            if first <= day <= _plus(first, lookback)
        }
        return sorted((feed | told | later) - {UNKNOWN_DAY})


def _days(table: Table, after: int) -> set[str]:
    return {day for batch in table.batches() if batch > after for day in table.days(batch)} - {UNKNOWN_DAY}


def _plus(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def advance(
    spark: SparkSession,
    sources: Sources,
    tables: dict[str, Table],
    state: Path,
    lookback: int,
    told: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Bring gold to where silver and the history are; returns the days that were computed anew."""
    counted = {"silver": -1, "history": -1} | read_state(state)
    reached = {
        "silver": max(sources.silver.last(), sources.quarantine.last()),
        "history": sources.history.last(),
    }
    days = sources.touched(counted, lookback)
    for day in days:
        told(day)
        _compute(spark, sources, tables, day, lookback)
    if reached != counted:
        write_state(state, reached)
    return days


def _compute(
    spark: SparkSession, sources: Sources, tables: dict[str, Table], day: str, lookback: int
) -> None:
    before = (_plus(day, -back) for back in range(lookback + 1))
    events = told_of(_or_empty(spark, sources.history, before), day).persist()
    silver = sources.silver.read(spark, _schema(SILVER_SCHEMA), days=[day])
    bad = sources.quarantine.read(spark, _schema(SILVER_SCHEMA), days=[day])
    try:
        tables["flow"].replace_day(day, flow(events, silver, bad))
        if sources.history.batches():
            for name, compute in _OF_HISTORY.items():
                tables[name].replace_day(day, compute(events))
    finally:
        events.unpersist()


def _or_empty(spark: SparkSession, table: Table, days: Iterable[str]) -> DataFrame:
    from pyspark.sql import functions as f

    schema = _schema(history_schema(kept=True))
    found = table.read(spark, schema, days=days)
    if found is not None:
        return found
    return spark.createDataFrame([], schema).withColumn("day", f.lit(""))


def _schema(ddl: str) -> StructType:
    from pyspark.sql.types import StructType

    found = StructType.fromDDL(ddl)
    assert isinstance(found, StructType)
    return found
