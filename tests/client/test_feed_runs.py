"""Columns that travel as runs of equal values."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliquary.client.feed_runs import in_full


@pytest.mark.parametrize(
    ("ends", "values", "kind", "expected"),
    [
        ([3], ["a"], pa.string(), ["a", "a", "a"]),
        ([3], [None], pa.list_(pa.string()), [None, None, None]),
        ([1, 2, 3], [7, None, 9], pa.int64(), [7, None, 9]),
        ([2, 3], [b"x", b"y"], pa.binary(), [b"x", b"x", b"y"]),
    ],
)
def test_runs_become_a_value_for_each_row(
    ends: list[int], values: list[object], kind: pa.DataType, expected: list[object]
) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, kind))
    numbers = pa.array([1, 2, 3])
    batch = in_full(pa.RecordBatch.from_arrays([numbers, runs], ["number", "column"]))
    batch.validate(full=True)
    assert batch.schema == pa.schema({"number": pa.int64(), "column": kind})
    assert batch.column("column").to_pylist() == expected


def test_a_batch_without_runs_is_left_as_it_is() -> None:
    batch = pa.RecordBatch.from_pydict({"number": [1, 2]})
    assert in_full(batch) is batch
