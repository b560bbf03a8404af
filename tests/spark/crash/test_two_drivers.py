"""Tests two drivers of one query at once: one that was given up, and does not know it, and the one after it.

Both run the batches in their order, stage and publish them, and take back what they staged when Spark tells
them to.  However their steps mix, every row is there once and in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.client.feed import FeedClient, StageKey
from reliquary.client.sync.manager import connect
from reliquary.spark.access import Access
from reliquary.spark.connection import connected
from reliquary.spark.errors import StagesGone
from reliquary.spark.options import Writing
from reliquary.spark.schema import arrow_schema
from reliquary.spark.sink import Part, publish, stage_part, take_back
from tests.client.served import Served

BATCHES, PARTS, ROWS = 3, 2, 3
NAMES = ("label", "body")
NUMBERS = count(1)


def labels(batch: int, part: int) -> list[str]:
    return [f"{batch}.{part}.{row}" for row in range(ROWS)]


def rows(batch: int, part: int) -> Iterator[pa.RecordBatch]:
    lines = [{"label": label, "body": label.encode()} for label in labels(batch, part)]
    yield pa.RecordBatch.from_pylist(lines, schema=arrow_schema(NAMES))


class Driver:
    """A driver, one step at a time."""

    def __init__(self, options: Writing, query: str, name: str) -> None:
        self._options = options
        self._query = query
        self._name = name
        self._attempts = count()
        self.batch = 0
        self.staged: list[Part] = []

    @property
    def is_done(self) -> bool:
        return self.batch == BATCHES

    def step(self) -> None:
        """Stage the next part, or publish when all are there."""
        part = len(self.staged)
        if part < PARTS:
            place = StageKey(self._query, self.batch, part, f"{self._name}-{next(self._attempts)}")
            self.staged.append(stage_part(self._options, NAMES, rows(self.batch, part), place, connected))
            return
        try:
            publish(self._options, self._query, self.batch, self.staged, connected)
        except StagesGone:  # the query ends, and its batch is run again
            self.staged = []
        else:
            self.batch, self.staged = self.batch + 1, []

    def abort(self) -> None:
        """Take back the batch, as Spark does for a batch that seems to have failed."""
        take_back(self._options, self.staged, connected)


@settings(max_examples=25)
@given(steps=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), max_size=30))
def test_two_drivers_of_one_query_write_every_row_once(server: Served, steps: list[tuple[int, int]]) -> None:
    number = next(NUMBERS)
    queue, query = f"two.{number}", f"two-{number}"
    options = Writing((Access(server.data),), queue, writer=queue)
    drivers = [Driver(options, query, name) for name in ("first", "second")]
    with connect(server.data, control=server.control) as manager:
        manager.create_queue(queue, transactional=True)
    for who, what in steps:
        if what == 0:
            drivers[who].abort()
        elif not drivers[who].is_done:
            drivers[who].step()
    for driver in drivers:
        while not driver.is_done:
            driver.step()
    for driver in drivers:
        driver.abort()
    with connect(server.data, control=server.control) as manager:
        arrived = [message.label for message in manager.queue(queue).browse()]
    expected = [label for batch in range(BATCHES) for part in range(PARTS) for label in labels(batch, part)]
    assert arrived == expected
    with FeedClient(server.data) as client:
        (mine,) = (each for each in client.writers() if each.query == query)
    assert (mine.batch, mine.total, mine.waiting) == (BATCHES - 1, len(expected), 0)
