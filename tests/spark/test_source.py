"""Tests the batch source against a server in memory: ranges, filters, and which reader Spark gets."""

from __future__ import annotations

import sys

import pytest
from pyspark.sql.datasource import EqualTo, GreaterThan, InputPartition, LessThanOrEqual

from reliquary.spark import source
from reliquary.spark.errors import QueueMissing
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import Reading, parse_reading
from reliquary.spark.source import PUSHING_WORKER, PushingReader, Range, Reader, batch_reader
from tests.spark.feed_double import World


def options(**more: str) -> Reading:
    return parse_reading({"url": "http://server:1", "queue": "orders,parts"} | more, OptionUse.READ)


@pytest.fixture
def world() -> World:
    world = World()
    world.create("orders")
    world.create("parts")
    return world


def places(reader: Reader) -> list[int]:
    return [
        row["lookup_id"]
        for part in reader.partitions()
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]


def test_all_queues_are_read_and_cut_into_ranges(world: World) -> None:
    sent = world.send("orders", 5) + world.send("parts", 1)
    reader = Reader(options(partitions="2"), ("lookup_id",), world.connect)
    parts = reader.partitions()
    assert [part.queue for part in parts if isinstance(part, Range)] == ["orders", "orders", "parts"]
    assert places(reader) == sent


def test_empty_queues_have_no_ranges_and_spark_asks_nevertheless(world: World) -> None:
    reader = Reader(options(), ("lookup_id",), world.connect)
    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []


def test_a_queue_that_is_missing_is_reported(world: World) -> None:
    with pytest.raises(QueueMissing, match="there is no queue 'orders': create it"):
        Reader(options(), ("lookup_id",), World().connect).partitions()


def test_filters_go_to_the_server_and_the_rest_stays(world: World) -> None:
    sent = world.send("orders", 6)
    reader = PushingReader(options(), ("lookup_id",), world.connect)
    label = EqualTo(("label",), "x")
    filters = [GreaterThan(("lookup_id",), sent[1]), label, LessThanOrEqual(("lookup_id",), sent[4])]
    assert list(reader.pushFilters(filters)) == [label]
    assert places(reader) == sent[2:5]


def test_filters_that_nothing_can_meet_ask_no_manager(world: World) -> None:
    reader = PushingReader(options(), ("lookup_id",), world.connect)
    reader.pushFilters([GreaterThan(("lookup_id",), 5), LessThanOrEqual(("lookup_id",), 5)])
    assert reader.partitions() == []
    assert world.calls == []


def test_spark_gets_a_reader_that_pushes_only_where_it_asks_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, PUSHING_WORKER, raising=False)
    assert type(batch_reader(options(), ("body",))) is Reader
    assert type(batch_reader(options(pushFilters="true"), ("body",))) is PushingReader
    monkeypatch.setitem(sys.modules, PUSHING_WORKER, source)
    assert type(batch_reader(options(), ("body",))) is PushingReader
    assert type(batch_reader(options(pushFilters="false"), ("body",))) is Reader
