"""Defines the columns in Spark: the schema of the source, and the schemas that users may give.

A schema that the user gives is a projection: columns are read in its order, and a narrow one moves no
bodies over the network.  The columns of a sink are checked before the run, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.spark.errors import BadOption, BadSchema
from reliquary.spark.headers import ARROW as HEADERS_ARROW
from reliquary.spark.headers import COLUMNS as HEADER_PARTS
from reliquary.spark.headers import NAME as HEADERS
from reliquary.spark.headers import TYPE as HEADERS_TYPE
from reliquary.spark.headers import headers_of
from reliquary.wire.columns import BY_NAME as OF_MESSAGES
from reliquary.wire.columns import COLUMNS as MESSAGE_COLUMNS
from reliquary.wire.columns import WRITTEN, Column, ColumnType, Use

ARROW: Final[dict[ColumnType, pa.DataType]] = {
    ColumnType.STRING: pa.string(),
    ColumnType.STRINGS: pa.list_(pa.string()),
    ColumnType.BINARY: pa.binary(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.INT: pa.int32(),
    ColumnType.LONG: pa.int64(),
    ColumnType.DOUBLE: pa.float64(),
    ColumnType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}

MANAGER: Final = Column(
    "manager", ColumnType.STRING, Use.POSITION, "the name of the manager that the row was read from"
)
COLUMNS: Final = (*MESSAGE_COLUMNS, MANAGER)
"""The columns of messages, and those that this source adds."""
BY_NAME: Final = {column.name: column for column in COLUMNS}
NAMES: Final = tuple(BY_NAME)

_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
TAKEN: Final[dict[ColumnType, frozenset[str]]] = {
    ColumnType.STRING: frozenset({"string"}),
    ColumnType.STRINGS: frozenset({"array<string>"}),
    ColumnType.BINARY: frozenset({"binary", "string"}),
    ColumnType.BOOL: frozenset({"boolean"}),
    ColumnType.INT: _WHOLE,
    ColumnType.LONG: _WHOLE,
    ColumnType.DOUBLE: _WHOLE | {"float", "double"},
    ColumnType.TIMESTAMP: frozenset({"timestamp"}),
}
"""Types of Spark that a sink converts to a kind of column, with `void`, a column of nulls."""


KEYS: Final = _WHOLE | {"string", "binary", "boolean"}
"""The types of Spark that a key column may have."""

KAFKA: Final = {
    "key": "correlation or label",
    "value": "body",
    "topic": "queue",
    "partition": "manager",
    "offset": "feed_id",
    "timestamp": "arrived",
    "timestampType": "arrived",
}
"""Columns of Spark's Kafka source and sink, and their replacements here."""


class FieldLike(Protocol):
    """The used part of a field of Spark's StructType."""

    name: str
    nullable: bool

    @property
    def dataType(self) -> Any:  # noqa: N802 - Spark's name
        """The type of the field, which has a `simpleString`."""


def ddl(*, headers: bool = False) -> str:
    """Return the schema of the source as DDL; with the column of headers if it is wanted."""
    columns = [f"`{column.name}` {column.kind.value}" for column in COLUMNS]
    return ", ".join([*columns, f"`{HEADERS}` {HEADERS_TYPE}"] if headers else columns)


def projection(fields: Iterable[FieldLike]) -> tuple[str, ...]:
    """Return the columns that a schema asks for, in its order; refuse one that messages do not have."""
    names: list[str] = []
    for field in fields:
        kind = _type_of(field.name)
        if kind is None:
            raise BadSchema(
                f"messages have no column {field.name!r}: {_of_kafka(field.name)}they have {', '.join(NAMES)}"
            )
        found = field.dataType.simpleString()
        if found != kind:
            raise BadSchema(f"the column {field.name} is {kind}, not {found}: cast it later")
        if not field.nullable:
            raise BadSchema(f"the column {field.name} may be null: leave NOT NULL out of the schema")
        if field.name in names:
            raise BadSchema(f"the schema names {field.name} twice")
        names.append(field.name)
    if not names:
        raise BadSchema("the schema has no columns: name at least one, such as lookup_id bigint")
    return tuple(names)


def _of_kafka(name: str) -> str:
    """Return the column with the content of this column of Kafka; nothing for another name."""
    return f"Kafka's {name} is {KAFKA[name]} here; " if name in KAFKA else ""


def _type_of(name: str) -> str | None:
    """Return the type of a column of the source; None if it has no column of this name."""
    column = BY_NAME.get(name)
    if column is not None:
        return column.kind.value
    return HEADERS_TYPE if name == HEADERS else None


def written(fields: Iterable[FieldLike], key: str = "") -> tuple[str, ...]:
    """Return the columns that a sink sends, in their order, without those that only the manager sets.

    `key` is the column of the option partitionBy: it may be any column, and is sent if messages have it.
    """
    names: list[str] = []
    given = list(fields)
    _check_key(given, key)
    for field in given:
        column = BY_NAME.get(field.name)
        if column is None and field.name in {key, HEADERS}:
            continue
        if column is None:
            allowed = ", ".join(name for name in NAMES if name in WRITTEN)
            raise BadSchema(
                f"a sink knows no column {field.name!r}: {_of_kafka(field.name)}select or rename to {allowed}"
            )
        if field.name not in WRITTEN:
            continue
        found = field.dataType.simpleString()
        if found not in TAKEN[column.kind] and found != "void":
            wanted = " or ".join(sorted(TAKEN[column.kind]))
            raise BadSchema(f"the column {field.name} is {found} and must be {wanted}: cast it")
        if field.name in names:
            raise BadSchema(f"the rows have two columns {field.name}")
        names.append(field.name)
    if "body" not in names:
        raise BadSchema("the rows have no column body: what is to be sent?  Select ... AS body")
    return tuple(names)


def _check_key(fields: Sequence[FieldLike], key: str) -> None:
    """Refuse a key column that does not exist, or whose values have no unique text."""
    if not key:
        return
    types = [field.dataType.simpleString() for field in fields if field.name == key]
    if not types:
        raise BadOption(
            f"the option partitionBy names {key!r}, and the rows have "
            f"{', '.join(each.name for each in fields)}"
        )
    if types[0] not in KEYS:
        raise BadSchema(
            f"the column {key} of the option partitionBy is {types[0]} and must be "
            f"{', '.join(sorted(KEYS))}: cast it"
        )


def arrow_schema(names: Iterable[str]) -> pa.Schema:
    """Return the Arrow schema of these columns, for the server, for Spark and for a sink."""
    return pa.schema(
        [pa.field(name, HEADERS_ARROW if name == HEADERS else ARROW[BY_NAME[name].kind]) for name in names]
    )


def of_the_server(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to read from the server; one at least, so that rows can be counted."""
    parts = HEADER_PARTS if HEADERS in names else ()
    wanted = (*names, *(part for part in parts if part not in names))
    return tuple(name for name in wanted if name in OF_MESSAGES) or ("feed_id",)


def added(batch: pa.RecordBatch, names: Sequence[str], manager: str) -> pa.RecordBatch:
    """Return the rows with exactly these columns; columns that the server lacks are added."""
    if batch.schema.names == list(names):
        return batch
    own = {
        MANAGER.name: lambda: pa.repeat(pa.scalar(manager, pa.string()), batch.num_rows),
        HEADERS: lambda: headers_of(batch),
    }
    columns = [own[name]() if name in own else batch.column(name) for name in names]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(names))
