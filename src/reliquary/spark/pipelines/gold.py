"""Computes gold: numbers for people, with a row for each queue and minute and a file for each day.

    flow           incoming and outgoing messages, by the history; seen and quarantined, by the feed
    latency        from the sending to the receiving: percentiles in milliseconds
    retries        handed out again, come back, given back by a carrier, poisoned
    dead_letters   by their reason

A day with new rows is computed again from all rows of the lake, and its file is replaced by
one rename; so rows that come late are counted as if they had come in time.  A message may come on one day and
leave on another: with a day, those after it are computed anew too, as far as messages are followed back
(`lookback`).  The numbers of the counted batches are stored last; a crash before that computes these days
once more.

Spark counts a day in **one look** at it (`counted`): one grouping has the numbers of all four tables, which
are cut from it here.  They are small, however much there was to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.spark.pipelines.bronze import UNKNOWN_DAY, history_schema
from reliquary.spark.pipelines.tables import Table, read_state, write_state
from reliquary.wire.history import CAME, LEFT, HistoryEvent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

COMES: Final = frozenset({*CAME, HistoryEvent.JOURNALED, HistoryEvent.DEAD_LETTERED})
MOVES: Final = frozenset({HistoryEvent.MOVED, HistoryEvent.POISONED})
"""Events in which a message leaves one queue and comes into another."""
LEAVES: Final = frozenset({*LEFT, *MOVES})
RETRIES: Final = frozenset(
    {HistoryEvent.HANDED_OUT, HistoryEvent.RETURNED, HistoryEvent.RELEASED, HistoryEvent.POISONED}
)
MOVED_IN: Final = "moved-in"
"""The other side of a move, which is made here."""
SEEN: Final = "seen"
QUARANTINED: Final = "quarantined"
"""The event that is made of the feed, in addition to the events of the history."""
PERCENTILES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
SILVER_SCHEMA: Final = "queue string, arrived timestamp, sent timestamp, size bigint, kind string"
KEYS: Final = ("queue", "minute")
FLOW_COLUMNS: Final = ("in_messages", "in_bytes", "out_messages", "out_bytes")
"""Columns of flow that the history tells."""

# -- one day, as frames


def _words(events: Iterable[HistoryEvent]) -> list[str]:
    return sorted(event.word for event in events)


def came(history: DataFrame) -> DataFrame:
    """Return the known values of each message on its manager, and when it was sent.

    SentTime has whole seconds; an event of that second, mostly of the manager that it was sent at, tells the
    moment.
    """
    from pyspark.sql import functions as f

    named = history.where(f.col("message_id").isNotNull())
    born = named.groupBy("message_id").agg(f.min("time").alias("born"))
    known = named.groupBy("manager", "message").agg(
        f.first("message_id").alias("message_id"), f.max("size").alias("size"), f.min("sent").alias("sent")
    )
    at_once = f.col("born") < f.col("sent") + f.expr("interval 1 second")
    begun = f.when(at_once, f.greatest("born", "sent")).otherwise(f.coalesce("sent", "born"))
    return known.join(born, "message_id", "left").select(
        "manager", "message", f.col("size").alias("known_size"), begun.alias("begun")
    )


def events_of_day(history: DataFrame, day: str) -> DataFrame:
    """Return the counted events of a day, with minute, bytes and the time since the sending."""
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


def seen(frame: DataFrame, word: str) -> DataFrame:
    """Return messages of the feed in the form of events."""
    from pyspark.sql import functions as f

    return frame.select(
        "queue",
        f.lit(word).alias("event"),
        f.date_trunc("minute", f.coalesce("arrived", "sent")).alias("minute"),
        f.lit(None).cast("string").alias("reason"),
        f.lit(None).cast("int").alias("attempt"),
        f.col("size").alias("bytes"),
        f.lit(None).cast("double").alias("took"),
    )


def counted(rows: DataFrame) -> DataFrame:
    """Return all numbers of all tables, for each queue and minute.

    Dead letters separately, by their reason.
    """
    from pyspark.sql import functions as f

    event = f.col("event")
    comes = event.isin([*_words(COMES), MOVED_IN])
    leaves = event.isin(_words(LEAVES))
    received = event == HistoryEvent.RECEIVED.word
    took = f.when(received, f.greatest("took", f.lit(0.0)))  # clocks of two managers differ
    took = f.when(f.col("took").isNotNull(), took)
    is_dead = event == HistoryEvent.DEAD_LETTERED.word
    again = (event == "handed-out") & (f.coalesce("attempt", f.lit(1)) > 1)

    def size_of(which: Any) -> Any:
        return f.sum(f.when(which, f.col("bytes")).otherwise(0))

    return rows.groupBy(
        "queue", "minute", is_dead.alias("dead"), f.when(is_dead, f.col("reason")).alias("reason")
    ).agg(
        f.count_if(comes | leaves).alias("history_events"),
        f.count_if(comes).alias("in_messages"),
        size_of(comes).alias("in_bytes"),
        f.count_if(leaves).alias("out_messages"),
        size_of(leaves).alias("out_bytes"),
        f.count_if(event == SEEN).alias("seen_messages"),
        size_of(event == SEEN).alias("seen_bytes"),
        f.count_if(event == QUARANTINED).alias("quarantined"),
        f.count_if(received).alias("received"),
        f.count_if(received & f.col("took").isNull()).alias("unmeasured"),
        *(f.percentile(took, at).alias(f"{name}_ms") for name, at in PERCENTILES.items()),
        f.max(took).alias("longest_ms"),
        f.avg(took).alias("mean_ms"),
        f.count_if(event == "handed-out").alias("handed_out"),
        f.count_if(again).alias("again"),
        *(f.count_if(event == word).alias(word) for word in ("returned", "released", "poisoned")),
        f.max(f.when(event.isin(_words(RETRIES)), f.col("attempt"))).alias("most_attempts"),
    )


# -- the tables of a day, cut from what was counted


def flow(numbers: pa.Table) -> pa.Table:
    """Return incoming and outgoing messages for each queue and minute.

    Null, not 0, without history and feed.
    """
    sums = (*FLOW_COLUMNS, "seen_messages", "seen_bytes", "quarantined", "history_events")
    grouped = numbers.group_by([*KEYS]).aggregate([(name, "sum") for name in sums])
    found = {name: grouped[f"{name}_sum"] for name in sums}
    sources = {
        "history_events": FLOW_COLUMNS,
        "seen_messages": ("seen_messages", "seen_bytes"),
        "quarantined": ("quarantined",),
    }
    columns = {name: grouped[name] for name in KEYS}
    for source, names in sources.items():
        there = pc.greater(found[source], 0)
        columns |= {name: pc.if_else(there, found[name], None) for name in names}
    table = pa.table(columns)
    return table.filter(_any(pc.greater(found[name], 0) for name in sources))


def latency(numbers: pa.Table) -> pa.Table:
    """Return the time from sending to receiving, for each queue and minute of receiving."""
    columns = ["received", "unmeasured", *(f"{name}_ms" for name in PERCENTILES), "longest_ms", "mean_ms"]
    return numbers.filter(pc.greater(numbers["received"], 0)).select([*KEYS, *columns])


def retries(numbers: pa.Table) -> pa.Table:
    """Return retries, for each queue and minute."""
    tried = ("again", "returned", "released", "poisoned")
    rows = numbers.filter(_any(pc.greater(numbers[name], 0) for name in tried))
    return rows.select([*KEYS, "handed_out", *tried, "most_attempts"])


def dead_letters(numbers: pa.Table) -> pa.Table:
    """Return dead letters, for each queue, minute and reason."""
    rows = numbers.filter(numbers["dead"]).select([*KEYS, "reason", "in_messages", "in_bytes"])
    return rows.rename_columns([*KEYS, "reason", "messages", "bytes"])


def _any(masks: Iterable[Any]) -> Any:
    return reduce(pc.or_, masks)


_CUT: Final[dict[str, Callable[[pa.Table], pa.Table]]] = {
    "flow": flow,
    "latency": latency,
    "retries": retries,
    "dead_letters": dead_letters,
}
NAMES: Final = tuple(_CUT)


# -- days


class Sources:
    """The tables from which gold is made."""

    def __init__(self, silver: Table, quarantine: Table, history: Table) -> None:
        self.silver = silver
        self.quarantine = quarantine
        self.history = history

    def touched(self, counted: dict[str, int], lookback: int) -> list[str]:
        """Return the days of batches that are not counted yet, and the days that depend on them."""
        feed = {day for table in (self.silver, self.quarantine) for day in _days(table, counted["silver"])}
        counted_days = _days(self.history, counted["history"])
        later = {
            day
            for day in (_days(self.history, -1) if counted_days else ())
            for first in counted_days
            if first <= day <= _plus(first, lookback)
        }
        return sorted((feed | counted_days | later) - {UNKNOWN_DAY})


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
    done: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Update gold to the state of silver and history; return the days that were computed again."""
    counted = {"silver": -1, "history": -1} | read_state(state)
    reached = {
        "silver": max(sources.silver.last(), sources.quarantine.last()),
        "history": sources.history.last(),
    }
    days = sources.touched(counted, lookback)
    for day in days:
        done(day)
        _compute(spark, sources, tables, day, lookback)
    if reached != counted:
        write_state(state, reached)
    return days


def _compute(
    spark: SparkSession, sources: Sources, tables: dict[str, Table], day: str, lookback: int
) -> None:
    before = [_plus(day, -back) for back in range(lookback + 1)]
    history = sources.history.read(spark, _schema(history_schema(kept=True)), days=before)
    silver = sources.silver.read(spark, _schema(SILVER_SCHEMA), days=[day])
    bad = sources.quarantine.read(spark, _schema(SILVER_SCHEMA), days=[day])
    rows = [events_of_day(history, day)] if history is not None else []
    rows += [seen(frame, word) for frame, word in ((silver, SEEN), (bad, QUARANTINED)) if frame is not None]
    numbers: Any = counted(reduce(lambda one, other: one.unionByName(other), rows)).toArrow()
    for name, cut in _CUT.items():
        tables[name].replace_day(day, cut(numbers).sort_by([(key, "ascending") for key in KEYS]))


def _schema(ddl: str) -> StructType:
    from pyspark.sql.types import StructType

    found = StructType.fromDDL(ddl)
    assert isinstance(found, StructType)
    return found
