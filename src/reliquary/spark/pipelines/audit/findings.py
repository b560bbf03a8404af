"""From traces to findings: passages are joined, lines are looked at, rules are asked.

    traces --+--> passages (what left, beside its arrival) --+--> rules --> candidates --> covered? -->
    findings +--> arrivals of one message in one queue ------+                               '--> not judged
             '--> lines (messages of one stream in the order they came out) --'

Everything is one pass over rows of numbers, one join by the message's identifier, and one sort a line; names
come in at the end, for the few rows that are findings.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from reliquary.spark.pipelines.audit import rules
from reliquary.spark.pipelines.audit.rules import RULES, Limits, Over, Reason, bit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ID: Final = ("id_high", "id_low", "id_number")
FOREIGN: Final = bit(
    "arrived", "duplicate", "refused", "expired", "rejected", "purged", "dead-lettered", "moved"
)
"""Any of these, of a message that nobody sent here, is a trace of its arrival."""
START: Final = "greatest(entered_time, coalesce(due_time, entered_time)) as start_time"
"""A message that was delayed is waited for from its moment on."""


def passages(traces: DataFrame, partitions: int) -> DataFrame:
    """What left for another manager, each beside what that manager tells of it."""
    from pyspark.sql import functions as f

    leaving = rules.OUTGOING | rules.FETCHED
    sources = traces.where(f"id_number is not null and mask & {leaving}L != 0").select(
        *ID, "manager", "message", "mask", "place", "entered_time", "entered_event", f.expr(START),
        "deadline", "left_time", "left_event", "acknowledged_time", "acknowledged_event",
    )  # fmt: skip
    sent_here = bit("accepted", "queued", "prepared", "committed")
    there = traces.where(
        f"id_number is not null and mask & {FOREIGN}L != 0 "
        f"and (mask & {sent_here}L = 0 or mask & {bit('arrived')}L != 0)"
    )
    arrived = f"mask & {bit('arrived')}L != 0"
    others = (
        there.repartition(partitions, *ID)
        .groupBy(*ID, f.col("manager").alias("other_manager"))
        .agg(
            f.count("*").alias("seen"),
            f.expr(f"count_if({arrived})").alias("arrivals"),
            f.expr(f"count_if({arrived} and mask & {rules.LOCAL}L != 0)").alias("ours"),
            f.max("place").alias("other_place"),
            f.expr(f"min(if({arrived}, entered_time, null))").alias("other_time"),
            f.expr(f"min(if({arrived}, entered_event, null))").alias("other_event"),
            f.expr("bit_or(mask)").alias("other_mask"),
            f.max("stream").alias("other_stream"),
            f.min("number").alias("other_number"),
        )
        .alias("o")
    )
    left = sources.repartition(partitions, *ID).alias("s")
    same = reduce(lambda one, two: one & two, (f.col(f"s.{name}") == f.col(f"o.{name}") for name in ID))
    elsewhere = f.expr(
        "o.other_manager != s.manager or (o.ours > 0 and o.other_event is distinct from s.entered_event)"
    )
    joined = left.join(others.hint("shuffle_hash"), same & elsewhere, "left")
    return joined.select(
        "s.*",
        *(f.col(f"o.{name}") for name in others.columns if name not in {*ID, "seen", "arrivals", "ours"}),
        f.expr("coalesce(o.seen, 0L) as seen"),
        f.expr("coalesce(o.arrivals, 0L) as arrivals"),
    )


def arrivals(traces: DataFrame, partitions: int) -> DataFrame:
    """Messages that arrived in one queue, with how often."""
    from pyspark.sql import functions as f

    came = traces.where(
        f"id_number is not null and mask & {bit('arrived')}L != 0 and mask & {rules.LOCAL}L != 0 "
        f"and mask & {rules.UNPROMISED}L = 0"
    )
    return (
        came.repartition(partitions, *ID)
        .groupBy(*ID, "manager", "place")
        .agg(
            f.count("*").alias("arrivals"),
            f.min("entered_time").alias("entered_time"),
            f.min("entered_event").alias("entered_event"),
            f.max("entered_event").alias("again_event"),
        )
    )


def lines(traces: DataFrame, crossings: DataFrame, in_order: Collection[int] = ()) -> DataFrame:
    """All messages that must keep an order, each with its `turn` and the latest turn that came before it.

    Between managers the turn is the number in the stream, or the order of queueing for protocols that keep it
    without numbers.  Within the queues `in_order`, whose readers take from the front, it is the order in
    which messages came in, and the order in which they were first taken is held against it.  Who was put off,
    returned or moved stands in no line.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    in_line = f"mask & {rules.OUT_OF_LINE}L = 0"
    lane = f"shiftright(mask, {rules.LANE}) & 7"
    between = crossings.where(
        f"arrivals > 0 and {in_line} and (other_number is not null or other_mask & {rules.BATCHED}L != 0)"
    ).select(
        f.expr(
            f"xxhash64(place, other_place, other_stream, if(other_number is null, {lane}, 0), id_high, "
            "id_low)"
        ).alias("line"),
        f.expr("if(other_number is not null, other_number, entered_event)").alias("turn"),
        f.col("other_event").alias("came"),
        "manager", "place", "other_place", *ID,
        f.col("entered_event").alias("event"),
        "other_event",
        f.col("entered_time").alias("since"),
        f.expr("coalesce(left_time, entered_time)").alias("until"),
        f.col("other_time").alias("at"),
    )  # fmt: skip
    earlier = Window.partitionBy("line").orderBy("came").rowsBetween(Window.unboundedPreceding, -1)
    latest = f.max("turn").over(earlier).alias("latest")
    if not in_order:
        return between.select("*", latest)
    apart = rules.FETCHED | bit("held")
    listed = ", ".join(f"{place}L" for place in in_order)
    within = traces.where(
        f"received_event is not null and entered_event is not null and place in ({listed}) "
        f"and mask & {rules.LOCAL}L != 0 and mask & {apart}L = 0 and {in_line}"
    ).select(
        f.expr(f"xxhash64(place, {lane})").alias("line"),
        f.col("entered_event").alias("turn"),
        f.col("taken_event").alias("came"),
        "manager", "place",
        f.expr("cast(null as bigint)").alias("other_place"),
        *ID,
        f.col("entered_event").alias("event"),
        f.col("taken_event").alias("other_event"),
        f.col("entered_time").alias("since"),
        f.col("received_time").alias("until"),
        f.col("received_time").alias("at"),
    )  # fmt: skip
    return between.unionByName(within).select("*", latest)


