"""Traces: all that one manager tells of one message, as one row of numbers.

    events (any files, any order) --> one row a (manager, message) --> merged with the rows of earlier runs

Every column is a minimum, a maximum, a sum or a union of bits, so rows of the same message from two sets of
files merge into what both sets together would have given, in whatever order they come.  And every column is a
number: names of managers and queues are hashes (`coverage` keeps what they stand for), and the three numbers
of a message identifier are the identifier.  So Spark aggregates in place, without sorting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reliquary.spark.pipelines.audit import rules
from reliquary.spark.pipelines.audit.rules import HAPPENINGS, bit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SCHEMA: Final = (
    "version int, event_id bigint, event string, time timestamp, manager string, manager_name string, "
    "queue string, queue_kind string, message bigint, message_id string, lookup_id bigint, deadline "
    "timestamp, "
    "stream string, stream_number bigint, transaction string, durable boolean, reason string, "
    "protocol string, batch string"
)
"""The columns of the history that the audit reads."""

POSITIVE: Final = {"ack-reach-queue": rules.REACHED, "ack-receive": rules.READ}
"""Reasons of acknowledgements that say that all is well."""


@dataclass(frozen=True)
class Kept:
    """One column of a trace: which number of which events, and how two of them become one."""

    how: str
    value: str
    of: int = 0
    """Of which events; 0 is all."""


_ENTRIES: Final = bit("accepted", "arrived", "queued", "committed")
_TAKEN: Final = bit("handed-out", "received")

COLUMNS: Final[dict[str, Kept]] = {
    "id_high": Kept("max", "id_high"),
    "id_low": Kept("max", "id_low"),
    "id_number": Kept("max", "id_number"),
    "mask": Kept("bit_or", "mask"),
    "place": Kept("max", "place", _ENTRIES | bit("prepared")),
    "entered_time": Kept("min", "at", _ENTRIES),
    "entered_event": Kept("min", "event_id", _ENTRIES),
    "due_time": Kept("max", "at", bit("due")),
    "stream": Kept("max", "stream_hash"),
    "number": Kept("max", "stream_number"),
    "deadline": Kept("max", "expires"),
    "taken_event": Kept("min", "event_id", _TAKEN),
    "handed_time": Kept("max", "at", bit("handed-out")),
    "reads": Kept("sum", "reads"),
    "received_time": Kept("min", "at", bit("received")),
    "received_event": Kept("min", "event_id", bit("received")),
    "again_time": Kept("max", "at", bit("received")),
    "again_event": Kept("max", "event_id", bit("received")),
    "left_time": Kept("max", "left_at"),
    "left_event": Kept("max", "left_by"),
    "settled_event": Kept("max", "event_id", rules.SETTLING),
    "doubt_event": Kept("max", "event_id", bit("held", "prepared")),
    "doubt_time": Kept("max", "at", bit("held", "prepared")),
    "acknowledged_time": Kept("min", "acknowledged_at"),
    "acknowledged_event": Kept("min", "acknowledged_by"),
}
"""All of a trace beside its key."""
STORED: Final = ", ".join(f"{name} bigint" for name in ("manager", "message", *COLUMNS))
"""A trace as the state keeps it."""


def traces(events: DataFrame) -> DataFrame:
    """The traces of these events."""
    return _grouped(_numbers(events), {name: _first(kept) for name, kept in COLUMNS.items()})


def merged(older: DataFrame, newer: DataFrame) -> DataFrame:
    """The traces of two sets of events together."""
    both = older.unionByName(newer)
    return _grouped(both, {name: f"{kept.how}({name})" for name, kept in COLUMNS.items()})


def _grouped(rows: DataFrame, columns: dict[str, str]) -> DataFrame:
    from pyspark.sql import functions as f

    return rows.groupBy("manager", "message").agg(*(f.expr(how).alias(name) for name, how in columns.items()))


def _first(kept: Kept) -> str:
    if not kept.of:
        return f"{kept.how}({kept.value})"
    return f"{kept.how}(if(bits & {kept.of}L != 0, {kept.value}, null))"


def _numbers(events: DataFrame) -> DataFrame:
    """Each event as numbers; what is read from a journal or a dead-letter queue is the reading of a copy."""
    from pyspark.sql import functions as f

    named = events.where("event != 'gap' and (message > 0 or message_id is not null)").select(
        "*",
        code().alias("code"),
        f.expr(f"queue_kind in ({_words(rules.COPIES)})").alias("is_copy"),
        f.expr("substring_index(message_id, '\\\\', 1)").alias("lineage"),
    )
    marked = named.select(
        "*",
        f.expr("if(is_copy, 0L, shiftleft(1L, code))").alias("bits"),
        f.expr(
            f"if(event = 'received' and protocol in ({_words(rules.ORDERED)}) and not is_copy, true, false)"
        ).alias("fetched"),
    )
    return marked.select(
        f.expr("xxhash64(manager)").alias("manager"),
        # a message that was not taken never got a number: its identifier stands for it
        f.expr("if(message = 0 or message is null, xxhash64(message_id) | shiftleft(1L, 63), message)").alias(
            "message"
        ),
        f.expr("cast(conv(replace(left(lineage, 18), '-', ''), 16, -10) as bigint)").alias("id_high"),
        f.expr("cast(conv(replace(right(lineage, 17), '-', ''), 16, -10) as bigint)").alias("id_low"),
        f.expr("cast(substring_index(message_id, '\\\\', -1) as bigint)").alias("id_number"),
        f.expr(_mask()).alias("mask"),
        f.expr("xxhash64(manager, queue)").alias("place"),
        f.expr("unix_micros(time)").alias("at"),
        "event_id",
        "bits",
        f.expr(f"if(stream is null, if({_batched()}, xxhash64({_CHANNEL}), null), xxhash64(stream))").alias(
            "stream_hash"
        ),
        "stream_number",
        f.expr("unix_micros(deadline)").alias("expires"),
        # one that is moved out of a journal may be read once more
        f.expr(
            "if(bits & {r} != 0, 1L, if(is_copy and event = 'moved', -1L, 0L))".format(r=bit("received"))
        ).alias("reads"),
        f.expr(f"if({_leaving()}, unix_micros(time), null)").alias("left_at"),
        f.expr(f"if({_leaving()}, event_id, null)").alias("left_by"),
        f.expr(f"if({_positive()}, unix_micros(time), null)").alias("acknowledged_at"),
        f.expr(f"if({_positive()}, event_id, null)").alias("acknowledged_by"),
    )


def code() -> Column:
    """The number of an event; 0 for one that this release does not know."""
    from pyspark.sql import functions as f

    cases = " ".join(f"when '{name}' then {number}" for number, name in enumerate(HAPPENINGS, 1))
    return f.expr(f"case event {cases} else 0 end")


def _mask() -> str:
    acknowledged = "".join(f" when '{reason}' then {mask}L" for reason, mask in POSITIVE.items())
    return (
        "bits"
        f" | if(transaction is not null or stream is not null, {rules.TRANSACTIONAL}L, 0L)"
        f" | if(event = 'acknowledged', case reason{acknowledged} else 0L end, 0L)"
        f" | if({_batched()}, {rules.BATCHED}L, 0L)"
        f" | if(fetched, {rules.FETCHED}L, 0L)"
        f" | if(durable = false or (bits & {_ENTRIES}L != 0 and (protocol = 'manager' or reason is not "
        "null)), "
        f"{rules.UNPROMISED}L, 0L)"
        f" | if(bits & {_ENTRIES}L != 0, if(queue_kind = 'outgoing', {rules.OUTGOING}L, {rules.LOCAL}L), 0L)"
        f" | if(bits & {_ENTRIES}L != 0, shiftleft(shiftright(coalesce(lookup_id, 0L), 56) & 7, "
        f"{rules.LANE}), 0L)"
    )


_CHANNEL: Final = "substring_index(batch, ':', 1)"
"""Batches keep their order within the channel that brought them."""


def _batched() -> str:
    return f"event = 'arrived' and protocol in ({_words(rules.ORDERED)})"


def _leaving() -> str:
    return f"fetched or (event = 'delivered' and coalesce(protocol, '') not in ({_words(rules.UNSURE)}))"


def _positive() -> str:
    return f"event = 'acknowledged' and reason in ({_words(POSITIVE)})"


def _words(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)
