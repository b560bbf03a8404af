"""Checks of staged batches: what must survive a restart, and that memory and rows are consistent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reliquary.base.rows import every
from reliquary.queueing.model import tables
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.state import State


def staged(state: State) -> list[int]:
    """Return the numbers of all messages that are in parts of batches."""
    return [number for _, chunk in every(state.rows, tables.STAGED) for number in numbers_of(chunk)]


def staging_of(state: State) -> Any:
    """Parts of batches with their messages, the ledger, and the names of writers."""
    staging = state.staging
    return (
        dict(sorted(staging.stages.items())),
        every(state.rows, tables.STAGED),
        {number: state.rows.get(tables.MESSAGES, tables.message_key(number)) for number in staged(state)},
        dict(sorted(staging.ledger.items())),
        dict(sorted(staging.writers.items())),
        dict(sorted(staging.places.items())),
        {batch: set(numbers) for batch, numbers in sorted(staging.batches.items())},
        staging.bytes,
        staging.current,
        dict(sorted(staging.released.items())),
        staging.reserved,
        {number: queue.order.hidden for number, queue in sorted(state.queues.items())},
    )


def hidden(state: State) -> set[bytes]:
    """Return the keys of positions that no reader may see yet."""
    if state.staging.current is None:
        return set()
    record = state.staging.current.record
    numbers = range(record.first, record.first + record.messages)
    return {
        key
        for key, place in every(state.rows, tables.POSITIONS)
        if place.position.lookup_id & tables.SEQUENCE_MASK in numbers
    }


def check_staging(state: State, shown: Iterable[Position]) -> set[int]:
    """Check that each chunk has its part, and no staged message is in a queue; return the messages."""
    staging, numbers = state.staging, staged(state)
    assert len(set(numbers)) == len(numbers), "one message is in two parts"
    assert not {position.message for position in shown} & set(numbers), (
        "a message is in a part and in a queue"
    )
    rows = {int.from_bytes(key, "big"): stage for key, stage in every(state.rows, tables.STAGES)}
    assert rows == staging.stages
    assert set(staging.going) == {number for number, stage in rows.items() if stage.dropped}
    held: dict[int, list[tables.StagedChunk]] = {number: [] for number in rows}
    for key, chunk in every(state.rows, tables.STAGED):
        held[int.from_bytes(key[:8], "big")].append(chunk)
    for number, stage in rows.items():
        if not stage.dropped:
            assert len(held[number]) == stage.chunks
            assert sum(len(chunk.sizes) for chunk in held[number]) == stage.messages
            assert sum(sum(chunk.sizes) for chunk in held[number]) == stage.size
            assert {chunk.queue for chunk in held[number]} == set(stage.queues)
    assert staging.bytes == sum(stage.size for stage in rows.values())
    usable = {number for number, stage in rows.items() if not stage.dropped}
    assert set().union(*staging.batches.values()) == usable
    assert set(staging.places.values()) == usable
    assert {key.decode(): row for key, row in every(state.rows, tables.LEDGER)} == staging.ledger
    current = state.staging.current
    assert state.rows.get(tables.PUBLISHING, tables.ONLY) == (current.record if current else None)
    writers = {key.decode(): row.query for key, row in every(state.rows, tables.WRITERS)}
    assert writers == staging.writers
    return set(numbers)
