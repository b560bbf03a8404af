"""Tests the SOAP and HTTPR parts of messages as headers."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.pandas.types import from_arrow_type

from reliquary.spark.headers import ARROW, COLUMNS, TYPE, headers_of


def batch(*rows: dict[str, str]) -> pa.RecordBatch:
    fields = pa.schema([(name, pa.string()) for name in COLUMNS])
    return pa.RecordBatch.from_pylist([dict.fromkeys(COLUMNS) | row for row in rows], fields)


def test_parts_come_by_their_names_in_order() -> None:
    soap = {"soap_header": "<h/>", "soap_envelope": "<e>\u00fc</e>"}
    httpr = {"httpr_header": "Target-URI: httpr://here\r\nuser-id:me\r\n"}
    odd = {"httpr_header": "no field\r\n"}
    nothing, chosen = {"httpr_header": "\r\n"}, {"httpr_header": "content-type:text/xml\n"}
    rows = headers_of(batch({}, soap, httpr, odd, nothing, chosen)).to_pylist()
    assert rows == [
        None,
        [
            {"key": "soap:envelope", "value": "<e>\u00fc</e>".encode()},
            {"key": "soap:header", "value": b"<h/>"},
        ],
        [{"key": "httpr:target-uri", "value": b"httpr://here"}, {"key": "httpr:user-id", "value": b"me"}],
        [{"key": "httpr:", "value": b"no field\r\n"}],
        None,
        [{"key": "httpr:content-type", "value": b"text/xml"}],
    ]


def test_messages_without_parts_have_no_headers() -> None:
    assert headers_of(batch({}, {})).equals(pa.nulls(2, ARROW))


def test_the_type_is_the_one_that_spark_gets() -> None:
    assert from_arrow_type(ARROW).simpleString() == TYPE
