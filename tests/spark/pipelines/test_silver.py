"""A record batch keeps its rows, and each has what it says or what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.silver import (
    DECODED,
    check_schema,
    decode_batches,
    quarantined,
    understood,
    without,
)
from reliquary.spark.pipelines.silver import decoded as with_data
from tests.protocols.httpr.codec.vector import VECTORS as BATCHES
from tests.protocols.srmp.codec.envelopes import FIRST, PLAIN
from tests.protocols.srmp.codec.vector import VECTORS
from tests.spark.pipelines.documents import AS_FROM_XML, KEPT, WHOLE
from tests.spark.pipelines.feeds import MESSAGES, message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOAP = b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><a/></s:Body></s:Envelope>'


def decoded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pylist(rows, schema=MESSAGES)
    [result] = decode_batches(iter([batch]))
    assert result.schema.names == [*MESSAGES.names, *DECODED.names]
    assert result.select(MESSAGES.names).equals(batch)
    found: list[dict[str, Any]] = result.to_pylist()
    return found


def test_columns_that_came_stay_and_others_say_what_was_read() -> None:
    bodies = [b'{"a": 1}', b"<a>", VECTORS["c1_max"].data, BATCHES["H3"].data, SOAP]
    json, broken, post, batch, soap = decoded([message(n, body) for n, body in enumerate(bodies)])
    assert (json["kind"], json["text"], json["encoding"], json["fault"]) == (
        "json",
        '{"a": 1}',
        "utf-8",
        None,
    )
    assert (broken["kind"], broken["text"], broken["fault_position"]) == ("xml", None, 3)
    assert post["srmp"]["what"] == "user-message"
    assert [part["content_id"] for part in post["parts"]] == ["body", "extension"]
    assert dict(batch["httpr"])["channel"] == "primary"
    assert [part["data"] for part in batch["parts"]] == [each.body for each in BATCHES["H3"].messages]
    assert (soap["soap"]["version"], soap["soap"]["operation"]) == ("1.1", "a")


def test_the_envelope_of_a_stream_has_its_place() -> None:
    first, none = decoded([message(1, b"", soap_envelope=FIRST), message(2, b"x")])
    assert first["srmp"]["stream_number"] == 1
    assert first["srmp"]["receipts_to"].startswith("http")
    assert first["srmp"]["sent_at"].year >= 2000
    assert none["srmp"] is None


def test_json_has_the_columns_of_a_schema_or_does_not_fit(spark: SparkSession) -> None:
    given = [b'{"order": 1, "items": ["a"]}', b'{"order": "one"}', b'{"more": 2}', b"<a><b>3</b></a>"]
    table = pa.Table.from_pylist([message(n, body) for n, body in enumerate(given)], schema=MESSAGES)
    schema = "order bigint, items array<string>"
    check_schema(schema)
    frame = with_data(spark.createDataFrame(table), json_schema=schema)
    rows = sorted(frame.select("feed_id", "record", "data", "fault").collect())
    found = [(row["record"] and row["record"].asDict(), row["fault"]) for row in rows]
    assert found[0] == ({"order": 1, "items": ["a"]}, None)
    assert "does not fit the schema" in found[1][1]
    assert found[2] == ({"order": None, "items": None}, None)
    assert (found[3], rows[3]["data"].toPython()) == ((None, None), {"b": 3})
    with pytest.raises(UsageError, match="--json-schema is columns such as"):
        check_schema("order bigit")


def test_xml_has_the_value_that_spark_would_make_of_it(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    given = [*AS_FROM_XML, *AS_FROM_XML, *AS_FROM_XML]  # a shape that comes again is read in another way
    table = pa.Table.from_pylist([message(n, each.encode()) for n, each in enumerate(given)], schema=MESSAGES)
    frame = with_data(spark.createDataFrame(table).coalesce(1)).withColumn(
        "old", f.from_xml("text", "variant")
    )
    reported = [f.struct(f.to_json(name), f.schema_of_variant(name)).alias(name) for name in ("data", "old")]
    rows = frame.select("feed_id", "fault", *reported).orderBy("feed_id").collect()
    assert [row["fault"] for row in rows] == [None] * len(given)
    found = {given[row["feed_id"]]: (tuple(row["data"]), tuple(row["old"])) for row in rows}
    assert {document: new for document, (new, old) in found.items() if new != old} == {}


def test_xml_keeps_what_from_xml_would_lose(spark: SparkSession) -> None:
    given = KEPT | WHOLE
    table = pa.Table.from_pylist([message(n, each.encode()) for n, each in enumerate(given)], schema=MESSAGES)
    rows = sorted(with_data(spark.createDataFrame(table)).select("feed_id", "data").collect())
    assert [row["data"].toPython() for row in rows] == [*given.values()]


def test_rows_of_a_batch_are_distinguished_by_manager_queue_and_place(spark: SparkSession) -> None:
    rows = [("a", "q", 1), ("b", "q", 1), ("a", "p", 1), (None, "q", 2), (None, "q", 3)]
    columns = "manager string, queue string, feed_id bigint"
    bronze = spark.createDataFrame(rows, columns)
    rest = without(bronze, spark.createDataFrame(rows[::3], columns))
    assert sorted(tuple(row) for row in rest.collect() if row[0]) == [("a", "p", 1), ("b", "q", 1)]
    assert rest.count() == 3


def test_a_frame_whose_columns_are_named_is_never_resolved(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connect resolves a frame for these methods; a declared table then does not wait for its source."""
    bronze = spark.createDataFrame(pa.Table.from_pylist([message(1, b"{}")], schema=MESSAGES))
    names = MESSAGES.names
    with monkeypatch.context() as patched:
        for method in ("withColumn", "withColumns", "drop", "columns", "schema"):
            patched.delattr(type(bronze), method)
        frame = with_data(bronze, variants=False, columns=names)
        silver, quarantine = understood(frame, names), quarantined(frame, names)
    assert silver.columns == understood(with_data(bronze, variants=False)).columns
    assert [row["data"] for row in silver.collect()] == ["{}"]
    assert quarantine.count() == 0


bodies = st.binary(max_size=40) | st.sampled_from(
    [b"{", b"<a/>", b"<a>", SOAP, VECTORS["c2_min"].body, PLAIN.encode()]
)


@given(st.lists(bodies, max_size=8))
def test_every_row_comes_out_once_with_a_kind(given: list[bytes]) -> None:
    found = decoded([message(number, body) for number, body in enumerate(given)])
    assert [row["feed_id"] for row in found] == [*range(len(given))]
    assert all(row["kind"] for row in found)
    assert all(row["text"] is None and row["srmp"] is None for row in found if row["fault"])
