"""Tests record batches on their way: exactly the schema asked for, every row once though reads break off."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.client.errors import ServerUnreachable
from reliquary.spark.errors import BadRow
from reliquary.spark.rows import TRIES, fetched, read_range, shape, shaped
from reliquary.spark.schema import arrow_schema


def rows_of(places: list[int], columns: tuple[str, ...]) -> pa.RecordBatch:
    lines = [{"feed_id": place, "lookup_id": place * 2, "queue": "q"} for place in places]
    return pa.RecordBatch.from_pylist(lines, schema=arrow_schema(columns))


def test_the_place_is_fetched_although_it_was_not_requested() -> None:
    assert fetched(("label", "body")) == ("label", "body", "feed_id")
    assert fetched(("feed_id", "body")) == ("feed_id", "body")


@given(
    places=st.sets(st.integers(1, 1000), max_size=40).map(sorted),
    after=st.integers(0, 1000),
    size=st.integers(1, 7),
    breaks=st.lists(st.integers(1, 10), max_size=6),
)
def test_every_row_comes_once_and_in_order_though_reads_break_off(
    places: list[int], after: int, size: int, breaks: list[int]
) -> None:
    left = iter(breaks)

    def read(start: int) -> Iterator[pa.RecordBatch]:
        until_break = next(left, None)
        found = [place for place in places if place > start]
        for count, first in enumerate(range(0, len(found), size)):
            if until_break is not None and count >= until_break:
                raise ServerUnreachable
            yield rows_of(found[first : first + size], ("lookup_id", "feed_id"))

    got = list(read_range(after, ("lookup_id",), read))
    assert all(batch.schema.equals(arrow_schema(["lookup_id"])) for batch in got)
    assert [row["lookup_id"] for batch in got for row in batch.to_pylist()] == [
        2 * place for place in places if place > after
    ]


def test_a_server_that_never_comes_back_is_reported() -> None:
    tries = []

    def read(start: int) -> Iterator[pa.RecordBatch]:
        tries.append(start)
        raise ServerUnreachable

    with pytest.raises(ServerUnreachable):
        list(read_range(7, ("queue",), read))
    assert tries == [7] * TRIES


def test_an_empty_batch_is_no_row() -> None:
    assert list(read_range(0, ("queue",), lambda after: iter([rows_of([], ("queue", "feed_id"))]))) == []


def test_a_sink_sends_only_what_the_server_takes_in_its_one_type() -> None:
    given_rows = pa.RecordBatch.from_pydict(
        {
            "lookup_id": pa.array([1, 2]),
            "body": pa.array(["ä", None]),
            "priority": pa.array([7, None], pa.int64()),
            "tag": pa.array([1, 2], pa.int16()),
            "label": pa.nulls(2),
        }
    )
    schema = arrow_schema(["body", "priority", "tag", "label"])
    sent = list(shaped([given_rows, given_rows.slice(0, 0)], schema))
    assert [(batch.schema, keys) for batch, keys in sent] == [(schema, None)]
    assert sent[0][0].to_pylist() == [
        {"body": "ä".encode(), "priority": 7, "tag": 1, "label": None},
        {"body": None, "priority": None, "tag": 2, "label": None},
    ]


def test_the_key_column_comes_with_the_rows() -> None:
    batch = pa.RecordBatch.from_pydict({"body": [b"a"], "customer": [7]})
    ((sent, keys),) = shaped([batch], arrow_schema(["body"]), "customer")
    assert sent.schema.names == ["body"]
    assert keys is not None
    assert keys.to_pylist() == [7]


def test_a_number_that_does_not_fit_is_left_to_the_server_to_refuse() -> None:
    batch = pa.RecordBatch.from_pydict({"priority": pa.array([1 << 40, None, 5, -(1 << 40)])})
    (sent,) = shape(batch, arrow_schema(["priority"])).columns
    assert sent.to_pylist() == [2**31 - 1, None, 5, -(2**31)]


def test_a_value_that_does_not_fit_is_refused_by_its_column() -> None:
    batch = pa.RecordBatch.from_pydict({"priority": pa.array(["high"])})
    with pytest.raises(BadRow, match="the column priority has a value that does not fit int32"):
        shape(batch, arrow_schema(["priority"]))
