"""Batch reads of a real server: every column, projections, several queues, filters pushed and not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.errors import PySparkException

from reliquary.spark.schema import NAMES
from tests.spark.desk import Desk


def test_a_message_has_all_its_columns(desk: Desk) -> None:
    queue = desk.queue("whole")
    sent = desk.manager.queue(queue).send(
        "grüße",
        label="greeting",
        priority=5,
        tag=7,
        extension=b"\x00\x01",
        correlation="12345678-1234-1234-1234-123456789abc\\5",
        acknowledgements=("full-reach-queue",),
        administration_queue=desk.queue("answers"),
    )
    frame = desk.read(queue)
    assert tuple(frame.columns) == NAMES
    row = frame.collect()[0]
    assert (row["queue"], row["id"], row["label"], row["priority"]) == (queue, sent.id, "greeting", 5)
    assert bytes(row["body"]) == "grüße".encode()
    assert (row["body_size"], row["tag"], bytes(row["extension"])) == (7, 7, b"\x00\x01")
    assert row["lookup_id"] == sent.lookup_id
    assert row["acknowledgements"] == ["full-reach-queue"]
    assert row["durable"] is True
    assert abs(row["arrived"].replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(hours=1)  # noqa: TID251
    assert row["soap_envelope"] is None
    assert desk.bodies(queue) == ["grüße"], "nothing was taken away"


def test_several_queues_are_read_with_a_projection_and_filters(desk: Desk) -> None:
    one = desk.queue("red-a", [f"a{number}" for number in range(10)])
    two = desk.queue("red-b", ["b0", "b1"])
    desk.queue("blue", ["c"])
    narrow = desk.read(f"{one},{two}", "lookup_id bigint, queue string", partitions="3")
    assert narrow.columns == ["lookup_id", "queue"]
    rows = narrow.collect()
    assert [row["queue"] for row in rows] == [one] * 10 + [two] * 2
    assert narrow.rdd.getNumPartitions() > 2
    assert desk.read("red-*", "queue string").count() == 12
    third = rows[2]["lookup_id"]
    wanted = f"lookup_id > {third} AND arrived > TIMESTAMP '2020-01-01' AND queue = '{one}'"
    filtered = desk.read("red-*", "lookup_id bigint, queue string, arrived timestamp, body binary").where(
        wanted
    )
    assert "lookup_id" in filtered._jdf.queryExecution().executedPlan().toString()
    expected = [f"a{number}" for number in range(3, 10)]
    assert [bytes(row["body"]).decode() for row in filtered.collect()] == expected
    desk.spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    try:
        again = desk.read("red-*", "lookup_id bigint, queue string, arrived timestamp, body binary").where(
            wanted
        )
        assert [bytes(row["body"]).decode() for row in again.collect()] == expected
    finally:
        desk.spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


def test_large_bodies_and_empty_queues_are_read(desk: Desk) -> None:
    large = "x" * 5_000_000
    queue = desk.queue("large", ["small", large, large + "y", "end"])
    rows = desk.read(queue, "body_size bigint, body binary").collect()
    assert [row["body_size"] for row in rows] == [5, 5_000_000, 5_000_001, 3]
    assert bytes(rows[2]["body"]) == large.encode() + b"y"
    assert desk.read(desk.queue("empty"), "body binary").count() == 0


def test_a_missing_queue_is_named(desk: Desk) -> None:
    with pytest.raises(PySparkException, match="QueueMissing: there is no queue 'nowhere'"):
        desk.read("nowhere").collect()


def test_headers_are_there_where_they_are_asked_for(desk: Desk) -> None:
    queue = desk.queue("headed")
    desk.manager.queue(queue).send("x", httpr={"content-type": "text/plain"})
    [row] = desk.read(queue, includeHeaders="true").select("manager", "headers").collect()
    assert row["manager"] == desk.url.removeprefix("http://")
    assert [(each["key"], bytes(each["value"])) for each in row["headers"]] == [
        ("httpr:content-type", b"text/plain")
    ]
