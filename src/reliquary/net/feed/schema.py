"""The columns of messages in the types of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.wire.columns import BY_NAME, COLUMNS, NAMES, Kind

TYPES: Final = {
    Kind.STRING: pa.string(),
    Kind.STRINGS: pa.list_(pa.string()),
    Kind.BINARY: pa.binary(),
    Kind.BOOL: pa.bool_(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.DOUBLE: pa.float64(),
    Kind.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}
TYPE_OF: Final = {column.name: TYPES[column.kind] for column in COLUMNS}


def schema_of(names: Sequence[str] = ()) -> pa.Schema:
    """The schema of these columns in this order, or of all; one that is not known is refused by name."""
    for place, name in enumerate(names):
        if name not in BY_NAME:
            raise UsageError(f"there is no column {name[:80]!r}; there is {', '.join(NAMES)}")
        if name in names[:place]:
            raise UsageError(f"the column {name!r} is asked for twice")
    return pa.schema([pa.field(name, TYPE_OF[name]) for name in names or NAMES])
