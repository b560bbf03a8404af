"""A small world of managers that tell their history, with faults planted in it on purpose.

Each message gets a way (within a queue, by a numbered stream, by a protocol of batches, by plain messages)
and a life on it, as the manager would tell it.  A planted fault changes the story of one message, and the
world notes what the audit must say of it: `expected`.  Whatever else happens (returns, delays, journals,
dead letters, dropped duplicates, batches that come back, refusals) is no fault.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND
BEGIN: Final = int(datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()) * SECOND

SCHEMA: Final = pa.schema(
    [
        ("version", pa.int32()), ("event_id", pa.int64()), ("event", pa.string()),
        ("time", pa.timestamp("us", "UTC")), ("manager", pa.string()), ("manager_name", pa.string()),
        ("queue", pa.string()), ("queue_kind", pa.string()), ("message", pa.int64()),
        ("message_id", pa.string()),
        ("lookup_id", pa.int64()), ("size", pa.int64()), ("priority", pa.int32()), ("durable", pa.bool_()),
        ("sent", pa.timestamp("us", "UTC")), ("deadline", pa.timestamp("us", "UTC")), ("stream", pa.string()),
        ("stream_number", pa.int64()), ("previous_number", pa.int64()), ("transaction", pa.string()),
        ("correlation", pa.string()), ("reason", pa.string()), ("other_queue", pa.string()),
        ("protocol", pa.string()), ("peer", pa.string()), ("batch", pa.string()), ("attempt", pa.int32()),
    ]
)  # fmt: skip

Row = dict[str, Any]
Expected = tuple[str, str, str, str]
"""kind, message identifier, manager, queue."""


@dataclass
class Manager:
    """One manager: a name and what it tells."""

    name: str
    identifier: str
    events: list[tuple[int, int, Row]] = field(default_factory=list)
    numbers: int = 0

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def tell(self, at: int, event: str, queue: str, message: int, kind: str = "local", **more: Any) -> None:
        row = {"event": event, "queue": queue, "queue_kind": kind, "message": message, "lookup_id": 0, **more}
        self.events.append((at, len(self.events), row))

    def rows(self) -> list[Row]:
        """Return the rows in the order of time, numbered from 1."""
        blank = dict.fromkeys(SCHEMA.names)
        return [
            blank
            | {
                "version": 1,
                "event_id": number,
                "time": at,
                "manager": self.identifier,
                "manager_name": self.name,
            }
            | row
            for number, (at, _, row) in enumerate(sorted(self.events, key=lambda each: each[:2]), 1)
        ]


NUMBERED: Final = ("stream", "mqqb")
"""Ways whose arrivals have a number in a stream."""
PROTOCOLS: Final = {"httpr": "httpr", "wsrm": "wsrm", "mqqb": "mqqb"}
"""The protocol by which messages come over a way; SRMP for all others."""
UNHAPPY: Final = ("expired", "refused", "waits", "delayed", "again", "express", "multicast")
"""What can become of a message on its way, without any fault."""
FAULTS: Final = (
    "lost", "skipped", "last of its stream", "held and overtaken", "acknowledged", "acknowledged as read",
    "arrived twice", "received twice", "reordered", "reordered batch", "reordered sequence",
    "reordered in windows", "overtaken in a queue", "slow on the way", "slow in a queue",
    "after its deadline", "held for ever", "prepared for ever",
)  # fmt: skip


class World:
    """Managers, messages and planted faults, from a seed."""

    def __init__(self, seed: int, faults: tuple[str, ...] = (), messages: int = 60) -> None:
        self.random = random.Random(seed)
        self.managers = [
            Manager(f"{name}{seed}", str(UUID(int=self.random.getrandbits(128))))
            for name in ("alpha", "beta", "gamma")
        ]
        self.expected: set[Expected] = set()
        self.free: dict[tuple[Any, ...], int] = {}
        """When each line has room for the next message."""
        self.counts: dict[tuple[str, ...], int] = {}
        for at in range(messages):
            self._healthy(BEGIN + at * 30 * SECOND)
        for at, fault in enumerate(faults):
            self._faulty(fault, BEGIN + (at + messages) * 60 * SECOND)
        self.end = BEGIN + (messages + len(faults)) * 60 * SECOND + 12 * HOUR
        for manager in self.managers:
            self._close(manager)

    def rows(self) -> list[Row]:
        return [row for manager in self.managers for row in manager.rows()]

    # -- pieces of lives

    def _subject(self, manager: Manager, **more: Any) -> Row:
        message = manager.number()
        return {
            "message": message,
            "message_id": f"{manager.identifier}\\{message}",
            "priority": 3,
            "lookup_id": (4 << 56) + message,
            "durable": True,
            "size": self.random.randrange(2000),
        } | more

    def _close(self, manager: Manager) -> None:
        """Add the last message of a history, which says how far it reaches."""
        subject = self._subject(manager)
        manager.tell(self.end, "accepted", "clock", **subject)
        manager.tell(self.end + 1, "received", "clock", subject["message"])

    def _after(self, line: tuple[Any, ...], at: int) -> int:
        """Return a moment for this line: what comes later there comes after it."""
        self.free[line] = max(self.free.get(line, 0), at) + 1
        return self.free[line]

    def _two(self) -> tuple[Manager, Manager]:
        one, two = self.random.sample(self.managers, 2)
        return one, two

    # -- healthy lives

    def _healthy(self, at: int) -> None:
        way = self.random.choice(
            ("local", "local", "transactional", "stream", "stream", "httpr", "httpr", "plain", "wsrm", "mqqb")
        )
        if way in {"local", "transactional"}:
            self._local(self.random.choice(self.managers), at, transactional=way == "transactional")
        else:
            self._remote(*self._two(), at, way)

    def _local(self, manager: Manager, at: int, *, transactional: bool) -> None:
        queue = "ledger" if transactional else "orders"
        more = {"transaction": str(UUID(int=self.random.getrandbits(128)))} if transactional else {}
        subject = self._subject(manager, **more)
        at = self._after((manager.name, queue, "in"), at)
        if transactional and self.random.random() < 0.3:
            manager.tell(at - 1, "prepared", queue, **subject)
            if self.random.random() < 0.3:
                manager.tell(at, "aborted", queue, subject["message"])
                return
            manager.tell(at, "committed", queue, **subject)
        else:
            manager.tell(at, "accepted", queue, **subject)
        delayed = self.random.random() < 0.1
        if delayed:
            manager.tell(at, "delayed", queue, subject["message"])
            at += 2 * HOUR
            manager.tell(at, "due", queue, subject["message"])
        self._leave(manager, queue, subject["message"], at, delayed=delayed)

    def _leave(self, manager: Manager, queue: str, message: int, at: int, *, delayed: bool = False) -> None:
        """End a message in its queue; one that was delayed, or is plain, waits in no line."""
        outcome = self.random.choice(
            ("read",) * 5 + ("read elsewhere", "tried", "expired", "purged", "moved", "waits", "journaled")
        )
        taken = at + self.random.randrange(1, 40 * SECOND)
        if not delayed:
            taken = self._after((manager.name, queue, "out"), taken)
        if outcome == "tried":
            for _ in range(self.random.randrange(1, 4)):
                manager.tell(taken, "handed-out", queue, message, attempt=1)
                taken += self.random.randrange(1, 20 * SECOND)
                manager.tell(taken, "returned", queue, message)
                taken += 1
            manager.tell(taken, "received", queue, message)
        elif outcome == "read elsewhere":
            reader = {"protocol": "mqqp", "peer": "reader.example"}
            manager.tell(taken, "handed-out", queue, message, **reader)
            manager.tell(taken + self.random.randrange(30 * SECOND), "received", queue, message, **reader)
        elif outcome == "read":
            manager.tell(taken, "handed-out", queue, message)
            manager.tell(taken + self.random.randrange(30 * SECOND), "received", queue, message)
        elif outcome == "moved":
            manager.tell(taken, "moved", queue, message, other_queue="aside")
            manager.tell(taken + SECOND, "received", "aside", message)
        elif outcome == "journaled":
            manager.tell(taken, "received", queue, message)
            manager.tell(taken, "journaled", f"{queue};journal", message, kind="journal", other_queue=queue)
            manager.tell(taken + SECOND, "received", f"{queue};journal", message, kind="journal")
        elif outcome == "expired":
            manager.tell(taken, "expired", queue, message)
            manager.tell(taken, "dead-lettered", "deadletter", message, kind="dead-letter", other_queue=queue)
            manager.tell(taken + SECOND, "received", "deadletter", message, kind="dead-letter")
        elif outcome == "purged":
            manager.tell(taken, "purged", queue, message)

    def _queued(
        self, source: Manager, target: Manager, at: int, way: str, **more: Any
    ) -> tuple[str, Row, int]:
        queue = f"DIRECT=HTTP://{target.name}/msmq/private$/{way}"
        if way == "mqqb":
            queue = rf"DIRECT=OS:{target.name}\private$\{way}"
        line = (source.name, queue)
        at = self._after((*line, "in"), at)
        if way in NUMBERED:
            more |= {"transaction": str(UUID(int=self.random.getrandbits(128)))}
        subject = self._subject(source, **more)
        source.tell(at, "queued", queue, kind="outgoing", **subject)
        return queue, subject, at

    def _number(self, source: Manager, queue: str, way: str = "stream") -> Row:
        """Return the number of the next message in the form of its protocol; nothing if it has no numbers."""
        if way not in {*NUMBERED, "wsrm"}:
            return {}
        key = (source.name, queue)
        self.counts[key] = number = self.counts.get(key, 0) + 1
        if way == "wsrm":
            return {"batch": f"{len(queue)}:{number}"}
        return {"stream": "1.7", "stream_number": number, "previous_number": number - 1}

    def _remote(self, source: Manager, target: Manager, at: int, way: str) -> None:
        queue, subject, at = self._queued(source, target, at, way)
        message = subject["message"]
        outcome = self.random.choice(("well",) * 8 + UNHAPPY)
        if outcome == "expired":
            source.tell(at + 5, "expired", queue, message, kind="outgoing")
            return
        if outcome == "waits":
            return
        if outcome == "express":
            source.events[-1][2]["durable"] = False
            source.tell(at + 5, "delivered", queue, message, kind="outgoing")
            return
        if outcome == "multicast":
            source.tell(at + 5, "delivered", queue, message, kind="outgoing", protocol="multicast")
            return
        if outcome == "refused":
            came = self._after((source.name, queue, "on the way"), at)
            target.tell(
                came, "refused", way, 0, message_id=subject["message_id"], reason="nack-bad-dest-queue"
            )
            source.tell(came + 9, "rejected", queue, message, kind="outgoing")
            source.tell(came + 9, "dead-lettered", "deadxact", message, kind="dead-letter", other_queue=queue)
            return
        if outcome == "delayed":
            source.tell(at, "delayed", queue, message, kind="outgoing")
            at += 2 * HOUR
            source.tell(at, "due", queue, message, kind="outgoing")
        if outcome == "delayed" and way != "plain":  # it would hold up the line
            source.tell(at, "purged", queue, message, kind="outgoing")
            return
        self._cross(source, target, queue, subject, at, way, again=outcome == "again")

    def _cross(
        self,
        source: Manager,
        target: Manager,
        queue: str,
        subject: Row,
        at: int,
        way: str,
        *,
        again: bool = False,
    ) -> int:
        """Let a message cross, arrive and end; return when it arrived."""
        message = subject["message"]
        came = at + self.random.randrange(1, 20 * SECOND)
        if way != "plain":
            came = self._after((source.name, queue, "on the way"), came)
        skew = self.random.randrange(-SECOND // 2, SECOND // 2) if way == "plain" else 0
        if way == "httpr":
            if again:
                source.tell(at, "held", queue, message, kind="outgoing", batch="1")
                source.tell(at + 1, "released", queue, message, kind="outgoing", batch="1")
            source.tell(at + 2, "held", queue, message, kind="outgoing", batch="2")
        else:
            source.tell(at + 1, "sent", queue, message, kind="outgoing")
        more = self._number(source, queue, way)
        protocol = PROTOCOLS.get(way, "srmp")
        number = target.number()
        arrival = {key: subject[key] for key in ("message_id", "priority", "durable", "size")} | more
        if "transaction" in subject:
            arrival["transaction"] = subject["transaction"]
        target.tell(came + skew, "arrived", way, number, protocol=protocol, peer=source.name, **arrival)
        if again and way != "httpr":
            target.tell(
                came + skew + 3, "duplicate", way, 0, message_id=subject["message_id"], protocol=protocol
            )
        source.tell(came + 10, "delivered", queue, message, kind="outgoing", protocol=protocol)
        if self.random.random() < 0.1:
            source.tell(came + 20, "acknowledged", queue, message, kind="outgoing", reason="ack-reach-queue")
        self._leave(target, way, number, came + SECOND, delayed=way == "plain")
        return came

    # -- faults

    def _faulty(self, fault: str, at: int) -> None:
        source, target = self._two()
        plant = getattr(self, "_" + fault.replace(" ", "_"))
        plant(source, target, at)

    def _expect(self, kind: str, subject: Row, manager: Manager, queue: str) -> None:
        self.expected.add((kind, subject["message_id"], manager.identifier, queue))

    def _lost(self, source: Manager, target: Manager, at: int) -> None:
        way = self.random.choice(("stream", "httpr", "plain"))
        queue, subject, at = self._queued(source, target, at, way)
        self._after((source.name, queue, "on the way"), at)
        source.tell(at + SECOND, "delivered", queue, subject["message"], kind="outgoing")
        self._know(source, target, at, way)
        self._expect("lost", subject, source, queue)

    def _know(self, source: Manager, target: Manager, at: int, way: str) -> None:
        """Let a message arrive that shows where the queue leads; the name alone would do as well."""
        if self.random.random() < 0.5:
            queue, subject, at = self._queued(source, target, at, way)
            self._cross(source, target, queue, subject, at, way)

    def _skipped(self, source: Manager, target: Manager, at: int) -> None:
        queue, subject, at = self._queued(source, target, at, "stream")
        source.tell(at + 1, "sent", queue, subject["message"], kind="outgoing")
        self._number(source, queue)
        _, later, after = self._queued(source, target, at, "stream")
        self._cross(source, target, queue, later, after, "stream")
        self._expect("lost", subject, source, queue)

    def _last_of_its_stream(self, source: Manager, target: Manager, at: int) -> None:
        """Add a lost message that no later message of its stream overtakes, but by another fault."""
        queue, subject, at = self._queued(source, target, at, self.random.choice(NUMBERED))
        source.tell(at + 1, "sent", queue, subject["message"], kind="outgoing")
        self._expect("lost", subject, source, queue)

    def _held_and_overtaken(self, source: Manager, target: Manager, at: int) -> None:
        """Let a message be overtaken and in doubt; the audit has one finding for one loss."""
        queue, subject, at = self._queued(source, target, at, "stream")
        source.tell(at + 1, "held", queue, subject["message"], kind="outgoing", batch="8")
        _, later, after = self._queued(source, target, at, "stream")
        self._cross(source, target, queue, later, after, "stream")
        self._expect("lost", subject, source, queue)

    def _acknowledged(self, source: Manager, target: Manager, at: int) -> None:
        queue, subject, at = self._queued(source, target, at, "plain")
        reason = self.random.choice(("ack-reach-queue", "ack-receive"))
        source.tell(at + 1, "sent", queue, subject["message"], kind="outgoing")
        source.tell(at + 2, "acknowledged", queue, subject["message"], kind="outgoing", reason=reason)
        source.tell(at + 2, "delivered", queue, subject["message"], kind="outgoing")
        self._expect("acknowledged", subject, source, queue)

    def _acknowledged_as_read(self, source: Manager, target: Manager, at: int) -> None:
        queue, subject, at = self._queued(source, target, at, "plain")
        number = target.number()
        target.tell(
            at + 2, "arrived", "plain", number, message_id=subject["message_id"], priority=3, protocol="srmp"
        )
        source.tell(at + 3, "acknowledged", queue, subject["message"], kind="outgoing", reason="ack-receive")
        source.tell(at + 3, "delivered", queue, subject["message"], kind="outgoing")
        self._expect("acknowledged", subject, source, queue)

    def _arrived_twice(self, source: Manager, target: Manager, at: int) -> None:
        way = self.random.choice(("plain", "httpr"))
        queue, subject, at = self._queued(source, target, at, way)
        came = self._cross(source, target, queue, subject, at, way)
        number = target.number()
        came = self._after((source.name, queue, "on the way"), came)
        target.tell(
            came, "arrived", way, number, message_id=subject["message_id"], priority=3, protocol="srmp"
        )
        self._expect("duplicated", subject, target, way)

    def _received_twice(self, source: Manager, target: Manager, at: int) -> None:
        subject = self._subject(source)
        source.tell(at, "accepted", "orders", **subject)
        source.tell(at + 1, "received", "orders", subject["message"])
        source.tell(at + SECOND, "handed-out", "orders", subject["message"])
        source.tell(at + 2 * SECOND, "received", "orders", subject["message"])
        self._expect("duplicated", subject, source, "orders")

    def _swapped(self, source: Manager, target: Manager, at: int, way: str) -> None:
        queue, early, at = self._queued(source, target, at, way)
        numbers = [self._number(source, queue, way) for _ in range(2)]
        _, late, after = self._queued(source, target, at + 1, way)
        came = self._after((source.name, queue, "on the way"), after + SECOND)
        protocol = PROTOCOLS.get(way, "srmp")
        for when, subject, more in ((came + 5, early, numbers[0]), (came, late, numbers[1])):
            shown = {"message_id": subject["message_id"], "priority": 3, "protocol": protocol} | more
            target.tell(when, "arrived", way, target.number(), **shown)
            source.tell(came + 9, "delivered", queue, subject["message"], kind="outgoing")
        self._after((source.name, queue, "on the way"), came + 10)
        self._expect("reordered", early, source, queue)

    def _reordered(self, source: Manager, target: Manager, at: int) -> None:
        self._swapped(source, target, at, "stream")

    def _reordered_sequence(self, source: Manager, target: Manager, at: int) -> None:
        self._swapped(source, target, at, "wsrm")

    def _reordered_in_windows(self, source: Manager, target: Manager, at: int) -> None:
        self._swapped(source, target, at, "mqqb")

    def _reordered_batch(self, source: Manager, target: Manager, at: int) -> None:
        self._swapped(source, target, at, "httpr")

    def _overtaken_in_a_queue(self, source: Manager, target: Manager, at: int) -> None:
        early, late = (self._subject(source, transaction=f"t{at}{each}") for each in range(2))
        for each in (early, late):
            source.tell(self._after((source.name, "ledger", "in"), at), "accepted", "ledger", **each)
        at = self.free[source.name, "ledger", "in"]
        reader = {"protocol": "mqqp", "peer": "reader.example"} if self.random.random() < 0.5 else {}
        for each in (late, early):
            for event in ("handed-out", "received"):
                out = self._after((source.name, "ledger", "out"), at + SECOND)
                source.tell(out, event, "ledger", each["message"], **reader)
        self._expect("reordered", early, source, "ledger")

    def _slow_on_the_way(self, source: Manager, target: Manager, at: int) -> None:
        queue, subject, at = self._queued(source, target, at, "plain")
        self._cross(source, target, queue, subject, at + 2 * HOUR, "plain")
        self._expect("late", subject, source, queue)

    def _slow_in_a_queue(self, source: Manager, target: Manager, at: int) -> None:
        subject = self._subject(source)
        source.tell(at, "accepted", "orders", **subject)
        source.tell(at + 2 * HOUR, "received", "orders", subject["message"])
        self._expect("late", subject, source, "orders")

    def _after_its_deadline(self, source: Manager, target: Manager, at: int) -> None:
        subject = self._subject(source, deadline=at + 10 * SECOND)
        source.tell(at, "accepted", "orders", **subject)
        source.tell(at + 11 * SECOND, "received", "orders", subject["message"])
        self._expect("late", subject, source, "orders")
        held = self._subject(source, deadline=at + 10 * SECOND)  # taken in time: not late
        source.tell(at, "accepted", "orders", **held)
        source.tell(at + 9 * SECOND, "handed-out", "orders", held["message"])
        source.tell(at + 11 * SECOND, "received", "orders", held["message"])

    def _held_for_ever(self, source: Manager, target: Manager, at: int) -> None:
        queue, subject, at = self._queued(source, target, at, "plain")
        source.tell(at + 1, "held", queue, subject["message"], kind="outgoing", batch="9")
        self._expect("in-doubt", subject, source, queue)

    def _prepared_for_ever(self, source: Manager, target: Manager, at: int) -> None:
        subject = self._subject(source, transaction=f"p{at}")
        source.tell(at, "prepared", "ledger", **subject)
        self._expect("in-doubt", subject, source, "ledger")


def table(rows: list[Row]) -> pa.Table:
    """Return rows as a table with the schema of the files."""
    return pa.Table.from_pylist(rows, SCHEMA)


def write(folder: Path, rows: list[Row], files: int = 1, name: str = "part") -> list[Path]:
    """Write rows into `files` files, as they come."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(rows) // files)
    written = []
    for number in range(files):
        path = folder / f"{name}-{number:03d}.parquet"
        pq.write_table(table(rows[number * size : (number + 1) * size]), path)
        written.append(path)
    return written


def split(rows: list[Row], by: random.Random, most: int) -> Iterator[list[Row]]:
    """Cut rows into pieces of any size, in any order."""
    cuts = sorted(by.sample(range(1, len(rows)), by.randrange(1, most)))
    pieces = [rows[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    by.shuffle(pieces)
    yield from pieces
