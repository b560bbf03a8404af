"""A record batch keeps its rows, and each has what it says or what is wrong with it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.silver import DECODED, decode_batches
from tests.protocols.httpr.codec.vector import VECTORS as BATCHES
from tests.protocols.srmp.codec.envelopes import FIRST, PLAIN
from tests.protocols.srmp.codec.vector import VECTORS
from tests.spark.pipelines.feeds import MESSAGES, message

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


bodies = st.binary(max_size=40) | st.sampled_from(
    [b"{", b"<a/>", b"<a>", SOAP, VECTORS["c2_min"].body, PLAIN.encode()]
)


@given(st.lists(bodies, max_size=8))
def test_every_row_comes_out_once_with_a_kind(given: list[bytes]) -> None:
    found = decoded([message(number, body) for number, body in enumerate(given)])
    assert [row["feed_id"] for row in found] == [*range(len(given))]
    assert all(row["kind"] for row in found)
    assert all(row["text"] is None and row["srmp"] is None for row in found if row["fault"])
