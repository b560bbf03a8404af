"""Converts record batches between the form of the server and the form of Spark.

A range is read to its end even if the network fails: the rest is requested after the last row that was
passed on.  So the position in the feed is always fetched, and removed again if it is not wanted.  No
row is repeated, and none is missing.

      asked:  (after, until]   --- rows 1 2 3 ---x broken
      again:  (3,     until]                     rows 4 5 6 --- end
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.client.errors import ServerUnreachable
from reliquary.spark.errors import BadRow
from reliquary.spark.schema import arrow_schema

FEED_ID: Final = "feed_id"
TRIES: Final = 5
"""How often a range may break off without a row in between."""

log = logging.getLogger(__name__)


def fetched(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to request from the server, with the position that a resumed read needs."""
    return tuple(names) if FEED_ID in names else (*names, FEED_ID)


def read_range(
    after: int,
    names: Sequence[str],
    read: Callable[[int], Iterator[pa.RecordBatch]],
    tries: int | None = TRIES,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a range with exactly these columns; `read` reads from a place to its end.

    A range that breaks off `tries` times without a row in between is given up; None is never.
    """
    schema = arrow_schema(names)
    broken = 0
    while True:
        try:
            for batch in read(after):
                if batch.num_rows:
                    shaped = shape(batch, schema)
                    last = batch.column(FEED_ID)[-1].as_py()
                    assert last > after, "a feed goes forward"
                    yield shaped
                    after, broken = last, 0
            return
        except ServerUnreachable as error:
            broken += 1
            if tries is not None and broken >= tries:
                raise
            log.warning("a read broke off after %d and goes on from there: %s", after, error)


def shape(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows with exactly the columns of a schema, which the batch may have in another order."""
    return pa.RecordBatch.from_arrays([_cast(batch, field) for field in schema], schema=schema)


def _cast(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    column = batch.column(field.name)
    if column.type.equals(field.type):
        return column
    if pa.types.is_int32(field.type) and pa.types.is_int64(column.type):
        column = _within(column, -(2**31), 2**31 - 1)
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as why:
        raise BadRow(f"the column {field.name} has a value that does not fit {field.type}: {why}") from why


def _within(column: pa.Array, low: int, high: int) -> pa.Array:
    """Return numbers, those that are too large or too small replaced by the ends of the range.

    No message has the lowest or highest number of 32 bits in any column, so the server refuses the row.
    """
    least = pc.max_element_wise(column, pa.scalar(low, column.type), skip_nulls=False)
    return pc.min_element_wise(least, pa.scalar(high, column.type), skip_nulls=False)


def shaped(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, key: str = ""
) -> Iterator[tuple[pa.RecordBatch, pa.Array | None]]:
    """Batches for the server: only columns that it takes, each of its one type; empty ones are omitted.

    With each batch comes its key column, if there is a key.
    """
    for batch in batches:
        if batch.num_rows:
            yield shape(batch, schema), batch.column(key) if key else None