@dataclass(frozen=True)
class Tables:
    """What the rules look at."""

    traces: DataFrame
    passages: DataFrame
    arrivals: DataFrame
    lines: DataFrame

    def of(self, over: Over) -> DataFrame:
        """The table that a rule speaks of."""
        return {
            Over.TRACES: self.traces,
            Over.PASSAGES: self.passages,
            Over.ARRIVALS: self.arrivals,
            Over.PLACES_IN_LINE: self.lines,
        }[over]


def candidates(tables: Tables, limits: Limits) -> DataFrame:
    """Whatever meets the condition of a rule, whether or not the histories can judge it."""
    return reduce(
        lambda one, two: one.unionByName(two),
        (_candidates(tables.of(over), over, limits) for over in Over),
    )


def _candidates(table: DataFrame, over: Over, limits: Limits) -> DataFrame:
    from pyspark.sql import functions as f

    its = [(number, rule) for number, rule in enumerate(RULES) if rule.over is over]
    asked = {number: rule.text(rule.condition, limits) for number, rule in its}
    # most rows meet no rule: Spark compiles this condition, and runs what follows row by row
    any_met = " or ".join(f"({condition})" for condition in asked.values())
    numbers = ", ".join(f"if({condition}, {number}, null)" for number, condition in asked.items())
    met = table.where(any_met).withColumn("rule", f.expr(f"explode(array_compact(array({numbers})))"))
    if "other_place" not in table.columns:
        met = met.withColumn("other_place", f.expr("cast(null as bigint)"))

    def chosen(part: str) -> str:
        return " ".join(
            f"when {number} then {rule.text(getattr(rule, part), limits)}" for number, rule in its
        )

    def ids(part: str) -> str:
        cases = " ".join(
            f"when {number} then array({', '.join(getattr(rule, part))})" for number, rule in its
        )
        return f"transform(array_compact(case rule {cases} end), x -> cast(x as bigint))"

    said = " ".join(
        f"when {number} then concat('The message {rule.sentence}', {rule.detail or repr('')}, '.')"
        for number, rule in its
    )
    whose = {
        "": "cast(null as bigint)",
        "manager": "manager",
        "other": "other_manager",
        "destination": "place",
    }
    covering = " ".join(f"when {number} then {whose[rule.covered_by]}" for number, rule in its)
    return met.select(
        "rule", "manager", "place", "other_place", *ID,
        f.expr(f"case rule {covering} end").alias("covering"),
        f.expr(f"case rule {chosen('since')} end").alias("since"),
        f.expr(f"case rule {chosen('until')} end").alias("until"),
        f.expr(f"case rule {chosen('at')} end").alias("at"),
        f.expr(ids("events")).alias("events"),
        f.expr(ids("other_events")).alias("other_events"),
        f.expr(f"case rule {said} end").alias("sentence"),
    )  # fmt: skip


def judged(found: DataFrame, coverings: DataFrame) -> DataFrame:
    """Candidates with the `reason` why they are not judged; null for a finding.

    `coverings` has a row for each manager, and one for each queue whose destinations are known.
    """
    from pyspark.sql import functions as f

    free = [number for number, rule in enumerate(RULES) if not rule.covered_by]
    unneeded = f"rule in ({', '.join(map(str, free))})" if free else "false"
    why = (
        f"case when {unneeded} then null when c.covering is null then '{Reason.NO_HISTORY}' "
        f"when f.until > c.covered_until then '{Reason.TOO_RECENT}' "
        f"when f.since < c.covered_since then '{Reason.TOO_OLD}' "
        "when exists(c.holes, hole -> hole.begins <= f.until and hole.ends >= f.since) then "
        f"'{Reason.MISSING}' end"
    )
    return (
        found.alias("f")
        .join(f.broadcast(coverings).alias("c"), f.expr("f.covering = c.covering"), "left")
        .select("f.*", f.expr(why).alias("reason"))
    )
