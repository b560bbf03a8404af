"""Tests schemas of users: a projection for a source, rows for a sink; what does not fit is refused by
name.
"""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StringType,
    StructType,
    TimestampType,
)

from reliquary.spark.errors import BadOption, BadSchema
from reliquary.spark.schema import (
    COLUMNS,
    KAFKA,
    NAMES,
    added,
    arrow_schema,
    ddl,
    of_the_server,
    projection,
    written,
)
from reliquary.wire.columns import WRITTEN, ColumnType

SPARK: dict[ColumnType, DataType] = {
    ColumnType.STRING: StringType(),
    ColumnType.STRINGS: ArrayType(StringType()),
    ColumnType.BINARY: BinaryType(),
    ColumnType.BOOL: BooleanType(),
    ColumnType.INT: IntegerType(),
    ColumnType.LONG: LongType(),
    ColumnType.DOUBLE: DoubleType(),
    ColumnType.TIMESTAMP: TimestampType(),
}


def of(**types: DataType) -> StructType:
    schema = StructType()
    for name, kind in types.items():
        schema = schema.add(name, kind)
    return schema


def test_all_columns_in_the_types_of_spark_and_of_arrow() -> None:
    whole = of(**{column.name: SPARK[column.kind] for column in COLUMNS})
    assert projection(whole.fields) == NAMES
    assert arrow_schema(NAMES).equals(to_arrow_schema(whole, timezone="UTC"))
    assert ddl().startswith("`queue` string, `feed_id` bigint")
    assert ddl().count(",") == len(COLUMNS) - 1


def test_a_projection_has_the_order_of_the_user() -> None:
    assert projection(of(label=StringType(), lookup_id=LongType()).fields) == ("label", "lookup_id")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (of(labell=StringType()), "messages have no column 'labell': they have queue, feed_id"),
        (of(value=BinaryType()), "messages have no column 'value': Kafka's value is body here; they have"),
        (of(lookup_id=StringType()), "the column lookup_id is bigint, not string"),
        (StructType().add("label", StringType(), nullable=False), "the column label may be null"),
        (StructType().add("label", "string").add("label", "string"), "the schema names label twice"),
        (StructType(), "the schema has no columns"),
    ],
)
def test_a_projection_that_messages_do_not_have_is_refused(schema: StructType, sentence: str) -> None:
    with pytest.raises(BadSchema) as refused:
        projection(schema.fields)
    assert str(refused.value).startswith(sentence)


def test_a_sink_takes_what_fits_and_passes_over_what_the_manager_gives() -> None:
    whole = of(**{column.name: SPARK[column.kind] for column in COLUMNS})
    assert set(written(whole.fields)) == WRITTEN
    near = of(body=StringType(), priority=LongType(), tag=ShortType(), delay=IntegerType(), label=NullType())
    assert written(near.fields) == ("body", "priority", "tag", "delay", "label")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (
            of(body=BinaryType(), prio=IntegerType()),
            "a sink knows no column 'prio': select or rename to queue",
        ),
        (
            of(topic=StringType(), value=BinaryType()),
            "a sink knows no column 'topic': Kafka's topic is queue here; select or rename to queue",
        ),
        (
            of(body=BinaryType(), priority=StringType()),
            "the column priority is string and must be bigint or int",
        ),
        (of(body=LongType()), "the column body is bigint and must be binary or string"),
        (of(label=StringType()), "the rows have no column body"),
        (StructType().add("body", "string").add("body", "string"), "the rows have two columns body"),
    ],
)
def test_rows_that_are_no_messages_are_refused(schema: StructType, sentence: str) -> None:
    with pytest.raises(BadSchema) as refused:
        written(schema.fields)
    assert str(refused.value).startswith(sentence)


def test_the_columns_of_kafka_lead_to_columns_of_messages() -> None:
    assert not {*KAFKA} & {*NAMES}
    assert {name for advice in KAFKA.values() for name in advice.split(" or ")} <= {*NAMES}


def test_the_manager_is_added_where_it_is_asked_for() -> None:
    names = ("label", "manager", "feed_id")
    assert of_the_server(names) == ("label", "feed_id")
    assert of_the_server(("manager",)) == ("feed_id",), "rows are counted by something"
    batch = pa.RecordBatch.from_pydict({"label": ["a", None], "feed_id": [1, 2]})
    assert added(batch, ("label", "feed_id"), "north") is batch
    assert added(batch, names, "north").to_pylist() == [
        {"label": "a", "manager": "north", "feed_id": 1},
        {"label": None, "manager": "north", "feed_id": 2},
    ]
    assert added(batch, ("manager",), "north").num_rows == 2


def test_a_key_column_may_be_any_column_and_is_sent_if_messages_have_it() -> None:
    fields = of(body=BinaryType(), label=StringType(), customer=LongType()).fields
    assert written(fields, "customer") == ("body", "label")
    assert written(fields[:2], "label") == ("body", "label")
    with pytest.raises(BadOption, match="the option partitionBy names 'x', and the rows have body, label"):
        written(fields[:2], "x")
    with pytest.raises(BadSchema, match="customer of the option partitionBy is double and must be"):
        written(of(body=BinaryType(), customer=DoubleType()).fields, "customer")


def test_headers_are_a_column_where_they_are_asked_for() -> None:
    assert "headers" not in ddl()
    assert ddl(headers=True).endswith("`manager` string, `headers` array<struct<key:string,value:binary>>")
    kind = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))
    schema = of(label=StringType(), headers=kind, soap_body=StringType())
    names = projection(schema.fields)
    assert names == ("label", "headers", "soap_body")
    assert arrow_schema(names).equals(to_arrow_schema(schema, timezone="UTC"))
    assert of_the_server(names) == ("label", "soap_body", "soap_envelope", "soap_header", "httpr_header")
    batch = pa.RecordBatch.from_pydict(
        {"label": ["a"], "soap_body": ["b"]}
        | {name: pa.nulls(1, pa.string()) for name in ("soap_envelope", "soap_header", "httpr_header")}
    )
    assert added(batch, names, "north").to_pylist() == [
        {"label": "a", "headers": [{"key": "soap:body", "value": b"b"}], "soap_body": "b"}
    ]
    assert written([*of(body=BinaryType()).fields, *schema.fields]) == ("body", "label")
