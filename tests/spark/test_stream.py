"""Tests the stream's source against a server in memory: offsets, limits, new queues, replays and troubles."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, ReadMaxRows

from reliquary.spark.errors import (
    BadOption,
    ConsumerMissing,
    DataLost,
    QueueMissing,
    QueueReplaced,
    SparkFault,
)
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import parse_reading
from reliquary.spark.stream import StreamReader
from tests.spark.feed_double import World

ALL = ReadAllAvailable()


def reader(
    world: World, queue: str = "orders", names: tuple[str, ...] = ("queue", "feed_id"), **more: str
) -> StreamReader:
    options = {"url": "http://server:1", "queue": queue, "consumer": "lake"} | more
    return StreamReader(parse_reading(options, OptionUse.STREAM), names, world.connect)


def rows_of(stream: StreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    """Return the places of a batch, in the order of its partitions."""
    return [
        row["feed_id"]
        for part in stream.partitions(start, end)
        for batch in stream.read(part)
        for row in batch.to_pylist()
    ]


def run(
    stream: StreamReader, start: dict[str, Any], limit: ReadLimit = ALL
) -> tuple[list[list[int]], dict[str, Any]]:
    """Batches until there is nothing more, and the last offset."""
    batches = []
    while (end := stream.latestOffset(start, limit)) != start:
        batches.append(rows_of(stream, start, end))
        start = end
    return batches, end


@pytest.fixture
def world() -> World:
    world = World()
    world.create("orders")
    return world


def test_a_new_query_reads_all_there_is_and_then_nothing(world: World) -> None:
    sent = world.send("orders", 5)
    stream = reader(world)
    start = stream.initialOffset()
    assert (
        start
        == stream.initialOffset()
        == {
            "v": 2,
            "managers": {"server:1": {"orders": {"inc": "inc-1", "id": 0}}},
        }
    )
    batches, end = run(stream, start)
    assert batches == [sent]
    assert stream.latestOffset(end, ALL) == end
    world.create("other")  # numbers go on although nothing arrives here
    assert stream.latestOffset(end, ALL) == end


def test_the_consumer_is_opened_and_moves_with_the_commit_alone(world: World) -> None:
    world.send("orders", 3)
    stream = reader(world)
    start = stream.initialOffset()
    assert world.queues["orders"].consumers == {"lake": 0}
    end = stream.latestOffset(start, ALL)
    stream.partitions(start, end)
    assert world.queues["orders"].consumers == {"lake": 0}
    stream.commit(end)
    stream.commit(end)
    assert world.queues["orders"].consumers == {"lake": end["managers"]["server:1"]["orders"]["id"]}


def test_a_batch_moves_the_consumer_to_where_it_begins(world: World) -> None:
    """Spark fell after it had logged the batch, and before it called `commit` for the one before."""
    world.send("orders", 4)
    first = reader(world)
    start = first.initialOffset()
    middle = first.latestOffset(start, ReadMaxRows(2))
    end = first.latestOffset(middle, ALL)
    again = reader(world)
    again.partitions(middle, end)
    assert world.queues["orders"].consumers == {"lake": middle["managers"]["server:1"]["orders"]["id"]}
    again.partitions(middle, end)
    again.latestOffset(end, ALL)
    assert world.queues["orders"].consumers == {"lake": middle["managers"]["server:1"]["orders"]["id"]}, (
        "not committed yet"
    )


def test_a_run_moves_the_consumer_to_where_it_resumes(world: World) -> None:
    """The last batch of a run is done, and Spark never calls `commit` for it."""
    world.send("orders", 3)
    _, end = run(first := reader(world), first.initialOffset())
    assert world.queues["orders"].consumers == {"lake": 0}
    assert reader(world).latestOffset(end, ALL) == end
    assert world.queues["orders"].consumers == {"lake": end["managers"]["server:1"]["orders"]["id"]}


@pytest.mark.parametrize("later", [0, 1])
@pytest.mark.parametrize("cursor", [None, 0], ids=["new consumer", "old consumer"])
@pytest.mark.parametrize("start", ["latest", '{"orders": 3}', '{"orders": "1970-01-01T00:00:05Z"}'])
def test_the_first_batch_is_repeated_unchanged_wherever_the_query_begins(
    world: World, start: str, cursor: int | None, later: int
) -> None:
    """Spark does not store the beginning: it asks for it again when it repeats the first batch."""
    if cursor is not None:
        world.queues["orders"].consumers["lake"] = cursor
    world.send("orders", 3)
    first = reader(world, startingOffset=start)
    begin = first.initialOffset()
    world.send("orders", 2)
    end = first.latestOffset(begin, ALL)
    rows = rows_of(first, begin, end)
    sent = world.send("orders", later)
    again = reader(world, startingOffset=start)
    assert rows_of(again, again.initialOffset(), end) == rows != []
    assert run(again, end)[0] == [sent][:later]


def test_a_loss_in_the_first_batch_is_reported_when_the_batch_is_repeated(world: World) -> None:
    sent = world.send("orders", 3)
    end = (first := reader(world)).latestOffset(first.initialOffset(), ALL)
    world.lose("orders", "lake", 2)
    again = reader(world)
    with pytest.raises(DataLost, match="lost 2 messages"):
        again.partitions(again.initialOffset(), end)
    goes_on = reader(world, failOnDataLoss="false")
    assert rows_of(goes_on, goes_on.initialOffset(), end) == sent[2:]


def test_a_new_query_does_not_report_what_its_consumer_lost_before(world: World) -> None:
    world.queues["orders"].consumers["lake"] = 0
    sent = world.send("orders", 3)
    world.lose("orders", "lake", 2)
    assert run(stream := reader(world), stream.initialOffset())[0] == [sent[2:]]


def test_a_consumer_does_not_move_where_the_queue_has_a_trouble(world: World) -> None:
    world.send("orders", 3)
    _, end = run(first := reader(world), first.initialOffset())
    world.sequence -= 2  # an older store
    stream = reader(world, failOnDataLoss="false")
    stream.partitions(end, stream.latestOffset(end, ALL))
    assert world.queues["orders"].consumers == {"lake": 0}


@pytest.mark.parametrize(("start", "skipped"), [("latest", 3), ('{"orders": 2}', 1), ("earliest", 0)])
def test_a_query_begins_where_its_options_say(world: World, start: str, skipped: int) -> None:
    sent = world.send("orders", 3)
    stream = reader(world, startingOffset=start)
    first = stream.initialOffset()
    later = world.send("orders", 2)
    assert stream.initialOffset() == first, "Spark asks twice"
    assert run(stream, first)[0] == [[*sent, *later][skipped:]]


def test_a_start_for_a_queue_that_is_not_read_is_refused(world: World) -> None:
    with pytest.raises(BadOption, match="startingOffset names 'parts', and the query reads orders"):
        reader(world, startingOffset='{"parts": 2}').initialOffset()


def test_limits_of_rows_and_bytes_hold_together(world: World) -> None:
    sent = world.send("orders", 7)
    stream = reader(world, maxRowsPerBatch="3", maxBytesPerBatch="20")
    assert stream.getDefaultReadLimit() == ReadMaxRows(3)
    batches, _ = run(stream, stream.initialOffset(), ReadMaxRows(3))
    assert batches == [sent[0:2], sent[2:4], sent[4:6], sent[6:]]
    assert reader(world, maxBytesPerBatch="20").getDefaultReadLimit() == ReadMaxBytes(20)
    assert reader(world).getDefaultReadLimit() == ALL


def test_without_a_limit_the_options_do_not_hold(world: World) -> None:
    sent = world.send("orders", 7)
    stream = reader(world, maxRowsPerBatch="3")
    assert run(stream, stream.initialOffset(), ALL)[0] == [sent]


def test_a_message_larger_than_the_limit_comes_alone(world: World) -> None:
    first, second, third = world.send("orders", 1), world.send("orders", 1, size=99), world.send("orders", 1)
    stream = reader(world, maxBytesPerBatch="20")
    assert run(stream, stream.initialOffset(), ReadMaxBytes(20))[0] == [first, second, third]


def test_a_repeated_batch_has_equal_rows(world: World) -> None:
    world.send("orders", 9)
    stream = reader(world, partitions="2")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadMaxRows(5))
    parts, rows = stream.partitions(start, end), rows_of(stream, start, end)
    assert len(parts) == 2
    assert len(rows) == 5
    world.send("orders", 4)
    again = reader(world, partitions="3")  # a new process that has only the checkpoint
    assert rows_of(again, start, end) == rows


def test_planning_a_batch_asks_for_each_queue_once(world: World) -> None:
    world.send("orders", 9)
    stream = reader(world)
    start = stream.initialOffset()
    world.calls.clear()
    stream.partitions(start, stream.latestOffset(start, ALL))
    assert world.calls == ["feeds", "plan"]


def test_a_narrow_schema_asks_for_no_bodies(world: World) -> None:
    world.send("orders", 1)
    stream = reader(world, names=("lookup_id",))
    start = stream.initialOffset()
    part = stream.partitions(start, stream.latestOffset(start, ALL))[0]
    assert [batch.schema.names for batch in stream.read(part)] == [["lookup_id"]]
    assert world.calls[-1] == "read lookup_id,feed_id"


def test_a_read_that_breaks_off_goes_on_after_its_last_row(world: World) -> None:
    sent = world.send("orders", 9)
    world.break_reads_after = [2, 0, 4]
    stream = reader(world, partitions="1")
    start = stream.initialOffset()
    assert rows_of(stream, start, stream.latestOffset(start, ALL)) == sent


def test_a_pattern_finds_queues_that_come_later(world: World) -> None:
    one = world.send("orders", 2)
    stream = reader(world, queue="or*")
    batches, end = run(stream, stream.initialOffset())
    assert batches == [one]
    world.create("organs")
    world.create("others")
    two = world.send("organs", 3)
    batches, end = run(stream, end)
    assert batches == [two]
    assert sorted(end["managers"]["server:1"]) == ["orders", "organs"]
    assert world.queues["organs"].consumers == {"lake": 0}


def test_a_batch_with_a_new_queue_is_repeated_unchanged(world: World) -> None:
    stream = reader(world, queue="or*")
    start = stream.initialOffset()
    world.create("organs")
    world.send("organs", 3)
    end = stream.latestOffset(start, ALL)
    assert rows_of(reader(world, queue="or*"), start, end) == rows_of(stream, start, end) != []


def test_a_loss_in_the_first_batch_of_a_new_queue_is_reported_when_the_batch_is_repeated(
    world: World,
) -> None:
    """The offset before this batch does not have the queue, and the loss has moved the cursor."""
    start = (stream := reader(world, queue="or*")).initialOffset()
    world.create("organs")
    sent = world.send("organs", 3)
    end = stream.latestOffset(start, ALL)
    world.lose("organs", "lake", 2)
    with pytest.raises(DataLost, match="lost 2 messages"):
        reader(world, queue="or*").partitions(start, end)
    again = reader(world, queue="or*", failOnDataLoss="false")
    assert rows_of(again, start, end) == sent[2:]
    assert (report := again.reportLatestOffset()) is not None
    assert "organs" in report["holes"]["server:1"]


def test_an_empty_new_queue_is_noted_once(world: World) -> None:
    stream = reader(world, queue="or*")
    start = stream.initialOffset()
    world.create("organs")
    end = stream.latestOffset(start, ALL)
    assert stream.partitions(start, end) == []
    assert stream.latestOffset(end, ALL) == end


def test_what_is_there_now_is_all_that_an_available_now_run_reads(world: World) -> None:
    sent = world.send("orders", 4)
    stream = reader(world, queue="or*", maxRowsPerBatch="3")
    stream.prepareForTriggerAvailableNow()
    start = stream.initialOffset()
    world.send("orders", 4)
    world.create("organs")
    world.send("organs", 2)
    batches, end = run(stream, start, ReadMaxRows(3))
    assert list(chain.from_iterable(batches)) == sent
    assert list(end["managers"]["server:1"]) == ["orders"]
    assert max(map(len, batches)) == 3
    again = reader(world, queue="or*")
    again.prepareForTriggerAvailableNow()
    assert sum(map(len, run(again, end)[0])) == 6


def test_the_report_tells_the_mark_and_how_far_behind(world: World) -> None:
    sent = world.send("orders", 9)
    stream = reader(world, maxRowsPerBatch="4")
    stream.latestOffset(stream.initialOffset(), ReadMaxRows(4))
    report = stream.reportLatestOffset()
    assert report is not None
    assert report["managers"]["server:1"]["orders"]["id"] == sent[-1]
    assert report["behind"] == {"server:1": {"orders": 5}}
    assert "holes" not in report


# -- troubles


def lose(world: World) -> None:
    world.queues["orders"].consumers["lake"] = 6


def replace(world: World) -> None:
    del world.queues["orders"]
    world.create("orders")


def forget(world: World) -> None:
    world.queues["orders"].consumers.clear()


def delete(world: World) -> None:
    del world.queues["orders"]


TROUBLES = [(lose, DataLost), (replace, QueueReplaced), (forget, ConsumerMissing), (delete, QueueMissing)]


@pytest.mark.parametrize(("harm", "fault"), TROUBLES)
def test_a_trouble_stops_the_query_by_its_name(world: World, harm: Any, fault: type[SparkFault]) -> None:
    world.send("orders", 4)
    stream = reader(world)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadMaxRows(2))
    harm(world)
    for planner in (stream, reader(world)):
        with pytest.raises(fault, match="failOnDataLoss=false"):
            planner.latestOffset(end, ALL)
    with pytest.raises(fault, match="failOnDataLoss=false"):
        reader(world).partitions(start, end)


@pytest.mark.parametrize(
    ("harm", "kept"),
    [(lose, 1), (replace, 0), (forget, 2), (delete, None)],
    ids=["lose", "replace", "forget", "delete"],
)
def test_with_leave_the_query_goes_on_and_tells_the_hole(world: World, harm: Any, kept: int | None) -> None:
    sent = world.send("orders", 4)  # places 2 to 5
    stream = reader(world, failOnDataLoss="false", maxRowsPerBatch="2")
    end = stream.latestOffset(stream.initialOffset(), ReadMaxRows(2))
    stream.commit(end)
    sent += world.send("orders", 2)
    harm(world)
    if kept is None:
        assert stream.latestOffset(end, ALL) == end
        world.create("orders")
        later = world.send("orders", 1)
        assert run(stream, end)[0] == [later]
    else:
        later = world.send("orders", 1)
        expected = {1: [sent[-1], *later], 0: later, 2: [*sent[2:], *later]}[kept]
        assert run(stream, end)[0] == [expected]
    report = stream.reportLatestOffset()
    assert report is not None
    assert "orders" in report["holes"]["server:1"]


def test_a_feed_that_ends_before_the_query_is_never_read_on_in_silence(world: World) -> None:
    world.send("orders", 4)
    stream = reader(world)
    end = stream.latestOffset(stream.initialOffset(), ALL)
    world.queues["orders"].rows = world.queues["orders"].rows[:2]  # a backup is restored
    world.sequence = 3
    with pytest.raises(DataLost, match=r"backup .* failOnDataLoss=false"):
        reader(world).latestOffset(end, ALL)
    lenient = reader(world, failOnDataLoss="false")
    reported = lenient.latestOffset(end, ALL)
    assert rows_of(lenient, end, reported) == []
    later = world.send("orders", 3)
    assert run(lenient, reported)[0] == [later], "also those whose places were others' before"


def test_a_queue_that_was_never_there_stops_the_start() -> None:
    with pytest.raises(QueueMissing, match="there is no queue 'orders': create it"):
        reader(World()).initialOffset()


def test_a_pattern_may_find_nothing() -> None:
    stream = reader(World(), queue="or*")
    start = stream.initialOffset()
    assert start == {"v": 2, "managers": {}}
    assert stream.latestOffset(start, ALL) == start


def test_a_queue_that_is_gone_at_the_commit_is_reported_by_the_next_batch(world: World) -> None:
    world.send("orders", 1)
    stream = reader(world)
    end = stream.latestOffset(stream.initialOffset(), ALL)
    delete(world)
    stream.commit(end)
    with pytest.raises(QueueMissing):
        stream.latestOffset(end, ALL)


def test_several_queues_share_a_batch(world: World) -> None:
    world.create("parts")
    world.create("few")
    for queue, count in (("orders", 20), ("parts", 20), ("few", 1)):
        world.send(queue, count)
    stream = reader(world, queue="orders,parts,few")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadMaxRows(11))
    rows = [
        row["queue"]
        for part in stream.partitions(start, end)
        for batch in stream.read(part)
        for row in batch.to_pylist()
    ]
    assert {queue: rows.count(queue) for queue in rows} == {"orders": 5, "parts": 5, "few": 1}


def test_queues_take_turns_where_a_batch_has_no_row_for_each(world: World) -> None:
    world.create("parts")
    one, two = world.send("orders", 2), world.send("parts", 2)
    stream = reader(world, queue="orders,parts")
    batches, _ = run(stream, stream.initialOffset(), ReadMaxRows(1))
    assert batches == [[one[0]], [two[0]], [one[1]], [two[1]]]


def test_a_replay_over_a_hole_reads_what_is_left_of_it(world: World) -> None:
    sent = world.send("orders", 4)
    stream = reader(world)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ALL)
    world.queues["orders"].consumers["lake"] = sent[1]
    assert rows_of(reader(world, failOnDataLoss="false"), start, end) == sent[2:]


def test_an_idle_query_does_not_ask_all_the_time(world: World) -> None:
    waited: list[float] = []
    options = parse_reading(
        {"url": "http://server:1", "queue": "orders", "consumer": "lake"}, OptionUse.STREAM
    )
    stream = StreamReader(options, ("body",), world.connect, waited.append)
    start = stream.initialOffset()
    assert stream.latestOffset(start, ALL) == start
    assert waited == [], "the first look is at once"
    stream.latestOffset(start, ALL)
    world.send("orders", 1)
    end = stream.latestOffset(start, ALL)
    assert waited == [0.2, 0.2]
    stream.latestOffset(end, ALL)
    assert waited == [0.2, 0.2], "where something arrived, the next look is at once"
    stream.prepareForTriggerAvailableNow()
    stream.latestOffset(end, ALL)
    assert waited == [0.2, 0.2], "a run that ends waits for nothing"
