"""A server in memory with the calls of FeedClient, to show sources and sinks without a network.

Rows never leave a feed here, but a consumer that moved on makes what is behind it unreadable, as on a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.client.errors import QueueNotFound, ReliquaryError, ServerUnreachable
from reliquary.client.feed import Bounds, Feed, Loss, Part, Plan, Published, Staged, StageKey
from reliquary.client.feed import Writer as WriterInfo
from reliquary.spark.access import Access
from reliquary.spark.schema import arrow_schema

SIZE = 10
"""What each row counts, unless it says otherwise."""
SECOND = 1_000_000
"""A row arrives as many seconds after 1970 as its place says."""


@dataclass
class Line:
    """The rows and consumers of one queue."""

    incarnation: str
    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    consumers: dict[str, int] = field(default_factory=dict)
    losses: dict[str, Loss] = field(default_factory=dict)
    """The last loss of a consumer, by its name."""


@dataclass
class World:
    """The queues and batches of a server, in memory."""

    queues: dict[str, Line] = field(default_factory=dict)
    sequence: int = 0
    stages: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    ledger: dict[str, int] = field(default_factory=dict)
    spreads: dict[str, str] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    published: list[dict[str, Any]] = field(default_factory=list)
    break_reads_after: list[int] = field(default_factory=list)
    """Each entry breaks one read after this many rows."""
    calls: list[str] = field(default_factory=list)
    away: bool = False
    """Whether it does not answer."""

    def create(self, queue: str) -> None:
        self.sequence += 1
        self.queues[queue] = Line(f"inc-{self.sequence}")

    def send(self, queue: str, count: int, size: int = SIZE) -> list[int]:
        """Add messages to a queue and return their places."""
        places = []
        for _ in range(count):
            self.sequence += 1
            row: dict[str, Any] = {"queue": queue, "feed_id": self.sequence, "lookup_id": self.sequence}
            row |= {"size": size, "arrived": self.sequence * SECOND}
            self.queues[queue].rows.append((self.sequence, row))
            places.append(self.sequence)
        return places

    def lose(self, queue: str, consumer: str, count: int) -> None:
        """Let a consumer lose its oldest messages, because its limit is exceeded."""
        line = self.queues[queue]
        after = line.consumers[consumer]
        until = [place for place, _ in line.rows if place > after][count - 1]
        line.losses[consumer] = Loss(after, until, count, SIZE * count, "2026-11-19T00:00:00Z")
        line.consumers[consumer] = until

    def connect(self, access: Access) -> Any:
        """Return a client of this world; typed as Any, because it is not FeedClient."""
        del access
        return Double(self)


@dataclass
class Worlds:
    """Several servers, by the names of their managers."""

    by_name: dict[str, World] = field(default_factory=dict)

    def connect(self, access: Access) -> Any:
        """Return a client of one of them."""
        return Double(self.by_name[access.name])


class Double:
    """The calls of FeedClient, answered from a `World`."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def world(self) -> World:
        """The world, unless it is away; every call asks for it."""
        if self._world.away:
            raise ServerUnreachable(sentence="it does not answer")
        return self._world

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: there is no connection to close."""

    def _queue(self, name: str, incarnation: str = "") -> Line:
        if name not in self.world.queues:
            raise QueueNotFound("QUEUE_NOT_FOUND", f"there is no queue {name}")
        line = self.world.queues[name]
        if incarnation and line.incarnation != incarnation:
            raise ReliquaryError("OTHER_QUEUE", f"{name} was deleted and created anew")
        return line

    def _feed(self, name: str, consumer: str) -> Feed:
        line = self.world.queues[name]
        cursor = line.consumers.get(consumer)
        loss = line.losses.get(consumer)
        return Feed(name, line.incarnation, self.world.sequence, cursor, len(line.rows), 0, loss=loss)

    def feeds(self, match: Sequence[str], consumer: str = "") -> list[Feed]:
        self.world.calls.append("feeds")
        found: dict[str, Feed] = {}
        for name in match:
            if "*" in name:
                names = [each for each in sorted(self.world.queues) if fnmatchcase(each, name)]
            else:
                self._queue(name)
                names = [name]
            found |= {each: self._feed(each, consumer) for each in names}
        return list(found.values())

    def open_consumer(self, queue: str, name: str, at: int | Literal["earliest", "latest"]) -> Feed:
        self.world.calls.append("open")
        place = {"earliest": 0, "latest": self.world.sequence}.get(str(at), at)
        self._queue(queue).consumers.setdefault(name, int(place))
        return self._feed(queue, name)

    def move_consumer(self, queue: str, name: str, cursor: int, incarnation: str = "") -> None:
        line = self._queue(queue, incarnation)
        if name not in line.consumers:
            raise ReliquaryError("DATA_LOST", f"{queue} has no consumer {name}")
        line.consumers[name] = max(line.consumers[name], cursor)

    def place_of(self, queue: str, moment: int, incarnation: str = "") -> int:
        rows = self._queue(queue, incarnation).rows
        later = (place - 1 for place, row in rows if row["arrived"] >= moment)
        return next(later, self.world.sequence)

    def _range(
        self, queue: str, after: int, until: int, consumer: str, incarnation: str, bounds: Bounds
    ) -> list[tuple[int, dict[str, Any]]]:
        line = self._queue(queue, incarnation)
        if consumer and line.consumers.get(consumer, 1 << 60) > after:
            raise ReliquaryError("DATA_LOST", f"{queue} does not keep what comes after {after}")
        low, high = bounds.from_lookup or 0, bounds.to_lookup or 1 << 60
        since, before = bounds.from_time or 0, bounds.to_time if bounds.to_time is not None else 1 << 60
        return [
            row
            for row in line.rows
            if after < row[0] <= until and low <= row[0] <= high and since <= row[1]["arrived"] <= before
        ]

    def plan(
        self,
        queue: str,
        after: int,
        until: int | None,
        *,
        rows: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word of FeedClient
        parts: int = 1,
        consumer: str = "",
        incarnation: str = "",
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    ) -> Plan:
        self.world.calls.append("plan")
        end = self.world.sequence if until is None else until
        taken: list[tuple[int, int]] = []
        total = 0
        for place, row in self._range(queue, after, end, consumer, incarnation, bounds):
            full = rows is not None and len(taken) >= rows
            if full or (taken and bytes is not None and total + row["size"] > bytes):
                end = taken[-1][0]
                break
            taken.append((place, row["size"]))
            total += row["size"]
        return Plan(end, len(taken), total, _cut(taken, after, end, parts))

    def read(
        self,
        queue: str,
        after: int,
        until: int,
        *,
        columns: Sequence[str] = (),
        consumer: str = "",
        incarnation: str = "",
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    ) -> Iterator[pa.RecordBatch]:
        self.world.calls.append(f"read {','.join(columns)}")
        breaks = self.world.break_reads_after.pop(0) if self.world.break_reads_after else None
        rows = self._range(queue, after, until, consumer, incarnation, bounds)
        for count in range(0, len(rows), 2):
            if breaks is not None and count >= breaks:
                raise ServerUnreachable(sentence="it broke off")
            lines = [{name: row.get(name) for name in columns} for _, row in rows[count : count + 2]]
            yield pa.RecordBatch.from_pylist(lines, schema=arrow_schema(columns))
        if breaks is not None:
            raise ServerUnreachable(sentence="it broke off")

    def stage(
        self,
        queue: str,
        place: StageKey,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        *,
        bad: str = "fail",
    ) -> Staged:
        del bad
        rows = []
        for batch in batches:
            assert batch.schema.equals(schema)
            rows += [{"queue": queue, "part": place.part} | row for row in batch.to_pylist()]
        self.world.sequence += 1
        self.world.stages[self.world.sequence] = rows
        return Staged(self.world.sequence, len(rows), SIZE * len(rows), 0)

    def writer(self, query: str) -> WriterInfo | None:
        if query not in self.world.ledger:
            return None
        last, spread = self.world.ledger[query], self.world.spreads[query]
        return WriterInfo(query, (), last, 0, 0, "", 0, spread)

    def publish(
        self,
        query: str,
        batch: int,
        stages: Sequence[int],
        *,
        writer: str = "",
        take_over: bool = False,
        spread: str = "",
    ) -> Published:
        if batch <= self.world.ledger.get(query, -1):
            return Published(0, already=True)
        if writer and not take_over and self.world.writers.get(writer, query) != query:
            raise ReliquaryError("WRITER_TAKEN", f"{self.world.writers[writer]} writes as {writer}")
        self.world.writers[writer] = query
        rows = [row for stage in stages for row in self.world.stages.pop(stage)]
        self.world.published += rows
        self.world.ledger[query] = batch
        self.world.spreads[query] = spread
        return Published(len(rows), already=False)

    def unstage(self, stages: Sequence[int]) -> None:
        for stage in stages:
            self.world.stages.pop(stage, None)


def _cut(taken: list[tuple[int, int]], after: int, until: int, parts: int) -> tuple[Part, ...]:
    """Contiguous ranges that end with a row each, but for the last."""
    step = max(1, -(-len(taken) // parts))
    pieces = [taken[first : first + step] for first in range(0, len(taken), step)]
    found: list[Part] = []
    for number, piece in enumerate(pieces):
        end = until if number == len(pieces) - 1 else piece[-1][0]
        found.append(Part(after, end, len(piece), sum(size for _, size in piece)))
        after = end
    return tuple(found)
