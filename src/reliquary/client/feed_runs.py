"""Converts columns of runs of equal values to plain columns.

A server sends a column that has one value in all rows of a batch as one run, so that it costs nothing for a
row on its way.  A column of nulls, as most rare columns of a message are, is made once for all batches of
one size.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa  # type: ignore[import-untyped]


def in_full(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with a value for each row in all its columns."""
    if not any(map(_in_runs, batch.schema.types)):
        return batch
    columns = [_expanded(column) if _in_runs(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _in_runs(kind: pa.DataType) -> bool:
    return bool(pa.types.is_run_end_encoded(kind))


def _expanded(column: pa.RunEndEncodedArray) -> pa.Array:
    values, count = column.values, len(column)
    if len(values) == count:
        return values
    if len(values) == 1:
        return pa.repeat(values[0], count) if values[0].is_valid else _nulls(values.type, count)
    ends = [0, *column.run_ends.to_pylist()]
    rows = [run for run, first in enumerate(ends[:-1]) for _ in range(first, ends[run + 1])]
    return values.take(pa.array(rows, pa.int32()))


@lru_cache(maxsize=64)
def _nulls(kind: pa.DataType, count: int) -> pa.Array:
    return pa.nulls(count, kind)
