"""Reads all rows on disk, counts them, and compares them with each other.

counters     are what counting the positions gives, in messages and in bytes
positions    each shows a message that is there; none lies below its lane's floor
hand_outs    have the tries of positions that readers have locked
messages     each is shown, or waits in a prepared transaction or in one part of a batch
shares       are kept for messages with more than one position, and are right
expiry       has a row for each moment that a position waits for, and no other
holds        name positions that are there, each once, as long as their queue is
late         has a row for each position whose number in its feed is not its own, and no other
retained     is kept for queues that are read, each under its number, once
publishing   says which numbers of positions are hidden from readers; their messages are staged
stages       have all their chunks while they may be published, and their chunks all their messages
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import msgspec

from reliquary.base.rows import Record, Table
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.model import tables
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.staging import numbers_of
from reliquary.sim.history import Violation, named, shown
from reliquary.sim.ledger import Key, Ledger
from reliquary.store.disk import Disk


@dataclass(frozen=True, slots=True)
class Contents:
    """All rows of a store."""

    queues: dict[int, Queue]
    counters: dict[int, tables.Counters]
    positions: dict[Key, Position]
    delayed: dict[Key, Position]
    messages: dict[int, Message]
    shares: dict[int, int]
    expiry: set[tuple[int, int, int]]
    transactions: dict[bytes, tables.PreparedTransaction]
    sequence: tables.Sequence
    reservations: dict[bytes, tables.Reservation]
    consumers: dict[bytes, tables.Consumer]
    late: dict[Key, tables.Late]
    retained: dict[Key, Position]
    stages: dict[int, tables.Stage]
    staged: dict[tuple[int, int], tables.StagedChunk]
    published: dict[str, int]
    """The last batch of each query."""
    publishing: tables.Publishing | None
    """The batch that gets its positions in several turns."""

    @property
    def uncommitted(self) -> set[Key]:
        """Return the keys of positions that prepared transactions sent."""
        return {
            (operation.queue, operation.position.lookup_id)
            for transaction in self.transactions.values()
            for operation in transaction.operations
            if operation.kind == "enqueue"
        }

    @property
    def hidden(self) -> set[Key]:
        """Return the keys of positions of a batch that is not published yet."""
        if self.publishing is None:
            return set()
        numbers = range(self.publishing.first, self.publishing.first + self.publishing.messages)
        return {key for key in self.positions if key[1] & tables.SEQUENCE_MASK in numbers}

    @property
    def committed(self) -> dict[Key, Position]:
        """Return the positions that every reader may see."""
        hidden = self.uncommitted | self.hidden
        return {key: position for key, position in self.positions.items() if key not in hidden}


def contents(disk: Disk) -> Contents:
    """Read all rows of a simulated disk."""
    staged = _rows(disk, tables.STAGED)
    places = _places(disk, tables.POSITIONS)
    apart = {_number(key): row for key, row in _rows(disk, tables.MESSAGES).items()}
    for (queue, _), row in places.items():
        inline = row.position.inline_in == queue
        _same(f"inline messages of {row.position}", row.message is not None, inline)
        _none(
            f"messages of {row.position} that are stored twice",
            {row.position.message} & apart.keys() if inline else (),
        )
    tries = {
        (row.queue, lookup_id): tried
        for row in _rows(disk, tables.HAND_OUTS).values()
        for lookup_id, tried in zip(
            row.lookup_ids, row.tries * (len(row.lookup_ids) // len(row.tries)), strict=True
        )
    }
    return Contents(
        queues={_number(key): row for key, row in _rows(disk, tables.QUEUES).items()},
        counters={_number(key): row for key, row in _rows(disk, tables.COUNTERS).items()},
        positions={key: _counted(row, tries.get(key, 0)) for key, row in places.items()},
        delayed=_places(disk, tables.DELAYED),
        messages=apart | {row.position.message: row.message for row in places.values() if row.message},
        shares={_number(key): row.count for key, row in _rows(disk, tables.SHARES).items()},
        expiry={tables.expiry_of(key) for key in _rows(disk, tables.EXPIRY)},
        transactions=_rows(disk, tables.TRANSACTIONS),
        sequence=_rows(disk, tables.SEQUENCE).get(tables.ONLY, tables.Sequence()),
        reservations=_rows(disk, tables.RESERVATIONS),
        consumers=_rows(disk, tables.CONSUMERS),
        late=_places(disk, tables.LATE),
        retained=_places(disk, tables.RETAINED),
        stages={_number(key): row for key, row in _rows(disk, tables.STAGES).items()},
        staged={(_number(key[:8]), _number(key[8:])): row for key, row in staged.items()},
        published={key.decode(): row.batch for key, row in _rows(disk, tables.LEDGER).items()},
        publishing=_rows(disk, tables.PUBLISHING).get(tables.ONLY),
    )


def _counted(row: tables.QueueRow, tries: int) -> Position:
    """Return a position with the larger number of attempts of its row and its hand-out."""
    position = row.position
    return position if tries <= position.handed_out else msgspec.structs.replace(position, handed_out=tries)


def _places(disk: Disk, table: Table[Record]) -> dict[Key, Record]:
    return {(_number(key[:4]), _number(key[4:])): row for key, row in _rows(disk, table).items()}


def _rows(disk: Disk, table: Table[Record]) -> dict[bytes, Record]:
    found = disk.range(table.name, b"", tables.PAST_THE_END, limit=1_000_000)
    return {key: table.decode(key, value) for key, value in found}


def _number(key: bytes) -> int:
    return int.from_bytes(key, "big")


def audit(rows: Contents) -> None:
    """Compare the rows with each other."""
    for number in rows.queues.keys() | rows.counters.keys():
        _audit_counters(rows, number)
    _audit_messages(rows)
    _audit_feeds(rows)
    placed = {key: row for key, row in rows.positions.items() if key not in rows.uncommitted}
    due = {
        (moment, queue, each.lookup_id)
        for (queue, _), each in [*placed.items(), *rows.delayed.items()]
        for moment in (each.expires, each.due, each.purged)
        if moment
    }
    _same("expiry rows", rows.expiry, due)
    early = [deadline for deadline, _, _ in rows.expiry if deadline < rows.sequence.expiry_floor]
    _none("expiry rows below their floor", early)
    _none("numbers beyond what was reserved", [n for n in rows.messages if n > rows.sequence.ceiling])
    for transaction in rows.transactions.values():
        kept = {
            operation.position.message for operation in transaction.operations if operation.kind == "enqueue"
        }
        _none("prepared messages that are missing", kept - rows.messages.keys())
    held = [
        (reservation.queue, lookup_id)
        for reservation in rows.reservations.values()
        if reservation.queue in rows.queues and not rows.queues[reservation.queue].deleting
        for lookup_id in reservation.lookup_ids
    ]
    _none("held messages that are missing", set(held) - rows.committed.keys())
    _audit_stages(rows)
    _none("messages that are held twice", [key for key, count in Counter(held).items() if count > 1])


def _audit_stages(rows: Contents) -> None:
    _none("chunks without their part", {number for number, _ in rows.staged} - rows.stages.keys())
    for number, stage in rows.stages.items():
        if not stage.dropped:
            indexes = [index for each, index in sorted(rows.staged) if each == number]
            _same(f"chunks of stage {number}", indexes, list(range(stage.chunks)))


def _audit_counters(rows: Contents, number: int) -> None:
    here = [position for (queue, _), position in rows.committed.items() if queue == number]
    later = [position for (queue, _), position in rows.delayed.items() if queue == number]
    kept = [position for (queue, _), position in rows.retained.items() if queue == number]
    counted = (len(here), len(later), len(kept), _bytes(here + later), _bytes(kept))
    counters = rows.counters.get(number, tables.Counters())
    said = (counters.count, counters.delayed, counters.retained, counters.size, counters.retained_size)
    _same(f"counters of queue {number}", said, counted)
    if counters.floors:
        low = [
            each.lookup_id
            for each in here
            if each.lookup_id < counters.floors[each.lookup_id >> tables.LANE_SHIFT]
        ]
        _none(f"positions below the floors of queue {number}", low)


def _bytes(positions: list[Position]) -> int:
    return sum(position.size for position in positions)


def _audit_messages(rows: Contents) -> None:
    everywhere = [*rows.positions.values(), *rows.delayed.values(), *rows.retained.values()]
    positions = Counter(position.message for position in everywhere)
    prepared = {
        operation.position.message
        for transaction in rows.transactions.values()
        for operation in transaction.operations
        if operation.kind == "enqueue"
    }
    _none("positions without a message", positions.keys() - rows.messages.keys())
    staged = [number for chunk in rows.staged.values() for number in numbers_of(chunk)]
    _none("staged messages that are missing", set(staged) - rows.messages.keys())
    hidden = {rows.positions[key].message for key in rows.hidden}
    _none("hidden messages that are in no part", hidden - set(staged))
    _none("messages that are staged and shown", set(staged) & positions.keys() - hidden)
    _none("messages in two parts", [number for number, count in Counter(staged).items() if count > 1])
    _none("messages that nothing shows", rows.messages.keys() - positions.keys() - prepared - set(staged))
    queues = {queue for queue, _ in [*rows.positions, *rows.delayed, *rows.retained]}
    _none("positions without a queue", queues - rows.queues.keys())
    _same("shares", rows.shares, {number: count for number, count in positions.items() if count > 1})


def _audit_feeds(rows: Contents) -> None:
    there = [*rows.committed.items(), *rows.delayed.items()]
    noted = {(queue, row.arrival): row.lookup_id for (queue, _), row in there if row.arrival}
    _same("late rows", {key: row.lookup_id for key, row in rows.late.items()}, noted)
    wrong = [key for key, row in rows.retained.items() if arrival_of(row) != key[1] or row.express]
    _none("retained positions in the wrong place", wrong)
    read = {_number(key[:4]) for key in rows.consumers}
    _none("consumers of no queue", read - rows.queues.keys())
    visible = [(queue, arrival_of(row)) for (queue, _), row in rows.committed.items() if queue in read]
    visible += [key for key in rows.retained if key[0] in read]
    _none("numbers of two messages", [key for key, count in Counter(visible).items() if count > 1])


def compare(rows: Contents, ledger: Ledger) -> None:
    """Compare the rows with the sum of the facts: sent = received + live + dead + expired + purged."""
    stated = {key: place.body for key, place in ledger.places.items() if not place.position.express}
    found = {
        key: named(rows.messages[position.message])
        for key, position in [*rows.committed.items(), *rows.delayed.items()]
    }
    lost = [f"{shown(body)} at {key}" for key, body in stated.items() if found.get(key) != body]
    new = [f"{shown(body)} at {key}" for key, body in found.items() if stated.get(key) != body]
    _none("loss: messages that the facts name and the disk has not", lost)
    _none("messages on disk that no fact names", new)
    _same("queues", rows.queues, ledger.queues)
    prepared = {identifier.bytes: record for identifier, record in ledger.prepared.items()}
    _same("prepared transactions", rows.transactions, prepared)
    _same("published batches", rows.published, ledger.published)
    live = len(ledger.places)
    _same("balance: entered = gone + live", ledger.entered, ledger.gone.total() + live)


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Violation(f"{what}: on disk {found}, but it should be {expected}")


def _none(what: str, wrong: object) -> None:
    if wrong:
        raise Violation(f"{what}: {wrong}")
