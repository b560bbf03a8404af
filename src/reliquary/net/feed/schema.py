"""Defines the columns of messages in the types of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.wire.columns import BY_NAME, COLUMNS, NAMES, ColumnType

TYPES: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.STRINGS: pa.list_(pa.string()),
    ColumnType.BINARY: pa.binary(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.INT: pa.int32(),
    ColumnType.LONG: pa.int64(),
    ColumnType.DOUBLE: pa.float64(),
    ColumnType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}
TYPE_OF: Final = {column.name: TYPES[column.kind] for column in COLUMNS}


RUN_ENDS: Final = pa.int32()
_VARIED: Final = frozenset({"feed_id", "lookup_id", "arrived", "size", "id", "body", "body_size", "label"})
"""Columns that usually have different values in each row."""


IN_RUNS: Final = frozenset(NAMES) - _VARIED
"""Columns that a stream has as runs of equal values, if its reader accepts runs."""
_RUNS: Final = {name: pa.run_end_encoded(RUN_ENDS, TYPE_OF[name]) for name in IN_RUNS}


def schema_of(names: Sequence[str] = (), *, runs: bool = False) -> pa.Schema:
    """Return the schema of these columns in this order, or of all; an unknown column is refused by name."""
    for place, name in enumerate(names):
        if name not in BY_NAME:
            raise UsageError(f"there is no column {name[:80]!r}; there is {', '.join(NAMES)}")
        if name in names[:place]:
            raise UsageError(f"the column {name!r} is asked for twice")
    types = TYPE_OF | _RUNS if runs else TYPE_OF
    return pa.schema([pa.field(name, types[name]) for name in names or NAMES])
