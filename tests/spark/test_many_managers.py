"""Tests one query over several managers: offsets, times, managers that are away, added, left out and
renamed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from reliquary.client.errors import error_of
from reliquary.spark.errors import BadOffset, BadOption, DataLost, QueueMissing, ServerGone, SparkFault
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import parse_reading
from reliquary.spark.source import Range, Reader
from reliquary.spark.stream import StreamReader
from tests.spark.feed_double import Double, World, Worlds

ALL = ReadAllAvailable()
URL = "north=http://n:1,south=http://s:1"
Rows = list[tuple[str, int]]


class Clock:
    """A clock that moves with each wait."""

    def __init__(self) -> None:
        self.now = 100.0
        self.then: list[Any] = []
        """Actions that run at a wait, one at each."""

    def wait(self, seconds: float) -> None:
        self.now += seconds
        if self.then:
            self.then.pop(0)()


@pytest.fixture
def worlds() -> Worlds:
    found = Worlds({name: World() for name in ("north", "south", "west")})
    for number, world in enumerate(found.by_name.values()):
        world.sequence = 1000 * number  # so that no two places and no two incarnations are equal
        world.create("orders")
    return found


def reader(worlds: Worlds, clock: Clock | None = None, **more: str) -> StreamReader:
    options = {"url": URL, "queue": "orders", "consumer": "lake"} | more
    clock = clock or Clock()
    names = ("manager", "feed_id")
    return StreamReader(
        parse_reading(options, OptionUse.STREAM), names, worlds.connect, clock.wait, lambda: clock.now
    )


def rows_of(stream: StreamReader, start: dict[str, Any], end: dict[str, Any]) -> Rows:
    return [
        (row["manager"], row["feed_id"])
        for part in stream.partitions(start, end)
        for batch in stream.read(part)
        for row in batch.to_pylist()
    ]


def send(worlds: Worlds, manager: str, count: int) -> Rows:
    return [(manager, place) for place in worlds.by_name[manager].send("orders", count)]


def test_all_managers_are_one_stream(worlds: Worlds) -> None:
    sent = send(worlds, "north", 2) + send(worlds, "south", 3)
    stream = reader(worlds)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ALL)
    assert rows_of(stream, start, end) == sent == rows_of(reader(worlds), start, end)
    assert sorted(end["managers"]) == ["north", "south"]
    stream.commit(end)
    for name in ("north", "south"):
        cursor = worlds.by_name[name].queues["orders"].consumers["lake"]
        assert cursor == end["managers"][name]["orders"]["id"]
    assert "lake" not in worlds.by_name["west"].queues["orders"].consumers


def test_a_limit_is_shared_among_managers(worlds: Worlds) -> None:
    send(worlds, "north", 9), send(worlds, "south", 9)
    stream = reader(worlds)
    start = stream.initialOffset()
    rows = rows_of(stream, start, stream.latestOffset(start, ReadMaxRows(6)))
    assert [name for name, _ in rows] == ["north"] * 3 + ["south"] * 3


def test_errors_name_queue_and_manager(worlds: Worlds) -> None:
    send(worlds, "south", 4)
    stream = reader(worlds)
    end = stream.latestOffset(stream.initialOffset(), ALL)
    worlds.by_name["south"].queues["orders"].consumers["lake"] = 9000
    with pytest.raises(DataLost, match="of the queue 'orders at south' the query wants"):
        stream.latestOffset(end, ALL)
    del worlds.by_name["south"].queues["orders"]
    with pytest.raises(QueueMissing, match="there is no queue 'orders at south'"):
        reader(worlds).initialOffset()


@pytest.mark.parametrize("code", ["ACCESS_DENIED", "UNAUTHENTICATED", "OTHER_QUEUE", "DATA_LOST", "STRANGE"])
def test_each_refusal_of_a_manager_names_the_manager(worlds: Worlds, code: str) -> None:
    for name in ("north", "south"):
        send(worlds, name, 4)
    refusing = {"feeds"}

    class Refusing(Double):
        def __getattribute__(self, name: str) -> Any:
            if name in refusing:
                raise error_of(code, "it is refused")
            return super().__getattribute__(name)

    def connect(access: Any) -> Any:
        world = worlds.by_name[access.name]
        return Refusing(world) if access.name == "south" else Double(world)

    given = {"url": URL, "queue": "orders", "consumer": "lake", "startingTimestamp": "1970-01-01T00:00:01Z"}
    stream = StreamReader(parse_reading(given, OptionUse.STREAM), ("manager", "feed_id"), connect)
    del given["consumer"], given["startingTimestamp"]
    batch = Reader(parse_reading(given, OptionUse.READ), ("feed_id",), connect)

    def refused(work: Callable[[], Any], *calls: str) -> None:
        for call in calls:
            refusing.clear()
            refusing.add(call)
            with pytest.raises(SparkFault, match="the queue 'orders at south': it is refused"):
                work()
        refusing.clear()

    refused(stream.initialOffset, "feeds", "place_of", "open_consumer")
    start = stream.initialOffset()
    refused(stream.prepareForTriggerAvailableNow, "feeds")
    refused(lambda: stream.latestOffset(start, ALL), "feeds", "plan")
    end = stream.latestOffset(start, ALL)
    refused(lambda: rows_of(stream, start, end), "read")
    again = StreamReader(stream._options, ("manager", "feed_id"), connect)
    refused(lambda: again.partitions(start, end), "feeds", "plan")
    if code in {"ACCESS_DENIED", "UNAUTHENTICATED", "STRANGE"}:  # a queue that is gone stops the next batch
        refused(lambda: stream.commit(end), "move_consumer")
    refused(batch.partitions, "feeds", "plan")
    refused(lambda: [*batch.read(batch.partitions()[-1])], "read")


# -- a manager that does not answer


def test_by_default_a_manager_that_is_gone_stops_the_query(worlds: Worlds) -> None:
    stream = reader(worlds)
    start = stream.initialOffset()
    worlds.by_name["south"].send("orders", 1)
    end = stream.latestOffset(start, ALL)
    worlds.by_name["south"].away = True
    with pytest.raises(ServerGone):
        stream.latestOffset(end, ALL)
    with pytest.raises(ServerGone):
        stream.commit(end)


def test_a_query_that_waits_goes_on_when_the_manager_answers(worlds: Worlds) -> None:
    clock = Clock()
    stream = reader(worlds, clock, onManagerGone="wait")
    start = stream.initialOffset()
    south = worlds.by_name["south"]
    sent = send(worlds, "south", 2)
    south.away = True
    stream.commit(start)  # can be done later
    clock.then = [lambda: None, lambda: setattr(south, "away", False)]
    end = stream.latestOffset(start, ALL)
    assert clock.now == 102.0
    assert rows_of(stream, start, end) == sent


def test_a_manager_that_is_skipped_is_read_later_in_order(worlds: Worlds) -> None:
    clock = Clock()
    stream = reader(worlds, clock, onManagerGone="skip")
    start = stream.initialOffset()
    first = send(worlds, "north", 2) + send(worlds, "south", 2)
    one = stream.latestOffset(start, ALL)
    assert rows_of(stream, start, one) == first
    south = worlds.by_name["south"]
    unread = send(worlds, "south", 3)
    south.away = True
    more = send(worlds, "north", 2)
    two = stream.latestOffset(one, ALL)
    assert rows_of(stream, one, two) == more
    assert two["managers"]["south"] == one["managers"]["south"]
    stream.commit(two)
    report = stream.reportLatestOffset()
    assert report is not None
    assert report["away"] == ["south"]
    south.away = False
    unread += send(worlds, "south", 1)
    assert stream.latestOffset(two, ALL) == two, "it is left alone for a while"
    clock.now += 10
    three = stream.latestOffset(two, ALL)
    assert rows_of(stream, two, three) == unread
    stream.commit(three)
    assert south.queues["orders"].consumers["lake"] == three["managers"]["south"]["orders"]["id"]


def test_a_batch_that_is_planned_waits_for_its_manager(worlds: Worlds) -> None:
    sent = send(worlds, "south", 3)
    before = reader(worlds)
    start = before.initialOffset()
    end = before.latestOffset(start, ALL)
    clock = Clock()
    south = worlds.by_name["south"]
    south.away = True
    clock.then = [lambda: None, lambda: setattr(south, "away", False)]
    assert rows_of(reader(worlds, clock, onManagerGone="skip"), start, end) == sent


def test_a_task_reads_on_when_its_manager_comes_back(worlds: Worlds) -> None:
    sent = send(worlds, "south", 5)
    stream = reader(worlds, onManagerGone="skip", partitions="1")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ALL)
    worlds.by_name["south"].break_reads_after = [2, *[0] * 20]
    assert rows_of(stream, start, end) == sent
    worlds.by_name["south"].break_reads_after = [0] * 5
    with pytest.raises(ServerGone):
        rows_of(reader(worlds), start, end)


def test_a_new_query_may_begin_without_a_manager(worlds: Worlds) -> None:
    worlds.by_name["south"].away = True
    clock = Clock()
    stream = reader(worlds, clock, onManagerGone="skip")
    start = stream.initialOffset()
    assert list(start["managers"]) == ["north"]
    sent = send(worlds, "south", 2)
    worlds.by_name["south"].away = False
    clock.now += 10
    assert rows_of(stream, start, stream.latestOffset(start, ALL)) == sent


def test_a_new_query_that_does_not_begin_at_the_beginning_waits_for_all(worlds: Worlds) -> None:
    send(worlds, "south", 2)
    worlds.by_name["south"].away = True
    clock = Clock()
    clock.then = [lambda: setattr(worlds.by_name["south"], "away", False)]
    stream = reader(worlds, clock, onManagerGone="skip", startingOffset="latest")
    start = stream.initialOffset()
    assert list(start["managers"]) == ["north", "south"]
    assert stream.latestOffset(start, ALL) == start


def test_a_run_that_ends_leaves_a_manager_that_is_away_for_the_next_run(worlds: Worlds) -> None:
    sent = send(worlds, "north", 2)
    unread = send(worlds, "south", 2)
    worlds.by_name["south"].away = True
    stream = reader(worlds, onManagerGone="skip")
    stream.prepareForTriggerAvailableNow()
    start = stream.initialOffset()
    end = stream.latestOffset(start, ALL)
    assert rows_of(stream, start, end) == sent
    assert stream.latestOffset(end, ALL) == end
    worlds.by_name["south"].away = False
    again = reader(worlds, onManagerGone="skip")
    again.prepareForTriggerAvailableNow()
    assert rows_of(again, end, again.latestOffset(end, ALL)) == unread


# -- managers that come, go, and get other names between runs of one checkpoint


def ended(worlds: Worlds) -> dict[str, Any]:
    """Return the offset of a query that has read everything, and whose consumers are one batch behind."""
    stream = reader(worlds)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ALL)
    rows_of(stream, start, end)
    return end


def test_a_manager_that_is_added_is_read_from_its_beginning(worlds: Worlds) -> None:
    send(worlds, "north", 2)
    end = ended(worlds)
    sent = send(worlds, "west", 2) + send(worlds, "north", 1)
    stream = reader(worlds, url=f"{URL},west=http://w:1")
    assert sorted(rows_of(stream, end, stream.latestOffset(end, ALL))) == sorted(sent)


def test_a_manager_that_is_left_out_and_named_again_is_read_on(worlds: Worlds) -> None:
    send(worlds, "south", 2)
    end = ended(worlds)
    unread = send(worlds, "south", 2)
    sent = send(worlds, "north", 1)
    without = reader(worlds, url="north=http://n:1")
    later = without.latestOffset(end, ALL)
    assert rows_of(without, end, later) == sent
    assert later["managers"]["south"] == end["managers"]["south"]
    without.commit(later)
    again = reader(worlds)
    assert rows_of(again, later, again.latestOffset(later, ALL)) == unread


def test_a_batch_of_a_manager_that_is_left_out_is_refused_before_it_is_lost(worlds: Worlds) -> None:
    send(worlds, "south", 2)
    before = reader(worlds)
    start = before.initialOffset()
    end = before.latestOffset(start, ALL)
    with pytest.raises(BadOffset, match="has messages of the queue 'orders' of the manager south, which the"):
        reader(worlds, url="north=http://n:1").partitions(start, end)


def test_managers_with_new_names_are_read_on(worlds: Worlds) -> None:
    send(worlds, "south", 2)
    before = reader(worlds)
    start = before.initialOffset()
    end = before.latestOffset(start, ALL)
    sent = rows_of(before, start, end)
    worlds.by_name |= {"nord": worlds.by_name["north"], "sued": worlds.by_name["south"]}
    after = reader(worlds, url="nord=http://n:1,sued=http://s:1")
    assert [place for _, place in rows_of(after, start, end)] == [place for _, place in sent]
    assert after.latestOffset(end, ALL) == end
    more = send(worlds, "sued", 1)
    later = after.latestOffset(end, ALL)
    assert rows_of(after, end, later) == more
    assert sorted(later["managers"]) == ["nord", "sued"]
    assert rows_of(reader(worlds, url="nord=http://n:1,sued=http://s:1"), end, later) == more


def test_managers_whose_names_were_exchanged_are_read_on(worlds: Worlds) -> None:
    """So is a batch that Spark runs again."""
    send(worlds, "north", 2), send(worlds, "south", 2)
    before = reader(worlds)
    start = before.initialOffset()
    end = before.latestOffset(start, ALL)
    sent = rows_of(before, start, end)
    worlds.by_name |= {"north": worlds.by_name["south"], "south": worlds.by_name["north"]}
    after = reader(worlds)
    assert sorted(place for _, place in rows_of(after, start, end)) == sorted(place for _, place in sent)
    assert after.latestOffset(end, ALL) == end
    more = send(worlds, "north", 1) + send(worlds, "south", 1)
    later = after.latestOffset(end, ALL)
    assert rows_of(after, end, later) == more
    assert rows_of(reader(worlds), end, later) == more
    assert reader(worlds).latestOffset(end, ALL) == later
    after.commit(later)
    for name in ("north", "south"):
        cursor = worlds.by_name[name].queues["orders"].consumers["lake"]
        assert cursor == later["managers"][name]["orders"]["id"]


def test_a_manager_on_another_machine_may_have_the_name_of_an_older_one(worlds: Worlds) -> None:
    end = ended(worlds)
    unread = send(worlds, "south", 2)
    worlds.by_name |= {"south": worlds.by_name["west"], "older": worlds.by_name["south"]}
    sent = send(worlds, "south", 1)
    stream = reader(worlds, url=f"{URL},older=http://o:1")
    found = rows_of(stream, end, stream.latestOffset(end, ALL))
    assert found == [*(("older", place) for _, place in unread), *sent]


def written_by_the_first_version(offset: dict[str, Any], manager: str) -> dict[str, Any]:
    return {"v": 1, "queues": offset["managers"][manager]}


@pytest.mark.parametrize("url", ["http://s:1", URL], ids=["one manager", "one more manager"])
def test_a_checkpoint_for_one_server_as_it_was_is_understood(worlds: Worlds, url: str) -> None:
    worlds.by_name["s:1"] = worlds.by_name["south"]
    sent = send(worlds, "south", 3)
    before = reader(worlds, url="http://s:1")
    first = before.initialOffset()
    start = written_by_the_first_version(first, "s:1")
    end = written_by_the_first_version(before.latestOffset(first, ReadMaxRows(2)), "s:1")
    after = reader(worlds, url=url)
    assert [place for _, place in rows_of(after, start, end)] == [place for _, place in sent[:2]]
    later = after.latestOffset(end, ALL)
    assert [place for _, place in rows_of(after, end, later)] == [sent[2][1]]
    after.commit(end)
    after.commit(later)
    assert worlds.by_name["south"].queues["orders"].consumers["lake"] == sent[2][1]


def test_a_checkpoint_of_a_server_that_is_not_there_is_refused(worlds: Worlds) -> None:
    start = {"v": 1, "queues": {"orders": {"inc": "elsewhere", "id": 7}}}
    with pytest.raises(BadOffset, match="written for one server, and none of the managers north, south has"):
        reader(worlds).latestOffset(start, ALL)


# -- times, and batches that wait


def test_a_query_begins_at_a_time(worlds: Worlds) -> None:
    send(worlds, "north", 2), send(worlds, "south", 2)
    place = worlds.by_name["south"].sequence
    stream = reader(worlds, startingTimestamp=str(place * 1000))
    start = stream.initialOffset()
    assert rows_of(stream, start, stream.latestOffset(start, ALL)) == [("south", place)]
    assert worlds.by_name["south"].queues["orders"].consumers["lake"] == place - 1


def test_a_query_begins_at_a_place_of_one_manager(worlds: Worlds) -> None:
    north = send(worlds, "north", 2)
    south = send(worlds, "south", 2)
    stream = reader(worlds, startingOffset=f'{{"south": {{"orders": {south[0][1]}}}}}')
    start = stream.initialOffset()
    assert rows_of(stream, start, stream.latestOffset(start, ALL)) == north + south[1:]
    with pytest.raises(BadOption, match="names the manager 'west', and there is north, south"):
        reader(worlds, startingOffset='{"west": {"orders": 1}}').initialOffset()


def test_a_batch_waits_for_rows_but_not_for_ever(worlds: Worlds) -> None:
    clock = Clock()
    stream = reader(worlds, clock, minRowsPerBatch="4", maxTriggerDelay="30s")
    start = stream.initialOffset()
    sent = send(worlds, "north", 2) + send(worlds, "south", 1)
    assert stream.latestOffset(start, ALL) == start
    sent.insert(2, *send(worlds, "north", 1))
    end = stream.latestOffset(start, ALL)
    assert rows_of(stream, start, end) == sent
    last = send(worlds, "south", 1)
    clock.now += 29
    assert stream.latestOffset(end, ALL) == end
    clock.now += 1
    assert rows_of(stream, end, stream.latestOffset(end, ALL)) == last
    send(worlds, "south", 1)
    ending = reader(worlds, clock, minRowsPerBatch="4")
    ending.prepareForTriggerAvailableNow()
    assert ending.latestOffset(end, ALL) != end, "a run that ends waits for nothing"


def test_a_batch_that_a_limit_cuts_waits_for_nothing(worlds: Worlds) -> None:
    sent = send(worlds, "north", 5) + send(worlds, "south", 1)
    stream = reader(worlds, minRowsPerBatch="10", maxRowsPerBatch="4")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadMaxRows(4))
    assert rows_of(stream, start, end) == [*sent[:3], sent[5]]
    assert stream.latestOffset(end, ReadMaxRows(4)) == end, "the two that are left wait for more"


def test_a_large_queue_is_cut_into_more_parts(worlds: Worlds) -> None:
    send(worlds, "north", 20), send(worlds, "south", 1)
    stream = reader(worlds, minPartitions="6", maxRowsPerBatch="11")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadMaxRows(11))
    parts = stream.partitions(start, end)
    cut = [part.manager for part in parts if isinstance(part, Range)]
    assert cut == ["north"] * 5 + ["south"]
    again = reader(worlds, minPartitions="6", maxRowsPerBatch="11")  # a new process after a restart
    assert again.partitions(start, end) == parts


# -- batch reads


def batch(worlds: Worlds, **more: str) -> Reader:
    options = parse_reading({"url": URL, "queue": "orders"} | more, OptionUse.READ)
    return Reader(options, ("manager", "feed_id"), worlds.connect, lambda _: None)


def rows_read(reader: Reader) -> Rows:
    return [
        (row["manager"], row["feed_id"])
        for part in reader.partitions()
        for some in reader.read(part)
        for row in some.to_pylist()
    ]


def test_a_batch_read_has_all_managers_and_a_beginning_and_an_end(worlds: Worlds) -> None:
    north, south = send(worlds, "north", 4), send(worlds, "south", 4)
    assert rows_read(batch(worlds)) == north + south
    places = f'{{"orders": {north[1][1]}, "south": {{"orders": {south[2][1]}}}}}'
    assert rows_read(batch(worlds, startingOffset=places)) == north[2:] + south[3:]
    assert rows_read(batch(worlds, endingOffset=places)) == north[:2] + south[:3]
    times = {"startingTimestamp": str(north[1][1] * 1000), "endingTimestamp": str(south[1][1] * 1000)}
    assert rows_read(batch(worlds, **times)) == north[1:] + south[:1]
    assert rows_read(batch(worlds, startingOffset="latest")) == []
    assert len(batch(worlds, minPartitions="8").partitions()) == 8
    with pytest.raises(BadOption, match="the option endingOffset names 'parts'"):
        batch(worlds, endingOffset='{"parts": 5}').partitions()


def test_a_batch_read_can_leave_a_manager_out(worlds: Worlds) -> None:
    north = send(worlds, "north", 1)
    send(worlds, "south", 1)
    worlds.by_name["south"].away = True
    assert rows_read(batch(worlds, onManagerGone="skip")) == north
    with pytest.raises(ServerGone):
        batch(worlds).partitions()
