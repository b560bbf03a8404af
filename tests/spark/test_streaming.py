"""Tests streams from a real server: limits, what applications take meanwhile, replays, new queues, and
losses.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

from reliquary.client.feed import FeedClient
from tests.spark.desk import Desk


def numbered(letter: str, first: int, last: int) -> list[str]:
    return [f"{letter}{number}" for number in range(first, last)]


def test_a_query_goes_on_through_runs_takers_and_a_lost_commit_log(desk: Desk) -> None:
    queue = desk.queue("orders", numbered("a", 0, 10))
    stream = desk.stream(queue, maxRowsPerBatch="4")
    assert desk.run(stream, "files") == [4, 4, 2]
    assert desk.written("files") == numbered("a", 0, 10)

    desk.send(queue, *numbered("a", 10, 15))
    taken = desk.manager.queue(queue).receive_many(100)  # an application is quicker than the query
    assert len(taken) == 15
    assert desk.run(stream, "files") == [4, 1]
    assert desk.written("files") == numbered("a", 0, 15)

    commits = sorted((desk.checkpoint("files") / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    commits[-1].unlink()  # as if the driver had died before it was written
    (commits[-1].parent / f".{commits[-1].name}.crc").unlink(missing_ok=True)
    shutil.rmtree(desk.folder / "files")  # and the sink had written nothing
    desk.send(queue, "later")
    assert desk.run(stream, "files")[-1] == 1
    assert desk.written("files") == ["a14", "later"], "the last batch again, and then the new one"
    offsets = json.loads(
        (desk.checkpoint("files") / "offsets" / commits[-1].name).read_text().splitlines()[-1]
    )
    assert [list(queues) for queues in offsets["managers"].values()] == [[queue]]
    assert desk.run(stream, "files") == [], "there is nothing more"


def test_a_pattern_takes_in_queues_that_come_later_and_shares_the_limit(desk: Desk) -> None:
    first = desk.queue("shop-a", numbered("a", 0, 8))
    second = desk.queue("shop-b", numbered("b", 0, 2))
    stream = desk.stream("shop-*", maxRowsPerBatch="5")
    assert desk.run(stream, "files") == [5, 5]
    third = desk.queue("shop-c", numbered("c", 0, 3))
    desk.send(first, "a8")
    assert sum(desk.run(stream, "files")) == 4
    rows = desk.files("files")
    by_queue = {
        name: [row["body"].decode() for row in rows if row["queue"] == name]
        for name in (first, second, third)
    }
    assert by_queue == {first: numbered("a", 0, 9), second: numbered("b", 0, 2), third: numbered("c", 0, 3)}


@pytest.mark.parametrize(
    ("harm", "fault"),
    [pytest.param("forget", "ConsumerMissing", marks=pytest.mark.long), ("replace", "QueueReplaced")],
)
def test_a_loss_stops_the_query_and_with_leave_it_goes_on(desk: Desk, harm: str, fault: str) -> None:
    queue = desk.queue("lossy", numbered("a", 0, 3))
    assert desk.run(desk.stream(queue), "files") == [3]
    if harm == "forget":
        with FeedClient(desk.url) as client:
            client.drop_consumer(queue, "lake")
        desk.manager.queue(queue).purge()
    else:
        desk.manager.delete_queue(queue)
        desk.manager.create_queue(queue)
    desk.send(queue, "new")
    with pytest.raises(StreamingQueryException, match=f"{fault}: the queue '{queue}'.*failOnDataLoss=false"):
        desk.run(desk.stream(queue), "files")
    assert desk.run(desk.stream(queue, failOnDataLoss="false"), "files") == [1]
    assert desk.written("files") == [*numbered("a", 0, 3), "new"]


@pytest.mark.long
def test_a_consumer_that_passes_its_limit_stops_the_query_with_the_numbers(desk: Desk) -> None:
    """While the query is away, applications take 20 messages, and the consumer may keep 5 of them."""
    queue = desk.queue("limited", numbered("a", 0, 3))
    assert desk.run(desk.stream(queue), "files") == [3]
    with FeedClient(desk.url) as client:
        client.set_consumer(queue, "lake", keep="5")
        desk.send(queue, *numbered("a", 3, 23))
        assert len(desk.manager.queue(queue).receive_many(100)) == 23
        [consumer] = client.consumers(queue)
        assert consumer.lost >= 15, "the messages of the first run may be counted too"
    lost = f"DataLost: of the queue '{queue}.* lost {consumer.lost} messages.*consumer set.*failOnDataLoss=f"
    with pytest.raises(StreamingQueryException, match=lost):
        desk.run(desk.stream(queue), "files")
    assert desk.written("files") == numbered("a", 0, 3), "nothing was written behind the hole"
    assert desk.run(desk.stream(queue, failOnDataLoss="false"), "files") == [5]
    assert desk.written("files") == [*numbered("a", 0, 3), *numbered("a", 18, 23)]


def test_the_progress_tells_how_far_behind_a_query_is(desk: Desk) -> None:
    queue = desk.queue("behind", numbered("a", 0, 5))
    stream = desk.stream(queue, maxRowsPerBatch="2")
    query = stream.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    reports: list[dict[str, Any]] = [
        json.loads(progress["sources"][0]["latestOffset"])
        if isinstance(progress["sources"][0]["latestOffset"], str)
        else progress["sources"][0]["latestOffset"]
        for progress in query.recentProgress
    ]
    manager = desk.url.removeprefix("http://")
    assert [report["behind"][manager][queue] for report in reports][:3] == [3, 1, 0]
    assert [report["lag"][manager][queue] > 0 for report in reports][:3] == [True, True, False]


def test_real_time_mode_is_refused_by_spark_itself(desk: Desk) -> None:
    """Python sources have no real-time mode in 4.3; if this fails, the guide's limit is out of date."""
    rows = desk.stream(desk.queue("now"))
    writer = rows.writeStream.format("noop").option("checkpointLocation", str(desk.checkpoint("now")))
    with pytest.raises(PySparkException, match="STREAMING_REAL_TIME_MODE"):
        writer.trigger(realTime="5 seconds").start().awaitTermination()  # type: ignore[call-overload]
