"""Defines every fault of the audit.

A *trace* has all events of one manager about one message.  A *passage* is a trace
that left a queue for another manager, beside the trace of its arrival there, if there is one:

    manager a                                manager b
    trace: queued, delivered  -- passage --> trace: arrived, received
           '-- in doubt?  acknowledged?             '-- twice?  late?  in order?

Each rule is a condition over the columns of traces or passages (`traces.COLUMNS`, `passages.COLUMNS`),
and names the interval of a history that must be complete before its answer counts.  A message outside
of that interval is *not judged*: it is neither a fault nor proven.  Some conditions need all histories
together; `LateCondition` names them.  docs/guides/audit.md has the rules in words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from reliquary.spark.pipelines.audit.arrays import Bools, Ints, Table, has, known
from reliquary.spark.pipelines.audit.masks import (
    FETCHED,
    GONE,
    OUT_OF_LINE,
    OUTGOING,
    REACHED,
    READ,
    TRANSACTIONAL,
    UNPROMISED,
    bit,
)
from reliquary.spark.pipelines.audit.verdicts import FindingKind

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND


def span(micros: int) -> str:
    """Return a span of microseconds as people write it.

    >>> span(90 * SECOND), span(2 * HOUR)
    ('90.0 s', '2.0 h')
    """
    if micros < 120 * SECOND:
        return f"{micros / SECOND:.1f} s"
    return f"{micros / HOUR * 60:.1f} min" if micros < 2 * HOUR else f"{micros / HOUR:.1f} h"


def times(count: int) -> str:
    """Return a count with the word "times"."""
    return f"{count} times"


@dataclass(frozen=True)
class Limits:
    """The limits of the audit, all in microseconds."""

    late: int = HOUR
    """The longest time of a message from one queue to the next, and of its wait to be read."""
    doubt: int = HOUR
    """The longest time of a batch or a transaction in doubt."""
    grace: int = 300 * SECOND
    """The largest difference between the clocks of two managers."""


class RuleRows(Enum):
    """The rows that a rule is about."""

    TRACES = "traces"
    PASSAGES = "passages"
    ARRIVALS = "arrivals"
    """Arrivals of one message in one queue."""
    PLACES_IN_LINE = "places in line"
    """Messages of one stream that came out of it after a message that was sent later."""


class LateCondition(Enum):
    """Further conditions, which are known only after all histories were read."""

    NOTHING = "nothing"
    OVERTAKEN = "a later message of the stream arrived"
    LAST = "no later message of the stream arrived, and the sender's history goes on long enough"
    UNSETTLED = "the manager's history goes on long enough"


Column = Callable[[Table, Limits], Ints]
Condition = Callable[[Table, Limits], Bools]


def _of(name: str) -> Column:
    return lambda table, _: table[name]


@dataclass(frozen=True)
class Rule:
    """The rule that finds one kind of fault: the rows that it tests, its condition, and the interval."""

    kind: FindingKind
    over: RuleRows
    condition: Condition
    covered_by: str
    """The history that must be complete: `manager`, `other`, `destination` where nothing arrived, or none."""
    since: Column
    until: Column
    """The interval in which it must be complete."""
    at: Column
    """The time of the event."""
    sentence: str
    """The sentence for people, after the words "the message"."""
    events: tuple[str, ...]
    """The events of `manager` that prove it, at most two."""
    other_events: tuple[str, ...] = ()
    """The events of the other manager that prove it, at most one."""
    detail: tuple[str, Callable[[int], str]] | None = None
    """More for the sentence: the words before it, and how the number `amount` is written."""
    amount: Column | None = None
    later: LateCondition = LateCondition.NOTHING
    rank: int = 0
    """Of rules that hold for one message in one queue and have a rank, the one with the lowest counts: two
    names for one loss are one finding."""

    def __repr__(self) -> str:
        return f"<Rule {self.kind}: {self.sentence}>"


_NOT_THERE: Final = GONE | UNPROMISED
_SENT: Final = bit("sent", "held")


def _delivered_nowhere(table: Table, limits: Limits) -> Bools:
    del limits
    met: Bools = known(table["left_event"]) & (table["seen"] == 0) & ~has(table, REACHED | READ | UNPROMISED)
    return met


def _sent_and_overtaken(table: Table, limits: Limits) -> Bools:
    del limits
    open_ = ~known(table["left_event"]) & (table["seen"] == 0) & ~has(table, _NOT_THERE | OUT_OF_LINE)
    met: Bools = open_ & has(table, _SENT) & has(table, TRANSACTIONAL)
    return met


def _sent_as_last(table: Table, limits: Limits) -> Bools:
    del limits
    open_ = ~known(table["left_event"]) & (table["seen"] == 0) & ~has(table, _NOT_THERE)
    met: Bools = open_ & known(table["sent_time"]) & has(table, TRANSACTIONAL)
    return met


def _acknowledged_nowhere(table: Table, limits: Limits) -> Bools:
    del limits
    met: Bools = (table["seen"] == 0) & has(table, REACHED | READ) & ~has(table, UNPROMISED)
    return met


def _acknowledged_unread(table: Table, limits: Limits) -> Bools:
    del limits
    unread = (table["other_mask"] & GONE) == 0
    met: Bools = (table["arrivals"] > 0) & has(table, READ) & unread & ~has(table, UNPROMISED)
    return met


def _late_on_the_way(table: Table, limits: Limits) -> Bools:
    came = table["other_time"]
    slow = known(table["start_time"]) & (came - table["start_time"] > limits.late)
    over = known(table["deadline"]) & (came - limits.grace > table["deadline"])
    met: Bools = (table["arrivals"] > 0) & (slow | over)
    return met


def _late_in_a_queue(table: Table, limits: Limits) -> Bools:
    read = table["received_time"]
    slow = known(table["start_time"]) & (read - table["start_time"] > limits.late)
    taken = np.where(known(table["handed_time"]), table["handed_time"], read)
    met: Bools = known(table["received_event"]) & (
        slow | (known(table["deadline"]) & (taken > table["deadline"]))
    )
    return met


def _in_doubt(table: Table, limits: Limits) -> Bools:
    del limits
    met: Bools = (table["doubt_event"] > np.maximum(table["settled_event"], 0)) & ~has(table, UNPROMISED)
    return met


def _in_doubt_here(table: Table, limits: Limits) -> Bools:
    return _in_doubt(table, limits) & (~has(table, OUTGOING | FETCHED) | ~known(table["id_number"]))


def _left_or_entered(table: Table, limits: Limits) -> Ints:
    del limits
    return np.where(known(table["left_time"]), table["left_time"], table["entered_time"])


_FROM_ENTRY: Final[Column] = lambda table, limits: table["entered_time"] - limits.grace  # noqa: E731

RULES: Final = (
    Rule(
        FindingKind.ACKNOWLEDGED,
        RuleRows.PASSAGES,
        _acknowledged_nowhere,
        covered_by="destination",
        since=_FROM_ENTRY,
        until=lambda table, limits: table["acknowledged_time"] + limits.grace,
        at=_of("acknowledged_time"),
        sentence="was acknowledged, and the manager that should have it has no trace of it",
        events=("entered_event", "acknowledged_event"),
        rank=1,
    ),
    Rule(
        FindingKind.ACKNOWLEDGED,
        RuleRows.PASSAGES,
        _acknowledged_unread,
        covered_by="other",
        since=_of("other_time"),
        until=lambda table, limits: table["acknowledged_time"] + limits.grace,
        at=_of("acknowledged_time"),
        sentence="was acknowledged as received, and no reader received it",
        events=("entered_event", "acknowledged_event"),
        other_events=("other_event",),
        rank=2,
    ),
    Rule(
        FindingKind.LOST,
        RuleRows.PASSAGES,
        _delivered_nowhere,
        covered_by="destination",
        since=_FROM_ENTRY,
        until=lambda table, limits: table["left_time"] + limits.grace,
        at=_of("left_time"),
        sentence="left for the next manager, which has no trace of it",
        events=("entered_event", "left_event"),
        rank=3,
    ),
    Rule(
        FindingKind.LOST,
        RuleRows.PASSAGES,
        _sent_and_overtaken,
        covered_by="destination",
        since=_FROM_ENTRY,
        until=lambda table, limits: table["entered_time"] + limits.grace,
        at=_of("entered_time"),
        sentence="was sent, and a later message of its stream arrived without it",
        events=("entered_event", "sent_event"),
        later=LateCondition.OVERTAKEN,
        rank=4,
    ),
    Rule(
        FindingKind.LOST,
        RuleRows.PASSAGES,
        _sent_as_last,
        covered_by="destination",
        since=_FROM_ENTRY,
        until=lambda table, limits: table["sent_time"] + limits.late + limits.grace,
        at=_of("sent_time"),
        sentence="was sent as the last of its stream, and the next manager has no trace of it",
        events=("entered_event", "sent_event"),
        later=LateCondition.LAST,
        rank=5,
    ),
    Rule(
        FindingKind.IN_DOUBT,
        RuleRows.PASSAGES,
        _in_doubt,
        covered_by="manager",
        since=_of("doubt_time"),
        until=_of("doubt_time"),
        at=_of("doubt_time"),
        sentence="is in doubt: no event says how its batch or its transaction ended",
        detail=(", for ", span),
        amount=_of("doubt_time"),
        events=("doubt_event",),
        later=LateCondition.UNSETTLED,
        rank=6,
    ),
    Rule(
        FindingKind.IN_DOUBT,
        RuleRows.TRACES,
        _in_doubt_here,
        covered_by="manager",
        since=_of("doubt_time"),
        until=_of("doubt_time"),
        at=_of("doubt_time"),
        sentence="is in doubt: no event says how its batch or its transaction ended",
        detail=(", for ", span),
        amount=_of("doubt_time"),
        events=("doubt_event",),
        later=LateCondition.UNSETTLED,
    ),
    Rule(
        FindingKind.DUPLICATED,
        RuleRows.ARRIVALS,
        lambda table, _: table["arrivals"] > 1,
        covered_by="",
        since=_of("entered_time"),
        until=_of("entered_time"),
        at=_of("entered_time"),
        sentence="arrived more than once in one queue",
        detail=(": ", times),
        amount=_of("arrivals"),
        events=("entered_event", "again_event"),
    ),
    Rule(
        FindingKind.DUPLICATED,
        RuleRows.TRACES,
        lambda table, _: table["reads"] > 1,
        covered_by="manager",
        since=_of("received_time"),
        until=_of("again_time"),
        at=_of("again_time"),
        sentence="was received more than once, and nothing brought it back in between",
        detail=(": ", times),
        amount=_of("reads"),
        events=("received_event", "again_event"),
    ),
    Rule(
        FindingKind.REORDERED,
        RuleRows.PLACES_IN_LINE,
        lambda table, _: np.ones(len(table), np.bool_),
        covered_by="manager",
        since=_of("since"),
        until=_of("until"),
        at=_of("at"),
        sentence="came after a message that was sent later",
        events=("event",),
        other_events=("other_event",),
    ),
    Rule(
        FindingKind.LATE,
        RuleRows.PASSAGES,
        _late_on_the_way,
        covered_by="manager",
        since=_of("entered_time"),
        until=_left_or_entered,
        at=_of("other_time"),
        sentence="took longer than allowed to the next manager, or got there after its deadline",
        detail=(": it took ", span),
        amount=lambda table, _: table["other_time"] - table["start_time"],
        events=("entered_event",),
        other_events=("other_event",),
    ),
    Rule(
        FindingKind.LATE,
        RuleRows.TRACES,
        _late_in_a_queue,
        covered_by="manager",
        since=_of("entered_time"),
        until=_of("received_time"),
        at=_of("received_time"),
        sentence="waited longer than allowed, or was received after its deadline",
        detail=(": it waited ", span),
        amount=lambda table, _: table["received_time"] - table["start_time"],
        events=("entered_event", "received_event"),
    ),
)
