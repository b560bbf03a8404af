"""Counts streams: numbers, times and the verdict of each way of messages.

    alpha: DIRECT=HTTP://beta/msmq/orders -> beta: orders      from one manager to the next
    beta: orders                                               from a queue to its readers

Times are counted in classes that grow by four percent, so percentiles are right to four percent, in whatever
order the messages are counted.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.arrays import NONE, Bools, Ints, Table, grouped, has, joined, known
from reliquary.spark.pipelines.audit.coverage import TracedQueue
from reliquary.spark.pipelines.audit.masks import bit
from reliquary.spark.pipelines.audit.rules import RuleRows
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason, Verdict

CLASSES: Final = 16
"""The number of classes of times for each doubling."""
UNKNOWN: Final = TracedQueue(0, 0, "", "", "", "")
"""The destination of messages that did not arrive."""

NOWHERE: Final = 0
READERS: Final = -1
Key = tuple[int, int]
"""Two places; the second may be NOWHERE, or READERS for what happens in one queue."""
COUNTS: Final = ("sent", "left", "arrived", "received", "waiting")


@dataclass
class Stream:
    """The messages from one queue to another one, or from a queue to its readers."""

    source: TracedQueue
    destination: TracedQueue | None
    """None: from the queue to its readers."""
    sent: int = 0
    """Messages that were put into the queue."""
    left: int = 0
    """Messages that left it as delivered; for a queue and its readers, as received."""
    arrived: int = 0
    received: int = 0
    waiting: int = 0
    """Messages that are still under way."""
    found: dict[FindingKind, int] = field(default_factory=dict)
    unjudged: dict[Reason, int] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    """The number of messages of each class of time."""

    @property
    def is_local(self) -> bool:
        """Whether it is a queue with its readers."""
        return self.destination is None

    @property
    def text(self) -> str:
        """The name of the stream."""
        if self.destination is None:
            return self.source.text
        return f"{self.source.text} -> {self.destination.text if self.destination.hashed else 'unknown'}"

    @property
    def faults(self) -> int:
        """The number of all findings."""
        return sum(self.found.values())

    @property
    def not_judged(self) -> int:
        """The number of unjudged messages."""
        return sum(self.unjudged.values())

    @property
    def verdict(self) -> Verdict:
        """The verdict: one fault refutes, and unjudged messages are not proven."""
        if self.faults:
            return Verdict.REFUTED
        return Verdict.NOT_JUDGED if self.not_judged else Verdict.PROVEN

    def percentile(self, share: float) -> float | None:
        """Return the seconds within which this share of the messages arrived; None without any message."""
        wanted = math.ceil(share * sum(self.times.values()))
        reached = 0
        for number in sorted(self.times):
            reached += self.times[number]
            if reached >= wanted:
                return seconds_of(number)
        return None


def seconds_of(number: int) -> float:
    """Return the longest time of a class, in seconds.

    >>> seconds_of(0), round(seconds_of(16), 3)
    (0.0, 0.001)
    """
    return float(2.0 ** (number / CLASSES) - 1) / 1000


def classes(micros: Ints) -> Ints:
    """Return the class of each of these times."""
    result: Ints = np.ceil(np.log2(np.maximum(micros, 0) / 1000 + 1) * CLASSES).astype(np.int64)
    return result


# -- counted in one bucket

UNTIMED: Final = -1
"""The class of messages that did not arrive."""


def between(passages: Table) -> Table:
    """Return the number of messages from each queue to each other, by the class of their time."""
    arrived = passages["arrivals"] > 0
    took = np.where(arrived, passages["other_time"] - passages["start_time"], 0)
    number = np.where(arrived, classes(took), UNTIMED)
    keys = {name: passages[name] for name in ("place", "other_manager", "other_place")} | {"class": number}
    read = arrived & ((passages["other_mask"] & bit("received")) != 0)
    left = known(passages["left_event"])
    waiting = ~left & (passages["seen"] == 0) & ~has(passages, masks.GONE)
    return _counted(
        keys, sent=np.ones_like(arrived), left=left, arrived=arrived, received=read, waiting=waiting
    )


def within(traces: Table) -> Table:
    """Return the number of messages in each queue of applications, by the class of their waiting time."""
    ours = traces.where(has(traces, masks.LOCAL) & ~has(traces, masks.FETCHED))
    read = known(ours["received_event"])
    timed = read & known(ours["start_time"])
    took = np.where(timed, ours["received_time"] - ours["start_time"], 0)
    keys = {"place": ours["place"], "class": np.where(timed, classes(took), UNTIMED)}
    arrived, waiting = has(ours, bit("arrived")), ~has(ours, masks.GONE)
    return _counted(keys, sent=np.ones_like(read), left=read, arrived=arrived, received=read, waiting=waiting)


def _counted(keys: Mapping[str, Ints], **marks: Bools) -> Table:
    groups = grouped(*keys.values())
    sums = {name: groups.reduced("sum", mark.astype(np.int64)) for name, mark in marks.items()}
    return Table({name: groups.first(key) for name, key in keys.items()} | sums)


def last(passages: Table) -> Table:
    """Return the last numbered message of each queue that arrived: its event here, its time there."""
    numbered = passages.where(
        (passages["arrivals"] > 0) & known(passages["other_number"]) & ~has(passages, masks.OUT_OF_LINE)
    )
    ordered = numbered.where(
        np.lexsort((numbered["other_time"], numbered["entered_event"], numbered["place"]))
    )
    groups = grouped(ordered["place"])
    ends = groups.starts + groups.sizes() - 1
    chosen = ordered.where(ends)
    return Table(
        {"place": chosen["place"], "last_event": chosen["entered_event"], "last_time": chosen["other_time"]}
    )


# -- all buckets together


@dataclass(frozen=True)
class Summary:
    """The sums over all streams that are known before the rules are applied."""

    streams: dict[Key, Stream]
    seen: dict[int, frozenset[int]]
    """The managers, by their hashes, at which messages of a place arrived."""
    last: dict[int, tuple[int, int]]
    """For each place: event here and time there of the last numbered message that arrived."""


def summarize(counted: Mapping[str, Sequence[Table]], places: Iterable[TracedQueue]) -> Summary:
    """Add up the counts of all buckets: their tables `between`, `within` and `last`."""
    names = {place.hashed: place for place in places}
    streams: dict[Key, Stream] = {}
    seen: dict[int, set[int]] = defaultdict(set)
    last_ones: dict[int, tuple[int, int]] = {}
    for row in _sums(counted["between"], ("place", "other_manager", "other_place", "class")):
        place, other = row["place"], row["other_place"] if row["other_place"] != NONE else NOWHERE
        pair = names.get(place, UNKNOWN), names.get(other, UNKNOWN)
        _count(streams.setdefault((place, other), Stream(*pair)), row, row["arrived"])
        if row["other_manager"] != NONE and row["arrived"]:
            seen[place].add(row["other_manager"])
    for row in _sums(counted["within"], ("place", "class")):
        place = row["place"]
        _count(
            streams.setdefault((place, READERS), Stream(names.get(place, UNKNOWN), None)), row, row["left"]
        )
    for table in counted["last"]:
        for row in table.rows():
            it = row["last_event"], row["last_time"]
            last_ones[row["place"]] = max(last_ones.get(row["place"], it), it)
    return Summary(streams, {place: frozenset(selected) for place, selected in seen.items()}, last_ones)


def _sums(tables: Sequence[Table], keys: Sequence[str]) -> list[dict[str, int]]:
    some = [table for table in tables if len(table)]
    if not some:
        return []
    every = joined(some)
    groups = grouped(*(every[key] for key in keys))
    sums = {name: groups.reduced("sum", every[name]) for name in COUNTS}
    return Table({key: groups.first(every[key]) for key in keys} | sums).rows()


def _count(stream: Stream, row: Mapping[str, int], timed: int) -> None:
    for name in COUNTS:
        setattr(stream, name, getattr(stream, name) + row[name])
    if row["class"] != UNTIMED:
        stream.times[row["class"]] = stream.times.get(row["class"], 0) + timed


class StreamCounts:
    """The streams, with the places where findings are counted."""

    def __init__(self, streams: dict[Key, Stream], places: Iterable[TracedQueue]) -> None:
        self.streams = streams
        self.places = {place.hashed: place for place in places}
        self.managers = {place.manager_hash: place.manager for place in self.places.values()}
        self.home: dict[Key, Key] = {}
        self._fold()

    def _fold(self) -> None:
        """Count messages that arrived nowhere in the one stream of their queue, if there is one."""
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

    def key(self, over: RuleRows, place: int | None, other: int | None) -> Key:
        """Return the key of the stream of a finding: its passage, else the queue that it was found in."""
        known = self.places.get(place or 0, UNKNOWN)
        passing = over is RuleRows.PASSAGES or known.kind == "outgoing" or other is not None
        pair = (known.hashed, (other or NOWHERE) if passing else READERS)
        return self.home.get(pair, pair)

    def stream(self, over: RuleRows, place: int | None, other: int | None) -> Stream:
        """Return the stream itself; one that only a finding names is made."""
        key = self.key(over, place, other)
        if key not in self.streams:
            destination = None if key[1] == READERS else self.places.get(key[1], UNKNOWN)
            self.streams[key] = Stream(self.places.get(key[0], UNKNOWN), destination)
        return self.streams[key]
