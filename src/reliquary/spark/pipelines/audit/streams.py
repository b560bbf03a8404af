"""Streams: counts, times and the verdict of each way that messages take.

    alpha: DIRECT=HTTP://beta/msmq/orders -> beta: orders      from one manager to the next
    beta: orders                                               from a queue to its readers

Times are counted in classes that grow by four percent, so percentiles are right to four percent, the same
whoever counts in whatever order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reliquary.spark.pipelines.audit import rules
from reliquary.spark.pipelines.audit.coverage import Place
from reliquary.spark.pipelines.audit.rules import Kind, Over, Reason, Verdict, bit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CLASSES: Final = 16
"""Classes of times for each doubling."""
UNKNOWN: Final = Place(0, 0, "", "", "", "")
"""Where messages went that arrived nowhere."""

NOWHERE: Final = 0
READERS: Final = -1
Key = tuple[int, int]
"""Two places; the second may be NOWHERE, or READERS for what happens in one queue."""
COUNTS: Final = ("sent", "left", "arrived", "received", "waiting")


@dataclass
class Stream:
    """One way that messages take."""

    source: Place
    destination: Place | None
    """None: from the queue to its readers."""
    sent: int = 0
    """Messages that were put into the queue."""
    left: int = 0
    """That left it as delivered; for a queue and its readers, as received."""
    arrived: int = 0
    received: int = 0
    waiting: int = 0
    """That are still on their way."""
    found: dict[Kind, int] = field(default_factory=dict)
    unjudged: dict[Reason, int] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    """How many messages took so long, by class."""

    @property
    def is_local(self) -> bool:
        """Whether it is a queue and its readers."""
        return self.destination is None

    @property
    def text(self) -> str:
        """Its name."""
        if self.destination is None:
            return self.source.text
        return f"{self.source.text} -> {self.destination.text if self.destination.hashed else 'unknown'}"

    @property
    def faults(self) -> int:
        """All findings."""
        return sum(self.found.values())

    @property
    def not_judged(self) -> int:
        """All that could not be judged."""
        return sum(self.unjudged.values())

    @property
    def verdict(self) -> Verdict:
        """One fault refutes; what is not judged is not proven."""
        if self.faults:
            return Verdict.REFUTED
        return Verdict.NOT_JUDGED if self.not_judged else Verdict.PROVEN

    def percentile(self, share: float) -> float | None:
        """So many seconds at most took this share of the messages; None when none did."""
        wanted = math.ceil(share * sum(self.times.values()))
        reached = 0
        for number in sorted(self.times):
            reached += self.times[number]
            if reached >= wanted:
                return seconds_of(number)
        return None


def seconds_of(number: int) -> float:
    """The longest time of a class, in seconds.

    >>> seconds_of(0), round(seconds_of(16), 3)
    (0.0, 0.001)
    """
    return float(2.0 ** (number / CLASSES) - 1) / 1000


def _class(micros: str) -> str:
    return f"cast(ceil(log2(greatest({micros}, 0L) / 1000 + 1) * {CLASSES}) as int)"


@dataclass(frozen=True)
class Summary:
    """What is known of all streams before the rules are asked."""

    streams: dict[Key, Stream]
    seen: dict[int, frozenset[int]]
    """The managers, by their hashes, at which messages of a place arrived."""
    last: dict[int, tuple[int, int]]
    """Of the numbered messages of a place that arrived, the last one's event here and time there."""


def summarize(traces: DataFrame, crossings: DataFrame, places: Iterable[Place]) -> Summary:
    """Count what went which way."""
    known = {place.hashed: place for place in places}
    streams: dict[Key, Stream] = {}
    seen: dict[int, set[int]] = defaultdict(set)
    last: dict[int, tuple[int, int]] = {}
    for row in _between(crossings):
        place, other = row["place"], row["other_place"] or NOWHERE
        stream = streams.setdefault(
            (place, other), Stream(known.get(place, UNKNOWN), known.get(other, UNKNOWN))
        )
        _count(stream, row)
        if row["other_manager"] is not None and row["arrived"]:
            seen[place].add(row["other_manager"])
        if row["last_event"] is not None:
            last[place] = max(last.get(place, (0, 0)), (row["last_event"], row["last_time"]))
    for row in _within(traces):
        place = row["place"]
        _count(streams.setdefault((place, READERS), Stream(known.get(place, UNKNOWN), None)), row)
    return Summary(streams, {place: frozenset(its) for place, its in seen.items()}, last)


