"""Every attribute of a message and of a position is in a column."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.net.feed.column_sources import PARTS, PLACES, TAILS, Source, made_of
from reliquary.net.feed.tails import DEFAULTS
from reliquary.queueing.model.message import Position
from reliquary.wire.columns import BY_NAME, NAMES, Use

INSIDE = {
    "message", "inline_in", "origin", "shared", "express", "peekable", "dead_letter", "asks", "purged",
    "spool",
}  # fmt: skip
"""Fields of a position: how the manager finds and counts it, or what its message says anyway."""


def test_every_attribute_has_its_column() -> None:
    shown = {source.field for source in TAILS.values()} | {"source_machine", "stored_body"}
    # that there is a tracing_queue; two requests to managers on the way
    left_out = {"tracing_requested", "discard_refused", "hops"}
    assert set(DEFAULTS) - shown == left_out
    places = {source.field for source in PLACES.values()} | {"arrival"}
    assert set(Position.__struct_fields__) - places == INSIDE
    assert {"queue", "feed_id", *PLACES, *PARTS, *TAILS} == set(NAMES)
    assert {"queue", "feed_id", *PLACES} == {name for name in NAMES if BY_NAME[name].use is Use.POSITION}


def test_equal_values_are_one_scalar() -> None:
    assert made_of("tag", Source("application_tag"), [7, 7, 7]) == pa.scalar(7, pa.int64())
    assert made_of("tag", Source("application_tag"), [7, 8, 7]).to_pylist() == [7, 8, 7]
    queues = Source("response_queues")
    assert made_of("response_queues", queues, [["a"]]) == pa.scalar(["a"], pa.list_(pa.string()))
    assert made_of("response_queues", queues, [["a"], ["b"]]).to_pylist() == [["a"], ["b"]]
