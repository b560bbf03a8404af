"""Checks that the feeds of a state are consistent with its queues and rows."""

from __future__ import annotations

from typing import NamedTuple

from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Consumer, Late, arrival_key, consumer_key


class Feeds(NamedTuple):
    """The rows that feeds are made of."""

    consumers: dict[bytes, Consumer]
    late: dict[bytes, Late]
    committed: dict[bytes, Position]
    delayed: dict[bytes, Position]
    retained: dict[bytes, Position]

    def check(self, state: State) -> None:
        """Check that each number of a feed belongs to one message, and that a number without one is noted."""
        assert self.consumers == {
            consumer_key(number, name): record
            for number, queue in state.queues.items()
            for name, record in queue.feed.consumers.items()
        }
        assert {key: row.lookup_id for key, row in self.late.items()} == {
            arrival_key(_queue(key), row.arrival): row.lookup_id
            for key, row in [*self.committed.items(), *self.delayed.items()]
            if row.arrival
        }
        for queue in state.queues.values():
            self._check_queue(state, queue)
        for key, row in self.retained.items():
            assert key == arrival_key(_queue(key), arrival_of(row))
            assert not row.express
            state.messages.get(row)

    def _check_queue(self, state: State, queue: QueueState) -> None:
        kept = _of(queue, self.retained)
        assert (queue.feed.retained, queue.feed.retained_size) == (len(kept), sum(row.size for row in kept))
        assert all(arrival_of(row) > queue.feed.trimmed for row in kept), "it would never be deleted"
        assert bool(queue.feed.mark) == bool(queue.feed.consumers)
        assert queue.feed.mark <= state.numbers.sequence
        if queue.feed.consumers:
            assert queue.feed.pinned == min(each.cursor for each in queue.feed.consumers.values())
            put_off = [row for row in _of(queue, self.delayed) if row.arrival]
            arrived = [*_of(queue, self.committed), *put_off, *kept]
            assert len(set(map(arrival_of, arrived))) == len(arrived), "two messages have one number"


def _queue(key: bytes) -> int:
    return int.from_bytes(key[:4])


def _of(queue: QueueState, rows: dict[bytes, Position]) -> list[Position]:
    return [row for key, row in rows.items() if _queue(key) == queue.number]
