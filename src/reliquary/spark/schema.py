"""Columns as Spark knows them: the schema of the source, and what a schema of the user's may be.

A schema that the user gives is a projection: columns are read in his order, and a narrow one moves no
bodies over the network.  What a sink is given is checked before anything runs, column by column.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.spark.errors import BadSchema
from reliquary.wire.columns import BY_NAME, COLUMNS, NAMES, WRITTEN, Kind

ARROW: Final[dict[Kind, pa.DataType]] = {
    Kind.STRING: pa.string(),
    Kind.STRINGS: pa.list_(pa.string()),
    Kind.BINARY: pa.binary(),
    Kind.BOOL: pa.bool_(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.DOUBLE: pa.float64(),
    Kind.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}

_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
TAKEN: Final[dict[Kind, frozenset[str]]] = {
    Kind.STRING: frozenset({"string"}),
    Kind.STRINGS: frozenset({"array<string>"}),
    Kind.BINARY: frozenset({"binary", "string"}),
    Kind.BOOL: frozenset({"boolean"}),
    Kind.INT: _WHOLE,
    Kind.LONG: _WHOLE,
    Kind.DOUBLE: _WHOLE | {"float", "double"},
    Kind.TIMESTAMP: frozenset({"timestamp"}),
}
"""Types of Spark that a sink turns into the kind of a column; `void` too, a column of nulls."""


class FieldLike(Protocol):
    """A field of Spark's StructType, as far as it is asked here."""

    name: str
    nullable: bool

    @property
    def dataType(self) -> Any:  # noqa: N802 - Spark's name
        """Its type, which knows its `simpleString`."""


def ddl() -> str:
    """The schema of the source, in Spark's own words."""
    return ", ".join(f"`{column.name}` {column.kind.value}" for column in COLUMNS)


def projection(fields: Iterable[FieldLike]) -> tuple[str, ...]:
    """The columns that a schema asks for, in its order; one that messages do not have is refused."""
    names: list[str] = []
    for field in fields:
        column = BY_NAME.get(field.name)
        if column is None:
            raise BadSchema(f"messages have no column {field.name!r}: they have {', '.join(NAMES)}")
        told = field.dataType.simpleString()
        if told != column.kind.value:
            raise BadSchema(f"the column {field.name} is {column.kind.value}, not {told}: cast it later")
        if not field.nullable:
            raise BadSchema(f"the column {field.name} may be null: leave NOT NULL out of the schema")
        if field.name in names:
            raise BadSchema(f"the schema names {field.name} twice")
        names.append(field.name)
    if not names:
        raise BadSchema("the schema has no columns: name at least one, such as lookup_id bigint")
    return tuple(names)


def written(fields: Iterable[FieldLike]) -> tuple[str, ...]:
    """The columns that a sink sends, in their order; those that only the manager gives are passed over."""
    names: list[str] = []
    for field in fields:
        column = BY_NAME.get(field.name)
        if column is None:
            allowed = ", ".join(name for name in NAMES if name in WRITTEN)
            raise BadSchema(f"a sink knows no column {field.name!r}: select or rename to {allowed}")
        if field.name not in WRITTEN:
            continue
        told = field.dataType.simpleString()
        if told not in TAKEN[column.kind] and told != "void":
            wanted = " or ".join(sorted(TAKEN[column.kind]))
            raise BadSchema(f"the column {field.name} is {told} and must be {wanted}: cast it")
        if field.name in names:
            raise BadSchema(f"the rows have two columns {field.name}")
        names.append(field.name)
    if "body" not in names:
        raise BadSchema("the rows have no column body: what is to be sent?  Select ... AS body")
    return tuple(names)


def arrow_schema(names: Iterable[str]) -> pa.Schema:
    """The Arrow schema of these columns: what the server sends, what Spark wants, what a sink sends."""
    return pa.schema([pa.field(name, ARROW[BY_NAME[name].kind]) for name in names])
