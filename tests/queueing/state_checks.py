"""The whole state of a manager: as a picture to compare, and checked against its rows."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import msgspec

from reliquary.base.rows import Record, Table
from reliquary.base.time import SECOND, Instant
from reliquary.queueing.changes.numbering import PENDING
from reliquary.queueing.model import tables
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.expiry import some_delayed
from tests.queueing.feed.checks import Feeds
from tests.queueing.history.chronicle import standing
from tests.queueing.owners import check_locks
from tests.queueing.staging.inspection import check_staging, hidden, staging_of

NOON = Instant(1_700_000_000 * SECOND)
COMPUTER = "BENCH"
DOMAIN_NAME = "bench.example"
STARTER = 1_000_000
"""The number of the caller to whom the start is answered."""


def walk(queue: QueueState) -> list[Position]:
    """Return everything that is available, from the head to the end."""
    found: list[Position] = []
    place = 0  # nothing lies there; a look from the very start would let the order read on
    while (position := queue.order.after(place)) is not None:
        found.append(position)
        place = position.lookup_id
    return found


# -- what must survive, and what must never contradict itself


class Snapshot(msgspec.Struct, frozen=True):
    """The durable part of a state: what a new process must find again."""

    manager: Any
    queues: dict[int, Any]
    names: dict[str, int]
    subqueues: dict[int, set[int]]
    positions: dict[int, list[Position]]
    """The committed ones, available or locked."""
    counters: dict[int, tuple[int, ...]]
    lost: dict[int, tuple[int, ...]]
    """Copies that could not be kept, by queue; 0 is for those that are gone."""
    reserved: dict[int, int]
    delayed: dict[int, list[Position]]
    """Messages that are not visible yet."""
    total_bytes: int
    transactions: dict[UUID, Any]
    outcomes: dict[UUID, tables.Outcome]
    reservations: dict[bytes, Any]
    """What carriers hold, without the express messages."""
    messages: dict[int, Message]
    directory: list[Any]
    """Every object, by type and identifier."""
    consumers: dict[int, tuple[dict[str, tables.Consumer], bool]]
    """The readers of each queue, and whether what comes is numbered for them."""
    retained: dict[bytes, Position]
    """What left and is kept for them."""
    history: tuple[int, int, int]
    """The last event, the last one in files, and how many are missing."""
    staging: Any


def durable(state: State) -> Snapshot:
    """Return the state that a new process must have before it is started."""
    prepared = {each.identifier: each for each in state.transactions.open.values() if each.prepared}
    uncommitted = {
        (operation.queue, operation.position.lookup_id)
        for each in prepared.values()
        for operation in each.operations
        if operation.kind == "enqueue"
    }
    positions: dict[int, list[Position]] = {}
    for number, queue in state.queues.items():
        here = walk(queue) + [
            position
            for lookup_id, position in queue.order.locked.items()
            if (number, lookup_id) not in uncommitted
        ]
        positions[number] = sorted(
            (position for position in here if not position.express), key=lambda each: each.lookup_id
        )
    reserved: Counter[int] = Counter()
    for each in prepared.values():
        for operation in each.operations:
            if operation.kind == "enqueue":
                reserved[operation.queue] += operation.position.size
    delayed = {
        number: [each for each in some_delayed(state, queue, -1, 1_000_000) if not each.express]
        for number, queue in state.queues.items()
    }
    return Snapshot(
        manager=state.manager.record,
        queues={number: queue.record for number, queue in sorted(state.queues.items())},
        names=dict(sorted(state.names.by_path.items())),
        subqueues={number: set(queue.subqueues) for number, queue in sorted(state.queues.items())},
        positions=dict(sorted(positions.items())),
        counters={
            n: (
                queue.counts.stored,
                queue.counts.stored_size,
                queue.counts.delayed,
                queue.feed.retained,
                queue.feed.retained_size,
            )
            for n, queue in sorted(state.queues.items())
        },
        lost={0: state.totals.lost} | {n: queue.counts.lost for n, queue in sorted(state.queues.items())},
        reserved={number: size for number, size in sorted(reserved.items()) if number in state.queues},
        delayed=dict(sorted(delayed.items())),
        total_bytes=sum(queue.counts.stored_size for queue in state.queues.values()),
        transactions={
            identifier: (
                (each.single_phase, each.external, each.owner, each.begun, each.prepared_at),
                [operation for operation in each.operations if not operation.position.express],
                dict(each.messages),
            )
            for identifier, each in sorted(prepared.items())
        },
        outcomes=dict(state.transactions.outcomes),
        reservations=dict(sorted(_stored_holds(state).items())),
        messages={
            position.message: state.messages.get(position)
            for here in [*positions.values(), *delayed.values()]
            for position in here
        },
        directory=[
            each for objects in state.directory.objects.values() for _, each in sorted(objects.items())
        ],
        consumers={
            n: (dict(sorted(queue.feed.consumers.items())), queue.feed.mark > 0)
            for n, queue in sorted(state.queues.items())
        },
        retained=every(state, tables.RETAINED),
        history=standing(state),
        staging=staging_of(state),
    )


def _stored_holds(state: State) -> dict[bytes, tables.Reservation]:
    """Return what the rows must say of the holds: an express message has no part in them."""
    rows = {}
    for key, reservation in state.travel.reservations.items():
        queue = state.queues.get(reservation.queue)
        locked = queue.order.locked if queue else {}
        stored = tuple(
            each for each in reservation.lookup_ids if each not in locked or not locked[each].express
        )
        if stored:
            rows[key] = tables.Reservation(reservation.queue, stored)
    return rows


def every(state: State, table: Table[Record]) -> dict[bytes, Record]:
    """Return all the rows of a table, as the batch has left them."""
    return dict(state.rows.range(table, b"", tables.PAST_THE_END, limit=1_000_000))


def positions_of(state: State) -> dict[bytes, Position]:
    """Return all stored positions by their keys, with the tries that hand-outs count."""
    rows = {key: place.position for key, place in every(state, tables.POSITIONS).items()}
    for record in every(state, tables.HAND_OUTS).values():
        tries = record.tries * len(record.lookup_ids) if len(record.tries) == 1 else record.tries
        for lookup_id, tried in zip(record.lookup_ids, tries, strict=True):
            key = tables.position_key(record.queue, lookup_id)
            if key in rows and rows[key].handed_out < tried:
                rows[key] = msgspec.structs.replace(rows[key], handed_out=tried)
    return rows


def messages_of(state: State) -> dict[int, Message]:
    """Return all stored messages by their numbers, in the row of a position or in a row of their own."""
    apart = {int.from_bytes(key, "big"): message for key, message in every(state, tables.MESSAGES).items()}
    inline: dict[int, Message] = {}
    for key, place in every(state, tables.POSITIONS).items():
        inline_in = int.from_bytes(key[:4], "big") if place.message is not None else 0
        assert place.position.inline_in == inline_in, f"{place.position} is stored elsewhere"
        if place.message is not None:
            inline[place.position.message] = place.message
    assert not apart.keys() & inline.keys(), "a message is stored twice"
    return apart | inline


def check(state: State) -> None:
    """Compare what is in memory with the rows, and the rows with each other."""
    rows = positions_of(state)
    prepared = [each for each in state.transactions.open.values() if each.prepared]
    sent = [operation for each in prepared for operation in each.operations if operation.kind == "enqueue"]
    waiting = {
        tables.position_key(operation.queue, operation.position.lookup_id)
        for operation in sent
        if operation.queue in state.queues
    }
    assert waiting <= rows.keys(), "a prepared message has no position"
    unseen = hidden(state)
    committed = {key: row for key, row in rows.items() if key not in waiting | unseen}
    delayed = every(state, tables.DELAYED)
    assert not rows.keys() & delayed.keys(), "delayed, and there to be seen"
    assert all(row.due for row in delayed.values()), "a delayed position has no time"
    assert not any(row.due for row in committed.values()), "to be seen, and delayed"
    _check_queues(state, committed, delayed)
    retained = every(state, tables.RETAINED)
    there = [row for key, row in rows.items() if key not in unseen]
    shown = [*there, *delayed.values(), *retained.values()]
    kept = {operation.position.message for operation in sent} | check_staging(state, shown)
    _check_messages(state, shown, kept)
    _check_bodies(state, shown)
    Feeds(every(state, tables.CONSUMERS), every(state, tables.LATE), committed, delayed, retained).check(
        state
    )
    assert all(rows[key].arrival == PENDING for key in waiting), "a prepared message can be read in a feed"
    _check_expiry(state, committed | delayed | {key: rows[key] for key in unseen})
    assert state.totals.bytes == sum(queue.total_bytes for queue in state.queues.values())
    assert set(every(state, tables.TRANSACTIONS)) == {each.identifier.bytes for each in prepared}
    assert every(state, tables.OUTCOMES) == {
        each.bytes: outcome for each, outcome in state.transactions.outcomes.items()
    }
    assert every(state, tables.RESERVATIONS) == _stored_holds(state)
    check_locks(state)
    assert {row.object.identifier: row.object for row in every(state, tables.DIRECTORY).values()} == {
        identifier: each for kind in state.directory.objects.values() for identifier, each in kind.items()
    }


def _check_queues(state: State, committed: dict[bytes, Position], delayed: dict[bytes, Position]) -> None:
    expected: dict[bytes, Position] = {}
    assert {number: queue.record for number, queue in state.queues.items()} == {
        record.number: record for record in every(state, tables.QUEUES).values()
    }
    for number, queue in state.queues.items():
        available = walk(queue)
        assert len(available) == len(queue.order), f"queue {number} counts wrongly"
        here = {each.lookup_id: each for each in available}
        assert not here.keys() & queue.order.locked.keys(), "locked and available at once"
        here |= {
            lookup_id: position
            for lookup_id, position in queue.order.locked.items()
            if not _is_uncommitted(state, number, lookup_id)
        }
        stored = [position for position in here.values() if not position.express]
        express = [position for position in here.values() if position.express]
        assert queue.counts.stored == len(stored), (
            f"queue {number} holds {len(stored)}, not {queue.counts.stored}"
        )
        later = [position for key, position in delayed.items() if int.from_bytes(key[:4], "big") == number]
        assert queue.counts.delayed == len(later), (
            f"queue {number} delays {len(later)}, not {queue.counts.delayed}"
        )
        express += queue.delayed_express.values()
        assert queue.counts.stored_size == sum(position.size for position in [*stored, *later])
        assert queue.counts.express_size == sum(position.size for position in express)
        assert queue.counts.reserved == _reserved(state, number), (
            f"queue {number} reserves {queue.counts.reserved}"
        )
        for position in stored:
            expected[tables.position_key(number, position.lookup_id)] = position
        for position in [*here.values(), *later, *queue.delayed_express.values()]:
            state.messages.get(position)
    assert committed == expected, "the rows and the orders differ"


def _is_uncommitted(state: State, number: int, lookup_id: int) -> bool:
    return any(
        operation.kind == "enqueue" and (operation.queue, operation.position.lookup_id) == (number, lookup_id)
        for each in state.transactions.open.values()
        for operation in each.operations
    )


def _reserved(state: State, number: int) -> int:
    current = state.staging.current
    placed = current.size_by_queue.get(number, 0) if current else 0
    return placed + sum(
        operation.position.size
        for each in state.transactions.open.values()
        for operation in each.operations
        if operation.kind == "enqueue" and operation.queue == number
    )


def _check_messages(state: State, positions: list[Position], prepared: set[int]) -> None:
    """Check that each message is kept as long as a position or a prepared transaction needs it."""
    shown = Counter(position.message for position in positions)
    numbers = set(messages_of(state))
    needed = prepared | set(shown)
    assert numbers == needed, f"no longer needed {numbers - needed}, missing {needed - numbers}"
    shares = {int.from_bytes(key, "big"): row.count for key, row in every(state, tables.SHARES).items()}
    assert shares == {number: count for number, count in shown.items() if count > 1}
    assert all(position.shared for position in positions if shown[position.message] > 1)


def _check_bodies(state: State, positions: list[Position]) -> None:
    """Check that each piece belongs to a loose body or one message; what a crash would orphan is noted."""
    loose = state.messages.bodies.loose
    assert state.messages.bodies.loose_bytes == sum(body.size for body in loose.values())
    stored = {position.message: position.spool for position in positions if position.spool}
    express = {
        position.message: position.spool
        for queue in state.queues.values()
        for position in [*walk(queue), *queue.order.locked.values(), *queue.delayed_express.values()]
        if position.express and position.spool
    }
    owned = [*stored.values(), *express.values()]
    assert len(set(owned)) == len(owned), "two messages have one body"
    assert not set(owned) & set(loose), "a body is loose and owned"
    noted = {tables.spool_number(key) for key in every(state, tables.SPOOLS)}
    assert noted == {*loose, *express.values()}
    spools = {int.from_bytes(key[:8], "big") for key in every(state, tables.PIECES)}
    assert spools == {*loose, *owned}, f"pieces without a message: {spools - {*loose, *owned}}"
    for number, spool in stored.items():
        assert messages_of(state)[number].spool == spool


def _check_expiry(state: State, committed: dict[bytes, Position]) -> None:
    rows = {tables.expiry_of(key) for key in every(state, tables.EXPIRY)}
    due = {
        (moment, int.from_bytes(key[:4], "big"), position.lookup_id)
        for key, position in committed.items()
        for moment in (position.expires, position.due, position.purged)
        if moment
    }
    assert rows <= due, f"an expiry row without its message: {rows - due}"
    for deadline, number, lookup_id in due - rows:
        locked = state.queues[number].order.locked
        assert lookup_id in locked, f"{lookup_id:#x} of queue {number} would never expire ({deadline})"
    floor = min((deadline for deadline, _, _ in rows), default=None)
    assert floor is None or state.deadlines.floor <= floor, "an expiry row is below the floor"