def _count(stream: Stream, row: Mapping[str, Any]) -> None:
    for name in COUNTS:
        setattr(stream, name, getattr(stream, name) + row[name])
    if row["class"] is not None:
        stream.times[row["class"]] = stream.times.get(row["class"], 0) + row["timed"]


def _between(crossings: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    numbered = f"arrivals > 0 and other_number is not null and mask & {rules.OUT_OF_LINE}L = 0"
    took = f"if(arrivals > 0, {_class('(other_time - start_time)')}, null)"
    rows = crossings.groupBy("place", "other_manager", "other_place", f.expr(took).alias("class")).agg(
        f.count("*").alias("sent"),
        f.count("left_event").alias("left"),
        f.expr("count_if(arrivals > 0)").alias("arrived"),
        f.expr(f"count_if(arrivals > 0 and other_mask & {bit('received')}L != 0)").alias("received"),
        f.expr(f"count_if(left_event is null and seen = 0 and mask & {rules.GONE}L = 0)").alias("waiting"),
        f.expr("count_if(arrivals > 0)").alias("timed"),
        f.expr(f"max(if({numbered}, entered_event, null))").alias("last_event"),
        f.expr(f"max(if({numbered}, other_time, null))").alias("last_time"),
    )
    return [row.asDict() for row in rows.collect()]


def _within(traces: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    took = f"if(received_event is not null, {_class('(received_time - start_time)')}, null)"
    ours = traces.where(f"mask & {rules.LOCAL}L != 0 and mask & {rules.FETCHED}L = 0")
    rows = ours.groupBy("place", f.expr(took).alias("class")).agg(
        f.count("*").alias("sent"),
        f.count("received_event").alias("left"),
        f.expr(f"count_if(mask & {bit('arrived')}L != 0)").alias("arrived"),
        f.count("received_event").alias("received"),
        f.expr(f"count_if(mask & {rules.GONE}L = 0)").alias("waiting"),
        f.count("received_event").alias("timed"),
    )
    return [row.asDict() for row in rows.collect()]


class Book:
    """The streams, and where findings of each pair of places are counted."""

    def __init__(self, streams: dict[Key, Stream], places: Iterable[Place]) -> None:
        self.streams = streams
        self.places = {place.hashed: place for place in places}
        self.home: dict[Key, Key] = {}
        self._fold()

    def _fold(self) -> None:
        """Messages that arrived nowhere belong to the one stream of their queue, if there is one."""
        ways: dict[int, list[int]] = defaultdict(list)
        for place, other in self.streams:
            if other not in {NOWHERE, READERS}:
                ways[place].append(other)
        for place, others in ways.items():
            if len(others) == 1:
                self.home[place, NOWHERE] = whole = (place, others[0])
                rest = self.streams.pop((place, NOWHERE), None)
                for name in COUNTS if rest else ():
                    setattr(
                        self.streams[whole], name, getattr(self.streams[whole], name) + getattr(rest, name)
                    )

    def key(self, over: Over, place: int | None, other: int | None) -> Key:
        """Where a finding belongs: to its passage, else to the queue that it was found in."""
        known = self.places.get(place or 0, UNKNOWN)
        passing = over is Over.PASSAGES or known.kind == "outgoing" or other is not None
        pair = (known.hashed, (other or NOWHERE) if passing else READERS)
        return self.home.get(pair, pair)

    def stream(self, over: Over, place: int | None, other: int | None) -> Stream:
        """The stream itself; one that only a finding tells of is made."""
        key = self.key(over, place, other)
        if key not in self.streams:
            destination = None if key[1] == READERS else self.places.get(key[1], UNKNOWN)
            self.streams[key] = Stream(self.places.get(key[0], UNKNOWN), destination)
        return self.streams[key]
