"""Tests messages as columns: every attribute, any messages, in any cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.client.feed_runs import in_full
from reliquary.net.feed import columns_out
from reliquary.net.feed.columns_out import BATCH_ROWS, END, Columns, cut
from reliquary.net.feed.reading import COMPRESSIONS
from reliquary.net.feed.stored_messages import Gone, StoredMessages
from reliquary.queueing.feed.plain import plain_positions
from reliquary.queueing.model.message import Message, Position, StoredBody
from reliquary.queueing.model.tables import PIECES, POSITIONS, Piece, QueueRow, piece_key
from reliquary.store import MemoryDisk
from reliquary.store.disk import Changes
from reliquary.wire.columns import BY_NAME, NAMES, Use
from tests.net.feed.messages import disk_with, messages, positions, row


def batches(columns: Columns, places: Sequence[Position]) -> list[memoryview]:
    """Return the batches that are sent for these places."""
    return [sent for some in columns.cut(places) if (sent := columns.batch(some)) is not None]


def rows_of(columns: Columns, places: Sequence[Position]) -> list[dict[str, Any]]:
    """Return the rows that a reader gets for these places."""
    stream = b"".join([columns.opening(), *batches(columns, places), END])
    reader = pa.ipc.open_stream(stream)
    assert reader.schema == columns.schema
    rows: list[dict[str, Any]] = []
    for batch in map(in_full, reader):
        batch.validate(full=True)
        rows += batch.to_pylist()
    return rows


def numbered(given: list[tuple[Position, Message]]) -> tuple[list[Position], MemoryDisk]:
    """Return places whose messages are on a disk."""
    places = [msgspec.structs.replace(place, message=number) for number, (place, _) in enumerate(given)]
    return places, disk_with(dict(enumerate(message for _, message in given)))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(positions, messages), max_size=4),
    st.booleans(),
    st.sampled_from([None, *COMPRESSIONS]),
)
def test_a_row_says_what_its_message_is(
    given: list[tuple[Position, Message]], runs: bool, compression: str | None
) -> None:
    places, disk = numbered(given)
    columns = Columns((), "orders", StoredMessages(disk), may_miss=False, runs=runs, compression=compression)
    assert rows_of(columns, places) == [row("orders", place, message) for place, message in given]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(positions, messages), max_size=4),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True),
    st.data(),
)
def test_any_columns_in_any_cuts_give_equal_rows(
    given: list[tuple[Position, Message]], names: list[str], data: st.DataObject
) -> None:
    places, disk = numbered(given)
    columns = Columns(names, "orders", StoredMessages(disk), may_miss=False)
    at = data.draw(st.integers(0, len(places)))
    parts = rows_of(columns, places[:at]) + rows_of(columns, places[at:])
    assert parts == [
        {name: each[name] for name in names} for each in (row("orders", *pair) for pair in given)
    ]


@pytest.mark.parametrize("runs", [True, False])
def test_plain_positions_give_the_rows_that_single_ones_give(runs: bool) -> None:
    given = {each + 300: Message(body=b"x" * each, label=str(each)) for each in range(6)}
    places = [Position((4 << 56) + 400 + number, number, 1_000, 10**15 + number) for number in given]
    plain = plain_positions([POSITIONS.encode(b"", QueueRow(place)) for place in places])
    assert plain is not None
    stored = StoredMessages(disk_with(given))
    columns = Columns((), "orders", stored, may_miss=False, runs=runs)
    expected = [row("orders", place, given[place.message]) for place in places]
    assert rows_of(columns, plain) == expected
    assert rows_of(columns, plain[2:5]) == expected[2:5]


def test_columns_of_the_place_touch_no_message() -> None:
    names = [name for name in NAMES if BY_NAME[name].use is Use.POSITION]
    columns = Columns(names, "orders", StoredMessages(MemoryDisk([])), may_miss=False)
    [only] = rows_of(columns, [Position(7, 99, 10, 5, arrival=8)])
    assert (only["feed_id"], only["lookup_id"], only["size"]) == (8, 7, 10)


def test_a_consumer_that_may_not_miss_a_message_is_notified_that_it_went() -> None:
    places = [Position(each, each, 10, 5, arrival=each) for each in (1, 2, 3)]
    stored = StoredMessages(disk_with({1: Message(label="a"), 3: Message(label="c")}))
    left = rows_of(Columns(["feed_id", "label"], "orders", stored, may_miss=True), places)
    assert left == [{"feed_id": 1, "label": "a"}, {"feed_id": 3, "label": "c"}]
    with pytest.raises(Gone):
        rows_of(Columns(["feed_id", "label"], "orders", stored, may_miss=False), places)


def test_a_body_in_pieces_is_put_together() -> None:
    large = Message.of(stored_body=StoredBody(40, 8, 2), label="large")
    disk = disk_with({1: Message(body=b"small"), 2: large})
    pieces = {piece_key(40, 0): Piece(b"01234"), piece_key(40, 1): Piece(b"567")}
    disk.apply(Changes(puts={"pieces": PIECES.encode_all(pieces)}))
    stored = StoredMessages(disk)
    places = [Position(1, 1, 5, 0, arrival=1), Position(2, 2, 8, 0, arrival=2, spool=40)]
    columns = Columns(["body", "body_size"], "orders", stored, may_miss=True)
    whole = [{"body": b"small", "body_size": 5}, {"body": b"01234567", "body_size": 8}]
    assert rows_of(columns, places) == whole
    assert rows_of(Columns(["body_size"], "q", stored, may_miss=False), places)[1] == {"body_size": 8}
    disk.apply(Changes(puts={"pieces": {piece_key(40, 1): None}}))
    assert rows_of(columns, places) == whole[:1]
    with pytest.raises(Gone):
        rows_of(Columns(["body"], "orders", stored, may_miss=False), places)


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 8))
def test_batches_are_bounded_and_have_a_row_at_least(sizes: list[int], most: int) -> None:
    places = [Position(each, each, size, 0) for each, size in enumerate(sizes)]
    groups = list(cut(places, most, 40))
    assert [each for group in groups for each in group] == places
    assert all(1 <= len(group) <= most for group in groups)
    assert all(len(group) == 1 or sum(each.size for each in group) <= 40 for group in groups)


def test_rows_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = disk_with({each: Message(body=bytes(10)) for each in range(BATCH_ROWS + 1)})
    places = [Position(each, each, 10, 0) for each in range(BATCH_ROWS + 1)]
    narrow = Columns(["size"], "orders", StoredMessages(disk), may_miss=False)
    assert [len(group) for group in narrow.cut(places)] == [BATCH_ROWS, 1]
    monkeypatch.setattr(columns_out, "BATCH_BYTES", 25)
    columns = Columns(["body"], "orders", StoredMessages(disk), may_miss=False)
    stream = b"".join([columns.opening(), *batches(columns, places[:7]), END])
    assert [batch.num_rows for batch in pa.ipc.open_stream(stream)] == [2, 2, 2, 1]


@pytest.mark.parametrize("plain_first", [True, False])
def test_a_field_that_occurs_late_in_a_batch_is_in_its_column(plain_first: bool) -> None:
    plain = [Message(body=b"plain", label=str(each)) for each in range(300)]
    rich = [Message.of(body=b"rich", extension=b"more", application_tag=7, body_type=8)]
    given = plain + rich if plain_first else rich + plain
    places = [Position(each, each, 10, 0) for each in range(len(given))]
    columns = Columns((), "orders", StoredMessages(disk_with(dict(enumerate(given)))), may_miss=False)
    expected = [row("orders", place, message) for place, message in zip(places, given, strict=True)]
    assert rows_of(columns, places) == expected


def test_a_column_with_one_value_costs_nothing_for_a_row_where_runs_are_taken() -> None:
    def size(count: int, *, runs: bool) -> int:
        places = [Position(each, each, 10, 0) for each in range(count)]
        stored = StoredMessages(disk_with({each: Message(label="a") for each in range(count)}))
        names = [name for name in NAMES if name not in {"feed_id", "lookup_id", "id"}]
        [batch] = batches(Columns(names, "orders", stored, may_miss=False, runs=runs), places)
        return len(batch)

    varied = 4 * 8 + 3 * 5  # arrived, size, body_size and padding; offsets of body and label
    assert size(2000, runs=True) - size(1000, runs=True) < 1000 * varied
    assert size(2000, runs=False) - size(1000, runs=False) > 1000 * 200
